"""tool_calls and tool_results: for a client that runs tools and speaks one dialect."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import Media, Text, ToolCall, ToolResult, tool_calls, tool_results
from dragoman.canon.parts import Seal
from dragoman.errors import ConfigError, WireError

CHAT: dict[str, Any] = {
    "id": "r1",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Looking.",
                "reasoning_content": "hm",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.0}'}},
                    {"id": "c2", "type": "custom", "custom": {"name": "p", "input": "+x"}},
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
}
SPOKEN = {
    "role": "assistant",
    "reasoning_content": "hm",
    "content": "Looking.",
    "tool_calls": CHAT["choices"][0]["message"]["tool_calls"],
}
CALLS = [ToolCall("c1", "f", '{"a": 1.0}'), ToolCall("c2", "p", "+x", True)]


def _plain(calls: list[ToolCall]) -> list[tuple[str, str, str, bool]]:
    return [(call.id, call.name, call.arguments, call.custom) for call in calls]


def _tool(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_calls_come_in_order_with_their_exact_arguments() -> None:
    calls = tool_calls(CHAT, dialect="openai-chat")
    assert _plain(calls) == [("c1", "f", '{"a": 1.0}', False), ("c2", "p", "+x", True)]
    assert [call.input for call in calls] == [{"a": 1.0}, "+x"]


@pytest.mark.parametrize("arguments", ["", "  ", None])
def test_blank_arguments_are_an_empty_object(arguments: str | None) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}]}
    (call,) = tool_calls(message, dialect="openai-chat")
    assert (call.arguments, call.input) == ("{}", {})


def test_blank_input_of_a_custom_call_stays_blank() -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "p", "input": ""}}]}
    (call,) = tool_calls(message, dialect="openai-chat")
    assert call.arguments == ""


def test_broken_arguments_are_given_as_they_are() -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": '}}]}
    (call,) = tool_calls(message, dialect="openai-chat")
    assert call.arguments == '{"a": '
    with pytest.raises(ValueError, match="truncated"):
        _ = call.input


def test_an_answer_without_calls_has_none() -> None:
    assert tool_calls({"role": "assistant", "content": "hi"}, dialect="openai-chat") == []


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(WireError):
        tool_calls({"error": {"message": "no"}}, dialect="openai-chat")


@pytest.mark.parametrize(
    "outputs",
    [
        {"c1": "one", "c2": "two"},
        {"c2": "two", "c1": "one"},
        ["one", "two"],
        ("one", "two"),
        [{"id": "c2", "output": "two"}, {"id": "c1", "outputText": "one"}],
        [ToolResult("c2", (Text("two"),)), ToolResult("c1", (Text("one"),))],
        [ToolResult("", (Text("one"),)), "two"],
        ["one", {"id": "c2", "output": "two"}],
    ],
)
def test_outputs_are_matched_by_id_or_by_place(outputs: Any) -> None:
    assert tool_results(CHAT, outputs, dialect="openai-chat") == [SPOKEN, _tool("c1", "one"), _tool("c2", "two")]


def test_calls_alone_are_enough() -> None:
    spoken = {"role": "assistant", "content": None, "tool_calls": SPOKEN["tool_calls"]}
    expected = [spoken, _tool("c1", "one"), _tool("c2", "two")]
    assert tool_results(CALLS, ["one", "two"], dialect="openai-chat") == expected
    assert tool_results(tuple(CALLS), ["one", "two"], dialect="openai-chat") == expected


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("text", "text"),
        ("", ""),
        ({"n": 1}, '{"n":1}'),
        ([1, None], "[1,null]"),
        (7, "7"),
        (None, "null"),
        ({"output": "bad", "is_error": True}, "Error: bad"),
        ({"outputText": "bad", "isError": True}, "Error: bad"),
        ({"output": "fine", "is_error": False}, "fine"),
        ({"output": {"n": 1}}, '{"n":1}'),
        ({"output": "x", "metadata": {"exit_code": 0}}, '{"output":"x","metadata":{"exit_code":0}}'),
        ({"id": "x"}, '{"id":"x"}'),
        (ToolResult("", (Text("a"), Text("b"))), [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (ToolResult("", (Text("bad"),), is_error=True), "Error: bad"),
    ],
)
def test_outputs_are_text_results_or_any_json(output: Any, content: Any) -> None:
    done = tool_results([ToolCall("c", "f", "{}")], [output], dialect="openai-chat")
    assert done[1:] == [_tool("c", content)]


def test_media_go_where_the_dialect_has_a_place() -> None:
    result = ToolResult("c", (Text("see"), Media("image", "image/png", "aGk=")))
    done = tool_results([ToolCall("c", "f", "{}")], [result], dialect="openai-chat")
    note = {"type": "text", "text": "[tool call c returned image/png, attached below]"}
    assert done[1:] == [
        _tool("c", [{"type": "text", "text": "see"}, note]),
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[returned by tool call c]"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ],
        },
    ]


def test_a_seal_on_a_call_goes_back() -> None:
    sealed = {"google": {"thought_signature": "c2VhbA=="}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": sealed}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert tool_calls(message, dialect="openai-chat")[0].seal == Seal("gemini", "c2VhbA==")
    assert tool_results(message, ["r"], dialect="openai-chat") == [message, _tool("c", "r")]


def test_two_calls_with_one_id_are_matched_by_place() -> None:
    calls = [ToolCall("c", "f", "{}"), ToolCall("c", "g", "{}")]
    done = tool_results(calls, ["one", "two"], dialect="openai-chat")
    assert done[1:] == [_tool("c", "one"), _tool("c", "two")]


def test_no_calls_need_no_outputs() -> None:
    assert tool_results([], [], dialect="openai-chat") == []


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ({"c1": "one"}, "call 'c2': there is no output for it; valid: c1"),
        ({"c1": "one", "c2": "two", "c3": "three"}, "output 'c3': there is no such call; valid: c1, c2"),
        ([{"id": "c1", "output": "x"}], "call 'c2': there is no output for it; valid: c1"),
        (["one"], "unknown number of outputs '1'; valid: 2"),
        ([], "unknown number of outputs '0'; valid: 2"),
    ],
)
def test_an_output_too_few_or_too_many_is_refused(outputs: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tool_results(CALLS, outputs, dialect="openai-chat")
    assert str(caught.value) == message


def test_what_is_no_call_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown kind of call 'str'; valid: ToolCall"):
        tool_results(["c1"], ["one"], dialect="openai-chat")


@pytest.mark.parametrize(
    ("dialect", "answer", "continuation"),
    [
        (
            "anthropic",
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]},
            [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]},
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "c", "content": "bad", "is_error": True}],
                },
            ],
        ),
        (
            "openai-responses",
            {"output": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'}]},
            [
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'},
                {"type": "function_call_output", "call_id": "c", "output": "Error: bad"},
            ],
        ),
        (
            "gemini",
            {
                "candidates": [
                    {
                        "content": {
                            "role": "model",
                            "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}],
                        }
                    }
                ]
            },
            [
                {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"error": "bad"}}}],
                },
            ],
        ),
    ],
)
def test_every_dialect_has_its_own_continuation(dialect: str, answer: Any, continuation: list[Any]) -> None:
    (call,) = tool_calls(answer, dialect=dialect)
    assert (call.id, call.name, call.arguments) == ("c", "f", '{"a":1}')
    output = {"output": "bad", "is_error": True}
    assert tool_results(answer, {"c": output}, dialect=dialect) == continuation
