"""Facts that come late in a stream, or twice: none vanishes without a report."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman

HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def _chunk(delta: dict[str, Any], reason: str | None = None, **fields: Any) -> dict[str, Any]:
    return {**HEAD, **fields, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _streamed(source: str, target: str, frames: list[dict[str, Any]]) -> tuple[str, set[tuple[str, str]]]:
    stream = dragoman.StreamTranslator(source=source, target=target, created=1)
    body = "".join([f"data: {json.dumps(frame)}\n\n" for frame in frames]).encode()
    out = stream.feed(body) + stream.close()
    return out.decode(), {(loss.code, loss.path) for loss in stream.losses}


def _call(**fields: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **fields}]}


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "ollama"])
def test_an_id_behind_the_beginning_of_its_call_is_reported(target: str) -> None:
    begun = _call(type="function", function={"name": "f", "arguments": '{"a":'})
    frames = [_chunk(begun), _chunk(_call(id="call_9", function={"arguments": "1}"})), _chunk({}, "tool_calls")]
    out, lost = _streamed("openai-chat", target, frames)
    assert "call_9" not in out
    assert ("call.id.rewritten", "/choices/0/delta/tool_calls/0/id") in lost


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "ollama"])
def test_an_id_behind_the_name_alone_is_the_id_of_the_call(target: str) -> None:
    later = _call(id="call_9", function={"arguments": '{"a":1}'})
    frames = [_chunk(_call(type="function", function={"name": "f"})), _chunk(later), _chunk({}, "tool_calls")]
    out, lost = _streamed("openai-chat", target, frames)
    assert "call_9" in out
    assert not [code for code, _ in lost if code == "call.id.rewritten"]


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "openai-chat"])
def test_who_answered_is_reported_where_the_first_chunk_does_not_say(target: str) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    frames = [_chunk({"content": "hi"}), _chunk({}, "stop", provider="Harbour", usage=usage)]
    _, lost = _streamed("openrouter", target, frames)
    assert ("field.dropped", "/provider") in lost


@pytest.mark.parametrize(("source", "target"), [("gemini", "code-assist"), ("code-assist", "gemini")])
def test_citations_between_kin_keep_licence_and_date(source: str, target: str) -> None:
    cited = {"startIndex": 0, "endIndex": 5, "uri": "https://a.example", "title": "T", "license": "MIT"}
    cited["publicationDate"] = {"year": 2020, "month": 1, "day": 2}
    candidate = {"content": {"role": "model", "parts": [{"text": "hello world"}]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [{**candidate, "citationMetadata": {"citations": [cited]}}], "modelVersion": "g"}
    out, lost = _streamed(source, target, [whole if source == "gemini" else {"response": whole}])
    assert '"license": "MIT"' in out and '"year": 2020' in out
    assert lost <= {("usage.invented", ""), ("usage.invented", "/response")}
