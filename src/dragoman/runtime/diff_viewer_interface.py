"""Owns the interface of an editor that shows an edit before it is made, where the person accepts, changes or refuses
it.

No editor is built in. `Agent(diffs=...)` takes a viewer. The person is asked in the editor and by `approve`, and the
first answer counts.
"""

from __future__ import annotations

import asyncio
from typing import Literal, Protocol

from msgspec import Struct

from .tool_interface import Confirmation, FileDiff
from .toolbox import Approval, Approve


class DiffUpdate(Struct, frozen=True):
    """A person's answer in the editor. `content` is the new text, which the person may have changed."""

    status: Literal["accepted", "rejected"]
    content: str | None = None


class DiffViewer(Protocol):
    """An editor that shows edits."""

    async def open(self, diff: FileDiff, /) -> DiffUpdate:
        """Show an edit, and wait for the person's answer. Cancelled: the person has answered elsewhere, so the edit is
        closed."""
        ...


async def approval_of(viewer: DiffViewer, confirmation: Confirmation, approve: Approve | None) -> Approval:
    """The person's answer: from the editor, or from `approve`, whichever comes first."""
    assert confirmation.diff is not None
    if approve is None:
        return _read(await viewer.open(confirmation.diff), confirmation.diff)
    shown = asyncio.ensure_future(viewer.open(confirmation.diff))
    answer = asyncio.ensure_future(approve(confirmation))
    try:
        await asyncio.wait((shown, answer), return_when=asyncio.FIRST_COMPLETED)
        # If both have answered, the editor's answer counts: it may hold changes.
        if answer.done() and (not shown.done() or shown.exception() is not None):
            return answer.result()
        if shown.exception() is not None:  # without the editor, only `approve` asks the person
            return await answer
        return _read(shown.result(), confirmation.diff)
    finally:
        for task in (shown, answer):
            task.cancel()
        await asyncio.gather(shown, answer, return_exceptions=True)


def _read(update: DiffUpdate, diff: FileDiff) -> Approval:
    if update.status == "rejected":
        return Approval("no", why="the user refused the edit in the editor")
    changed = update.content if update.content is not None and update.content != diff.new else None
    return Approval("once", wanted=changed)
