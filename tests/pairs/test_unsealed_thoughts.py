"""Thoughts without a seal in a history: they reach the upstreams that are known to take them, and no others."""

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


def _codes(told: dragoman.Translation) -> list[str]:
    return [loss.code for loss in told.losses]


def test_gemini_takes_them_where_it_demands_no_seals() -> None:
    told = dragoman.translate_request(CHAT, source="openai-chat", target="gemini", model="gemini-2.5-flash")
    assert told.json()["contents"][1]["parts"][0] == {"text": "Hm.", "thought": True}
    assert "reasoning.dropped" not in _codes(told)


def test_gemini_3_gets_none_in_an_open_step() -> None:
    told = dragoman.translate_request(CHAT, source="openai-chat", target="gemini", model="gemini-3-pro-preview")
    assert b"Hm." not in told.body
    assert "reasoning.dropped" in _codes(told)


def test_what_an_open_step_was_is_what_a_closed_one_is() -> None:
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
def test_hosts_that_take_thoughts_back_take_them(host: str, field: str) -> None:
    told = dragoman.translate_request(OLLAMA, source="ollama", target="openai-chat", host=host)
    assert told.json()["messages"][1] == {"role": "assistant", field: "Hm.", "content": "So."}
    assert "reasoning.dropped" not in _codes(told)


@pytest.mark.parametrize("host", ["api.openai.com", "api.groq.com", "api.cerebras.ai", None])
def test_others_do_not(host: str | None) -> None:
    told = dragoman.translate_request(OLLAMA, source="ollama", target="openai-chat", host=host)
    assert told.json()["messages"][1] == {"role": "assistant", "content": "So."}
    assert "reasoning.dropped" in _codes(told)


def test_thoughts_of_another_upstream_are_not_passed_off_as_a_hosts_own() -> None:
    thinking = {"type": "thinking", "thinking": "Claude's own.", "signature": "EqQB"}
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "So."}]},
        {"role": "user", "content": "go on"},
    ]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    told = dragoman.translate_request(body, source="anthropic", target="openai-chat", host="api.deepseek.com")
    assert b"Claude's own." not in told.body


def test_responses_gets_none() -> None:
    told = dragoman.translate_request(OLLAMA, source="ollama", target="openai-responses", model="gpt-5")
    assert b"Hm." not in told.body
    assert "reasoning.dropped" in _codes(told)
