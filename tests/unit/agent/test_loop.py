"""The loop: what happens in which order, what is kept of it, and where it ends."""

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
from dragoman.runtime.system_prompt import opening
from dragoman.runtime.tool_interface import Outcome, ToolEnvironment, ToolError
from dragoman.runtime.toolbox import Approval
from tests.unit.agent.helpers import InTurn, Plain, Said, Scripted, begun, call, loop, ran, roles, says

SEAL = Seal("anthropic", "s1", model="m")


def _kinds(happenings: list[RunEvent]) -> list[str]:
    return [type(one).__name__ for one in happenings]


def _end(happenings: list[RunEvent]) -> Finished:
    last = happenings[-1]
    assert isinstance(last, Finished)
    return last


def _results(session: Session) -> list[ToolResult]:
    return [part for turn in session.turns for part in turn.parts if isinstance(part, ToolResult)]


def test_calls_and_results_until_it_stops() -> None:
    thought = Reasoning("**Looking** at both", seal=SEAL)
    model = Scripted(says(thought, call("c1", "weather", '{"city":"Paris"}')), says("Paris is warmer."))
    weather = Plain("weather")
    session = begun()
    happened = ran(loop(model, [weather]), session)
    assert _kinds(happened) == ["Thought", "ToolCallRequest", "ToolCallResponse", "Content", "Finished"]
    assert happened[0] == Thought("Looking", "at both")
    assert happened[1] == ToolCallRequest("c1", "weather", {"city": "Paris"}, False, "s1#turn-1")
    assert weather.runs == [{"city": "Paris"}]
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert [request.turns for request in model.asked] == [session.turns[:1], session.turns[:3]]
    assert [tool.name for tool in model.asked[0].tools if not hasattr(tool, "dialect")] == ["weather"]
    assert _end(happened).finish_reason == "stop" and _end(happened).usage.input == 20
    assert session.step == "idle"


def test_an_event_is_a_line_of_json_with_the_fields_that_others_know() -> None:
    line = as_line(ToolCallRequest("c1", "weather", {"city": "Paris"}, False, "p"))
    want = b'{"type":"tool_call_request","callId":"c1","name":"weather","args":{"city":"Paris"},'
    assert line == want + b'"isClientInitiated":false,"prompt_id":"p"}\n'
    assert b'"finishReason":"stop"' in as_line(Finished("stop"))
    done = as_line(ToolCallResponse("c1", "weather", (ToolResult("c1", (Text("x"),)),)))
    wire = b'"responseParts":[{"functionResponse":{"id":"c1","name":"weather","response":{"output":"x"}}}]'
    assert b'"type":"tool_call_response","callId":"c1"' in done and wire in done


def test_calls_that_only_read_run_side_by_side_and_results_keep_the_order() -> None:
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

    tool = Plain("look", slow)
    model = Scripted(says(call("a", "look", '{"n":1}'), call("b", "look", '{"n":2}')), says("Done."))
    session = begun()
    happened = ran(loop(model, [tool]), session)
    assert tool.most_at_once == 2
    assert [one.call_id for one in happened if isinstance(one, ToolCallResponse)] == ["b", "a"]
    assert [result.call_id for result in _results(session)] == ["a", "b"]
    assert [result.parts[0] for result in _results(session)] == [
        Text("1", at=("turns", 2, "parts", 0, "parts", 0)),
        Text("2", at=("turns", 2, "parts", 1, "parts", 0)),
    ]


def test_calls_that_change_something_run_one_by_one() -> None:
    tool = Plain("change", kind="edit")
    model = Scripted(says(call("a", "change"), call("b", "change"), call("c", "change")), says("Done."))
    ran(loop(model, [tool]), begun())
    assert len(tool.runs) == 3 and tool.most_at_once == 1


def test_whatever_goes_wrong_with_a_call_is_a_result() -> None:
    fails = Plain("fails", lambda _: ToolError("file_not_found", "File not found."))
    breaks = Plain("breaks", lambda _: {}["nothing"])
    answer = says(call("a", "fails"), call("b", "breaks"), call("c", "unknown"), call("d", "fails", '{"x":'))
    session = begun()
    happened = ran(loop(Scripted(answer, says("So it is.")), [fails, breaks]), session)
    assert [result.is_error for result in _results(session)] == [True] * 4
    kinds = {one.call_id: one.error_type for one in happened if isinstance(one, ToolCallResponse)}
    assert kinds == {
        "a": "file_not_found",
        "b": "execution_failed",
        "c": "tool_not_registered",
        "d": "invalid_tool_params",
    }


