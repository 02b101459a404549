"""The loop: the order of its events, the history that it keeps, and its ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman.canon import Fault, Finish, Loss, Reasoning, Request, Seal, Stop, Text, ToolCall, ToolResult, Turn, Usage
from dragoman.canon.events import PartDelta, PartEnd, PartStart, Start
from dragoman.runtime.events import (
    Compressed,
    Content,
    Failed,
    Finished,
    Lost,
    Retrying,
    RunEvent,
    Thought,
    ToolCallProgress,
    ToolCallRequest,
    ToolCallResponse,
    Waiting,
    as_line,
)
from dragoman.runtime.history import INTERRUPTED, NOT_RUN, text_of
from dragoman.runtime.loop import Limits
from dragoman.runtime.policy import Policy
from dragoman.runtime.resumable_conversation import Session
from dragoman.runtime.system_prompt_and_first_turns import opening_turns
from dragoman.runtime.tool_interface import Outcome, ToolEnvironment, ToolError
from dragoman.runtime.toolbox import Approval
from tests.unit.agent.helpers import (
    FakeTool,
    ModelByRequestNumber,
    ScriptedAnswer,
    ScriptedModel,
    answer_of,
    call,
    loop,
    new_session,
    roles,
    run_events,
)

SEAL = Seal("anthropic", "s1", model="m")


def _kinds(events: list[RunEvent]) -> list[str]:
    return [type(one).__name__ for one in events]


def _end(events: list[RunEvent]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    return last


def _results(session: Session) -> list[ToolResult]:
    return [part for turn in session.turns for part in turn.parts if isinstance(part, ToolResult)]


def test_the_loop_runs_calls_until_the_model_stops() -> None:
    thought = Reasoning("**Looking** at both", seal=SEAL)
    model = ScriptedModel(answer_of(thought, call("c1", "weather", '{"city":"Paris"}')), answer_of("Paris is warmer."))
    weather = FakeTool("weather")
    session = new_session()
    run = run_events(loop(model, [weather]), session)
    assert _kinds(run) == ["Thought", "ToolCallRequest", "ToolCallResponse", "Content", "Finished"]
    assert run[0] == Thought("Looking", "at both")
    assert run[1] == ToolCallRequest("c1", "weather", {"city": "Paris"}, False, "s1#turn-1")
    assert weather.runs == [{"city": "Paris"}]
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert [request.turns for request in model.requests] == [session.turns[:1], session.turns[:3]]
    assert [tool.name for tool in model.requests[0].tools if not hasattr(tool, "dialect")] == ["weather"]
    assert _end(run).finish_reason == "stop" and _end(run).usage.input == 20
    assert session.step == "idle"


def test_an_event_is_a_line_of_json_with_the_field_names_of_gemini_cli() -> None:
    line = as_line(ToolCallRequest("c1", "weather", {"city": "Paris"}, False, "p"))
    want = b'{"type":"tool_call_request","callId":"c1","name":"weather","args":{"city":"Paris"},'
    assert line == want + b'"isClientInitiated":false,"prompt_id":"p"}\n'
    assert b'"finishReason":"stop"' in as_line(Finished("stop"))
    done = as_line(ToolCallResponse("c1", "weather", (ToolResult("c1", (Text("x"),)),)))
    wire = b'"responseParts":[{"functionResponse":{"id":"c1","name":"weather","response":{"output":"x"}}}]'
    assert b'"type":"tool_call_response","callId":"c1"' in done and wire in done


def test_calls_that_only_read_run_in_parallel_and_results_keep_their_order() -> None:
    gate: list[asyncio.Event] = []

    async def slow(arguments: Mapping[str, Any]) -> str:
        if arguments["n"] == 1:
            gate.append(asyncio.Event())
            await gate[0].wait()
        else:
            while not gate:
                await asyncio.sleep(0)
            gate[0].set()
        return str(arguments["n"])

    tool = FakeTool("look", slow)
    model = ScriptedModel(answer_of(call("a", "look", '{"n":1}'), call("b", "look", '{"n":2}')), answer_of("Done."))
    session = new_session()
    run = run_events(loop(model, [tool]), session)
    assert tool.most_at_once == 2
    assert [one.call_id for one in run if isinstance(one, ToolCallResponse)] == ["b", "a"]
    assert [result.call_id for result in _results(session)] == ["a", "b"]
    assert [result.parts[0] for result in _results(session)] == [
        Text("1", at=("turns", 2, "parts", 0, "parts", 0)),
        Text("2", at=("turns", 2, "parts", 1, "parts", 0)),
    ]


def test_calls_that_change_something_run_one_by_one() -> None:
    tool = FakeTool("change", kind="edit")
    model = ScriptedModel(answer_of(call("a", "change"), call("b", "change"), call("c", "change")), answer_of("Done."))
    run_events(loop(model, [tool]), new_session())
    assert len(tool.runs) == 3 and tool.most_at_once == 1


def test_every_error_of_a_call_becomes_a_result() -> None:
    fails = FakeTool("fails", lambda _: ToolError("file_not_found", "File not found."))
    breaks = FakeTool("breaks", lambda _: {}["nothing"])
    answer = answer_of(call("a", "fails"), call("b", "breaks"), call("c", "unknown"), call("d", "fails", '{"x":'))
    session = new_session()
    run = run_events(loop(ScriptedModel(answer, answer_of("So it is.")), [fails, breaks]), session)
    assert [result.is_error for result in _results(session)] == [True] * 4
    kinds = {one.call_id: one.error_type for one in run if isinstance(one, ToolCallResponse)}
    assert kinds == {
        "a": "file_not_found",
        "b": "execution_failed",
        "c": "tool_not_registered",
        "d": "invalid_tool_params",
    }


def test_progress_of_a_running_tool_is_an_event() -> None:
    class Slow(FakeTool):
        async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
            around.report("half of it")
            return Outcome("all of it")

    run = run_events(
        loop(ScriptedModel(answer_of(call("a", "slow")), answer_of("Done.")), [Slow("slow")]), new_session()
    )
    assert ToolCallProgress("a", "half of it") in run


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(Limits(turns=2), "turns"), (Limits(tokens=20), "tokens"), (Limits(seconds=1e-9), "seconds")],
    ids=["turns", "tokens", "seconds"],
)
def test_a_limit_ends_the_run_with_a_complete_history(limits: Limits, reason: str) -> None:
    model = ScriptedModel(*[answer_of(call(f"c{n}", "look", f'{{"n":{n}}}')) for n in range(9)])
    session = new_session()
    run = run_events(loop(model, [FakeTool("look")], limits=limits), session)
    assert _end(run).finish_reason == reason
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert [result.call_id for result in _results(session)] == calls
    assert session.step == "idle"


def test_the_time_limit_interrupts_a_running_tool() -> None:
    async def for_ever(arguments: Mapping[str, Any]) -> str:
        await asyncio.Event().wait()
        return ""

    tool = FakeTool("work", for_ever, kind="run")
    session = new_session()
    run = run_events(loop(ScriptedModel(answer_of(call("a", "work"))), [tool], limits=Limits(seconds=0.2)), session)
    assert _end(run).finish_reason == "seconds"
    assert tool.at_once == 0
    assert [(result.is_error, result.parts[0].text) for result in _results(session)] == [(True, INTERRUPTED)]  # type: ignore[attr-defined]


def test_repeated_equal_calls_end_the_run() -> None:
    session = new_session()
    tool = FakeTool("look")
    answers = [answer_of(call(f"c{n}", "look", '{"n":1}')) for n in range(9)]
    run = run_events(loop(ScriptedModel(*answers), [tool]), session)
    assert _end(run).finish_reason == "loop"
    assert len(tool.runs) == 4
    assert _results(session)[-1].parts[0].text == NOT_RUN  # type: ignore[attr-defined]


def test_different_calls_do_not_end_the_run() -> None:
    answers = [answer_of(call(f"c{n}", "look", f'{{"n":{n}}}')) for n in range(9)]
    run = run_events(loop(ScriptedModel(*answers, answer_of("Done.")), [FakeTool("look")]), new_session())
    assert _end(run).finish_reason == "stop"


def test_repeated_equal_words_end_the_run() -> None:
    words = "I will try this once more. "
    events = [Start(), PartStart(0, Text("")), *[PartDelta(0, words) for _ in range(500)]]
    model = ScriptedModel(events)
    session = new_session()
    run = run_events(loop(model), session)
    assert _end(run).finish_reason == "loop"
    contents = [one for one in run if isinstance(one, Content)]
    assert 10 <= len(contents) < 20
    assert model.closed == 1
    assert roles(session) == ["user", "assistant"]


def test_tables_and_long_texts_do_not_end_the_run() -> None:
    table = "".join([f"| {n} | {'-' * 30} |\n" for n in range(40)]) + "=" * 400
    run = run_events(loop(ScriptedModel(answer_of(table))), new_session())
    assert _end(run).finish_reason == "stop"


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_repeated_lines_of_code_do_not_end_the_run(size: int) -> None:
    def ends(text: str) -> str:
        pieces = [PartDelta(0, text[n : n + size]) for n in range(0, len(text), size)]
        events = [Start(), PartStart(0, Text("")), *pieces, PartEnd(0), Finish(Stop("stop"))]
        return _end(run_events(loop(ScriptedModel(events)), new_session())).finish_reason

    code = "Here it is:\n```python\n" + "    print('the same line')\n" * 30 + "```\n"
    assert ends(code) == "stop"
    assert ends("\n".join([code, *["I will try this once more."] * 30])) == "loop"


def test_an_incomplete_call_is_dropped_and_reported() -> None:
    events = [
        Start(),
        PartStart(0, Text("")),
        PartDelta(0, "I write it."),
        PartEnd(0),
        PartStart(1, call("c1", "write", "")),
        PartDelta(1, '{"text": "half of'),
        PartEnd(1, cut=True),
    ]
    tool = FakeTool("write", kind="edit")
    session = new_session()
    run = run_events(loop(ScriptedModel([*events, Finish(Stop("length"))]), [tool]), session)
    assert _end(run).finish_reason == "length"
    assert tool.runs == []
    assert [loss.code for one in run if isinstance(one, Lost) for loss in one.losses] == ["call.truncated"]
    assert session.turns[-1].parts == (Text("I write it.", at=("turns", 1, "parts", 0)),)


def test_the_history_keeps_no_unsealed_thoughts_and_no_empty_parts() -> None:
    """Thoughts without a seal and empty texts are removed. An empty answer adds no turn."""
    sealed = Reasoning("Hm.", seal=SEAL)
    answer = answer_of(Reasoning("Nobody wants this back."), sealed, "", call("c1", "look"))
    session = new_session()
    run = run_events(
        loop(ModelByRequestNumber(answer, answer_of("", Reasoning("Only thought."))), [FakeTool("look")]), session
    )
    assert [type(part) for part in session.turns[1].parts] == [Reasoning, ToolCall]
    assert session.turns[1].parts[0].seal == SEAL
    assert _end(run).finish_reason == "empty"
    assert roles(session) == ["user", "assistant", "tool"]


def test_temporary_faults_are_retried() -> None:
    busy = Fault("overloaded", "busy", 529, retry_after=0.0)
    run = run_events(loop(ModelByRequestNumber(busy, busy, answer_of("Now."))), new_session())
    assert _kinds(run) == ["Retrying", "Retrying", "Content", "Finished"]


def test_a_permanent_fault_ends_the_run_and_the_run_can_be_resumed() -> None:
    wrong = Fault("auth", "no", 401)
    session = new_session()
    run = run_events(loop(ModelByRequestNumber(wrong)), session)
    assert run == [Failed(wrong), Finished("fault", session.spent, "no", session.cost)]
    assert session.step == "ask"
    assert _kinds(run_events(loop(ScriptedModel(answer_of("Yes."))), session)) == ["Content", "Finished"]


def test_a_very_long_retry_time_ends_the_run() -> None:
    run = run_events(loop(ModelByRequestNumber(Fault("rate_limit", "later", 429, retry_after=3600.0))), new_session())
    assert _kinds(run) == ["Failed", "Finished"]


def test_a_shown_answer_is_not_requested_again() -> None:
    broken = [Start(), PartStart(0, Text("")), PartDelta(0, "Half of"), Fault("upstream_bad", "cut", 502)]
    session = new_session()
    run = run_events(loop(ModelByRequestNumber(broken, answer_of("Never."))), session)
    assert _kinds(run) == ["Content", "Failed", "Finished"]
    session.say("Go on.")
    assert [turn.role for turn in session.turns] == ["user", "assistant", "user"]
    assert session.turns[1].parts[0].text == "Half of"  # type: ignore[attr-defined]


def test_a_long_history_is_compressed() -> None:
    long = "word " * 400
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text(long),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    model = ModelByRequestNumber(answer_of("They talked."), answer_of("Fine."), window=4000)
    run = run_events(loop(model), session)
    assert _kinds(run) == ["Compressed", "Content", "Finished"]
    first = run[0]
    assert isinstance(first, Compressed) and first.tokens_after < first.tokens_before
    summed = model.requests[0]
    assert summed.turns[0].role == "system" and summed.turns[-1].role == "user"
    assert "They talked." in session.turns[0].parts[0].text  # type: ignore[attr-defined]
    assert roles(session)[:3] == ["user", "assistant", "user"]
    assert session.turns[-2].parts[0].text == "And now?"  # type: ignore[attr-defined]
    assert [turn.at for turn in session.turns] == [("turns", n) for n in range(len(session.turns))]


def test_a_long_task_is_compressed_between_its_steps() -> None:
    long = "word " * 400

    class Summing(ModelByRequestNumber):
        def _answer(self, request: Request) -> ScriptedAnswer:
            if request.turns[0].role == "system":
                return answer_of("Some were looked at.")
            return (
                answer_of("Done.")
                if len(self.requests) > 8
                else answer_of(call(f"c{len(self.requests)}", "look"), usage=None)
            )

    model = Summing(answer_of(""), window=3000)
    session = new_session()
    run = run_events(loop(model, [FakeTool("look", lambda _: long)], limits=Limits(same_calls=0)), session)
    assert "Compressed" in _kinds(run) and _end(run).finish_reason == "stop"
    assert roles(session)[:3] == ["user", "assistant", "tool"]
    words = [part.text for part in session.turns[0].parts if isinstance(part, Text)]
    assert "Some were looked at." in words[0] and words[1] == "Is Paris warmer than Rome?"
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert calls and [result.call_id for result in _results(session)] == calls


def test_repeated_compression_keeps_the_opening_and_only_the_newest_summary() -> None:
    class Summing(ModelByRequestNumber):
        summaries = 0

        def _answer(self, request: Request) -> ScriptedAnswer:
            if request.turns[0].role == "system":
                self.summaries += 1
                return answer_of(f"Summary {self.summaries}.")
            return (
                answer_of("Done.")
                if len(self.requests) > 16
                else answer_of(call(f"c{len(self.requests)}", "look"), usage=None)
            )

    model = Summing(answer_of(""), window=3000)
    session = Session(id="s1", model="test/model")
    session.turns = opening_turns((Path("/where/it/is"),), date(2026, 11, 15))
    session.say("Is Paris warmer than Rome?")
    run_events(loop(model, [FakeTool("look", lambda _: "word " * 400)], limits=Limits(same_calls=0)), session)
    assert model.summaries > 1
    assert roles(session)[:5] == ["user", "assistant", "user", "assistant", "tool"]
    assert "/where/it/is" in text_of(session.turns[0].parts)
    first, *words = [part.text for part in session.turns[2].parts if isinstance(part, Text)]
    assert f"Summary {model.summaries}." in first and words == ["Is Paris warmer than Rome?"]


def test_the_users_turn_is_saved_before_the_request() -> None:
    kept: list[bytes] = []
    model = ScriptedModel(answer_of("Yes."))

    class Late(ScriptedModel):
        async def ask(self, request: Request, report: Any) -> Any:
            assert b"Is Paris warmer than Rome?" in kept[-1]
            async for event in model.ask(request, report):
                yield event

    run = run_events(loop(Late(), save=lambda session: kept.append(session.to_json())), new_session())
    assert _end(run).finish_reason == "stop"
    kept.clear()
    with pytest.raises(KeyError):
        run_events(loop(model, save=lambda session: kept.append(session.to_json())), new_session(model="nobody/m"))
    assert kept == [], "a session with an unknown model is not saved"


def test_a_history_that_the_upstream_refuses_as_too_long_is_compressed() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    model = ModelByRequestNumber(
        Fault("context_too_long", "too long", 400), answer_of("They talked."), answer_of("Fine.")
    )
    assert _kinds(run_events(loop(model), session)) == ["Compressed", "Content", "Finished"]


def test_if_the_summary_request_is_too_long_a_shorter_part_is_summarised() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(8) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    much = Fault("context_too_long", "too long", 400)
    model = ModelByRequestNumber(much, much, answer_of("They talked."), answer_of("Fine."))
    assert _kinds(run_events(loop(model), session)) == ["Compressed", "Content", "Finished"]
    assert len(model.requests[2].turns) < len(model.requests[1].turns) < len(model.requests[0].turns) + 2


def test_a_history_that_is_too_long_after_compression_ends_the_run() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(8) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    much = Fault("context_too_long", "too long", 400)
    model = ModelByRequestNumber(much, answer_of("They talked."), much)
    assert _kinds(run_events(loop(model), session)) == ["Compressed", "Failed", "Finished"]
    assert len(model.requests) == 3


def test_a_history_below_seventy_percent_of_the_window_is_not_compressed() -> None:
    for held, kinds in ((2799, ["Content", "Finished"]), (2801, ["Compressed", "Content", "Finished"])):
        session = Session(id="s1", model="test/model")
        session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
        session.say("And now?")
        session.held = held
        model = ModelByRequestNumber(
            *([answer_of("They talked.")] if held > 2800 else []), answer_of("Fine."), window=4000
        )
        assert _kinds(run_events(loop(model), session)) == kinds


def test_the_cost_of_all_requests_is_added_up() -> None:
    session = new_session()
    run = run_events(
        loop(ScriptedModel(answer_of(call("a", "look")), answer_of("Warmer.")), [FakeTool("look")]), session
    )
    cost = 2 * (10 * 1.0 + 5 * 2.0) / 1_000_000
    assert run[-1] == Finished("stop", Usage(20, 10), cost=pytest.approx(cost))


def test_one_unknown_cost_makes_the_sum_unknown_and_a_reported_cost_is_used() -> None:
    unknown = run_events(
        loop(ScriptedModel(answer_of(call("a", "look")), answer_of("Warmer.", usage=None)), [FakeTool("look")]),
        new_session(),
    )
    assert unknown[-1].cost is None  # type: ignore[union-attr]
    reported = Usage(10, 5, extra={"openrouter": {"cost": msgspec.Raw(b"0.25")}})
    assert run_events(loop(ScriptedModel(answer_of("Warmer.", usage=reported))), new_session())[-1].cost == 0.25  # type: ignore[union-attr]


def test_a_summary_that_is_not_shorter_is_not_used() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    before = session.turns
    model = ModelByRequestNumber(Fault("context_too_long", "too long", 400), answer_of("word " * 5000))
    assert _kinds(run_events(loop(model), session)) == ["Failed", "Finished"]
    assert session.turns == before


def test_a_call_that_is_not_allowed_is_refused_with_a_result() -> None:
    tool = FakeTool("change", kind="edit", asks=True)
    session = new_session()
    run = run_events(
        loop(ScriptedModel(answer_of(call("a", "change")), answer_of("Then not.")), [tool], policy=Policy("ask")),
        session,
    )
    assert tool.runs == []
    (response,) = [one for one in run if isinstance(one, ToolCallResponse)]
    assert (response.error_type, response.decision) == ("denied", "reject")
    assert "nobody to ask" in _results(session)[0].parts[0].text  # type: ignore[attr-defined]


def test_a_person_approves_a_call_and_always_is_remembered() -> None:
    confirmed: list[str] = []

    async def approve(confirmation: Any) -> Approval:
        confirmed.append(confirmation.title)
        return Approval("always")

    tool = FakeTool("change", kind="edit", asks=True)
    answer = answer_of(call("a", "change"), call("b", "change"))
    policy = Policy("ask")
    run = run_events(
        loop(ScriptedModel(answer, answer_of("Done.")), [tool], policy=policy, approve=approve), new_session()
    )
    assert confirmed == ["run change"] and len(tool.runs) == 2 and policy.allow == ["change"]
    decisions = [one.decision for one in run if isinstance(one, ToolCallResponse)]
    assert decisions == ["accept", "auto_accept"]


def test_a_call_can_wait_for_an_approval_in_another_process() -> None:
    def new_loop() -> Any:
        return loop(model, [tool, FakeTool("look")], policy=Policy("ask"), defer=True)

    tool = FakeTool("change", kind="edit", asks=True)
    model = ScriptedModel(answer_of(call("a", "look"), call("b", "change")), answer_of("Done."))
    session = new_session()
    run = run_events(new_loop(), session)
    assert _kinds(run)[-2:] == ["Waiting", "Finished"]
    assert _end(run).finish_reason == "approval"
    waiting = run[-2]
    assert isinstance(waiting, Waiting) and waiting.asked.title == "run change"
    restored = Session.from_json(session.to_json())
    assert restored == session
    assert _end(run_events(new_loop(), restored)).finish_reason == "approval"
    restored.approvals["b"] = Approval("once")
    assert _end(run_events(new_loop(), restored)).finish_reason == "stop"
    assert len(tool.runs) == 1
    assert [result.call_id for result in _results(restored)] == ["a", "b"]


def test_a_loss_is_reported_once() -> None:
    loss = Loss("seal.dropped", "dropped", "warning", "/turns/1/parts/0")

    class Losing(ScriptedModel):
        async def ask(self, request: Any, report: Any) -> Any:
            report((loss,))
            async with aclosing(super().ask(request, report)) as events:
                async for event in events:
                    yield event

    run = run_events(loop(Losing(answer_of(call("a", "look")), answer_of("Done.")), [FakeTool("look")]), new_session())
    assert [one for one in run if isinstance(one, Lost)] == [Lost((loss,))]


def test_a_retry_event_has_the_fault() -> None:
    busy = Fault("overloaded", "busy", 529, retry_after=0.0)
    first = run_events(loop(ModelByRequestNumber(busy, answer_of("Now."))), new_session())[0]
    assert isinstance(first, Retrying) and first.fault == busy


def test_after_a_pause_the_model_gets_another_request() -> None:
    run = run_events(
        loop(ModelByRequestNumber(answer_of("One moment.", stop="pause"), answer_of("Here it is."))), new_session()
    )
    assert [one.value for one in run if isinstance(one, Content)] == ["One moment.", "Here it is."]
