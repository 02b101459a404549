"""Unusual input in place of a stream: error objects, pages, incomplete calls, unexpected values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import lint
from dragoman.translate import StreamTranslator, translate_response

SOURCES = ["openai-chat", "openai-responses", "openrouter"]
ERROR = {"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}


def translated_stream(source: str, target: str, *chunks: bytes) -> tuple[bytes, list[str]]:
    stream = StreamTranslator(source=source, target=target)
    out = b"".join([stream.feed(chunk) for chunk in chunks]) + stream.close()
    return out, [loss.code for loss in stream.losses]


def frame(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: Any, finish: str | None = None, **choice: Any) -> bytes:
    return frame(
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **choice}]}
    )


def call(arguments: str) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_error_object_in_place_of_a_stream_becomes_a_fault(source: str, indent: int | None) -> None:
    out, _ = translated_stream(source, "anthropic", json.dumps(ERROR, indent=indent).encode())
    assert b'"message":"slow down"' in out
    assert (b"rate_limit_error" in out) == (source != "openrouter")  # the error codes of OpenRouter are numbers


@pytest.mark.parametrize("source", [*SOURCES, "gemini"])
def test_a_fault_quotes_the_start_of_a_body_that_is_no_stream(source: str) -> None:
    page = b"<html>\n<body>Bad gateway</body>" + b"x" * 5000
    for pieces in ([page], [page[:9], page[9:]]):
        out, _ = translated_stream(source, "anthropic", *pieces)
        assert b"ended before the answer did; it sent: <html> <body>Bad gateway</body>xxx" in out
        assert len(out) < 450


@pytest.mark.parametrize("source", SOURCES)
def test_a_stream_without_frames_is_a_fault(source: str) -> None:
    out, _ = translated_stream(source, "anthropic", b": comment\n\nretry: 5\n")
    assert b"the upstream's stream ended before the answer did\"" in out


def test_an_incomplete_call_gives_the_stop_reason_max_tokens() -> None:
    out, losses = translated_stream("openai-chat", "anthropic", chunk(call('{"a": ')), chunk({}, "tool_calls"))
    assert b'"stop_reason":"max_tokens"' in out
    assert {"arguments.invalid", "stop.approximated"} <= set(losses)
    assert lint(out, dialect="anthropic", kind="stream") == []


def test_arguments_that_are_no_object_are_a_fault() -> None:
    out, losses = translated_stream("openai-chat", "anthropic", chunk(call("[1")), chunk({}, "tool_calls"))
    assert b"__raw" not in out
    assert b"stop_reason" not in out.rpartition(b"message_start")[2].partition(b"content_block_start")[2]
    assert b"event: error" in out
    assert "call.truncated" in losses
    assert lint(out, dialect="anthropic", kind="stream") == []


@pytest.mark.parametrize("native", [[], {}, 3, None])
def test_a_native_finish_reason_may_have_any_type(native: Any) -> None:
    out, _ = translated_stream("openrouter", "anthropic", chunk(call("{}"), "tool_calls", native_finish_reason=native))
    assert b'"stop_reason":"tool_use"' in out
    message = {"role": "assistant", "content": None, **call("{}")}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "native_finish_reason": native}
    whole = translate_response({"id": "x", "model": "m", "choices": [choice]}, source="openrouter", target="anthropic")
    assert whole.json()["stop_reason"] == "tool_use"


@pytest.mark.parametrize("item", [{"type": "function_call", "name": "f", "call_id": 7}, {"type": "message"}])
def test_a_negative_output_index_is_ignored(item: Any) -> None:
    out, _ = translated_stream(
        "openai-responses",
        "openai-chat",
        frame({"type": "response.created", "response": {"id": "r"}}),
        frame({"type": "response.output_item.added", "output_index": -1, "item": item}),
        frame({"type": "response.completed", "response": {"id": "r", "output": []}}),
    )
    assert out.endswith(b"data: [DONE]\n\n")


def test_an_anthropic_error_in_place_of_a_stream_becomes_a_fault() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    out, _ = translated_stream("anthropic", "openai-chat", json.dumps(error).encode())
    assert b'"message":"Overloaded"' in out
    assert b'"code":"overloaded"' in out
