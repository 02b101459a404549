"""A run that ends anywhere can be taken up from JSON; one that is stopped leaves a history that any upstream takes."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import msgspec
import pytest

from dragoman import lint
from dragoman.canon import Finish, PartDelta, PartEnd, PartStart, Reasoning, Seal, Start, Stop, ToolCall, ToolResult
from dragoman.dialects import names
from dragoman.runtime.events import Finished, Lost
from dragoman.runtime.history import INTERRUPTED, NOT_RUN
from dragoman.runtime.loop import Loop
from dragoman.runtime.resumable_conversation import Session
from dragoman.runtime.seals_ids_and_names_for_upstream import exported
from dragoman.runtime.toolbox import Approval
from tests.unit.agent.helpers import Plain, Scripted, begun, call, loop, ran, says

SEAL = Seal("anthropic", "c2VhbA==", model="m")


def _tools() -> list[Plain]:
    return [Plain("look"), Plain("change", kind="edit")]


def _model() -> Scripted:
    return Scripted(
        says(Reasoning("Hm.", seal=SEAL), "I look.", call("a", "look"), call("b", "look", '{"n":2}')),
        says(call("c", "change"), call("d", "look", '{"n":3}')),
        says("Done."),
    )


def _outcome() -> tuple[Session, int]:
    session = begun()
    happened = ran(loop(_model(), _tools()), session)
    session.seconds = 0.0
    return session, len(happened)


WHOLE, LENGTH = _outcome()


@pytest.mark.parametrize("at", range(LENGTH))
def test_left_and_taken_up_anywhere_it_comes_to_the_same(at: int) -> None:
    session = begun()
    tools = _tools()
    ran(loop(_model(), tools), session, at)
    again = Session.from_json(session.to_json())
    assert again == session
    happened = ran(loop(_model(), tools), again)
    assert isinstance(happened[-1], Finished)
    assert again.turns == WHOLE.turns and again.step == "idle"
    assert len(tools[1].runs) == 1, "what changes something is done once"


def test_paused_after_every_step_it_comes_to_the_same() -> None:
    async def run(session: Session) -> Any:
        one: Loop = loop(_model(), tools)
        last: Any = None
        async with aclosing(one.run(session)) as happenings:
            async for happening in happenings:
                last = happening
                one.pause()
        return last

    session, tools = begun(), _tools()
    reasons = []
    while session.step != "idle":
        last = asyncio.run(run(session))
        reasons.append(last.finish_reason)
        session = Session.from_json(session.to_json())
    assert reasons == ["paused"] * 3 + ["stop"], "an answer of nothing but calls tells nothing by itself"
    assert session.turns == WHOLE.turns
    assert [len(tool.runs) for tool in tools] == [3, 1]


def test_what_may_have_changed_something_is_not_done_twice() -> None:
    async def left() -> None:
        started = asyncio.Event()

        async def work(arguments: Any) -> str:
            started.set()
            await asyncio.Event().wait()
            return ""

        task = asyncio.create_task(_all(loop(model, [Plain("work", work, "run")], save=saved.append), session))
        await started.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    saved: list[Session] = []
    model = Scripted(says(call("a", "work")), says("Then not."))
    session = begun()
    asyncio.run(left())
    assert saved and session.started == ["a"]
    again = Session.from_json(session.to_json())
    tool = Plain("work", kind="run")
    ran(loop(model, [tool]), again)
    assert tool.runs == []
    (result,) = _results(again)
    assert result.is_error and result.parts[0].text == INTERRUPTED  # type: ignore[attr-defined]


async def _all(one: Loop, session: Session) -> None:
    async with aclosing(one.run(session)) as happenings:
        async for _ in happenings:
            pass


def _results(session: Session) -> list[ToolResult]:
    return [part for turn in session.turns for part in turn.parts if isinstance(part, ToolResult)]


@pytest.mark.parametrize("at", range(LENGTH))
def test_stopped_anywhere_the_history_is_whole(at: int) -> None:
    session = begun()
    ran(loop(_model(), _tools()), session, at)
    session.interrupt()
    assert session.step == "idle"
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert [result.call_id for result in _results(session)] == calls
    assert all(result.is_error is (result.parts[0].text in (NOT_RUN, INTERRUPTED)) for result in _results(session))  # type: ignore[attr-defined]
    session.say("Go on.")
    for dialect in names():
        body, _ = exported(session.request(), dialect, "m")
        grave = [one for one in lint(body, dialect=dialect, kind="request") if one.severity == "error"]
        assert grave == [], dialect


def test_a_run_that_is_left_closes_the_stream() -> None:
    model = _model()
    ran(loop(model, _tools()), begun(), 2)
    assert model.closed == 1


def test_a_stranger_is_no_session() -> None:
    from dragoman.errors import ConfigError

    with pytest.raises(ConfigError, match="cannot be read"):
        Session.from_json(b'{"id": 1}')
    with pytest.raises(ConfigError, match="version"):
        Session.from_json(b'{"id": "a", "version": 9}')


def test_left_where_a_loss_is_told_the_answer_is_written_down_whole() -> None:
    """A call breaks off beside one that does not: told so, the consumer leaves."""
    events = [
        Start(),
        PartStart(0, call("a", "look", "")),
        PartDelta(0, "{}"),
        PartEnd(0),
        PartStart(1, call("b", "look", "")),
        PartDelta(1, '{"n":'),
        PartEnd(1, cut=True),
        Finish(Stop("length")),
    ]
    session = begun()
    happened = ran(loop(Scripted(events, says("Never.")), _tools()), session, 1)
    assert [type(one) for one in happened] == [Lost]
    session.interrupt()
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert calls == ["a"] == [result.call_id for result in _results(session)]


def test_stored_sessions_keep_the_older_names_of_two_fields() -> None:
    session = Session(id="s", partial_text="It is", reported_losses=[("seal.dropped", "/messages/1", "")])
    stored = msgspec.to_builtins(session)
    assert (stored["said"], stored["told"]) == ("It is", [("seal.dropped", "/messages/1", "")])
    assert Session.from_json(session.to_json()) == session
    assert msgspec.to_builtins(Approval("once")) == {"said": "once", "wanted": None, "why": ""}
