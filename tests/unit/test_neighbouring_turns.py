"""Adjacent turns of the model are one step if their calls are answered together, in every pair of dialects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman import fast, translate_request
from dragoman.canon import Turn
from dragoman.canon.parts import ToolCall, ToolResult
from dragoman.codec.results_after_calls import results_after_calls
from dragoman.context import Context
from dragoman.dialects import get, names


def _call(name: str) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"of": name}}}


def _result(name: str, output: str) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": output}}}


def _document(*contents: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    turns = [{"role": role, "parts": parts} for role, parts in contents]
    return {"contents": [{"role": "user", "parts": [{"text": "go"}]}, *turns]}


STEPS = {
    "two turns": _document(
        ("model", [_call("a")]), ("model", [_call("b")]), ("user", [_result("a", "RA"), _result("b", "RB")])
    ),
    "results in another order": _document(
        ("model", [_call("a")]), ("model", [_call("b")]), ("user", [_result("b", "RB"), _result("a", "RA")])
    ),
    "results in two turns": _document(
        ("model", [_call("a")]), ("model", [_call("b")]), ("user", [_result("a", "RA")]), ("user", [_result("b", "RB")])
    ),
    "texts between": _document(
        ("model", [{"text": "first"}]),
        ("model", [_call("a")]),
        ("model", [{"text": "then"}, _call("b")]),
        ("model", [{"text": "last"}]),
        ("user", [_result("a", "RA"), _result("b", "RB"), {"text": "more"}]),
    ),
    "one name twice": _document(
        ("model", [_call("a")]), ("model", [_call("a")]), ("user", [_result("a", "RA"), _result("a", "RB")])
    ),
}


def _pairs(body: bytes, dialect: str) -> list[tuple[str, str]]:
    """The (name of the call, text of the result) pairs of a request, matched by id."""
    request = get(dialect).read_request(body, Context(dialect, "test"))
    parts = [part for turn in request.turns for part in turn.parts]
    calls = {part.id: part.name for part in parts if isinstance(part, ToolCall)}
    results = [part for part in parts if isinstance(part, ToolResult)]
    return sorted((calls[one.call_id], getattr(one.parts[0], "text", "")) for one in results)


@pytest.mark.parametrize("case", STEPS)
@pytest.mark.parametrize("target", [name for name in names() if name not in ("gemini", "code-assist")])
def test_results_stay_with_their_calls(target: str, case: str) -> None:
    for _ in range(2):  # the second time the history is in the cache
        out = translate_request(STEPS[case], source="gemini", target=target, model="m")
        expected = [("a", "RA"), ("a", "RB")] if case == "one name twice" else [("a", "RA"), ("b", "RB")]
        assert _pairs(out.body, target) == expected
        assert not {loss.code for loss in out.losses} & {"result.invented", "result.orphaned", "result.moved"}
        for text in ("first", "then", "last", "more") if case == "texts between" else ():
            assert text.encode() in out.body


@pytest.mark.parametrize("target", ["openai-chat", "openrouter", "ollama"])
def test_a_call_without_a_result_stays_before_later_texts(target: str) -> None:
    document = _document(("model", [_call("a")]), ("model", [{"text": "later"}]), ("user", [{"text": "and?"}]))
    out = translate_request(document, source="gemini", target=target, model="m")
    roles = [message["role"] for message in out.json()["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert "result.invented" in [loss.code for loss in out.losses]


@pytest.mark.parametrize("known", [1, 2, 3])
@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_a_cached_history_that_continues_with_an_adjacent_turn(times: int, known: int) -> None:
    """The beginning of the history is in the cache. The next turn belongs to the same step."""
    fast.forget()
    words = {"role": "user", "parts": [{"text": "Look for it, please. " * 20}]}  # short histories are not cached
    contents = [words, *STEPS["two turns"]["contents"][1:]]
    for _ in range(times):
        translate_request({"contents": contents[:known]}, source="gemini", target="openai-chat", model="m")
    out = translate_request({"contents": contents}, source="gemini", target="openai-chat", model="m")
    assert _pairs(out.body, "openai-chat") == [("a", "RA"), ("b", "RB")]


def test_adjacent_assistant_messages_of_anthropic_are_one_step() -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "a", "input": {}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "b", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "RA"},
                {"type": "tool_result", "tool_use_id": "t2", "content": "RB"},
            ],
        },
    ]
    document = {"model": "m", "max_tokens": 9, "messages": messages}
    for target in ("openai-chat", "openrouter", "ollama", "gemini", "openai-responses"):
        out = translate_request(document, source="anthropic", target=target)
        assert _pairs(out.body, target) == [("a", "RA"), ("b", "RB")]
        assert "result.invented" not in [loss.code for loss in out.losses]


def test_the_message_of_results_keeps_its_own_fields() -> None:
    extra = {"anthropic": {"x_later": msgspec.Raw(b'"kept"')}}
    calls = [Turn("assistant", (ToolCall(one, "f", "{}"),)) for one in "ab"]
    results = Turn("tool", tuple([ToolResult(one) for one in "ab"]), extra=extra)
    *_, placed = results_after_calls((*calls, results), Context("anthropic", "anthropic"))
    assert placed.extra == extra


def test_a_resolution_on_a_part_that_is_no_medium_is_reported() -> None:
    part = {"text": "go", "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}}
    request_body = {"contents": [{"role": "user", "parts": [part]}]}
    done = translate_request(request_body, source="gemini", target="openai-chat", model="m")
    assert "/contents/0/parts/0/mediaResolution" in {loss.path for loss in done.losses}
