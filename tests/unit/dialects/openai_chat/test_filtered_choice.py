"""A choice without a message: Azure sends this answer if its filter removed the whole text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import StreamTranslator, translate_response
from dragoman.dialects import names

FILTERED: list[dict[str, Any]] = [
    {"index": 0, "finish_reason": "content_filter"},
    {"index": 0, "finish_reason": "content_filter", "message": None},
    {"index": 0, "finish_reason": "content_filter", "content_filter_results": {"hate": {"filtered": True}}},
]
ENDS = {
    "anthropic": '"stop_reason":"refusal"',
    "gemini": '"finishReason":"SAFETY"',
    "code-assist": '"finishReason":"SAFETY"',
    "openai-responses": '"reason":"content_filter"',
    "openai-chat": '"finish_reason":"content_filter"',
    "openrouter": '"finish_reason":"content_filter"',
    "ollama": '"done":true',
}


@pytest.mark.parametrize("choice", FILTERED, ids=json.dumps)
@pytest.mark.parametrize("source", ["openai-chat", "openrouter"])
@pytest.mark.parametrize("target", names())
def test_the_answer_is_read(source: str, target: str, choice: dict[str, Any]) -> None:
    for document in (
        {"choices": [choice]},
        {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]},
    ):
        out = translate_response(document, source=source, target=target)
        assert ENDS[target] in out.body.decode() or source == target


@pytest.mark.parametrize("choice", FILTERED, ids=json.dumps)
@pytest.mark.parametrize("target", names())
def test_the_chunk_is_read(target: str, choice: dict[str, Any]) -> None:
    chunk = {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    translator = StreamTranslator(source="openai-chat", target=target)
    out = translator.feed(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode()) + translator.close()
    assert translator.fault is None
    assert ENDS[target] in out.decode() or target == "openai-chat"
