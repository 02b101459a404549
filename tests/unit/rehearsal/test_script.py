"""Scripts: the choice of a step and its answer, the formats JSON and TOML, and the built-in scenarios."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import ConfigError, rehearsal
from dragoman.canon import Choice, Fault, Opaque, Reasoning, Request, Response, Stop, Text, ToolCall, Turn, Usage
from dragoman.canon.fold_and_unfold import fold
from dragoman.rehearsal import SCENARIOS, Script, Step, read_script, thinking
from dragoman.rehearsal.script import ScriptedCall, ScriptedFault, ScriptedText, ScriptedThought
from tests.unit.rehearsal.helpers import (
    TOOLS,
    WEATHER,
    calls_for,
    events,
    fault,
    next_request,
    reply_text,
    request,
    respond,
)

STORY = """
name = "story"
about = "A conversation that somebody wrote down."
otherwise = "fault"

[[steps]]
turn = 1
parts = [
  { part = "thinking", text = "I look." },
  { part = "text", text = "Looking." },
  { part = "call", name = "get_weather", arguments = { location = "Paris" } },
  { part = "call", name = "note", arguments = "free text", custom = true, id = "call_own" },
]
usage = { input = 10, output = 20, cache_read = 5, reasoning = 2 }

[[steps]]
after = "results"
parts = [{ part = "text", text = "It is warm." }]
stop = "pause"

[[steps]]
match = "slow(ly)?"
delay = 1.5
pace = 0.25
parts = [{ part = "text", text = "One two three four five six seven." }]