def test_progress_is_told_while_a_tool_works() -> None:
    class Slow(Plain):
        async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
            around.report("half of it")
            return Outcome("all of it")

    happened = ran(loop(Scripted(says(call("a", "slow")), says("Done.")), [Slow("slow")]), begun())
    assert ToolCallProgress("a", "half of it") in happened


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(Limits(turns=2), "turns"), (Limits(tokens=20), "tokens"), (Limits(seconds=1e-9), "seconds")],
    ids=["turns", "tokens", "seconds"],
)
def test_a_limit_ends_it_with_a_history_that_is_whole(limits: Limits, reason: str) -> None:
    model = Scripted(*[says(call(f"c{n}", "look", f'{{"n":{n}}}')) for n in range(9)])
    session = begun()
    happened = ran(loop(model, [Plain("look")], limits=limits), session)
    assert _end(happened).finish_reason == reason
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert [result.call_id for result in _results(session)] == calls
    assert session.step == "idle"


def test_time_is_up_while_a_tool_works() -> None:
    async def for_ever(arguments: Mapping[str, Any]) -> str:
        await asyncio.Event().wait()
        return ""

    tool = Plain("work", for_ever, kind="run")
    session = begun()
    happened = ran(loop(Scripted(says(call("a", "work"))), [tool], limits=Limits(seconds=0.2)), session)
    assert _end(happened).finish_reason == "seconds"
    assert tool.at_once == 0
    assert [(result.is_error, result.parts[0].text) for result in _results(session)] == [(True, INTERRUPTED)]  # type: ignore[attr-defined]


def test_the_same_calls_again_and_again_are_a_loop() -> None:
    session = begun()
    tool = Plain("look")
    answers = [says(call(f"c{n}", "look", '{"n":1}')) for n in range(9)]
    happened = ran(loop(Scripted(*answers), [tool]), session)
    assert _end(happened).finish_reason == "loop"
    assert len(tool.runs) == 4
    assert _results(session)[-1].parts[0].text == NOT_RUN  # type: ignore[attr-defined]


def test_other_calls_are_no_loop() -> None:
    answers = [says(call(f"c{n}", "look", f'{{"n":{n}}}')) for n in range(9)]
    happened = ran(loop(Scripted(*answers, says("Done.")), [Plain("look")]), begun())
    assert _end(happened).finish_reason == "stop"


def test_the_same_words_again_and_again_are_a_loop() -> None:
    words = "I will try this once more. "
    events = [Start(), PartStart(0, Text("")), *[PartDelta(0, words) for _ in range(500)]]
    model = Scripted(events)
    session = begun()
    happened = ran(loop(model), session)
    assert _end(happened).finish_reason == "loop"
    told = [one for one in happened if isinstance(one, Content)]
    assert 10 <= len(told) < 20
    assert model.closed == 1
    assert roles(session) == ["user", "assistant"]


def test_rows_and_long_texts_are_no_loop() -> None:
    table = "".join([f"| {n} | {'-' * 30} |\n" for n in range(40)]) + "=" * 400
    happened = ran(loop(Scripted(says(table))), begun())
    assert _end(happened).finish_reason == "stop"


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_code_that_repeats_itself_is_no_loop(size: int) -> None:
    def ends(text: str) -> str:
        pieces = [PartDelta(0, text[n : n + size]) for n in range(0, len(text), size)]
        events = [Start(), PartStart(0, Text("")), *pieces, PartEnd(0), Finish(Stop("stop"))]
        return _end(ran(loop(Scripted(events)), begun())).finish_reason

    code = "Here it is:\n```python\n" + "    print('the same line')\n" * 30 + "```\n"
    assert ends(code) == "stop"
    assert ends("\n".join([code, *["I will try this once more."] * 30])) == "loop"


