"""Thoughts: only on request, with a seal that is checked when it comes back, in every dialect that can carry seals."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dragoman import rehearsal
from dragoman.canon import Part, Reasoning, Request, Response, Seal, Settings, Text, ToolCall, Turn
from dragoman.conform.judging.client_history import with_response_and_outputs
from dragoman.context import Context
from dragoman.dialects import get, names
from dragoman.rehearsal import thinking
from tests.unit.rehearsal.helpers import WEATHER, fault, next_request, request, respond, written

REQUEST = request("What is the weather in Paris?", tools=(WEATHER,), effort="high", thoughts=True)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"effort": "none"}, False),
        ({"budget": 0}, False),
        ({"thoughts": False}, False),
        ({"effort": "low"}, True),
        ({"budget": -1}, True),
        ({"budget": 1024}, True),
        ({"thoughts": True}, True),
    ],
)
def test_the_settings_decide_about_thinking(settings: dict[str, Any], expected: bool) -> None:
    assert thinking.thinks(Settings(**settings)) is expected
    parts = respond(request("Hello", **settings)).parts
    assert any(isinstance(part, Reasoning) for part in parts) is expected


def test_a_seal_contains_its_thought() -> None:
    thought = thinking.sealed_thought("I think", "rehearsal/rules", shown=False)
    assert thought.text == "" and thought.seal is not None
    assert thinking.open_seal(thought.seal.data) == "I think"
    assert thought.seal == thinking.make_seal("I think", "rehearsal/rules"), "equal thoughts have equal seals"


@pytest.mark.parametrize("data", ["", "x", "////", "WyJhIl0=", "WyJhIiwiYiJd", "8J+Yug=="])
def test_an_altered_seal_contains_no_thought(data: str) -> None:
    assert thinking.open_seal(data) is None


def _with(thought: Reasoning | None) -> Request:
    """The request of the second step, with another thought in place of the original."""
    next_ = next_request(REQUEST, respond(REQUEST), "18 degrees")
    turn = next_.turns[1]
    rest = tuple([part for part in turn.parts if not isinstance(part, Reasoning)])
    parts: tuple[Part, ...] = rest if thought is None else (thought, *rest)
    turns = (next_.turns[0], msgspec.structs.replace(turn, parts=parts), next_.turns[2])
    return msgspec.structs.replace(next_, turns=turns)


FIRST = respond(REQUEST).parts[0]
assert isinstance(FIRST, Reasoning) and FIRST.seal is not None


@pytest.mark.parametrize("seals", ["checked", "demanded", "ignored"])
@pytest.mark.parametrize("thought", [FIRST, msgspec.structs.replace(FIRST, text="")], ids=["shown", "hidden"])
def test_a_thought_with_its_seal_is_accepted(thought: Reasoning, seals: Any) -> None:
    assert isinstance(rehearsal.answer(_with(thought), seals=seals).response(), Response)


@pytest.mark.parametrize(
    "thought",
    [
        Reasoning(FIRST.text),
        Reasoning(FIRST.text, seal=Seal("rehearsal", "")),
        Reasoning(FIRST.text + "!", seal=FIRST.seal),
        Reasoning(FIRST.text, seal=Seal("rehearsal", FIRST.seal.data[:-8] + "AAAAAAA=")),
        Reasoning(FIRST.text, seal=Seal("anthropic", FIRST.seal.data)),
    ],
    ids=["missing", "empty", "other words", "other seal", "other origin"],
)
def test_a_thought_without_its_seal_is_a_fault_in_a_tool_step(thought: Reasoning) -> None:
    found = fault(_with(thought))
    assert (found.kind, found.status) == ("invalid_request", 400)
    assert "turn 1, part 0" in found.message
    assert isinstance(rehearsal.answer(_with(thought), seals="ignored").response(), Response)
    without_thinking = msgspec.structs.replace(_with(thought), settings=Settings())
    assert isinstance(rehearsal.answer(without_thinking).response(), Response), "without thinking no seal is needed"


def test_a_system_turn_does_not_end_the_step() -> None:
    broken = _with(Reasoning("altered"))
    later = msgspec.structs.replace(broken, turns=(*broken.turns, Turn("system", (Text("Be brief."),))))
    assert "no seal" in fault(later).message


def test_a_missing_thought_is_a_fault_if_seals_are_demanded() -> None:
    assert isinstance(rehearsal.answer(_with(None)).response(), Response)
    assert "is missing" in fault(_with(None), seals="demanded").message


def test_thoughts_of_earlier_turns_are_not_checked() -> None:
    broken = _with(Reasoning("altered"))
    later = request(*broken.turns, "And now?", tools=(WEATHER,), effort="high")
    assert isinstance(rehearsal.answer(later).response(), Response)


def _second_request(dialect: str, *, strict: bool) -> Request:
    """The second request of a client in this dialect, as the rehearsal gets it."""
    body = get(dialect).write_request(REQUEST, Context("elsewhere", dialect, model="m"))
    first = get(dialect).read_request(body, Context(dialect, dialect))
    answer = written(dialect, respond(first), first)
    next_ = with_response_and_outputs(dialect, json.loads(body), json.loads(answer), ["18 degrees"], strict)
    return get(dialect).read_request(msgspec.json.encode(next_), Context(dialect, dialect))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dialect", names())
def test_every_client_completes_a_tool_step(dialect: str, strict: bool) -> None:
    second_request = _second_request(dialect, strict=strict)
    seals: thinking.Seals = "checked" if get(dialect).returns_seals_on else "ignored"
    assert isinstance(rehearsal.answer(second_request, seals=seals).response(), Response)
    calls = [part for turn in second_request.turns for part in turn.parts if isinstance(part, ToolCall)]
    if dialect != "ollama":  # Ollama's official client has no call ids.
        assert calls[0].id.startswith(thinking.MARK)


@pytest.mark.parametrize("dialect", [name for name in names() if "reasoning" in get(name).returns_seals_on])
def test_clients_that_echo_thoughts_satisfy_the_demand(dialect: str) -> None:
    assert isinstance(rehearsal.answer(_second_request(dialect, strict=True), seals="demanded").response(), Response)
