"""Thoughts without a seal in a history: only upstreams that are known to accept them get them."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

Json = Any

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
CHAT: Json = {
    "model": "m",
    "tools": TOOLS,
    "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a tree"},
    ],
}
OLLAMA: Json = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "So.", "thinking": "Hm."},
        {"role": "user", "content": "go on"},
    ],
}


def _codes(translated: dragoman.Translation) -> list[str]:
    return [loss.code for loss in translated.losses]


def test_gemini_gets_unsealed_thoughts_if_it_requires_no_seals() -> None:
    translated = dragoman.translate_request(CHAT, source="openai-chat", target="gemini", model="gemini-2.5-flash")
    assert translated.json()["contents"][1]["parts"][0] == {"text": "Hm.", "thought": True}
    assert "reasoning.dropped" not in _codes(translated)


def test_gemini_3_gets_no_unsealed_thoughts_in_an_open_step() -> None:
    translated = dragoman.translate_request(CHAT, source="openai-chat", target="gemini", model="gemini-3-pro-preview")
    assert b"Hm." not in translated.body
    assert "reasoning.dropped" in _codes(translated)


def test_a_step_is_written_the_same_when_open_and_when_closed() -> None:
    more = {**CHAT, "messages": [*CHAT["messages"], {"role": "assistant", "content": "A tree."}]}
    more["messages"].append({"role": "user", "content": "thanks"})
    for model in ("gemini-2.5-flash", "gemini-3-pro-preview"):
        first, second = [
            dragoman.translate_request(body, source="openai-chat", target="gemini", model=model).json()["contents"]
            for body in (CHAT, more)
        ]
        assert second[: len(first)] == first


@pytest.mark.parametrize(
    ("host", "field"),
    [("api.deepseek.com", "reasoning_content"), ("api.x.ai", "reasoning_content"), ("vllm", "reasoning")],
)
def test_hosts_that_accept_thoughts_get_unsealed_thoughts(host: str, field: str) -> None:
    translated = dragoman.translate_request(OLLAMA, source="ollama", target="openai-chat", host=host)
    assert translated.json()["messages"][1] == {"role": "assistant", field: "Hm.", "content": "So."}
    assert "reasoning.dropped" not in _codes(translated)


@pytest.mark.parametrize("host", ["api.openai.com", "api.groq.com", "api.cerebras.ai", None])
def test_other_hosts_get_no_unsealed_thoughts(host: str | None) -> None:
    translated = dragoman.translate_request(OLLAMA, source="ollama", target="openai-chat", host=host)
    assert translated.json()["messages"][1] == {"role": "assistant", "content": "So."}
    assert "reasoning.dropped" in _codes(translated)


def test_foreign_thoughts_are_not_sent_as_thoughts_of_the_host() -> None:
    thinking = {"type": "thinking", "thinking": "Claude's own.", "signature": "EqQB"}
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "So."}]},
        {"role": "user", "content": "go on"},
    ]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    translated = dragoman.translate_request(body, source="anthropic", target="openai-chat", host="api.deepseek.com")
    assert b"Claude's own." not in translated.body


def test_responses_gets_no_unsealed_thoughts() -> None:
    translated = dragoman.translate_request(OLLAMA, source="ollama", target="openai-responses", model="gpt-5")
    assert b"Hm." not in translated.body
    assert "reasoning.dropped" in _codes(translated)
