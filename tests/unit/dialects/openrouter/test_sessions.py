"""A tool loop with an OpenRouter upstream: a client of any dialect returns the reasoning details completely."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from tests.unit.dialects.openrouter.helpers import ENCRYPTED, NAME, SIGNED, call, chat_answer

MODEL = "anthropic/claude-sonnet-4.5"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
REQUEST = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]}
FIELDS = {"anthropic": "messages", "openai-responses": "input", NAME: "messages"}


@pytest.mark.parametrize("client", ["anthropic", "openai-responses", NAME])
@pytest.mark.parametrize("padding", [0, 100_000])
def test_every_client_returns_the_details(client: str, padding: int) -> None:
    signed = {**SIGNED, "signature": "c2ln" + "A" * padding}
    hidden: dict[str, Any] = {**ENCRYPTED, "format": "anthropic-claude-v1", "index": 1}
    message = {"content": None, "reasoning": "Need f", "reasoning_details": [signed, hidden], "tool_calls": [call()]}
    client_request = dragoman.translate_request(REQUEST, source=NAME, target=client).json()
    translated = dragoman.translate_request(client_request, source=client, target=NAME, model=MODEL)
    answer = chat_answer(message, finish_reason="tool_calls") | {"model": MODEL}
    shown = dragoman.translate_response(answer, source=NAME, target=client, answers=translated)
    client_request[FIELDS[client]] += dragoman.tool_results(shown.body, ["done"], dialect=client)
    back = dragoman.translate_request(client_request, source=client, target=NAME, model=MODEL)
    assistant = next(one for one in back.json()["messages"] if one["role"] == "assistant")
    assert assistant["reasoning_details"] == [signed, hidden]


@pytest.mark.parametrize("upstream", ["anthropic", "gemini", "openai-responses"])
def test_details_are_never_sent_to_another_upstream(upstream: str) -> None:
    message = {"role": "assistant", "content": None, "reasoning_details": [SIGNED], "tool_calls": [call()]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "done"}
    body = {**REQUEST, "messages": [*REQUEST["messages"], message, result]}  # type: ignore[misc]
    out = dragoman.translate_request(body, source=NAME, target=upstream, model="some-model")
    assert SIGNED["signature"].encode() not in out.body  # type: ignore[attr-defined]
    assert "seal.dropped" in {loss.code for loss in out.losses}