[[steps]]
match = "fail"
fault = { kind = "rate_limit", message = "too fast", retry_after = 3.0, code = "slow_down" }
"""


def script() -> Script:
    return read_script(STORY, "toml")


def test_a_step_is_chosen_by_the_turn() -> None:
    response = respond(request("Hello", tools=TOOLS), script=script())
    thought, text, call, note = response.parts
    assert (
        isinstance(thought, Reasoning)
        and thought.seal is not None
        and thinking.open_seal(thought.seal.data) == "I look."
    )
    assert text == Text("Looking.")
    assert isinstance(call, ToolCall) and (call.name, call.arguments) == ("get_weather", '{"location":"Paris"}')
    assert call.id.startswith(thinking.MARK)
    assert note == ToolCall("call_own", "note", "free text", True)
    assert response.stop == Stop("tool_calls")
    assert response.usage == Usage(10, 20, 5, None, 2)
    assert response.model == "rehearsal/story"


def test_a_step_after_results_may_have_its_own_stop_reason() -> None:
    question = request("Hello", tools=TOOLS)
    response = respond(next_request(question, respond(question, script=script()), "18", "ok"), script=script())
    assert response.parts == (Text("It is warm."),) and response.stop.reason == "pause"


def _later(words: str) -> Request:
    """A request with the second question of a conversation."""
    return request("Hello", Turn("assistant", (Text("Hi."),)), words)


def test_a_step_is_chosen_by_the_words_and_has_delays() -> None:
    rehearsed = rehearsal.answer(_later("Speak SLOWLY"), script=script())
    waits = [wait for wait, _ in rehearsed.events()]
    assert waits[0] == rehearsed.delay == 1.5 and len(waits) > 5 and set(waits[1:]) == {0.25}


def test_a_step_may_be_a_fault() -> None:
    result = fault(_later("fail now"), script=script())
    assert result == Fault("rate_limit", "too fast", 429, "slow_down", retry_after=3.0)
    assert events(_later("fail now"), script=script()) == [result]


def test_a_request_without_a_matching_step_is_a_fault() -> None:
    assert "no step" in fault(_later("Something else"), script=script()).message
    custom_script = Script((Step(turn=9),), "other")
    assert respond(request("Say hi"), script=custom_script).model == "rehearsal/rules"


def test_a_script_may_be_json() -> None:
    result = read_script(b'{"steps": [{"parts": [{"part": "text", "text": "Hi"}]}]}', name="mine")
    assert respond(request("x"), script=result).parts == (Text("Hi"),)
    assert respond(request("x"), script=result).model == "rehearsal/mine"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", "json"),
        ('{"steps": [{"match": "("}]}', "json"),
        ('{"steps": [{"delay": -1}]}', "steps[0].delay"),
        ('{"steps": [{"pace": 1e9}]}', "steps[0].pace"),
        ('{"steps": [{"turns": 1}]}', "turns"),
        ('{"steps": [{"parts": [{"part": "call"}]}]}', "steps[0].parts[0]"),
        ('{"steps": [{"parts": [{"part": "picture"}]}]}', "picture"),
        ('{"steps": [{"fault": {"kind": "odd"}}]}', "fault.kind"),
        ("{}", "steps"),
    ],
)
def test_an_invalid_script_is_reported_with_the_path(text: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match="script") as caught:
        read_script(text)
    assert wrong in str(caught.value)


def test_invalid_toml_is_reported() -> None:
    with pytest.raises(ConfigError, match="toml"):
        read_script("steps = [", "toml")


def test_tool_numbers_wrap_around_and_the_arguments_are_valid() -> None:
    custom_script = Script((Step(parts=(ScriptedCall(tool=0), ScriptedCall(tool=1), ScriptedCall(tool=7))),))
    question = request("in Rome", tools=(WEATHER,))
    assert calls_for(question, script=custom_script) == [("get_weather", {"location": "Rome"})] * 3
    ids = [part.id for part in respond(question, script=custom_script).parts if isinstance(part, ToolCall)]
    assert len(set(ids)) == 3


def test_a_tool_number_needs_declared_tools() -> None:
    custom_script = Script((Step(parts=(ScriptedThought("hm"), ScriptedCall(tool=0))),))
    assert "none that may be called" in reply_text(request("x"), script=custom_script)
    named = Script((Step(parts=(ScriptedCall("gone"),)),))
    assert calls_for(request("x", choice=Choice("none")), script=named) == []
    assert calls_for(request("x", tools=TOOLS, choice=Choice("none")), script=custom_script) == []


def test_a_script_may_call_an_undeclared_tool() -> None:
    assert calls_for(request("x"), script=Script((Step(parts=(ScriptedCall("gone"),)),))) == [("gone", {})]


def test_without_parallel_only_the_first_call_is_made() -> None:
    question = request("x", tools=TOOLS, parallel=False, model="rehearsal/parallel-calls")
    assert len(calls_for(question)) == 1


def test_the_limits_of_the_step_and_of_the_request_hold() -> None:
    custom_script = Script((Step(parts=(ScriptedText("one two three four"),), truncate=2, stop="content_filter"),))
    assert respond(request("x"), script=custom_script).stop.reason == "length"
    assert reply_text(request("x"), script=custom_script) == "one two"
    assert reply_text(request("x", max_tokens=1), script=custom_script) == "one"
    unsealed = Script((Step(parts=(ScriptedThought("one two three", sealed=False),), truncate=1),))
    assert respond(request("x"), script=unsealed).parts == (Reasoning("one"),)


def test_thoughts_may_have_no_seal_or_no_text() -> None:
    custom_script = Script(
        (Step(parts=(ScriptedThought("a", sealed=False), ScriptedThought("b", shown=False), ScriptedText("c"))),)
    )
    first, second, _ = respond(request("x"), script=custom_script).parts
    assert first == Reasoning("a")
    assert second == thinking.sealed_thought("b", "rehearsal/script", shown=False)


def test_a_fault_may_come_in_the_stream() -> None:
    custom_script = Script(
        (Step(parts=(ScriptedText("one two three"),), fault=ScriptedFault("server", "it broke", after=3)),)
    )
    steps = events(request("x"), script=custom_script)
    assert len(steps) == 4 and steps[-1] == Fault("server", "it broke", 500)
    assert fault(request("x"), script=custom_script) == steps[-1]
    assert rehearsal.answer(request("x"), script=custom_script).fault is None


def test_a_stream_may_break_off() -> None:
    rehearsed = rehearsal.answer(request("x"), script=Script((Step(parts=(ScriptedText("one two"),), break_after=2),)))
    assert rehearsed.breaks_off and len(list(rehearsed.events())) == 2
    assert isinstance(rehearsed.response(), Fault)


def test_seals_are_checked_in_scripts_too() -> None:
    question = request("x", tools=TOOLS, effort="high", model="rehearsal/thinking-calls")
    next_ = next_request(question, respond(question), "ok")
    assert isinstance(rehearsal.answer(next_).response(), Response)
    unsealed = request(
        next_.turns[0], Turn("assistant", (Reasoning("else"), *next_.turns[1].parts[1:])), next_.turns[2], effort="high"
    )
    assert "seal" in fault(unsealed).message


EXPECTED: dict[str, Any] = {
    "one-call": ("tool_calls", 1),
    "parallel-calls": ("tool_calls", 2),
    "text-and-calls": ("tool_calls", 2),
    "thinking": ("stop", 0),
    "thinking-calls": ("tool_calls", 1),
    "hidden-thinking": ("stop", 0),
    "refusal": ("refusal", 0),
    "content-filter": ("content_filter", 0),
    "truncation": ("length", 0),
    "truncated-call": ("length", 1),
    "empty": ("stop", 0),
    "long-text": ("stop", 0),
    "slow-stream": ("stop", 0),
    "slow-start": ("stop", 0),
    "hosted-search": ("stop", 0),
    "cached": ("stop", 0),
    "broken-stream": (502, "upstream_bad"),
    "fault-in-stream": (503, "overloaded"),
    "rate-limit": (429, "rate_limit"),
    "overloaded": (529, "overloaded"),
    "server-error": (500, "server"),
    "timeout": (504, "timeout"),
    "auth": (401, "auth"),
    "context-too-long": (400, "context_too_long"),
}


@pytest.mark.parametrize("prefix", ["rehearsal/", ""])
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_ends_as_documented(name: str, prefix: str) -> None:
    rehearsed = rehearsal.answer(request("hi", tools=TOOLS, model=prefix + name))
    assert rehearsed.model == f"rehearsal/{name}"
    result = rehearsed.response()
    if isinstance(result, Fault):
        assert (result.status, result.kind) == EXPECTED[name]
        return
    assert (result.stop.reason, sum([isinstance(part, ToolCall) for part in result.parts])) == EXPECTED[name]
    assert fold([event for _, event in rehearsed.events()]) == result


def test_scenarios_with_calls_end_after_the_results() -> None:
    for name in ("one-call", "parallel-calls", "text-and-calls", "thinking-calls"):
        question = request("hi", tools=TOOLS, model=f"rehearsal/{name}")
        first = respond(question)
        made = sum([isinstance(part, ToolCall) for part in first.parts])
        assert respond(next_request(question, first, *["ok"] * made)).stop.reason == "stop"


def test_hosted_tools_add_calls_and_results() -> None:
    parts = respond(request("hi", model="rehearsal/hosted-search")).parts
    assert [part.kind for part in parts if isinstance(part, Opaque)] == [
        "server_tool_use",
        "web_search_tool_result",
        "web_search_call",
    ]


def test_the_list_of_models_has_descriptions() -> None:
    custom_script = rehearsal.models()
    assert set(custom_script) == {"rehearsal/rules", *[f"rehearsal/{name}" for name in SCENARIOS]}
    assert all(custom_script.values())
