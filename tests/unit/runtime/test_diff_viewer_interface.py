"""An editor shows an edit before it is made. The first answer counts, in the editor or at the terminal."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dragoman.runtime.diff_viewer_interface import DiffUpdate, approval_of
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation, FileDiff, Outcome
from dragoman.runtime.toolbox import Approval
from tests.unit.agent.helpers import FakeTool, ScriptedModel, answer_of, call, loop, new_session, run_events

DIFF = FileDiff("a.txt", "/w/a.txt", "", "old", "new")
ASKED = Confirmation("Change it", "edit", DIFF)


class Editor:
    """An editor that answers at once, or that waits until it is closed."""

    def __init__(self, update: DiffUpdate | Exception | None) -> None:
        self._update = update
        self.shown: list[FileDiff] = []
        self.closed = False

    async def open(self, diff: FileDiff) -> DiffUpdate:
        self.shown.append(diff)
        if isinstance(self._update, Exception):
            raise self._update
        if self._update is None:
            try:
                await asyncio.Event().wait()
            finally:
                self.closed = True
        assert self._update is not None
        return self._update


async def _no_answer(asked: Confirmation) -> Approval:
    await asyncio.Event().wait()
    raise AssertionError


async def _always(asked: Confirmation) -> Approval:
    await asyncio.sleep(0.01)
    return Approval("always")


def _approval_of(editor: Editor, approve: Any) -> Approval:
    return asyncio.run(asyncio.wait_for(approval_of(editor, ASKED, approve), 10))


@pytest.mark.parametrize("approve", [None, _no_answer])
@pytest.mark.parametrize(
    ("update", "approval"),
    [
        (DiffUpdate("accepted"), Approval("once")),
        (DiffUpdate("accepted", "new"), Approval("once")),
        (DiffUpdate("accepted", "mine"), Approval("once", wanted="mine")),
        (DiffUpdate("rejected"), Approval("no", why="the user refused the edit in the editor")),
    ],
)
def test_the_answer_of_the_editor_counts(update: DiffUpdate, approval: Approval, approve: Any) -> None:
    assert _approval_of(Editor(update), approve) == approval


def test_an_answer_at_the_terminal_closes_the_editor() -> None:
    editor = Editor(None)
    assert _approval_of(editor, _always) == Approval("always") and editor.closed


def test_if_the_editor_fails_the_person_answers_at_the_terminal() -> None:
    assert _approval_of(Editor(OSError("gone")), _always) == Approval("always")


class Edits(FakeTool):
    async def confirm(self, arguments: Any, around: Any) -> Confirmation | None:
        return ASKED

    async def run(self, arguments: Any, around: Any) -> Outcome:
        self.runs.append({"wanted": around.wanted})
        return Outcome("done", "done")


def test_a_run_shows_the_edit_and_uses_the_persons_text() -> None:
    tool, editor = Edits("edit", kind="edit"), Editor(DiffUpdate("accepted", "mine"))
    model = ScriptedModel(answer_of(call("a", "edit")), answer_of("Done."))
    run_events(loop(model, [tool], policy=Policy("ask"), diffs=editor), new_session())
    assert (tool.runs, editor.shown) == ([{"wanted": "mine"}], [DIFF])


def test_an_edit_that_needs_no_approval_is_not_shown() -> None:
    tool, editor = Edits("edit", kind="edit"), Editor(None)
    run_events(
        loop(
            ScriptedModel(answer_of(call("a", "edit")), answer_of("Done.")), [tool], policy=Policy("all"), diffs=editor
        ),
        new_session(),
    )
    assert len(tool.runs) == 1 and editor.shown == []
