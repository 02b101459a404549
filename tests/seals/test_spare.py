"""Clients that leave out a thought which says nothing, and the seal of a call with it: the vault has another one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import MemoryVault, StreamTranslator
from dragoman.seals.strategy import Strategy

MODEL = "gemini-3-pro-preview"
SEAL = "c2VhbGVkIGNhbGw="
ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "look"}],
    "tools": [{"name": "look", "input_schema": {"type": "object"}}],
}
PART = {"functionCall": {"id": "call_1", "name": "look", "args": {}}, "thoughtSignature": SEAL}
CANDIDATE = {"index": 0, "content": {"role": "model", "parts": [{"text": "So."}, PART]}, "finishReason": "STOP"}
ANSWER = {"responseId": "r", "modelVersion": MODEL, "candidates": [CANDIDATE]}


def asked(body: Any, vault: MemoryVault | None, seals: Strategy) -> dragoman.Translation:
    return dragoman.translate_request(
        body, source="anthropic", target="gemini", model=MODEL, vault=vault, seals=seals, repair="report"
    )


def after(vault: MemoryVault | None, seals: Strategy, *, drop: bool, stream: bool = False) -> dragoman.Translation:
    """The request that answers the call, of a client that drops what says nothing."""
    first = asked(ASKED, vault, seals)
    if stream:
        translator = StreamTranslator(source="gemini", target="anthropic", answers=first, vault=vault, seals=seals)
        translator.feed(b"data: " + msgspec.json.encode(ANSWER) + b"\n\n")
        translator.close()
    told = dragoman.translate_response(
        ANSWER, source="gemini", target="anthropic", answers=first, vault=None if stream else vault, seals=seals
    )
    content = [block for block in told.json()["content"] if not (drop and block["type"] == "thinking")]
    call = next(block for block in content if block["type"] == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "a tree"}
    turns = [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return asked(ASKED | {"messages": [*ASKED["messages"], *turns]}, vault, seals)


def seals_of(told: dragoman.Translation) -> list[str]:
    parts = [part for content in told.json()["contents"] for part in content["parts"] if "functionCall" in part]
    return [part.get("thoughtSignature", "") for part in parts]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("drop", [False, True])
def test_the_seal_comes_back(drop: bool, stream: bool) -> None:
    told = after(MemoryVault(), "auto", drop=drop, stream=stream)
    assert seals_of(told) == [SEAL]
    assert [loss.code for loss in told.losses if loss.code.startswith("seal")] == []


@pytest.mark.parametrize("seals", ["auto", "native"])
def test_without_a_spare_one_the_dummy_is_sent_and_told(seals: Strategy) -> None:
    told = after(None if seals == "auto" else MemoryVault(), seals, drop=True)
    assert seals_of(told) != [SEAL]
    assert [loss.code for loss in told.losses if loss.code.startswith("seal")] == ["seal.dummy"]


def test_seals_that_travel_by_themselves_are_not_kept_twice() -> None:
    vault = MemoryVault()
    after(vault, "native", drop=False)
    assert vault == {}
