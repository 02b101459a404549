"""`tool_calls` and `tool_results`: for a client that runs tools and uses one dialect."""

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
CHAT_MESSAGE = {
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


def test_calls_are_returned_in_order_with_their_exact_arguments() -> None:
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


def test_broken_arguments_are_returned_unchanged() -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": '}}]}
    (call,) = tool_calls(message, dialect="openai-chat")
    assert call.arguments == '{"a": '
    with pytest.raises(ValueError, match="truncated"):
        _ = call.input


def _chat(arguments: str, reason: str | None, more: Any = ()) -> dict[str, Any]:
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    message = {"role": "assistant", "content": None, "tool_calls": [*more, *calls]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def _messages(reason: str | None, *blocks: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(blocks), "stop_reason": reason}


def _items(status: str, *items: Any) -> dict[str, Any]:
    details = {"reason": "max_output_tokens"} if status == "incomplete" else None
    return {"object": "response", "status": status, "incomplete_details": details, "output": list(items)}


def _google(reason: str, *parts: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": reason}]}


USE = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
PART = {"functionCall": {"id": "c", "name": "f", "args": {}}}
OLLAMA_MESSAGE = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
WHOLE = {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}
FREE = {"id": "b", "type": "custom", "custom": {"name": "p", "input": "+x"}}


@pytest.mark.parametrize(
    ("dialect", "answer", "complete"),
    [
        ("openai-chat", _chat("{}", "tool_calls"), [True]),
        ("openai-chat", _chat("{}", "stop"), [True]),
        ("openai-chat", _chat('{"a": ', "tool_calls"), [False]),
        ("openai-chat", _chat('{"a": ', None), [False]),
        ("openai-chat", _chat("not JSON", "tool_calls"), [True]),  # broken, not cut; `.input` raises too
        ("openai-chat", _chat("{}", "length"), [False]),
        ("openai-chat", _chat("", "length", [WHOLE]), [True, False]),
        ("openai-chat", {"choices": [{"message": {"tool_calls": [FREE]}, "finish_reason": "length"}]}, [False]),
        ("openai-chat", _chat("{}", "content_filter"), [False]),
        ("openrouter", _chat("{}", "length"), [False]),
        ("anthropic", _messages("tool_use", USE), [True]),
        ("anthropic", _messages("max_tokens", USE), [False]),
        ("anthropic", _messages("max_tokens", USE, {"type": "text", "text": "and"}), [True]),
        ("anthropic", _messages("model_context_window_exceeded", USE, {**USE, "id": "d"}), [True, False]),
        ("openai-responses", _items("completed", ITEM), [True]),
        ("openai-responses", _items("incomplete", ITEM, {**ITEM, "call_id": "d"}), [True, False]),
        ("openai-responses", {"output": [{**ITEM, "status": "incomplete"}, ITEM]}, [False, True]),
        ("gemini", _google("STOP", PART), [True]),
        ("gemini", _google("MAX_TOKENS", PART), [False]),
        ("code-assist", {"response": _google("MAX_TOKENS", PART)}, [False]),
        ("ollama", {"model": "m", "message": OLLAMA_MESSAGE, "done": True, "done_reason": "stop"}, [True]),
        ("ollama", {"model": "m", "message": OLLAMA_MESSAGE, "done": True, "done_reason": "length"}, [False]),
    ],
)
def test_a_call_in_which_the_answer_was_cut_is_marked(dialect: str, answer: Any, complete: list[bool]) -> None:
    calls = tool_calls(answer, dialect=dialect)
    assert [call.complete for call in calls] == complete
    for call in calls:
        if not call.complete:
            with pytest.raises(ValueError, match=f"the call '{call.id}' of {call.name} is truncated: "):
                _ = call.input
            with pytest.raises(WireError, match=r"expected a complete call|beside tool calls"):
                tool_calls(answer, dialect=dialect, strict=True)


def test_a_call_that_was_cut_can_be_answered() -> None:
    answer = _messages("max_tokens", {**USE, "input": {"a": 1}})
    (call,) = tool_calls(answer, dialect="anthropic")
    output = {"output": "The call was cut off.", "is_error": True}
    assert tool_results([call], [output], dialect="anthropic") == tool_results(answer, [output], dialect="anthropic")


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("openai-chat", CHAT),
        ("openai-chat", {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}),
        ("openai-chat", {"choices": [{"message": {"content": "hi"}, "finish_reason": "length"}]}),
        ("openrouter", CHAT),
        ("anthropic", _messages("tool_use", USE)),
        ("anthropic", _messages("end_turn", {"type": "text", "text": "hi"})),
        ("openai-responses", _items("completed", ITEM)),
        ("openai-responses", {"output": [ITEM]}),
        ("gemini", _google("STOP", PART)),
        ("ollama", {"model": "m", "message": OLLAMA_MESSAGE, "done": True, "done_reason": "stop"}),
    ],
)
def test_strict_takes_answers_whose_reason_and_calls_agree(dialect: str, answer: Any) -> None:
    assert tool_calls(answer, dialect=dialect, strict=True) == tool_calls(answer, dialect=dialect)


WANTED = "'function_call' or 'tool_calls' beside tool calls"


@pytest.mark.parametrize(
    ("dialect", "answer", "message"),
    [
        ("openai-chat", _chat("{}", "stop"), f"/choices/0/finish_reason: expected {WANTED}, got 'stop'"),
        ("openai-chat", _chat("{}", None), f"/choices/0/finish_reason: expected {WANTED}, got no reason"),
        ("openrouter", _chat("{}", "stop"), f"/choices/0/finish_reason: expected {WANTED}, got 'stop'"),
        ("openai-chat", {"role": "assistant", "tool_calls": [WHOLE]}, f"expected {WANTED}, got no reason"),
        (
            "openai-chat",
            {"choices": [{"message": {"content": "hi"}, "finish_reason": "tool_calls"}]},
            "/choices/0/finish_reason: expected tool calls beside this reason, got 'tool_calls'",
        ),
        (
            "anthropic",
            _messages("end_turn", USE),
            "/stop_reason: expected 'tool_use' beside tool calls, got 'end_turn'",
        ),
        (
            "anthropic",
            _messages("tool_use", {"type": "text", "text": "hi"}),
            "/stop_reason: expected tool calls beside this reason, got 'tool_use'",
        ),
        ("openai-responses", {"output": [{**ITEM, "arguments": '{"a'}]}, "expected a complete call, got a call of f"),
    ],
)
def test_strict_refuses_answers_whose_reason_and_calls_do_not_agree(dialect: str, answer: Any, message: str) -> None:
    assert tool_calls(answer, dialect=dialect) is not None
    with pytest.raises(WireError) as caught:
        tool_calls(answer, dialect=dialect, strict=True)
    assert message in str(caught.value)


def test_an_answer_without_calls_has_none() -> None:
    assert tool_calls({"role": "assistant", "content": "hi"}, dialect="openai-chat") == []


def test_a_document_that_is_no_answer_is_refused() -> None:
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
    assert tool_results(CHAT, outputs, dialect="openai-chat") == [CHAT_MESSAGE, _tool("c1", "one"), _tool("c2", "two")]


def test_results_can_be_written_from_the_calls_alone() -> None:
    assistant = {"role": "assistant", "content": None, "tool_calls": CHAT_MESSAGE["tool_calls"]}
    expected = [assistant, _tool("c1", "one"), _tool("c2", "two")]
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


def test_media_are_written_where_the_dialect_allows_them() -> None:
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


IMAGE = Media("image", "image/png", "aGk=", name="a.png")
SOUND = Media("audio", "audio/wav", "aGk=")
SEEN = "Binary content of type image/png was processed. (a.png)"
INLINE = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}


