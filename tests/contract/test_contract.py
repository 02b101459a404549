"""The contract of the adapter: it reads calls from a raw answer, and makes a continuation from calls and outputs."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import ToolCall, tool_calls, tool_results, translate_request

CHAT_CALL = {
    "id": "call_xxx",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"location":"Paris"}'},
}
ITEM = {"type": "function_call", "call_id": "call_123", "name": "get_weather", "arguments": '{"location":"Paris"}'}
BLOCK = {"type": "tool_use", "id": "toolu_abc", "name": "get_weather", "input": {"location": "Paris"}}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}

ANSWERS: dict[str, Any] = {
    "openai-chat": {
        "choices": [
            {
                "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            }
        ]
    },
    "openai-responses": {"output": [REASONING, ITEM]},
    "anthropic": {"role": "assistant", "content": [THINKING, BLOCK], "stop_reason": "tool_use"},
}
IDS = {"openai-chat": "call_xxx", "openai-responses": "call_123", "anthropic": "toolu_abc"}
OUTPUT = '{"temperature":25}'


@pytest.mark.parametrize("dialect", ANSWERS)
def test_calls_are_read_from_a_raw_answer(dialect: str) -> None:
    (call,) = tool_calls(ANSWERS[dialect], dialect=dialect)
    assert (call.id, call.name, call.arguments) == (IDS[dialect], "get_weather", '{"location":"Paris"}')
    assert call.input == {"location": "Paris"}


CONTINUATIONS: dict[str, list[Any]] = {
    "openai-chat": [
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
        {"role": "tool", "tool_call_id": "call_xxx", "content": OUTPUT},
    ],
    "openai-responses": [REASONING, ITEM, {"type": "function_call_output", "call_id": "call_123", "output": OUTPUT}],
    "anthropic": [
        {"role": "assistant", "content": [THINKING, BLOCK]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_abc", "content": OUTPUT}]},
    ],
}


@pytest.mark.parametrize("dialect", ANSWERS)
def test_the_continuation_is_complete(dialect: str) -> None:
    outputs = [{"id": IDS[dialect], "outputText": OUTPUT}]
    assert tool_results(ANSWERS[dialect], outputs, dialect=dialect) == CONTINUATIONS[dialect]


@pytest.mark.parametrize("dialect", ANSWERS)
def test_structured_outputs_become_text(dialect: str) -> None:
    assert tool_results(ANSWERS[dialect], [{"temperature": 25}], dialect=dialect) == CONTINUATIONS[dialect]


@pytest.mark.parametrize(
    ("dialect", "result"),
    [
        ("openai-chat", {"role": "tool", "tool_call_id": "call_xxx", "content": "Error: no such city"}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call_123", "output": "Error: no such city"}),
        (
            "anthropic",
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_abc", "content": "no such city", "is_error": True}
                ],
            },
        ),
    ],
)
def test_the_error_flag_is_kept_or_becomes_text(dialect: str, result: Any) -> None:
    outputs = [{"id": IDS[dialect], "outputText": "no such city", "isError": True}]
    assert tool_results(ANSWERS[dialect], outputs, dialect=dialect)[-1] == result


def test_an_answer_without_calls_gives_no_calls() -> None:
    assert (
        tool_calls({"choices": [{"finish_reason": "stop", "message": {"content": "hi"}}]}, dialect="openai-chat") == []
    )
    assert tool_calls({"output": [REASONING]}, dialect="openai-responses") == []
    assert (
        tool_calls({"content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}, dialect="anthropic") == []
    )


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "gemini"])
@pytest.mark.parametrize("call_id", ["call_xxx", "toolu_abc", "fc-12345", "tool-use-67890"])
def test_the_id_of_the_call_is_attached_unchanged(dialect: str, call_id: str) -> None:
    done = tool_results([ToolCall(call_id, "f", "{}")], {call_id: "r"}, dialect=dialect)
    assert str(done).count(f"'{call_id}'") == 2


@pytest.mark.parametrize(
    ("choice", "target", "field"),
    [
        ("auto", "anthropic", {"type": "auto"}),
        (
            {"type": "function", "function": {"name": "get_weather"}},
            "anthropic",
            {"type": "tool", "name": "get_weather"},
        ),
        (
            {"type": "function", "function": {"name": "get_weather"}},
            "openai-responses",
            {"type": "function", "name": "get_weather"},
        ),
    ],
)
def test_a_forced_choice_is_translated(choice: Any, target: str, field: Any) -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Weather in Paris?"}],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
        "tool_choice": choice,
    }
    assert translate_request(body, source="openai-chat", target=target).json()["tool_choice"] == field
