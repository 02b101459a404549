"""Values that a stream sends late or twice: none is dropped without a report."""

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
def test_an_id_after_the_start_of_its_call_is_reported(target: str) -> None:
    start = _call(type="function", function={"name": "f", "arguments": '{"a":'})
    frames = [_chunk(start), _chunk(_call(id="call_9", function={"arguments": "1}"})), _chunk({}, "tool_calls")]
    out, losses = _streamed("openai-chat", target, frames)
    assert "call_9" not in out
    assert ("call.id.rewritten", "/choices/0/delta/tool_calls/0/id") in losses


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "ollama"])
def test_an_id_after_only_the_name_is_the_id_of_the_call(target: str) -> None:
    later = _call(id="call_9", function={"arguments": '{"a":1}'})
    frames = [_chunk(_call(type="function", function={"name": "f"})), _chunk(later), _chunk({}, "tool_calls")]
    out, losses = _streamed("openai-chat", target, frames)
    assert "call_9" in out
    assert not [code for code, _ in losses if code == "call.id.rewritten"]


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "openai-chat"])
def test_the_provider_is_reported_if_it_is_not_in_the_first_chunk(target: str) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    frames = [_chunk({"content": "hi"}), _chunk({}, "stop", provider="Harbour", usage=usage)]
    _, losses = _streamed("openrouter", target, frames)
    assert ("field.dropped", "/provider") in losses


@pytest.mark.parametrize(("source", "target"), [("gemini", "code-assist"), ("code-assist", "gemini")])
def test_citations_between_google_dialects_keep_licence_and_date(source: str, target: str) -> None:
    cited = {"startIndex": 0, "endIndex": 5, "uri": "https://a.example", "title": "T", "license": "MIT"}
    cited["publicationDate"] = {"year": 2020, "month": 1, "day": 2}
    candidate = {"content": {"role": "model", "parts": [{"text": "hello world"}]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [{**candidate, "citationMetadata": {"citations": [cited]}}], "modelVersion": "g"}
    out, losses = _streamed(source, target, [whole if source == "gemini" else {"response": whole}])
    assert '"license": "MIT"' in out and '"year": 2020' in out
    assert losses <= {("usage.invented", ""), ("usage.invented", "/response")}


def _gemini(**candidate: Any) -> dict[str, Any]:
    held = {"index": 0, "content": {"role": "model", "parts": [{"text": "hi"}]}, **candidate}
    return {"candidates": [held], "modelVersion": "g", "responseId": "r"}


def _wrapped(source: str, frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"response": frame} for frame in frames] if source == "code-assist" else frames


@pytest.mark.parametrize(("source", "target"), [("gemini", "code-assist"), ("code-assist", "gemini")])
def test_a_replaced_rating_is_reported_if_it_had_more_fields(source: str, target: str) -> None:
    rating = {"category": "HARM", "probability": "LOW"}
    end = _gemini(safetyRatings=[rating], finishReason="STOP")
    said_more = [_gemini(safetyRatings=[{**rating, "newer": "x"}]), end]
    out, losses = _streamed(source, target, _wrapped(source, said_more))
    place = "/response" * (source == "code-assist") + "/candidates/0/safetyRatings"
    assert "newer" not in out and ("field.dropped", place) in losses
    newer_figures = [_gemini(safetyRatings=[{**rating, "probability": "HIGH"}]), end]
    assert ("field.dropped", place) not in _streamed(source, target, _wrapped(source, newer_figures))[1]


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "openai-chat"])
@pytest.mark.parametrize("field", ["provider", "openrouter_metadata", "system_fingerprint", "prompt_filter_results"])
def test_a_field_outside_the_choices_is_reported_from_any_chunk(target: str, field: str) -> None:
    value = [{"a": "b"}] if field == "prompt_filter_results" else "Harbour"
    frames = [_chunk({"content": "a"}), _chunk({"content": "b"}, **{field: value}), _chunk({}, "stop")]
    assert ("field.dropped", f"/{field}") in _streamed("openrouter", target, frames)[1]


def test_a_field_that_is_empty_at_first_is_reported_when_it_has_a_value() -> None:
    first, last = _chunk({"content": "a"}), _chunk({}, "stop")
    first["choices"][0]["native_finish_reason"], last["choices"][0]["native_finish_reason"] = "", "end"
    assert ("field.dropped", "/choices/0/native_finish_reason") in _streamed("openrouter", "anthropic", [first, last])[
        1
    ]


def _with(frame: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**frame, **fields}


_CREATED = {"type": "response.created", "response": {"id": "", "model": "", "output": [], "status": "in_progress"}}
_COMPLETED = {"id": "late", "model": "new", "status": "completed", "output": []}
_RENAMED: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "openai-chat": (
        [_chunk({"content": "a"}, id="", model=""), _chunk({}, "stop", id="late", model="new")],
        "id",
        "model",
    ),
    "openrouter": (
        [_chunk({"content": "a"}, id="", model=""), _chunk({}, "stop", id="late", model="new")],
        "id",
        "model",
    ),
    "gemini": (
        [
            _with(_gemini(), responseId="", modelVersion=""),
            _with(_gemini(finishReason="STOP"), responseId="late", modelVersion="new"),
        ],
        "responseId",
        "modelVersion",
    ),
    "openai-responses": ([_CREATED, {"type": "response.completed", "response": _COMPLETED}], "id", "model"),
}


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "openai-responses"])
@pytest.mark.parametrize("source", _RENAMED)
def test_an_id_and_a_model_after_the_start_of_the_answer_are_reported(source: str, target: str) -> None:
    if source == target:
        return
    frames, name, model = _RENAMED[source]
    _, losses = _streamed(source, target, frames)
    assert {("id.dropped", f"/{name}"), ("field.dropped", f"/{model}")} <= losses