def _response(output: str, *parts: Any) -> dict[str, Any]:
    inner = {"id": "c", "name": "f", "response": {"output": output}}
    return {"functionResponse": {**inner, "parts": list(parts)} if parts else inner}


@pytest.mark.parametrize(
    ("dialect", "model", "output", "results"),
    [
        ("gemini", "gemini-2.5-flash", IMAGE, [{"role": "user", "parts": [_response(SEEN), INLINE]}]),
        ("gemini", "gemini-3-flash", IMAGE, [{"role": "user", "parts": [_response(SEEN, INLINE)]}]),
        ("gemini", "gemini-3-flash", [Text("see"), IMAGE], [{"role": "user", "parts": [_response("see", INLINE)]}]),
        ("gemini", "gemini-2.5-flash", ("see", IMAGE), [{"role": "user", "parts": [_response("see"), INLINE]}]),
        ("gemini", "gemini-3-flash", Text("see"), [{"role": "user", "parts": [_response("see")]}]),
        (
            "gemini",
            "gemini-3-flash",
            SOUND,
            [
                {
                    "role": "user",
                    "parts": [
                        _response("Binary content of type audio/wav was processed."),
                        {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
                    ],
                }
            ],
        ),
        ("code-assist", "gemini-2.5-pro", IMAGE, [{"role": "user", "parts": [_response(SEEN), INLINE]}]),
        (
            "anthropic",
            "",
            {"output": [Text("see"), IMAGE], "is_error": True},
            [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c",
                            "content": [
                                {"type": "text", "text": "see"},
                                {
                                    "type": "image",
                                    "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                                },
                            ],
                            "is_error": True,
                        }
                    ],
                }
            ],
        ),
        (
            "openai-responses",
            "",
            Media("document", "application/pdf", "aGk="),
            [
                {
                    "type": "function_call_output",
                    "call_id": "c",
                    "output": [
                        {
                            "type": "input_file",
                            "filename": "document.pdf",
                            "file_data": "data:application/pdf;base64,aGk=",
                        }
                    ],
                }
            ],
        ),
        ("ollama", "", [Text("see"), Text("it")], [{"role": "tool", "content": "see\nit", "tool_name": "f"}]),
    ],
)
def test_outputs_are_media_texts_and_lists_of_them(dialect: str, model: str, output: Any, results: Any) -> None:
    done = tool_results([ToolCall("c", "f", "{}")], [output], dialect=dialect, model=model)[1:]
    if dialect == "ollama":
        done = [{name: value for name, value in one.items() if name != "tool_call_id"} for one in done]
    assert done == results


