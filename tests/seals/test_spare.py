"""The vault keeps a spare copy of the seal of a call. It serves clients that drop the empty thought with the seal."""

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


def translate(body: Any, vault: MemoryVault | None, seals: Strategy) -> dragoman.Translation:
    return dragoman.translate_request(
        body, source="anthropic", target="gemini", model=MODEL, vault=vault, seals=seals, repair="report"
    )


def request_with_result(
    vault: MemoryVault | None, seals: Strategy, *, drop: bool, stream: bool = False
) -> dragoman.Translation:
    """The request with the result of the call. `drop`: the client drops empty thoughts."""
    first = translate(ASKED, vault, seals)
    if stream:
        translator = StreamTranslator(source="gemini", target="anthropic", answers=first, vault=vault, seals=seals)
        translator.feed(b"data: " + msgspec.json.encode(ANSWER) + b"\n\n")
        translator.close()
    translated = dragoman.translate_response(
        ANSWER, source="gemini", target="anthropic", answers=first, vault=None if stream else vault, seals=seals
    )
    content = [block for block in translated.json()["content"] if not (drop and block["type"] == "thinking")]
    call = next(block for block in content if block["type"] == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "a tree"}
    turns = [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return translate(ASKED | {"messages": [*ASKED["messages"], *turns]}, vault, seals)


def seals_of(translated: dragoman.Translation) -> list[str]:
    parts = [part for content in translated.json()["contents"] for part in content["parts"] if "functionCall" in part]
    return [part.get("thoughtSignature", "") for part in parts]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("drop", [False, True])
def test_the_spare_seal_comes_back(drop: bool, stream: bool) -> None:
    translated = request_with_result(MemoryVault(), "auto", drop=drop, stream=stream)
    assert seals_of(translated) == [SEAL]
    assert [loss.code for loss in translated.losses if loss.code.startswith("seal")] == []


@pytest.mark.parametrize("seals", ["auto", "native"])
def test_without_a_spare_seal_the_dummy_is_sent_and_reported(seals: Strategy) -> None:
    translated = request_with_result(None if seals == "auto" else MemoryVault(), seals, drop=True)
    assert seals_of(translated) != [SEAL]
    assert [loss.code for loss in translated.losses if loss.code.startswith("seal")] == ["seal.dummy"]


def test_native_seals_are_not_kept_in_the_vault() -> None:
    vault = MemoryVault()
    request_with_result(vault, "native", drop=False)
    assert vault == {}
