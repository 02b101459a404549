"""Text documents over all pairs: sent as a document if the target accepts one, else as text. The text is never lost."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.pairs.helpers import DIALECTS, losses_of, to

WORDS = "tides at the harbour,\u00fc\n1,2\n"
DATA = base64.b64encode(WORDS.encode()).decode()
DOCUMENT = {"type": "document", "title": "t.csv", "source": {"type": "text", "media_type": "text/plain", "data": WORDS}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
TOOLS = [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
TARGETS = [name for name in DIALECTS if name != "anthropic"]


def _request(*messages: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": list(messages), "tools": TOOLS}


def _has_text(body: bytes) -> bool:
    return json.dumps(WORDS, ensure_ascii=False)[1:-1].encode() in body or DATA.encode() in body


@pytest.mark.parametrize("target", TARGETS)
def test_the_text_of_a_document_reaches_every_dialect(target: str) -> None:
    done = to(target, _request({"role": "user", "content": [{"type": "text", "text": "sum"}, DOCUMENT]}), "anthropic")
    assert _has_text(done.body), done.body
    assert "media.dropped" not in {code for code, _ in losses_of(done)}


@pytest.mark.parametrize("target", ["openai-chat", "ollama", "openrouter"])
def test_the_text_of_a_document_in_a_result_stays_in_the_result(target: str) -> None:
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [DOCUMENT]}
    turns = [{"role": "assistant", "content": [CALL]}, {"role": "user", "content": [result]}]
    done = to(target, _request({"role": "user", "content": "q"}, *turns), "anthropic")
    last = done.json()["messages"][-1]
    assert last["role"] == "tool"
    assert _has_text(json.dumps(last, ensure_ascii=False).encode())


@pytest.mark.parametrize("mime", ["text/csv", "text/markdown", "application/json"])
def test_chat_gets_files_only_as_pdf(mime: str) -> None:
    parts = [{"text": "sum"}, {"inlineData": {"mimeType": mime, "data": DATA}}]
    done = to("openai-chat", {"contents": [{"role": "user", "parts": parts}]}, "gemini")
    assert done.json()["messages"][0]["content"][1] == {"type": "text", "text": f"[document]\n{WORDS}"}
    assert losses_of(done) == {("media.retyped", "/contents/0/parts/1")}
    word = {"inlineData": {"mimeType": "application/msword", "data": "AAAA"}}
    refused = to("openai-chat", {"contents": [{"role": "user", "parts": [parts[0], word]}]}, "gemini")
    assert b"file_data" not in refused.body
    assert ("media.dropped", "/contents/0/parts/1") in losses_of(refused)
