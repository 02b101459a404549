"""Conveniences of the library: SDK objects as input, loops over streams, explained losses and findings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, get_args

import msgspec
import pytest
from anthropic.types import Message
from google.genai.types import GenerateContentResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion

import dragoman
from dragoman.canon.loss_advice import _ADVICE, advice_for, row_for
from dragoman.canon.loss_codes import CODES
from dragoman.canon.parts import IncompleteCall, ToolCall
from dragoman.dialects import DialectName, names
from dragoman.errors import ConfigError, DragomanError

CHAT = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            },
        }
    ],
}
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2VhbA=="}],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ]
}
OLLAMA = {
    "model": "qwen3",
    "created_at": "2026-11-01T00:00:00Z",
    "done": True,
    "done_reason": "stop",
    "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
}
OBJECTS: dict[str, tuple[Any, Any]] = {
    "openai-chat": (ChatCompletion, CHAT),
    "anthropic": (Message, MESSAGE),
    "gemini": (GenerateContentResponse, GEMINI),
    "ollama": (ChatResponse, OLLAMA),
}


@pytest.mark.parametrize("dialect", OBJECTS)
def test_objects_of_sdks_are_read_like_their_documents(dialect: str) -> None:
    kind, document = OBJECTS[dialect]
    made = kind.model_validate(document)
    (call,) = dragoman.tool_calls(made, dialect=dialect)
    assert (call.name, call.input) == ("f", {"a": 1})
    for target in names():
        from_object = dragoman.translate_response(made, source=dialect, target=target)
        assert from_object.json() == dragoman.translate_response(document, source=dialect, target=target).json()
    assert dragoman.detect(made)[0] == dialect
    assert dragoman.tool_results(made, [5], dialect=dialect) == dragoman.tool_results(document, [5], dialect=dialect)


def test_objects_of_sdks_are_accepted_inside_a_mapping() -> None:
    message = ChatCompletion.model_validate(CHAT).choices[0].message
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}, message]}
    plain = {"model": "m", "messages": [{"role": "user", "content": "Hi"}, CHAT["choices"][0]["message"]]}  # type: ignore[index]
    ways = [
        dragoman.translate_request(one, source="openai-chat", target="anthropic").json() for one in (request, plain)
    ]
    assert ways[0] == ways[1]
    with pytest.raises(DragomanError, match="got an object of the type object"):
        dragoman.translate_request({"model": object()}, source="openai-chat", target="anthropic")


def _stream() -> list[bytes]:
    events: list[Any] = [
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
            {"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": None}]},
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
            {"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]  # fmt: skip
    return [*[b"data: " + msgspec.json.encode(one) + b"\n\n" for one in events], b"data: [DONE]\n\n"]


def test_a_stream_is_translated_in_a_sync_and_in_an_async_loop() -> None:
    def translator() -> dragoman.StreamTranslator:
        return dragoman.StreamTranslator(source="openai-chat", target="anthropic")

    async def chunks() -> AsyncIterator[bytes]:
        for chunk in _stream():
            yield chunk

    async def collected() -> bytes:
        return b"".join([chunk async for chunk in translator().atranslate(chunks())])

    one = translator()
    by_hand = b"".join([one.feed(chunk) for chunk in _stream()]) + one.close()
    assert b"message_stop" in by_hand
    assert b"".join(translator().translate(_stream())) == by_hand
    assert asyncio.run(collected()) == by_hand
    assert b"".join(translator().translate([bytearray(chunk) for chunk in _stream()])) == by_hand  # type: ignore[misc]


@pytest.mark.parametrize("target", ["anthropic", "openai-chat"])
def test_text_instead_of_bytes_is_refused_with_advice(target: str) -> None:
    translator = dragoman.StreamTranslator(source="openai-chat", target=target)
    with pytest.raises(ConfigError, match=r"chunk\.encode"):
        translator.feed("data: {}\n\n")  # type: ignore[arg-type]


def test_broken_arguments_raise_an_error_of_the_library() -> None:
    for call in (ToolCall("1", "f", '{"a":'), IncompleteCall("1", "f", "{}"), ToolCall("1", "f", "[" * 100_000)):
        with pytest.raises(dragoman.ArgumentsError) as raised:
            _ = call.input
        assert isinstance(raised.value, DragomanError) and isinstance(raised.value, ValueError)


def test_a_loss_has_a_meaning_and_advice() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "seed": 1}
    (loss,) = dragoman.translate_request(request, source="openai-chat", target="anthropic", model="c").losses[:1]
    assert loss.meaning == CODES[loss.code].meaning
    assert loss.advice.endswith(".")


def test_every_loss_has_advice_and_every_row_of_advice_is_used() -> None:
    used = set()
    for code in CODES:
        assert advice_for(code).endswith(".")
        used.add(row_for(code))
    assert used == set(_ADVICE)


def test_a_finding_prints_its_rule_place_message_and_fix() -> None:
    finding = dragoman.Finding("ANT-001", "error", "/messages/0", "it is wrong.", "Mend it.")
    assert str(finding) == "error: ANT-001 at /messages/0: it is wrong. Fix: Mend it."


def test_a_notebook_shows_losses_and_escapes_the_document() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "<script>alert(1)</script>"}], "seed": 1}
    done = dragoman.translate_request(request, source="openai-chat", target="anthropic", model="c")
    html = done._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert all(loss.code in html and loss.path in html for loss in done.losses)
    clean = dragoman.translate_request(
        {"model": "m", "messages": [{"role": "user", "content": "x"}]}, source="openai-chat", target="openrouter"
    )
    assert "Nothing was lost." in clean._repr_html_()


def test_the_type_of_dialect_names_lists_exactly_the_built_in_dialects() -> None:
    literal, other = get_args(DialectName)
    assert set(get_args(literal)) == set(names())
    assert other is str
