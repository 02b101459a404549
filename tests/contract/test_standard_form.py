"""The standard form: tools as functions, calls with id, name and arguments as text, results by call id."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import ToolCall, tool_calls, tool_results, translate_request, translate_tools
from tests.contract.scenarios import DIALECTS

LOCATION = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
STANDARD = [
    {
        "type": "function",
        "function": {"name": "get_weather", "description": "Get current weather", "parameters": LOCATION},
    }
]
FORMATTED: dict[str, list[Any]] = {
    "openai-chat": STANDARD,
    "anthropic": [{"name": "get_weather", "description": "Get current weather", "input_schema": LOCATION}],
    "openai-responses": [
        {
            "type": "function",
            "name": "get_weather",
            "description": "Get current weather",
            "parameters": LOCATION,
            "strict": False,
        }
    ],
    "gemini": [
        {
            "functionDeclarations": [
                {"name": "get_weather", "description": "Get current weather", "parametersJsonSchema": LOCATION}
            ]
        }
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_standard_definitions_are_formatted_for_each_dialect(dialect: str) -> None:
    done = translate_tools(STANDARD, source="openai-chat", target=dialect)
    assert (done.json(), done.losses) == (FORMATTED[dialect], ())
    back = translate_tools(done.json(), source=dialect, target="openai-chat")
    assert [tool["function"] | {"strict": None} for tool in back.json()] == [
        tool["function"] | {"strict": None} for tool in STANDARD
    ]


def test_the_tool_choice_is_not_part_of_the_definitions() -> None:
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "Weather in Paris?"}],
        "tools": STANDARD,
        "tool_choice": "auto",
    }
    done = translate_request(body, source="openai-chat", target="anthropic", model="claude-3-5-sonnet-20241022")
    assert done.json() == {
        "model": "claude-3-5-sonnet-20241022",
        "max_tokens": 8192,
        "messages": [{"role": "user", "content": "Weather in Paris?"}],
        "tools": FORMATTED["anthropic"],
        "tool_choice": {"type": "auto"},
    }
    assert [loss.code for loss in done.losses] == ["limit.invented"]


@pytest.mark.parametrize(
    ("dialect", "answer", "call"),
    [
        (
            "openai-chat",
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_abc123",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"location": "Paris"}'},
                    }
                ],
            },
            ("call_abc123", "get_weather", '{"location": "Paris"}'),
        ),
        (
            "anthropic",
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I'll check the weather for you."},
                    {"type": "tool_use", "id": "toolu_01ABC123", "name": "get_weather", "input": {"location": "Paris"}},
                ],
            },
            ("toolu_01ABC123", "get_weather", '{"location":"Paris"}'),
        ),
    ],
)
def test_a_call_has_an_id_a_name_and_arguments_as_text(dialect: str, answer: Any, call: tuple[str, str, str]) -> None:
    (found,) = tool_calls(answer, dialect=dialect)
    assert (found.id, found.name, found.arguments) == call
    assert found.input == {"location": "Paris"}


def test_several_calls_keep_their_order_and_their_ids() -> None:
    calls = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": "get_weather", "arguments": f'{{"location":"{n}"}}'},
        }
        for n in range(3)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    assert [(call.id, call.input["location"]) for call in tool_calls(message, dialect="openai-chat")] == [
        ("call_0", "0"),
        ("call_1", "1"),
        ("call_2", "2"),
    ]


CALL = ToolCall("call_abc123", "get_weather", '{"location": "Paris"}')
RESULTS: dict[str, Any] = {
    "openai-chat": {"role": "tool", "tool_call_id": "call_abc123", "content": "25 degrees"},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "call_abc123", "content": "25 degrees"}],
    },
    "openai-responses": {"type": "function_call_output", "call_id": "call_abc123", "output": "25 degrees"},
    "gemini": {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "call_abc123",
                    "name": "get_weather",
                    "response": {"output": "25 degrees"},
                }
            }
        ],
    },
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_result_is_formatted_for_each_dialect(dialect: str) -> None:
    assert tool_results([CALL], ["25 degrees"], dialect=dialect)[-1] == RESULTS[dialect]


def test_legacy_calls_are_read_and_continued_in_the_new_form() -> None:
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}}
    (call,) = tool_calls(message, dialect="openai-chat")
    assert (call.name, call.arguments) == ("f", '{"a":1}')
    call_turn, result = tool_results(message, ["r"], dialect="openai-chat")
    assert call_turn["tool_calls"][0]["id"] == result["tool_call_id"] == call.id
    assert "function_call" not in call_turn