def test_a_model_of_ollama_that_changes_is_reported() -> None:
    lines = [
        {"model": "a", "message": {"role": "assistant", "content": "x"}, "done": False},
        {"model": "b", "message": {"role": "assistant", "content": "y"}, "done": False},
        {"model": "a", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ]
    stream = dragoman.StreamTranslator(source="ollama", target="openai-chat", created=1)
    stream.feed("".join([json.dumps(line) + "\n" for line in lines]).encode())
    stream.close()
    assert ("field.dropped", "/model") in {(loss.code, loss.path) for loss in stream.losses}


def _responses_call(added: dict[str, Any], pieces: list[str], done: dict[str, Any]) -> list[dict[str, Any]]:
    deltas = [{"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece} for piece in pieces]
    return [
        {"type": "response.created", "response": {"id": "r", "model": "m", "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": added},
        *deltas,
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed", "output": [done]}},
    ]


_CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a":"bc"}'}


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_an_item_added_without_a_type_gets_its_type_from_the_deltas(target: str) -> None:
    out, _ = _streamed("openai-responses", target, _responses_call({}, ['{"a":', '"bc"}'], _CALL))
    assert "call_1" in out and "bc" in out
    assert '"content":"{' not in out


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_a_call_whose_deltas_differ_from_its_final_item_is_reported(target: str) -> None:
    start = {**_CALL, "arguments": ""}
    _, losses = _streamed("openai-responses", target, _responses_call(start, ['{"a":', '"c"}'], _CALL))
    assert ("event.dropped", "/output/0") in losses
    _, losses = _streamed("openai-responses", target, _responses_call(start, ['{"a": ', '"bc"}'], _CALL))
    assert ("event.dropped", "/output/0") not in losses
    _, losses = _streamed(
        "openai-responses", target, _responses_call({**start, "call_id": "c0"}, ['{"a":"bc"}'], _CALL)
    )
    assert ("call.id.rewritten", "/output/0/call_id") in losses


@pytest.mark.parametrize("kind", ["newer_event", None])
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "ollama"])
def test_a_text_in_an_event_without_a_type_is_kept(target: str, kind: str | None) -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": []}
    frames = [
        {"type": "message_start", "message": {**message, "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": kind, "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": kind, "index": 0, "delta": {"type": "text_delta", "text": "harbour"}},
        {"type": "content_block_stop", "index": 0},
        {"type": kind, "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    out, losses = _streamed("anthropic", target, frames)
    assert "harbour" in out
    assert not [code for code, _ in losses if code == "event.dropped"]


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "ollama", "openrouter"])
@pytest.mark.parametrize(
    ("field", "value"), [("name", "Harbour"), ("tool_call_id", "call_9"), ("audio", "sound"), ("audio", ["sound"])]
)
def test_a_delta_field_without_an_event_is_reported(target: str, field: str, value: Any) -> None:
    frames = [_chunk({"content": "a"}), _chunk({"content": "b", field: value}), _chunk({}, "stop")]
    assert ("field.dropped", f"/choices/0/delta/{field}") in _streamed("openai-chat", target, frames)[1]


def test_of_two_different_thoughts_in_one_delta_one_is_reported() -> None:
    frames = [_chunk({"reasoning_content": "first", "reasoning": "second"}), _chunk({"content": "a"}, "stop")]
    out, losses = _streamed("openai-chat", "anthropic", frames)
    assert "first" in out and ("field.dropped", "/choices/0/delta/reasoning") in losses
    frames = [_chunk({"reasoning_content": "first", "reasoning": "first"}), _chunk({"content": "a"}, "stop")]
    assert ("field.dropped", "/choices/0/delta/reasoning") not in _streamed("openai-chat", "anthropic", frames)[1]


_SIGNED = {"google": {"thought_signature": "c2VhbHNlYWw="}}


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
def test_a_seal_after_the_name_of_its_call_is_the_seal_of_the_call(target: str) -> None:
    start = _chunk(_call(id="c1", type="function", function={"name": "f", "arguments": ""}))
    frames = [start, _chunk(_call(extra_content=_SIGNED, function={"arguments": "{}"})), _chunk({}, "tool_calls")]
    out, losses = _streamed("openai-chat", target, frames)
    assert "thoughtSignature" in out and not [code for code, _ in losses if code == "seal.dropped"]


@pytest.mark.parametrize("target", ["gemini", "anthropic", "openrouter"])
def test_a_seal_after_the_start_of_its_call_is_reported(target: str) -> None:
    start = _chunk(_call(id="c1", type="function", function={"name": "f", "arguments": '{"a":'}))
    late = _chunk(_call(extra_content=_SIGNED, function={"arguments": "1}"}))
    _, losses = _streamed("openai-chat", target, [start, late, _chunk({}, "tool_calls")])
    assert ("seal.dropped", "/choices/0/delta/tool_calls/0") in losses
    other = _chunk(_call(id="c1", type="function", function={"name": "f", "arguments": "{}"}, extra_content={"x": "y"}))
    _, losses = _streamed("openai-chat", target, [other, _chunk({}, "tool_calls")])
    assert ("field.dropped", "/choices/0/delta/tool_calls/0/extra_content") in losses
