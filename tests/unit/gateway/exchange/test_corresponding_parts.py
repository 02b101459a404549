"""Corresponding parts of two documents: a text, call, result, tool or setting and its translation."""

from __future__ import annotations

import json

import pytest

from dragoman.dialects import names
from dragoman.gateway.exchange.corresponding_parts import join_documents, read_document
from dragoman.translate import translate_request, translate_response

REQUEST = {
    "model": "m",
    "max_completion_tokens": 50,
    "messages": [
        {"role": "user", "content": "Paris?"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "w", "arguments": '{ "city": "Paris" }'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "dry"},
    ],
    "tools": [{"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}],
}


@pytest.mark.parametrize("target", names())
def test_texts_calls_results_tools_and_settings_are_joined(target: str) -> None:
    body = json.dumps(REQUEST).encode()
    written = translate_request(body, source="openai-chat", target=target).body
    found = join_documents(read_document("openai-chat", body), read_document(target, written))
    assert [row["what"] for row in found] == ["text", "text", "call", "result", "tool", "setting"]
    for row in found:
        value = json.loads(written)
        for step in row["to"].split("/")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
        assert value


def test_a_call_with_a_new_id_names_both_ids() -> None:
    body = json.dumps(REQUEST).encode()
    changed = body.replace(b"call_1", b"call_2")
    found = join_documents(read_document("openai-chat", body), read_document("openai-chat", changed))
    assert [row["ids"] for row in found if "ids" in row] == [["call_1", "call_2"]] * 2


def test_parts_of_answers_are_joined_and_different_texts_are_not() -> None:
    answer = {
        "id": "a",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    }
    body = json.dumps(answer).encode()
    written = translate_response(body, source="openai-chat", target="anthropic").body
    one, other = read_document("openai-chat", body, "response"), read_document("anthropic", written, "response")
    assert join_documents(one, other) == [{"from": "/choices/0/message/content", "to": "/content/0", "what": "text"}]
    assert join_documents(one, read_document("anthropic", written.replace(b"yes", b"no"), "response")) == []


def test_an_unreadable_document_has_no_corresponding_parts() -> None:
    assert (
        join_documents(read_document("openai-chat", b"{"), read_document("openai-chat", json.dumps(REQUEST).encode()))
        == []
    )
    assert join_documents(read_document("klingon", b"{}"), None) == []
