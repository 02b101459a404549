"""Lists in answers with a null as a member: the null is left out, and the other members are kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.recorded.recorded_bodies import DIALECTS

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
_CHAT_CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
_CHAT = {"id": "a", "object": "chat.completion", "created": 1, "model": "m", "usage": _USAGE}
_CHAT_CHOICE = {
    "index": 0,
    "message": {"role": "assistant", "content": "hello", "tool_calls": [None, _CHAT_CALL]},
    "finish_reason": "tool_calls",
}
_GEMINI_CALL = {"functionCall": {"id": "call_1", "name": "look", "args": {}}}
_GEMINI_PARTS = [None, {"text": "hello"}, None, _GEMINI_CALL]
_GEMINI = {
    "candidates": [None, {"content": {"role": "model", "parts": _GEMINI_PARTS}, "finishReason": "STOP"}],
    "modelVersion": "m",
    "responseId": "a",
}
_ITEMS = [
    None,
    {"type": "message", "role": "assistant", "content": [None, {"type": "output_text", "text": "hello"}]},
    {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
]
ANSWERS: dict[str, dict[str, Any]] = {
    "openai-chat": {**_CHAT, "choices": [None, _CHAT_CHOICE]},
    "openrouter": {**_CHAT, "choices": [None, _CHAT_CHOICE]},
    "openai-responses": {"id": "a", "object": "response", "model": "m", "status": "completed", "output": _ITEMS},
    "anthropic": {
        "id": "a",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            None,
            {"type": "text", "text": "hello"},
            {"type": "tool_use", "id": "call_1", "name": "look", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "gemini": _GEMINI,
    "code-assist": {"response": _GEMINI},
    "ollama": {
        "model": "m",
        "message": {
            "role": "assistant",
            "content": "hello",
            "tool_calls": [None, {"id": "call_1", "function": {"name": "look", "arguments": {}}}],
        },
        "done": True,
        "done_reason": "stop",
    },
}


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", ANSWERS)
def test_a_null_in_a_list_does_not_drop_other_members(source: str, target: str) -> None:
    if source == target:
        return
    body = json.dumps(ANSWERS[source]).encode()
    out = dragoman.translate_response(body, source=source, target=target, created=1).body.decode()
    assert "hello" in out and "look" in out
