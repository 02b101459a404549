"""Seals from a vault in a growing conversation: the memory of earlier turns agrees with the vault."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault
from dragoman.fast import forget

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]


def request(messages: list[Any]) -> bytes:
    return json.dumps({"model": "some", "messages": messages, "tools": TOOLS}).encode()


def translate(body: bytes, vault: MemoryVault) -> dragoman.Translation:
    return dragoman.translate_request(
        body, source="openai-chat", target="gemini", model="gemini-3-pro", vault=vault, repair="report"
    )


def answer(step: int, sealed: bool) -> bytes:
    part: dict[str, Any] = {"functionCall": {"id": f"c{step}", "name": "look", "args": {"n": step}}}
    if sealed:
        part["thoughtSignature"] = f"c2lnbmF0dXJl{step:04d}"
    content = {"role": "model", "parts": [part]}
    return json.dumps({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}).encode()


def growing_conversation(vault: MemoryVault, sealed: list[bool]) -> list[tuple[bytes, bytes]]:
    """The requests of a conversation, each with its translation."""
    messages: list[Any] = [{"role": "user", "content": "look around " * 40}]
    out = []
    for step, one in enumerate(sealed):
        body = request(messages)
        translated_request = translate(body, vault)
        out.append((body, translated_request.body))
        translated_answer = dragoman.translate_response(
            answer(step, one), source="gemini", target="openai-chat", answers=translated_request, vault=vault
        )
        message = translated_answer.json()["choices"][0]["message"]
        message["tool_calls"][0].pop("extra_content", None)  # as most clients do
        message.pop("reasoning_details", None)
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": f"seen {step}"}
        messages += [message, result]
        if step % 3 == 2:
            messages.append({"role": "user", "content": f"and {step}"})
    body = request(messages)
    return [*out, (body, translate(body, vault).body)]


@pytest.mark.parametrize("sealed", [[True] * 8, [False] * 8, [True, False, False, True, True, False, True, True]])
def test_a_growing_conversation_has_the_same_seals_as_a_new_one(sealed: list[bool]) -> None:
    forget()
    vault = MemoryVault()
    steps = growing_conversation(vault, sealed)
    found = [f"c2lnbmF0dXJl{step:04d}" for step, one in enumerate(sealed) if one]
    assert [word for word in found if word in steps[-1][1].decode()] == found
    for body, out in steps:
        forget()
        assert translate(body, vault).body == out


def test_a_seal_that_the_vault_drops_is_dropped_from_memory_too() -> None:
    forget()
    vault = MemoryVault()
    body, out = growing_conversation(vault, [True] * 6)[-1]
    assert translate(body, vault).body == out
    kept = dict(vault)
    del vault[next(key for key, value in kept.items() if "c2lnbmF0dXJl0002" in value)]
    without = translate(body, vault).body
    assert b"c2lnbmF0dXJl0002" in out
    assert b"c2lnbmF0dXJl0002" not in without
    forget()
    assert translate(body, vault).body == without
    vault.update(kept)
    assert translate(body, vault).body == out
