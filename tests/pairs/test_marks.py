"""Packed seals of the library that cannot be read (cut, damaged, of a later version): removed, reported, never sent."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from dragoman.codec.packed_seals import MARK_BYTES
from tests.pairs.helpers import DIALECTS, to

_BROKEN = [base64.b64encode(plain).decode() for plain in (b"dragoman:9:zzz", b"dragoman:2:[[", b"dragoman:1:gemini")]
_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def _anthropic(slot: str) -> Any:
    thoughts = [
        {"type": "thinking", "thinking": "t", "signature": slot},
        {"type": "redacted_thinking", "data": slot},
        {"type": "text", "text": "x"},
    ]
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": thoughts}]
    return {"model": "m", "max_tokens": 9, "messages": [*said, {"role": "user", "content": "b"}]}


def _responses(slot: str) -> Any:
    shown = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "s"}]}
    items = [{**shown, "encrypted_content": slot}, {**shown, "summary": [], "encrypted_content": slot}]
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    return {"model": "m", "input": [{"role": "user", "content": "a"}, *items, said, {"role": "user", "content": "b"}]}


def _gemini(slot: str) -> Any:
    parts = [
        {"text": "t", "thought": True},
        {"text": "x"},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"functionCall": {"name": "f", "args": {}}},
    ]
    result = {"functionResponse": {"name": "f", "response": {}}}
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "a"}]},
            {"role": "model", "parts": [{**part, "thoughtSignature": slot} for part in parts]},
            {"role": "user", "parts": [{**result, "thoughtSignature": slot}]},
        ]
    }


def _chat(message: Any) -> Any:
    result = {"role": "tool", "tool_call_id": "c1", "content": "r"}
    return {"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", **message}, result]}


def _openrouter(slot: str) -> Any:
    details = [
        {"type": "reasoning.text", "text": "t", "signature": slot},
        {"type": "reasoning.encrypted", "data": slot, "id": "c1"},
    ]
    return _chat({"content": "x", "reasoning_details": details, "tool_calls": [_CALL]})


def _openai(slot: str) -> Any:
    sealed = {**_CALL, "extra_content": {"google": {"thought_signature": slot}}}
    return _chat({"content": None, "tool_calls": [sealed]})


_BODIES = {
    "anthropic": (_anthropic, 2),
    "openai-responses": (_responses, 2),
    "gemini": (_gemini, 5),
    "openrouter": (_openrouter, 2),
    "openai-chat": (_openai, 1),
}


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", _BODIES)
@pytest.mark.parametrize("slot", _BROKEN)
def test_an_unreadable_packed_seal_is_never_sent(slot: str, source: str, target: str) -> None:
    body, count = _BODIES[source]
    done = to(target, body(slot), source)
    assert MARK_BYTES not in done.body
    assert len([loss for loss in done.losses if loss.code == "seal.dropped"]) == count
