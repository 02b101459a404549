"""Citations of documents that have no URL."""

from __future__ import annotations

import json
from typing import Any

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream

CITED = {
    "type": "char_location",
    "cited_text": "Twelve crowns.",
    "document_index": 1,
    "document_title": "Fees of the harbour",
    "start_char_index": 4,
    "end_char_index": 18,
    "file_id": "file_1",
}
WRITTEN = {"type": "file_citation", "file_id": "file_1", "filename": "Fees of the harbour", "index": 1}


def _answer(content: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn"}
    return {**head, "content": content, "usage": {"input_tokens": 1, "output_tokens": 1}}


def test_a_cited_document_is_a_cited_file_for_responses() -> None:
    answer = _answer([{"type": "text", "text": "Twelve.", "citations": [CITED]}])
    done = dragoman.translate_response(answer, source="anthropic", target="openai-responses")
    assert check_response("openai-responses", done.body) == []
    assert done.json()["output"][0]["content"][0]["annotations"] == [WRITTEN]
    codes = {loss.code for loss in done.losses}
    assert "citation.approximated" in codes and "citation.dropped" not in codes


def test_a_document_without_a_title_is_reported() -> None:
    answer = _answer([{"type": "text", "text": "Twelve.", "citations": [{**CITED, "document_title": None}]}])
    done = dragoman.translate_response(answer, source="anthropic", target="openai-responses")
    assert done.json()["output"][0]["content"][0]["annotations"] == []
    assert ("citation.dropped", "/content/0") in {(loss.code, loss.path) for loss in done.losses}


def test_a_stream_cites_the_same_file() -> None:
    frames = [
        {"type": "message_start", "message": {**_answer([]), "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "", "citations": []}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": CITED}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Twelve."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    body = "".join([f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n" for frame in frames]).encode()
    stream = dragoman.StreamTranslator(source="anthropic", target="openai-responses")
    out = stream.feed(body) + stream.close()
    assert check_stream("openai-responses", out) == []
    last = json.loads([line for line in out.decode().splitlines() if line.startswith("data: ")][-1][6:])
    assert last["response"]["output"][0]["content"][0]["annotations"] == [WRITTEN]
