"""Scripts: how a step is found and what it plays; from JSON and TOML; the scenarios that are built in."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import ConfigError, rehearsal
from dragoman.canon import Choice, Fault, Opaque, Reasoning, Request, Response, Stop, Text, ToolCall, Turn, Usage
from dragoman.canon.fold_and_unfold import fold
from dragoman.rehearsal import SCENARIOS, Script, Step, read_script, thinking
from dragoman.rehearsal.script import Call, Thought, Trouble, Words
from tests.unit.rehearsal.helpers import TOOLS, WEATHER, after, called, events, fault, request, respond, said

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


def test_a_step_by_its_turn() -> None:
    response = respond(request("Hello", tools=TOOLS), script=script())
    thought, text, call, note = response.parts
    assert (
        isinstance(thought, Reasoning) and thought.seal is not None and thinking.opened(thought.seal.data) == "I look."
    )
    assert text == Text("Looking.")
    assert isinstance(call, ToolCall) and (call.name, call.arguments) == ("get_weather", '{"location":"Paris"}')
    assert call.id.startswith(thinking.MARK)
    assert note == ToolCall("call_own", "note", "free text", True)
    assert response.stop == Stop("tool_calls")
    assert response.usage == Usage(10, 20, 5, None, 2)
    assert response.model == "rehearsal/story"


def test_a_step_after_results_and_a_stop_of_its_own() -> None:
    asked = request("Hello", tools=TOOLS)
    response = respond(after(asked, respond(asked, script=script()), "18", "ok"), script=script())
    assert response.parts == (Text("It is warm."),) and response.stop.reason == "pause"


def _later(words: str) -> Request:
    """The second question of a conversation."""
    return request("Hello", Turn("assistant", (Text("Hi."),)), words)


def test_a_step_by_the_words_with_its_delays() -> None:
    rehearsed = rehearsal.answer(_later("Speak SLOWLY"), script=script())
    waits = [wait for wait, _ in rehearsed.events()]
    assert waits[0] == rehearsed.delay == 1.5 and len(waits) > 5 and set(waits[1:]) == {0.25}


def test_a_fault_with_all_it_has() -> None:
    found = fault(_later("fail now"), script=script())
    assert found == Fault("rate_limit", "too fast", 429, "slow_down", retry_after=3.0)
    assert events(_later("fail now"), script=script()) == [found]


def test_when_no_step_holds() -> None:
    assert "no step" in fault(_later("Something else"), script=script()).message
    told = Script((Step(turn=9),), "other")
    assert respond(request("Say hi"), script=told).model == "rehearsal/rules"


def test_the_same_in_json() -> None:
    found = read_script(b'{"steps": [{"parts": [{"part": "text", "text": "Hi"}]}]}', name="mine")
    assert respond(request("x"), script=found).parts == (Text("Hi"),)
    assert respond(request("x"), script=found).model == "rehearsal/mine"


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
def test_a_wrong_script_says_what_and_where(text: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match="script") as caught:
        read_script(text)
    assert wrong in str(caught.value)


def test_toml_that_is_none() -> None:
    with pytest.raises(ConfigError, match="toml"):
        read_script("steps = [", "toml")


def test_calls_by_number_go_around_and_have_legal_arguments() -> None:
    told = Script((Step(parts=(Call(tool=0), Call(tool=1), Call(tool=7))),))
    asked = request("in Rome", tools=(WEATHER,))
    assert called(asked, script=told) == [("get_weather", {"location": "Rome"})] * 3
    ids = [part.id for part in respond(asked, script=told).parts if isinstance(part, ToolCall)]
    assert len(set(ids)) == 3


def test_calls_by_number_want_tools() -> None:
    told = Script((Step(parts=(Thought("hm"), Call(tool=0))),))
    assert "none that may be called" in said(request("x"), script=told)
    named = Script((Step(parts=(Call("gone"),)),))
    assert called(request("x", choice=Choice("none")), script=named) == []
    assert called(request("x", tools=TOOLS, choice=Choice("none")), script=told) == []


def test_a_call_of_an_undeclared_tool() -> None:
    assert called(request("x"), script=Script((Step(parts=(Call("gone"),)),))) == [("gone", {})]


def test_without_parallel_only_the_first_call_is_made() -> None:
    asked = request("x", tools=TOOLS, parallel=False, model="rehearsal/parallel-calls")
    assert len(called(asked)) == 1


def test_limits_of_step_and_request() -> None:
    told = Script((Step(parts=(Words("one two three four"),), truncate=2, stop="content_filter"),))
    assert respond(request("x"), script=told).stop.reason == "length"
    assert said(request("x"), script=told) == "one two"
    assert said(request("x", max_tokens=1), script=told) == "one"
    bare = Script((Step(parts=(Thought("one two three", sealed=False),), truncate=1),))
    assert respond(request("x"), script=bare).parts == (Reasoning("one"),)


def test_thoughts_without_seal_and_without_words() -> None:
    told = Script((Step(parts=(Thought("a", sealed=False), Thought("b", shown=False), Words("c"))),))
    first, second, _ = respond(request("x"), script=told).parts
    assert first == Reasoning("a")
    assert second == thinking.sealed("b", "rehearsal/script", shown=False)


def test_a_fault_in_the_stream() -> None:
    told = Script((Step(parts=(Words("one two three"),), fault=Trouble("server", "it broke", after=3)),))
    steps = events(request("x"), script=told)
    assert len(steps) == 4 and steps[-1] == Fault("server", "it broke", 500)
    assert fault(request("x"), script=told) == steps[-1]
    assert rehearsal.answer(request("x"), script=told).fault is None


def test_a_stream_that_breaks_off() -> None:
    rehearsed = rehearsal.answer(request("x"), script=Script((Step(parts=(Words("one two"),), break_after=2),)))
    assert rehearsed.breaks_off and len(list(rehearsed.events())) == 2
    assert isinstance(rehearsed.response(), Fault)


def test_seals_are_checked_in_scripts_too() -> None:
    asked = request("x", tools=TOOLS, effort="high", model="rehearsal/thinking-calls")
    next_ = after(asked, respond(asked), "ok")
    assert isinstance(rehearsal.answer(next_).response(), Response)
    bare = request(
        next_.turns[0], Turn("assistant", (Reasoning("else"), *next_.turns[1].parts[1:])), next_.turns[2], effort="high"
    )
    assert "seal" in fault(bare).message


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
def test_every_scenario_does_what_it_says(name: str, prefix: str) -> None:
    rehearsed = rehearsal.answer(request("hi", tools=TOOLS, model=prefix + name))
    assert rehearsed.model == f"rehearsal/{name}"
    found = rehearsed.response()
    if isinstance(found, Fault):
        assert (found.status, found.kind) == EXPECTED[name]
        return
    assert (found.stop.reason, sum([isinstance(part, ToolCall) for part in found.parts])) == EXPECTED[name]
    assert fold([event for _, event in rehearsed.events()]) == found


def test_scenarios_with_calls_end_after_the_results() -> None:
    for name in ("one-call", "parallel-calls", "text-and-calls", "thinking-calls"):
        asked = request("hi", tools=TOOLS, model=f"rehearsal/{name}")
        first = respond(asked)
        made = sum([isinstance(part, ToolCall) for part in first.parts])
        assert respond(after(asked, first, *["ok"] * made)).stop.reason == "stop"


def test_hosted_tools_leave_their_traces() -> None:
    parts = respond(request("hi", model="rehearsal/hosted-search")).parts
    assert [part.kind for part in parts if isinstance(part, Opaque)] == [
        "server_tool_use",
        "web_search_tool_result",
        "web_search_call",
    ]


def test_every_model_is_told_with_what_it_does() -> None:
    told = rehearsal.models()
    assert set(told) == {"rehearsal/rules", *[f"rehearsal/{name}" for name in SCENARIOS]}
    assert all(told.values())
