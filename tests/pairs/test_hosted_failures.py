"""Failed uses of hosted tools: the failure and its code reach every dialect that has a place for them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.oracles.body_verdict import check_response

MESSAGES, RESPONSES, GEMINI, CHAT = "anthropic", "openai-responses", "gemini", "openai-chat"


def _messages(kind: str, code: str) -> dict[str, Any]:
    asked = {"query": "fees"} if kind == "web_search" else {"url": "https://fees.example"}
    error = {"type": f"{kind}_tool_result_error", "error_code": code}
    content = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": kind, "input": asked},
        {"type": f"{kind}_tool_result", "tool_use_id": "srvtoolu_1", "content": error},
        {"type": "text", "text": "Done."},
    ]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn"}
    return {**head, "content": content, "usage": {"input_tokens": 1, "output_tokens": 1}}


def _gemini(status: str) -> dict[str, Any]:
    fetched = {"urlMetadata": [{"retrievedUrl": "https://fees.example", "urlRetrievalStatus": status}]}
    content = {"role": "model", "parts": [{"text": "Done."}]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0, "urlContextMetadata": fetched}
    return {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r1"}


@pytest.mark.parametrize(("kind", "code"), [("web_search", "max_uses_exceeded"), ("web_fetch", "url_not_allowed")])
@pytest.mark.parametrize("target", [CHAT, "openrouter", GEMINI])
def test_the_code_of_a_failure_is_translated(kind: str, code: str, target: str) -> None:
    done = dragoman.translate_response(_messages(kind, code), source=MESSAGES, target=target)
    assert check_response(target, done.body, extensions=True) == []
    assert code in done.body.decode()


@pytest.mark.parametrize(("kind", "code"), [("web_search", "max_uses_exceeded"), ("web_fetch", "url_not_allowed")])
def test_the_code_of_a_failure_comes_back(kind: str, code: str) -> None:
    answer = _messages(kind, code)
    shown = dragoman.translate_response(answer, source=MESSAGES, target=CHAT).json()
    asked = [{"role": "user", "content": "Hi"}, shown["choices"][0]["message"], {"role": "user", "content": "Go on"}]
    back = dragoman.translate_request({"model": "m", "messages": asked}, source=CHAT, target=MESSAGES, model="claude")
    assert f"[it failed]\\n{code}" in back.body.decode() or f"it failed]\\n- https://fees.example\\n{code}" in (
        back.body.decode()
    )
    seen = dragoman.translate_response(shown, source=CHAT, target=MESSAGES).json()
    (result,) = [block for block in seen["content"] if block["type"].endswith("_tool_result")]
    assert result["content"]["error_code"] == code


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("URL_RETRIEVAL_STATUS_ERROR", "url_not_accessible"),
        ("URL_RETRIEVAL_STATUS_PAYWALL", "url_not_accessible"),
        ("URL_RETRIEVAL_STATUS_UNSAFE", "url_not_allowed"),
    ],
)
def test_a_failed_fetch_of_gemini_is_a_failure_in_other_dialects(status: str, code: str) -> None:
    seen = dragoman.translate_response(_gemini(status), source=GEMINI, target=MESSAGES).json()
    (result,) = [block for block in seen["content"] if block["type"] == "web_fetch_tool_result"]
    assert result["content"] == {"type": "web_fetch_tool_result_error", "error_code": code}
    items = dragoman.translate_response(_gemini(status), source=GEMINI, target=RESPONSES).json()["output"]
    assert [item["status"] for item in items if item["type"] == "web_search_call"] == ["failed"]
    message = dragoman.translate_response(_gemini(status), source=GEMINI, target=CHAT).json()["choices"][0]["message"]
    (entry,) = message["reasoning_details"]
    assert json.loads(entry["result"]) == {"url": "https://fees.example", "error": status}


def test_an_mcp_error_keeps_its_code() -> None:
    error = {"type": "http_error", "code": 502, "message": "the harbour is shut"}
    item = {"id": "mcp_1", "type": "mcp_call", "status": "failed", "name": "ask", "server_label": "harbour"}
    body = {"id": "r", "model": "m", "status": "completed", "output": [{**item, "arguments": "{}", "error": error}]}
    seen = dragoman.translate_response(body, source=RESPONSES, target=MESSAGES).json()
    assert seen["content"][1]["is_error"] is True
    assert seen["content"][1]["content"][0]["text"] == "http_error 502: the harbour is shut"


@pytest.mark.parametrize("target", [CHAT, "openrouter", GEMINI, RESPONSES])
def test_the_shown_range_of_a_file_is_translated(target: str) -> None:
    shown = {"type": "text_editor_code_execution_view_result", "file_type": "text", "content": "x = 1"}
    shown |= {"num_lines": 17, "start_line": 3, "total_lines": 403}
    asked = {"command": "view", "path": "a.py"}
    name = "text_editor_code_execution"
    answer = _messages("web_search", "unavailable")
    answer["content"][:2] = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": name, "input": asked},
        {"type": f"{name}_tool_result", "tool_use_id": "srvtoolu_1", "content": shown},
    ]
    done = dragoman.translate_response(answer, source=MESSAGES, target=target)
    body = done.body.decode().replace("\\", "")
    assert "x = 1" in body and '"num_lines":17' in body and '"total_lines":403' in body


@pytest.mark.parametrize("target", [CHAT, "openrouter"])
def test_the_annotation_has_the_cited_text(target: str) -> None:
    cited = {"type": "web_search_result_location", "url": "https://fees.example", "title": "Fees"}
    answer = _messages("web_search", "unavailable")
    answer["content"] = [
        {"type": "text", "text": "Twelve.", "citations": [{**cited, "cited_text": "12 kr", "encrypted_index": "eA=="}]}
    ]
    done = dragoman.translate_response(answer, source=MESSAGES, target=target)
    assert check_response(target, done.body, extensions=True) == []
    (note,) = done.json()["choices"][0]["message"]["annotations"]
    assert note["url_citation"]["content"] == "12 kr"
    assert not [loss for loss in done.losses if loss.code == "citation.approximated"]