@pytest.mark.parametrize(("named", "inside"), [("gemini-2.5-flash", False), ("gemini-3-flash-preview", True)])
def test_without_a_model_from_the_caller_the_model_of_the_answer_is_used(named: str, inside: bool) -> None:
    answer = {**_google("STOP", PART), "modelVersion": named}
    parts = tool_results(answer, [IMAGE], dialect="gemini")[-1]["parts"]
    assert ("parts" in parts[0]["functionResponse"], len(parts)) == (inside, 1 if inside else 2)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ([Text("a"), 7], "unknown kind of output 'int'; valid: str, Text, Media"),
        ({"image": IMAGE}, "unknown kind of output 'Media'; valid: ToolResult, str, Text, Media"),
        ([{"deep": [Text("a")]}], "unknown kind of output 'Text'; valid: ToolResult, str, Text, Media"),
        (ToolCall("c", "f"), "unknown kind of output 'ToolCall'; valid: ToolResult, str, Text, Media"),
        (object(), "output 'object': Encoding objects of type object is unsupported"),
    ],
)
def test_an_output_of_an_unknown_kind_is_refused(output: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tool_results([ToolCall("c", "f", "{}")], [output], dialect="openai-chat")
    assert str(caught.value) == message


def test_a_seal_on_a_call_is_written_back() -> None:
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
def test_missing_and_extra_outputs_are_refused(outputs: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tool_results(CALLS, outputs, dialect="openai-chat")
    assert str(caught.value) == message


def test_a_value_that_is_no_call_is_refused() -> None:
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