def test_a_call_that_breaks_off_is_left_out_and_said() -> None:
    events = [
        Start(),
        PartStart(0, Text("")),
        PartDelta(0, "I write it."),
        PartEnd(0),
        PartStart(1, call("c1", "write", "")),
        PartDelta(1, '{"text": "half of'),
        PartEnd(1, cut=True),
    ]
    tool = Plain("write", kind="edit")
    session = begun()
    happened = ran(loop(Scripted([*events, Finish(Stop("length"))]), [tool]), session)
    assert _end(happened).finish_reason == "length"
    assert tool.runs == []
    assert [loss.code for one in happened if isinstance(one, Lost) for loss in one.losses] == ["call.truncated"]
    assert session.turns[-1].parts == (Text("I write it.", at=("turns", 1, "parts", 0)),)


def test_history_is_curated() -> None:
    """Thoughts are stripped but for those under a seal, empty texts are, and an empty answer is no turn."""
    sealed = Reasoning("Hm.", seal=SEAL)
    answer = says(Reasoning("Nobody wants this back."), sealed, "", call("c1", "look"))
    session = begun()
    happened = ran(loop(InTurn(answer, says("", Reasoning("Only thought."))), [Plain("look")]), session)
    assert [type(part) for part in session.turns[1].parts] == [Reasoning, ToolCall]
    assert session.turns[1].parts[0].seal == SEAL
    assert _end(happened).finish_reason == "empty"
    assert roles(session) == ["user", "assistant", "tool"]


def test_faults_that_may_pass_are_tried_again() -> None:
    busy = Fault("overloaded", "busy", 529, retry_after=0.0)
    happened = ran(loop(InTurn(busy, busy, says("Now."))), begun())
    assert _kinds(happened) == ["Retrying", "Retrying", "Content", "Finished"]


def test_a_fault_that_stays_ends_the_run_and_it_can_be_taken_up() -> None:
    wrong = Fault("auth", "no", 401)
    session = begun()
    happened = ran(loop(InTurn(wrong)), session)
    assert happened == [Failed(wrong), Finished("fault", session.spent, "no", session.cost)]
    assert session.step == "ask"
    assert _kinds(ran(loop(Scripted(says("Yes."))), session)) == ["Content", "Finished"]


def test_an_upstream_that_asks_for_too_much_patience_is_not_waited_for() -> None:
    happened = ran(loop(InTurn(Fault("rate_limit", "later", 429, retry_after=3600.0))), begun())
    assert _kinds(happened) == ["Failed", "Finished"]


def test_what_was_shown_is_not_asked_for_again() -> None:
    broken = [Start(), PartStart(0, Text("")), PartDelta(0, "Half of"), Fault("upstream_bad", "cut", 502)]
    session = begun()
    happened = ran(loop(InTurn(broken, says("Never."))), session)
    assert _kinds(happened) == ["Content", "Failed", "Finished"]
    session.say("Go on.")
    assert [turn.role for turn in session.turns] == ["user", "assistant", "user"]
    assert session.turns[1].parts[0].text == "Half of"  # type: ignore[attr-defined]


def test_a_long_history_is_compressed() -> None:
    long = "word " * 400
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text(long),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    model = InTurn(says("They talked."), says("Fine."), window=4000)
    happened = ran(loop(model), session)
    assert _kinds(happened) == ["Compressed", "Content", "Finished"]
    first = happened[0]
    assert isinstance(first, Compressed) and first.tokens_after < first.tokens_before
    summed = model.asked[0]
    assert summed.turns[0].role == "system" and summed.turns[-1].role == "user"
    assert "They talked." in session.turns[0].parts[0].text  # type: ignore[attr-defined]
    assert roles(session)[:3] == ["user", "assistant", "user"]
    assert session.turns[-2].parts[0].text == "And now?"  # type: ignore[attr-defined]
    assert [turn.at for turn in session.turns] == [("turns", n) for n in range(len(session.turns))]


