"""Seals that wait in a vault, in a conversation that grows: of its beginning is remembered what the vault says."""

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


def crossed(body: bytes, vault: MemoryVault) -> dragoman.Translation:
    return dragoman.translate_request(
        body, source="openai-chat", target="gemini", model="gemini-3-pro", vault=vault, repair="report"
    )


def answer(step: int, sealed: bool) -> bytes:
    part: dict[str, Any] = {"functionCall": {"id": f"c{step}", "name": "look", "args": {"n": step}}}
    if sealed:
        part["thoughtSignature"] = f"c2lnbmF0dXJl{step:04d}"
    content = {"role": "model", "parts": [part]}
    return json.dumps({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}).encode()


def grown(vault: MemoryVault, sealed: list[bool]) -> list[tuple[bytes, bytes]]:
    """The requests of a conversation, and what they became, step by step."""
    messages: list[Any] = [{"role": "user", "content": "look around " * 40}]
    out = []
    for step, one in enumerate(sealed):
        body = request(messages)
        asked = crossed(body, vault)
        out.append((body, asked.body))
        told = dragoman.translate_response(
            answer(step, one), source="gemini", target="openai-chat", answers=asked, vault=vault
        )
        said = told.json()["choices"][0]["message"]
        said["tool_calls"][0].pop("extra_content", None)  # as most clients do
        said.pop("reasoning_details", None)
        result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": f"seen {step}"}
        messages += [said, result]
        if step % 3 == 2:
            messages.append({"role": "user", "content": f"and {step}"})
    body = request(messages)
    return [*out, (body, crossed(body, vault).body)]


@pytest.mark.parametrize("sealed", [[True] * 8, [False] * 8, [True, False, False, True, True, False, True, True]])
def test_a_growing_conversation_is_sealed_as_a_new_one(sealed: list[bool]) -> None:
    forget()
    vault = MemoryVault()
    steps = grown(vault, sealed)
    found = [f"c2lnbmF0dXJl{step:04d}" for step, one in enumerate(sealed) if one]
    assert [word for word in found if word in steps[-1][1].decode()] == found
    for body, out in steps:
        forget()
        assert crossed(body, vault).body == out


def test_what_the_vault_forgets_is_not_remembered_for_it() -> None:
    forget()
    vault = MemoryVault()
    body, out = grown(vault, [True] * 6)[-1]
    assert crossed(body, vault).body == out
    kept = dict(vault)
    del vault[next(key for key, value in kept.items() if "c2lnbmF0dXJl0002" in value)]
    without = crossed(body, vault).body
    assert b"c2lnbmF0dXJl0002" in out
    assert b"c2lnbmF0dXJl0002" not in without
    forget()
    assert crossed(body, vault).body == without
    vault.update(kept)
    assert crossed(body, vault).body == out
