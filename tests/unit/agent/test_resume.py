"""A run can be resumed from JSON at any point. A stopped run leaves a history that every upstream accepts."""

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
from dragoman.runtime.seals_ids_and_names_for_upstream import export_request
from dragoman.runtime.toolbox import Approval
from tests.unit.agent.helpers import FakeTool, ScriptedModel, answer_of, call, loop, new_session, run_events

SEAL = Seal("anthropic", "c2VhbA==", model="m")


def _tools() -> list[FakeTool]:
    return [FakeTool("look"), FakeTool("change", kind="edit")]


def _model() -> ScriptedModel:
    return ScriptedModel(
        answer_of(Reasoning("Hm.", seal=SEAL), "I look.", call("a", "look"), call("b", "look", '{"n":2}')),
        answer_of(call("c", "change"), call("d", "look", '{"n":3}')),
        answer_of("Done."),
    )


def _outcome() -> tuple[Session, int]:
    session = new_session()
    events = run_events(loop(_model(), _tools()), session)
    session.seconds = 0.0
    return session, len(events)


WHOLE, LENGTH = _outcome()


@pytest.mark.parametrize("at", range(LENGTH))
def test_a_run_resumed_at_any_event_has_the_same_outcome(at: int) -> None:
    session = new_session()
    tools = _tools()
    run_events(loop(_model(), tools), session, at)
    restored = Session.from_json(session.to_json())
    assert restored == session
    events = run_events(loop(_model(), tools), restored)
    assert isinstance(events[-1], Finished)
    assert restored.turns == WHOLE.turns and restored.step == "idle"
    assert len(tools[1].runs) == 1, "a tool that changes something runs once"


def test_a_run_paused_after_every_step_has_the_same_outcome() -> None:
    async def run(session: Session) -> Any:
        one: Loop = loop(_model(), tools)
        last: Any = None
        async with aclosing(one.run(session)) as stream:
            async for event in stream:
                last = event
                one.pause()
        return last

    session, tools = new_session(), _tools()
    reasons = []
    while session.step != "idle":
        last = asyncio.run(run(session))
        reasons.append(last.finish_reason)
        session = Session.from_json(session.to_json())
    assert reasons == ["paused"] * 3 + ["stop"], "the run pauses after each step"
    assert session.turns == WHOLE.turns
    assert [len(tool.runs) for tool in tools] == [3, 1]


def test_an_interrupted_call_that_changes_something_is_not_repeated() -> None:
    async def leave_during_call() -> None:
        started = asyncio.Event()

        async def work(arguments: Any) -> str:
            started.set()
            await asyncio.Event().wait()
            return ""

        task = asyncio.create_task(_all(loop(model, [FakeTool("work", work, "run")], save=saved.append), session))
        await started.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    saved: list[Session] = []
    model = ScriptedModel(answer_of(call("a", "work")), answer_of("Then not."))
    session = new_session()
    asyncio.run(leave_during_call())
    assert saved and session.started == ["a"]
    restored = Session.from_json(session.to_json())
    tool = FakeTool("work", kind="run")
    run_events(loop(model, [tool]), restored)
    assert tool.runs == []
    (result,) = _results(restored)
    assert result.is_error and result.parts[0].text == INTERRUPTED  # type: ignore[attr-defined]


async def _all(one: Loop, session: Session) -> None:
    async with aclosing(one.run(session)) as stream:
        async for _ in stream:
            pass


def _results(session: Session) -> list[ToolResult]:
    return [part for turn in session.turns for part in turn.parts if isinstance(part, ToolResult)]


@pytest.mark.parametrize("at", range(LENGTH))
def test_a_run_stopped_at_any_event_has_a_complete_history(at: int) -> None:
    session = new_session()
    run_events(loop(_model(), _tools()), session, at)
    session.interrupt()
    assert session.step == "idle"
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert [result.call_id for result in _results(session)] == calls
    assert all(result.is_error is (result.parts[0].text in (NOT_RUN, INTERRUPTED)) for result in _results(session))  # type: ignore[attr-defined]
    session.say("Go on.")
    for dialect in names():
        body, _ = export_request(session.request(), dialect, "m")
        errors = [one for one in lint(body, dialect=dialect, kind="request") if one.severity == "error"]
        assert errors == [], dialect


def test_an_abandoned_run_closes_the_stream() -> None:
    model = _model()
    run_events(loop(model, _tools()), new_session(), 2)
    assert model.closed == 1


def test_invalid_json_is_no_session() -> None:
    from dragoman.errors import ConfigError

    with pytest.raises(ConfigError, match="cannot be read"):
        Session.from_json(b'{"id": 1}')
    with pytest.raises(ConfigError, match="version"):
        Session.from_json(b'{"id": "a", "version": 9}')


def test_a_run_left_at_a_loss_keeps_the_complete_calls() -> None:
    """One of two calls is incomplete. The consumer leaves after the event with the loss."""
    model_events = [
        Start(),
        PartStart(0, call("a", "look", "")),
        PartDelta(0, "{}"),
        PartEnd(0),
        PartStart(1, call("b", "look", "")),
        PartDelta(1, '{"n":'),
        PartEnd(1, cut=True),
        Finish(Stop("length")),
    ]
    session = new_session()
    events = run_events(loop(ScriptedModel(model_events, answer_of("Never.")), _tools()), session, 1)
    assert [type(one) for one in events] == [Lost]
    session.interrupt()
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert calls == ["a"] == [result.call_id for result in _results(session)]


def test_stored_sessions_keep_the_older_names_of_two_fields() -> None:
    session = Session(id="s", partial_text="It is", reported_losses=[("seal.dropped", "/messages/1", "")])
    stored = msgspec.to_builtins(session)
    assert (stored["said"], stored["told"]) == ("It is", [("seal.dropped", "/messages/1", "")])
    assert Session.from_json(session.to_json()) == session
    assert msgspec.to_builtins(Approval("once")) == {"said": "once", "wanted": None, "why": ""}
