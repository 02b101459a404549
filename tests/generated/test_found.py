"""Mistakes that generated documents found, each with the smallest document that shows the mistake."""

from __future__ import annotations

from typing import Any

import dragoman
from dragoman.dialects import get
from tests.recorded.recorded_bodies import CREATED, context, written_again

Json = Any
PNG = "iVBORw0KGgo="


def sent(body: Json, source: str, target: str) -> tuple[Json, set[tuple[str, str]]]:
    out = dragoman.translate_request(body, source=source, target=target, model="some-model")
    return out.json(), {(loss.code, loss.path) for loss in out.losses}


def rewritten(body: bytes, dialect: str) -> bytes:
    under = context(dialect, dialect)
    return written_again(get(dialect), get(dialect).read_request(body, under), under)


def test_an_item_with_type_null_is_read_like_an_item_without_type() -> None:
    body = {"model": "m", "input": [{"type": None, "role": "user", "content": "Hello"}, {"type": None, "id": "item_1"}]}
    out, losses = sent(body, "openai-responses", "openai-chat")
    assert out["messages"] == [{"role": "user", "content": "Hello"}]
    assert ("state.dropped", "/input/1") in losses


def test_a_null_cache_mark_is_not_counted() -> None:
    marked = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [], "cache_control": None}
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    messages = [{"role": "user", "content": [marked]}, {"role": "assistant", "content": [call, result]}]
    messages += [{"role": "user", "content": [marked, marked, marked]}]
    out = rewritten(
        dragoman.translate_request(
            {"model": "m", "max_tokens": 5, "messages": messages}, source="anthropic", target="anthropic"
        ).body,
        "anthropic",
    )
    assert out.count(b"ephemeral") == 4


def test_media_of_an_assistant_are_not_in_its_chat_message() -> None:
    turns = [{"role": "assistant", "content": "Here.", "images": [PNG]}, {"role": "user", "content": "More."}]
    out, losses = sent({"model": "m", "messages": turns}, "ollama", "openai-chat")
    assert {part["type"] for part in out["messages"][0]["content"]} == {"text"}
    assert ("media.moved", "/messages/0/images/0") in losses


def test_a_budget_beside_an_effort_is_reported() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2000}
    body = {"model": "m", "max_tokens": 4000, "messages": [{"role": "user", "content": "a"}], "thinking": thinking}
    _, losses = sent({**body, "output_config": {"effort": "high"}}, "anthropic", "gemini")
    assert ("effort.approximated", "/thinking/budget_tokens") in losses


def test_of_two_efforts_the_dropped_one_is_reported() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "reasoning": {"effort": "low"}}
    _, losses = sent({**body, "reasoning_effort": "high"}, "openrouter", "openai-responses")
    assert ("field.dropped", "/reasoning_effort") in losses
    _, losses = sent({**body, "reasoning_effort": "low"}, "openrouter", "openai-responses")
    assert ("field.dropped", "/reasoning_effort") not in losses


def test_stream_options_without_usage_come_back() -> None:
    options = b'"stream_options":{"include_obfuscation":false}'
    body = b'{"model":"m","messages":[{"role":"user","content":"a"}],"stream":true,%b}' % options
    assert options in rewritten(body, "openai-chat")


def test_a_format_unknown_to_chat_keeps_its_fields() -> None:
    body = (
        b'{"model":"m","messages":[{"role":"user","content":"a"}],"response_format":{"type":"grammar","grammar":"g"}}'
    )
    assert b'"grammar":"g"' in rewritten(body, "openrouter")


def test_the_name_of_an_assistant_and_of_a_format_without_a_schema_are_reported() -> None:
    said = [{"role": "assistant", "name": "ada", "content": "a"}, {"role": "user", "content": "b"}]
    _, losses = sent({"model": "m", "messages": said}, "openai-chat", "openai-responses")
    assert ("name.dropped", "/messages/0") in losses
    shape = {"type": "json_schema", "json_schema": {"name": "one"}}
    _, losses = sent({"model": "m", "messages": said, "response_format": shape}, "openai-chat", "anthropic")
    assert ("format.detail.dropped", "/response_format") in losses


def test_an_image_made_while_thinking_is_reported() -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": PNG}, "thought": True}
    contents = [{"role": "model", "parts": [part]}, {"role": "user", "parts": [{"text": "a"}]}]
    _, losses = sent({"contents": contents}, "gemini", "openrouter")
    assert ("field.dropped", "/contents/0/parts/0/thought") in losses
    out, losses = sent({"contents": contents}, "gemini", "code-assist")
    assert "thought" not in str(out["request"]["contents"])
    assert ("field.dropped", "/contents/0/parts/0/thought") in losses


def test_citations_of_an_empty_answer_and_places_in_documents_are_reported() -> None:
    cited = {"citationMetadata": {"citations": [{"uri": "https://example.com/a"}]}, "finishReason": "STOP", "index": 0}
    body = {"candidates": [{**cited, "content": {"role": "model", "parts": []}}]}
    out = dragoman.translate_response(body, source="gemini", target="openai-chat", created=CREATED)
    assert "/candidates/0/citationMetadata" in {loss.path for loss in out.losses}
    place = {"type": "char_location", "cited_text": "q", "document_index": 0, "document_title": "T"}
    place |= {"start_char_index": 3, "end_char_index": 4, "file_id": None}
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    answer |= {"stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    answer |= {"content": [{"type": "text", "text": "a", "citations": [place]}]}
    out = dragoman.translate_response(answer, source="anthropic", target="gemini", created=CREATED)
    assert ("citation.approximated", "/content/0") in {(loss.code, loss.path) for loss in out.losses}


def test_an_empty_answer_is_reported_if_the_target_has_only_one_answer() -> None:
    chunk = b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0},'
    chunk += b'{"finishReason":"SAFETY","index":1}],"usageMetadata":{"totalTokenCount":1}}\n\n'
    for target in ("anthropic", "openai-responses", "ollama"):
        stream = dragoman.StreamTranslator(source="gemini", target=target, created=CREATED)
        stream.feed(chunk)
        stream.close()
        assert "answer.dropped" in {loss.code for loss in stream.losses}, target
