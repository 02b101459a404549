"""The memory of earlier turns follows every change of the vault."""

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


def translate(messages: list[dict[str, Any]], vault: MemoryVault) -> dragoman.Translation:
    body = {"model": MODEL, "max_tokens": 4000, "reasoning_effort": "high", "tools": TOOLS, "messages": messages}
    return dragoman.translate_request(json.dumps(body).encode(), source=CLIENT, target=UPSTREAM, vault=vault)


def talk(steps: int) -> tuple[list[list[dict[str, Any]]], list[MemoryVault]]:
    """The histories of a conversation with this number of steps, and the content of the vault at each step."""
    vault = MemoryVault()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "look around " * 30}]
    histories, vaults = [list(messages)], [MemoryVault()]
    for number in range(steps):
        translated = dragoman.translate_response(
            answer(number), source=UPSTREAM, target=CLIENT, answers=translate(messages, vault), vault=vault
        )
        message = json.loads(translated.body)["choices"][0]["message"]
        messages.append({"role": "assistant", "content": None, "tool_calls": message["tool_calls"]})
        messages.append(
            {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": f"nothing {number}"}
        )
        histories.append(list(messages))
        vaults.append(MemoryVault(vault))
    return histories, vaults


def test_a_continued_conversation_gets_the_same_seals_as_a_new_one() -> None:
    forget()
    histories, vaults = talk(6)
    first_results = [
        translate(messages, vault).body for messages, vault in zip(histories, vaults, strict=True) for _ in range(2)
    ]
    for place, (messages, vault) in enumerate(zip(histories, vaults, strict=True)):
        forget()
        new = translate(messages, vault).body
        assert first_results[2 * place] == first_results[2 * place + 1] == new
        assert new.count(b"c2lnbmF0dXJl") == place


def test_a_change_of_the_vault_has_effect_at_once() -> None:
    forget()
    histories, vaults = talk(4)
    full = vaults[-1]
    for vault in (MemoryVault(), full, MemoryVault(list(full.items())[:2]), MemoryVault(), full):
        warm = translate(histories[-1], vault).body
        assert translate(histories[-1], vault).body == warm
        assert warm.count(b"c2lnbmF0dXJl") == sum(["c2lnbmF0dXJl" in value for value in vault.values()])
        forget()
        assert translate(histories[-1], vault).body == warm
        translate(histories[-2], full)  # Fill the memory again.
