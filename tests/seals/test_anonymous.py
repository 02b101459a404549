"""Clients without call ids (Ollama's own SDK): the vault keeps their seals under the position of the call."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.seals import sealing_upstreams
from tests.seals.sealing_upstreams import UPSTREAMS

Json = Any


def _without_ids(message: Json) -> Json:
    calls = [{"function": call["function"]} for call in message.get("tool_calls") or ()]
    return {**message, "tool_calls": calls} if calls else message


def _session(name: str, vault: dragoman.MemoryVault, question: str) -> list[Json]:
    """Two steps and the request of a third step, as the upstream gets them."""
    upstream = UPSTREAMS[name](48)
    messages: list[Json] = [{"role": "user", "content": question}]
    requests = []
    for number in (0, 1, 2):
        sent = dragoman.translate_request(
            {"model": "m", "messages": messages, "stream": False, "think": True},
            source="ollama",
            target=name,
            model=upstream.model,
            vault=vault,
        )
        requests.append(sent.json())
        body = sealing_upstreams.body(upstream, number)
        translated = dragoman.translate_response(body, source=name, target="ollama", answers=sent, vault=vault)
        message = _without_ids(json.loads(translated.body)["message"])
        messages.append(message)
        messages += [
            {"role": "tool", "tool_name": call["function"]["name"], "content": "18"}
            for call in message.get("tool_calls") or ()
        ]
    return requests


def _seals(pieces: list[sealing_upstreams.Piece]) -> list[str]:
    return [piece[-1] for piece in pieces]


@pytest.mark.parametrize("name", UPSTREAMS)
def test_every_seal_comes_back(name: str) -> None:
    requests = _session(name, dragoman.MemoryVault(), "Which is warmer?")
    want = [_seals(sealing_upstreams.expected(UPSTREAMS[name](48), number)) for number in (0, 1)]
    got = [[_seals(turn) for turn in sealing_upstreams.sealed_of(request, name) if turn] for request in requests]
    assert got == [[], want[:1], want]


def test_another_question_gets_no_seal_of_the_first() -> None:
    vault = dragoman.MemoryVault()
    _session("gemini", vault, "Which is warmer?")
    call = {"function": {"name": "weather", "arguments": {"city": "Paris"}}}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Something else"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_name": "weather", "content": "18"},
        ],
    }
    sent = dragoman.translate_request(body, source="ollama", target="gemini", model="gemini-3-pro-preview", vault=vault)
    assert [loss.code for loss in sent.losses if loss.code.startswith("seal.")] == ["seal.dummy"]
