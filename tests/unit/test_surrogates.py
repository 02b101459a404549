"""Lone surrogates in documents: a translation writes U+FFFD and a loss; within one dialect the bytes are unchanged."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dragoman import (
    detect,
    lint,
    repair,
    tool_calls,
    translate_fault,
    translate_request,
    translate_response,
    translate_tools,
)
from dragoman.dialects import names

DIALECTS = names()
HALF = b"\\ud83d"
PAIRS = [(source, target) for source in DIALECTS for target in DIALECTS]

TOOL = {
    "type": "function",
    "function": {
        "name": "f",
        "description": "tool @@",
        "parameters": {"type": "object", "properties": {"a": {"type": "string", "description": "field @@"}}},
    },
}
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "system @@"},
        {"role": "user", "content": "user @@"},
        {
            "role": "assistant",
            "content": "said @@",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": "argument @@"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "result @@"},
    ],
    "tools": [TOOL],
}
ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "said @@",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": "argument @@"}'}}
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


def _request(dialect: str) -> bytes:
    """A request of the dialect with half a character in each of its texts."""
    return translate_request(CHAT, source="openai-chat", target=dialect, model="m").body.replace(b"@@", HALF)


def _answer(dialect: str) -> bytes:
    return translate_response(ANSWER, source="openai-chat", target=dialect).body.replace(b"@@", HALF)


def _is_sound(body: bytes) -> bool:
    """Check that the decoded text can be written as UTF-8."""
    json.dumps(json.loads(body), ensure_ascii=False).encode()
    return True


def _text(body: bytes) -> str:
    """The text of a document. Escapes of U+FFFD inside arguments are decoded too."""
    return json.dumps(json.loads(body), ensure_ascii=False).replace(r"\\ufffd", "\ufffd")


def _at(document: bytes, pointer: str) -> Any:
    value = json.loads(document)
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_requests(source: str, target: str) -> None:
    document = _request(source)
    out = translate_request(document, source=source, target=target)
    if source == target:
        assert out.body == document
        assert not out.losses
        return
    assert _is_sound(out.body)
    replaced = [loss for loss in out.losses if loss.code == "character.replaced"]
    assert len(replaced) == 7  # system, user, said, argument, result, tool, field
    assert all("\ud83d" in _at(document, loss.path) for loss in replaced)
    text = _text(out.body)
    for word in ("system", "user", "said", "argument", "result", "tool", "field"):
        assert f"{word} \ufffd" in text


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_answers(source: str, target: str) -> None:
    document = _answer(source)
    out = translate_response(document, source=source, target=target)
    if source == target:
        assert out.body == document
        return
    assert _is_sound(out.body)
    assert len([loss for loss in out.losses if loss.code == "character.replaced"]) == 2
    text = _text(out.body)
    assert "said \ufffd" in text
    assert "argument \ufffd" in text


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "openrouter"])
def test_arguments_with_an_escaped_half_character(source: str, target: str) -> None:
    """Arguments are JSON text in a JSON string, so the outer decoder finds no surrogate."""
    chat = json.loads(json.dumps(CHAT).replace(" @@", ""))
    chat["messages"][2]["tool_calls"][0]["function"]["arguments"] = r'{"a": "x \ud83d", "b": "\ud83d\ude00 \\ud83d"}'
    document = translate_request(chat, source="openai-chat", target="openai-chat").body
    if source != "openai-chat":
        chat["messages"][2]["tool_calls"][0]["function"]["arguments"] = '{"a": "@@"}'
        document = translate_request(chat, source="openai-chat", target=source, model="m").body
        document = document.replace(b"@@", rb"x \\ud83d").replace(
            b'd83d\\"}', rb"d83d\", \"b\": \"\\ud83d\\ude00 \\\\ud83d\"}"
        )
    for _ in range(2):  # the second time the history is in the cache
        out = translate_request(document, source=source, target=target)
        if source == target:
            assert out.body == document
            continue
        assert [loss.code for loss in out.losses].count("character.replaced") == 1
        (call,) = [part for turn in out.request.turns for part in turn.parts if type(part).__name__ == "ToolCall"]  # type: ignore[union-attr]
        assert call.input == {"a": "x \ufffd", "b": "\U0001f600 \\ud83d"}
        assert b"__raw" not in out.body
        assert _is_sound(out.body)


def test_the_loss_counts_for_the_tolerance() -> None:
    from dragoman import LossError

    with pytest.raises(LossError, match=r"character\.replaced"):
        translate_request(_request("openai-chat"), source="openai-chat", target="anthropic", tolerance="info")
    with pytest.raises(LossError, match=r"character\.replaced"):
        translate_response(_answer("openai-chat"), source="openai-chat", target="anthropic", tolerance="info")


@pytest.mark.parametrize("body", [{"a": "\ud83d", "b": [1.5, None]}, '{"a": "\ud83d", "b": [1.5, null]}'])
def test_decoded_documents_may_contain_half_characters(body: Any) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "\ud83d"}]}
    given = request if isinstance(body, dict) else json.dumps(request, ensure_ascii=False)
    out = translate_request(given, source="openai-chat", target="anthropic")
    assert json.loads(out.body)["messages"][0]["content"] == "\ufffd"
    assert "character.replaced" in [loss.code for loss in out.losses]


def test_within_a_dialect_only_the_model_changes() -> None:
    document = _request("openai-chat")
    out = translate_request(document, source="openai-chat", target="openai-chat", model="other", repair="report")
    assert out.body == document.replace(b'"model":"m"', b'"model":"other"')
    assert not out.losses


def test_a_document_that_is_changed_within_its_dialect_is_mended() -> None:
    document = json.dumps(
        {
            "model": "m",
            "messages": [
                {"role": "user", "content": "\ud83d"},
                {"role": "assistant", "tool_calls": [CHAT["messages"][2]["tool_calls"][0]]},
                {"role": "user", "content": "and?"},
            ],
        }
    )
    out = translate_request(document, source="openai-chat", target="openai-chat", repair="report")
    assert out.repairs
    assert "character.replaced" in [loss.code for loss in out.losses]
    assert _is_sound(out.body)
    mended = repair(document, dialect="openai-chat")
    assert mended.repairs
    assert [loss.path for loss in mended.losses if loss.code == "character.replaced"] == ["/messages/0/content"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_functions_that_only_read_accept_half_characters(dialect: str) -> None:
    request, answer = _request(dialect), _answer(dialect)
    assert repair(request, dialect=dialect).body == request
    assert detect(answer)[0]
    lint(request, dialect=dialect)
    lint(answer, dialect=dialect, kind="response")
    (call,) = tool_calls(answer, dialect=dialect)
    assert call.input == {"a": "argument \ufffd"}


@pytest.mark.parametrize("target", DIALECTS)
def test_tools_and_faults(target: str) -> None:
    tools = json.dumps([TOOL]).replace("@@", "\\ud83d")
    out = translate_tools(tools, source="openai-chat", target=target)
    fault = json.dumps({"error": {"message": "bad @@", "type": "invalid_request_error"}}).replace("@@", "\\ud83d")
    translated_fault = translate_fault(fault, status=400, source="openai-chat", target=target)
    if target == "openai-chat":
        assert out.body == tools.encode()
        assert translated_fault.body == fault.encode()
        return
    assert len([loss for loss in out.losses if loss.code == "character.replaced"]) == 2
    assert _is_sound(out.body)
    assert "bad \ufffd" in json.dumps(json.loads(translated_fault.body), ensure_ascii=False)
    assert "character.replaced" in [loss.code for loss in translated_fault.losses]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("as_text", [True, False])
def test_an_earlier_conversation_with_half_a_character_is_reported(target: str, as_text: bool) -> None:
    held: Any = {"role": "user", "content": "half \ud83d"}
    if as_text:
        held = msgspec.Raw(rb'{"role":"user","content":"half \ud83d"}')
    body = {"model": "m", "input": "Go on", "previous_response_id": "resp_1"}
    out = translate_request(body, source="openai-responses", target=target, resolver=lambda _: [held])
    assert "half \ufffd" in out.body.decode()
    assert ("character.replaced", "/previous_response_id") in [(loss.code, loss.path) for loss in out.losses]
