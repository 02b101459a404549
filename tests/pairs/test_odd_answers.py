"""Slightly wrong answers and streams: their content is translated or reported, and no translation fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.dialects import names

Json = dict[str, Any]


def _sse(*frames: Json) -> bytes:
    return b"".join([b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames])


def _streamed(source: str, target: str, body: bytes) -> tuple[bytes, set[tuple[str, str]]]:
    stream = dragoman.StreamTranslator(source=source, target=target, created=1)
    out = stream.feed(body) + stream.close()
    return out, {(loss.code, loss.path) for loss in stream.losses}


def _others(source: str) -> list[str]:
    return [name for name in names() if name != source]


def _messages(*deltas: Json, block: Json | None = None) -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}}
    return _sse(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block or {"type": "text", "text": ""}},
        *[{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas],
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


@pytest.mark.parametrize("kind", [{}, {"type": ""}, {"type": "newer_text_delta"}])
@pytest.mark.parametrize("target", _others("anthropic"))
def test_a_delta_without_a_known_type_is_read_by_its_fields(target: str, kind: Json) -> None:
    out, _ = _streamed("anthropic", target, _messages({**kind, "text": "plain words"}))
    assert b"plain words" in out


def test_an_unknown_delta_is_reported_at_its_block() -> None:
    _, losses = _streamed("anthropic", "gemini", _messages({"type": "newer_delta", "sketch": "a"}))
    assert ("event.dropped", "/content/0") in losses and ("field.dropped", "/content/0/sketch") in losses


def test_a_signature_after_the_end_of_its_block_is_reported() -> None:
    body = _messages({"type": "thinking_delta", "thinking": "hm"}, block={"type": "thinking", "thinking": ""})
    end = b'{"type": "message_delta"'
    late = {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "SIGN"}}
    body = body.replace(b"data: " + end, _sse(late) + b"data: " + end)
    _, losses = _streamed("anthropic", "openai-responses", body)
    assert ("event.dropped", "/content/0") in losses


@pytest.mark.parametrize("target", _others("ollama"))
def test_lines_after_the_last_line_are_reported(target: str) -> None:
    line = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "a"}}
    last = {**line, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    lines = [json.dumps(one).encode() + b"\n" for one in (line, last, line)]
    for pieces in (lines, [b"".join(lines)]):
        stream = dragoman.StreamTranslator(source="ollama", target=target, created=1)
        out = b"".join([stream.feed(piece) for piece in pieces]) + stream.close()
        assert out and stream.fault is None
        assert ("event.dropped", "/message") in {(loss.code, loss.path) for loss in stream.losses}


@pytest.mark.parametrize("number", [-1, -7, 10**9])
@pytest.mark.parametrize("target", _others("openai-chat"))
def test_an_answer_may_have_any_number(target: str, number: int) -> None:
    choice = {"index": number, "delta": {"role": "assistant", "content": "words"}, "finish_reason": None}
    end = {"index": number, "delta": {}, "finish_reason": "stop"}
    body = _sse(*[{"id": "x", "model": "m", "choices": [one]} for one in (choice, end)]) + b"data: [DONE]\n\n"
    out, losses = _streamed("openai-chat", target, body)
    assert b"words" in out or "answer.dropped" in {
        code for code, _ in losses
    }  # dialects with one answer keep the first


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "ollama"])
def test_a_dropped_answer_is_reported_at_its_place(target: str) -> None:
    """The loss names the place in the list, not the value of `index`."""
    choices = [
        {"index": number, "message": {"role": "assistant", "content": f"answer {number}"}, "finish_reason": "stop"}
        for number in (1, 0)
    ]
    body = {"id": "x", "model": "m", "choices": choices}
    done = dragoman.translate_response(body, source="openai-chat", target=target, created=1)
    assert b"answer 0" in done.body
    assert ("answer.dropped", "/choices/0") in {(loss.code, loss.path) for loss in done.losses}


@pytest.mark.parametrize("target", _others("openai-chat"))
def test_arguments_of_a_legacy_call_without_a_name_are_reported(target: str) -> None:
    message = {"role": "assistant", "content": "a", "function_call": {"name": "", "arguments": '{"a":1}'}}
    body = {"id": "x", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    done = dragoman.translate_response(body, source="openai-chat", target=target, created=1)
    assert ("field.dropped", "/choices/0/message/function_call/arguments") in {
        (loss.code, loss.path) for loss in done.losses
    }


@pytest.mark.parametrize("target", _others("openai-responses"))
def test_further_fields_of_a_thought_are_reported(target: str) -> None:
    note = {"type": "url_citation", "url": "https://e.com", "title": "E", "start_index": 0, "end_index": 1}
    thought = {"type": "reasoning_text", "text": "hm", "annotations": [note]}
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [thought]}
    body = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    done = dragoman.translate_response(body, source="openai-responses", target=target, created=1)
    assert ("field.dropped", "/output/0/content/0/annotations") in {(loss.code, loss.path) for loss in done.losses}


def test_the_seal_of_a_thought_is_kept_if_the_next_call_is_dropped() -> None:
    """In a stream the seal of a thought may be on the next call."""
    detail = {
        "type": "reasoning.text",
        "text": "hm",
        "signature": "SIGNED",
        "format": "anthropic-claude-v1",
        "index": 0,
    }
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    deltas: list[Json] = [{"reasoning_details": [detail]}, {"tool_calls": [call]}]
    chunks = [{"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    out, losses = _streamed("openrouter", "gemini", _sse(*chunks, end) + b"data: [DONE]\n\n")
    assert any(code == "call.truncated" for code, _ in losses)
    assert b"thoughtSignature" in out


def test_the_seal_of_a_dropped_call_is_reported() -> None:
    google = {"google": {"thought_signature": "U0lHTkVE"}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a'}, "extra_content": google}
    message = {"role": "assistant", "content": "a", "tool_calls": [call]}
    body = {"id": "x", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "length"}]}
    done = dragoman.translate_response(body, source="openai-chat", target="gemini", created=1)
    assert ("seal.dropped", "/choices/0/message/tool_calls/0") in {(loss.code, loss.path) for loss in done.losses}


@pytest.mark.parametrize("target", ["anthropic", "ollama"])
def test_citations_of_an_empty_text_are_reported(target: str) -> None:
    note = {"type": "url_citation", "url": "https://e.com", "title": "E", "start_index": 0, "end_index": 1}
    text = {"type": "output_text", "text": "", "annotations": [note]}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    body = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    done = dragoman.translate_response(body, source="openai-responses", target=target, created=1)
    assert "citation.dropped" in {loss.code for loss in done.losses}


@pytest.mark.parametrize("action", [1.5, "search", [], None, {"type": "search", "sources": {}}])
@pytest.mark.parametrize("target", _others("openai-responses"))
def test_a_search_may_have_any_action(target: str, action: object) -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action}
    body = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    done = dragoman.translate_response(body, source="openai-responses", target=target, created=1)
    assert {loss.code for loss in done.losses} & {"hosted.mapped", "hosted.dropped"}


@pytest.mark.parametrize(("source", "target"), [("gemini", "code-assist"), ("code-assist", "gemini")])
def test_unknown_parts_are_kept_between_similar_dialects(source: str, target: str) -> None:
    parts = [{"functionCall": {"name": "f", "args": {"a": "word"}}}, None]
    answer: Json = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    body = answer if source == "gemini" else {"response": answer}
    done = dragoman.translate_response(body, source=source, target=target, created=1)
    assert b"word" in done.body


def test_a_dropped_phase_of_a_message_is_only_an_info() -> None:
    text = {"type": "output_text", "text": "a", "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "content": [text]}
    body = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    done = dragoman.translate_response(body, source="openai-responses", target="anthropic", created=1)
    assert [loss.severity for loss in done.losses if loss.path == "/output/0/phase"] == ["info"]


@pytest.mark.parametrize("source", ["openai-chat", "openrouter", "openai-responses", "anthropic"])
def test_events_after_the_end_are_reported(source: str) -> None:
    chunk = {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}
    ended = {"id": "r", "model": "m", "status": "completed", "output": []}
    created = {"type": "response.created", "response": {**ended, "status": "in_progress"}}
    streams = {
        "anthropic": _messages({"type": "text_delta", "text": "a"}),
        "openai-responses": _sse(created, {"type": "response.completed", "response": ended}),
    }
    body = streams.get(source, _sse(chunk) + b"data: [DONE]\n\n")
    assert "event.dropped" not in {code for code, _ in _streamed(source, "gemini", body)[1]}
    late = chunk if source in ("openai-chat", "openrouter") else {"type": "message_start", "message": {"content": []}}
    out, losses = _streamed(source, "gemini", body + _sse(late))
    assert ("event.dropped", "") in losses and out == _streamed(source, "gemini", body)[0]


_ODD = {"type": "odd"}
_CHAT_MESSAGE = {"role": "assistant", "content": "x", "odd": 2, "annotations": [None, _ODD]}
_TEXT_ITEM = {"type": "output_text", "text": "x", "odd": 1}
_NULLS: list[tuple[str, Any, set[str]]] = [
    (
        "openai-chat",
        {"id": "x", "choices": [None, {"index": 0, "message": _CHAT_MESSAGE, "finish_reason": "stop"}]},
        {"/choices/1/message/odd", "/choices/1/message/annotations/1"},
    ),
    (
        "gemini",
        {"candidates": [None, {"content": {"parts": [None, {"text": "x", "odd": 1}], "odd": 2}}]},
        {"/candidates/1/content/parts/1/odd", "/candidates/1/content/odd"},
    ),
    (
        "openai-responses",
        {
            "id": "r",
            "status": "completed",
            "output": [None, {"type": "message", "role": "assistant", "content": [None, _TEXT_ITEM], "odd": 1}],
        },
        {"/output/1/content/1/odd", "/output/1/odd"},
    ),
    (
        "anthropic",
        {"id": "m", "content": [None, {"type": "text", "text": "x", "odd": 1}], "stop_reason": "end_turn"},
        {"/content/1/odd"},
    ),
    (
        "ollama",
        {
            "model": "m",
            "done": True,
            "message": {
                "role": "assistant",
                "tool_calls": [None, {"function": {"name": "f", "arguments": {}, "odd": 1}}],
            },
        },
        {"/message/tool_calls/1/function/odd"},
    ),
]


@pytest.mark.parametrize(("source", "body", "paths"), _NULLS)
def test_paths_of_losses_count_the_nulls_of_a_list(source: str, body: Any, paths: set[str]) -> None:
    target = "openai-chat" if source != "openai-chat" else "anthropic"
    done = dragoman.translate_response(body, source=source, target=target)
    assert {loss.path for loss in done.losses if loss.code == "field.dropped"} == paths
