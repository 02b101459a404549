"""Seals that wait in a vault while a conversation goes on: what is remembered of a turn is as old as the vault."""

from __future__ import annotations

import json
from typing import Any

import dragoman
from dragoman.fast import forget
from dragoman.seals.vault import MemoryVault

CLIENT, UPSTREAM, MODEL = "openai-chat", "anthropic", "claude-opus-4-5"
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]


def answer(number: int) -> bytes:
    thought = {"type": "thinking", "thinking": f"hm {number}", "signature": f"c2lnbmF0dXJl{number}"}
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "look", "input": {"at": number}}
    return json.dumps(
        {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [thought, call],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    ).encode()


def asked(messages: list[dict[str, Any]], vault: MemoryVault) -> dragoman.Translation:
    body = {"model": MODEL, "max_tokens": 4000, "reasoning_effort": "high", "tools": TOOLS, "messages": messages}
    return dragoman.translate_request(json.dumps(body).encode(), source=CLIENT, target=UPSTREAM, vault=vault)


def talk(steps: int) -> tuple[list[list[dict[str, Any]]], list[MemoryVault]]:
    """The histories of a conversation of so many steps, and what was in the vault when each was sent."""
    vault = MemoryVault()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "look around " * 30}]
    histories, vaults = [list(messages)], [MemoryVault()]
    for number in range(steps):
        told = dragoman.translate_response(
            answer(number), source=UPSTREAM, target=CLIENT, answers=asked(messages, vault), vault=vault
        )
        said = json.loads(told.body)["choices"][0]["message"]
        messages.append({"role": "assistant", "content": None, "tool_calls": said["tool_calls"]})
        messages.append({"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": f"nothing {number}"})
        histories.append(list(messages))
        vaults.append(MemoryVault(vault))
    return histories, vaults


def test_a_conversation_that_goes_on_gets_every_seal_as_a_new_one_does() -> None:
    forget()
    histories, vaults = talk(6)
    known = [asked(messages, vault).body for messages, vault in zip(histories, vaults, strict=True) for _ in range(2)]
    for place, (messages, vault) in enumerate(zip(histories, vaults, strict=True)):
        forget()
        new = asked(messages, vault).body
        assert known[2 * place] == known[2 * place + 1] == new
        assert new.count(b"c2lnbmF0dXJl") == place


def test_what_the_vault_learns_or_forgets_is_heard_at_once() -> None:
    forget()
    histories, vaults = talk(4)
    full = vaults[-1]
    for vault in (MemoryVault(), full, MemoryVault(list(full.items())[:2]), MemoryVault(), full):
        warm = asked(histories[-1], vault).body
        assert asked(histories[-1], vault).body == warm
        assert warm.count(b"c2lnbmF0dXJl") == sum(["c2lnbmF0dXJl" in value for value in vault.values()])
        forget()
        assert asked(histories[-1], vault).body == warm
        asked(histories[-2], full)  # known again