def test_a_long_task_is_compressed_between_its_steps() -> None:
    long = "word " * 400

    class Summing(InTurn):
        def _answer(self, request: Request) -> Said:
            if request.turns[0].role == "system":
                return says("Some were looked at.")
            return says("Done.") if len(self.asked) > 8 else says(call(f"c{len(self.asked)}", "look"), usage=None)

    model = Summing(says(""), window=3000)
    session = begun()
    happened = ran(loop(model, [Plain("look", lambda _: long)], limits=Limits(same_calls=0)), session)
    assert "Compressed" in _kinds(happened) and _end(happened).finish_reason == "stop"
    assert roles(session)[:3] == ["user", "assistant", "tool"]
    words = [part.text for part in session.turns[0].parts if isinstance(part, Text)]
    assert "Some were looked at." in words[0] and words[1] == "Is Paris warmer than Rome?"
    calls = [part.id for turn in session.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert calls and [result.call_id for result in _results(session)] == calls


def test_compressed_again_it_begins_where_it_is_and_with_the_newest_summary_only() -> None:
    class Summing(InTurn):
        summaries = 0

        def _answer(self, request: Request) -> Said:
            if request.turns[0].role == "system":
                self.summaries += 1
                return says(f"Summary {self.summaries}.")
            return says("Done.") if len(self.asked) > 16 else says(call(f"c{len(self.asked)}", "look"), usage=None)

    model = Summing(says(""), window=3000)
    session = Session(id="s1", model="test/model")
    session.turns = opening((Path("/where/it/is"),), date(2026, 11, 15))
    session.say("Is Paris warmer than Rome?")
    ran(loop(model, [Plain("look", lambda _: "word " * 400)], limits=Limits(same_calls=0)), session)
    assert model.summaries > 1
    assert roles(session)[:5] == ["user", "assistant", "user", "assistant", "tool"]
    assert "/where/it/is" in text_of(session.turns[0].parts)
    first, *words = [part.text for part in session.turns[2].parts if isinstance(part, Text)]
    assert f"Summary {model.summaries}." in first and words == ["Is Paris warmer than Rome?"]


def test_what_the_user_said_is_kept_before_the_model_is_asked() -> None:
    kept: list[bytes] = []
    model = Scripted(says("Yes."))

    class Late(Scripted):
        async def ask(self, request: Request, lost: Any) -> Any:
            assert b"Is Paris warmer than Rome?" in kept[-1]
            async for event in model.ask(request, lost):
                yield event

    happened = ran(loop(Late(), save=lambda session: kept.append(session.to_json())), begun())
    assert _end(happened).finish_reason == "stop"
    kept.clear()
    with pytest.raises(KeyError):
        ran(loop(model, save=lambda session: kept.append(session.to_json())), begun(model="nobody/m"))
    assert kept == [], "nothing is kept under a model that nobody has"


def test_a_history_that_the_upstream_finds_too_long_is_compressed() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    model = InTurn(Fault("context_too_long", "too long", 400), says("They talked."), says("Fine."))
    assert _kinds(ran(loop(model), session)) == ["Compressed", "Content", "Finished"]


def test_of_a_history_that_is_too_long_even_to_be_summed_up_less_is() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(8) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    much = Fault("context_too_long", "too long", 400)
    model = InTurn(much, much, says("They talked."), says("Fine."))
    assert _kinds(ran(loop(model), session)) == ["Compressed", "Content", "Finished"]
    assert len(model.asked[2].turns) < len(model.asked[1].turns) < len(model.asked[0].turns) + 2


def test_a_length_that_is_refused_after_the_compression_too_ends_the_run() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(8) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    much = Fault("context_too_long", "too long", 400)
    model = InTurn(much, says("They talked."), much)
    assert _kinds(ran(loop(model), session)) == ["Compressed", "Failed", "Finished"]
    assert len(model.asked) == 3


def test_a_history_below_seventy_percent_of_the_window_stays() -> None:
    for held, kinds in ((2799, ["Content", "Finished"]), (2801, ["Compressed", "Content", "Finished"])):
        session = Session(id="s1", model="test/model")
        session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
        session.say("And now?")
        session.held = held
        model = InTurn(*([says("They talked.")] if held > 2800 else []), says("Fine."), window=4000)
        assert _kinds(ran(loop(model), session)) == kinds


def test_the_cost_of_all_requests_is_added_up() -> None:
    session = begun()
    happened = ran(loop(Scripted(says(call("a", "look")), says("Warmer.")), [Plain("look")]), session)
    cost = 2 * (10 * 1.0 + 5 * 2.0) / 1_000_000
    assert happened[-1] == Finished("stop", Usage(20, 10), cost=pytest.approx(cost))


def test_one_unknown_cost_makes_the_sum_unknown_and_a_reported_cost_is_taken() -> None:
    unknown = ran(loop(Scripted(says(call("a", "look")), says("Warmer.", usage=None)), [Plain("look")]), begun())
    assert unknown[-1].cost is None  # type: ignore[union-attr]
    told = Usage(10, 5, extra={"openrouter": {"cost": msgspec.Raw(b"0.25")}})
    assert ran(loop(Scripted(says("Warmer.", usage=told))), begun())[-1].cost == 0.25  # type: ignore[union-attr]


def test_a_summary_that_does_not_help_is_not_taken() -> None:
    session = Session(id="s1", model="test/model")
    session.turns = tuple([Turn(role, (Text("word " * 50),)) for _ in range(4) for role in ("user", "assistant")])  # type: ignore[arg-type]
    session.say("And now?")
    before = session.turns
    model = InTurn(Fault("context_too_long", "too long", 400), says("word " * 5000))
    assert _kinds(ran(loop(model), session)) == ["Failed", "Finished"]
    assert session.turns == before


def test_what_is_not_allowed_is_refused_and_the_model_is_told() -> None:
    tool = Plain("change", kind="edit", asks=True)
    session = begun()
    happened = ran(loop(Scripted(says(call("a", "change")), says("Then not.")), [tool], policy=Policy("ask")), session)
    assert tool.runs == []
    (response,) = [one for one in happened if isinstance(one, ToolCallResponse)]
    assert (response.error_type, response.decision) == ("denied", "reject")
    assert "nobody to ask" in _results(session)[0].parts[0].text  # type: ignore[attr-defined]


def test_a_person_is_asked_and_what_they_say_for_good_is_remembered() -> None:
    asked: list[str] = []

    async def approve(confirmation: Any) -> Approval:
        asked.append(confirmation.title)
        return Approval("always")

    tool = Plain("change", kind="edit", asks=True)
    answer = says(call("a", "change"), call("b", "change"))
    policy = Policy("ask")
    happened = ran(loop(Scripted(answer, says("Done.")), [tool], policy=policy, approve=approve), begun())
    assert asked == ["run change"] and len(tool.runs) == 2 and policy.allow == ["change"]
    decisions = [one.decision for one in happened if isinstance(one, ToolCallResponse)]
    assert decisions == ["accept", "auto_accept"]


def test_a_call_waits_for_a_word_that_comes_to_another_process() -> None:
    def fresh() -> Any:
        return loop(model, [tool, Plain("look")], policy=Policy("ask"), defer=True)

    tool = Plain("change", kind="edit", asks=True)
    model = Scripted(says(call("a", "look"), call("b", "change")), says("Done."))
    session = begun()
    happened = ran(fresh(), session)
    assert _kinds(happened)[-2:] == ["Waiting", "Finished"]
    assert _end(happened).finish_reason == "approval"
    waiting = happened[-2]
    assert isinstance(waiting, Waiting) and waiting.asked.title == "run change"
    again = Session.from_json(session.to_json())
    assert again == session
    assert _end(ran(fresh(), again)).finish_reason == "approval"
    again.approvals["b"] = Approval("once")
    assert _end(ran(fresh(), again)).finish_reason == "stop"
    assert len(tool.runs) == 1
    assert [result.call_id for result in _results(again)] == ["a", "b"]


def test_a_loss_is_told_once() -> None:
    loss = Loss("seal.dropped", "dropped", "warning", "/turns/1/parts/0")

    class Losing(Scripted):
        async def ask(self, request: Any, lost: Any) -> Any:
            lost((loss,))
            async with aclosing(super().ask(request, lost)) as events:
                async for event in events:
                    yield event

    happened = ran(loop(Losing(says(call("a", "look")), says("Done.")), [Plain("look")]), begun())
    assert [one for one in happened if isinstance(one, Lost)] == [Lost((loss,))]


def test_retrying_says_why() -> None:
    busy = Fault("overloaded", "busy", 529, retry_after=0.0)
    first = ran(loop(InTurn(busy, says("Now."))), begun())[0]
    assert isinstance(first, Retrying) and first.fault == busy


def test_a_model_that_pauses_is_asked_to_go_on() -> None:
    happened = ran(loop(InTurn(says("One moment.", stop="pause"), says("Here it is."))), begun())
    assert [one.value for one in happened if isinstance(one, Content)] == ["One moment.", "Here it is."]
