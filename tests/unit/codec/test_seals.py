"""Seals in foreign slots: packed with a mark, known again, never taken for the slot's own."""

from __future__ import annotations

import base64

import pytest

from dragoman.canon.parts import Seal
from dragoman.codec import seals

SEALS = [
    Seal("gemini", "c2lnbmF0dXJl+/=="),
    Seal("anthropic", "ErUB:with:colons", "redacted", "claude-opus-5"),
    Seal("openai-responses", "gAAAA", "", "ft:gpt-5%:x"),
    Seal("a", ""),
    Seal("Z", "ü"),
    Seal("9", "x"),
]


@pytest.mark.parametrize("seal", SEALS)
def test_a_packed_seal_comes_back_whole(seal: Seal) -> None:
    slot = seals.pack(seal)
    assert seals.unpack(slot) == seal
    assert seals.origin(slot, "openai-chat", "own", "m") == seal


@pytest.mark.parametrize("seal", SEALS)
def test_a_packed_seal_is_base64_that_begins_with_the_mark(seal: Seal) -> None:
    slot = seals.pack(seal)
    assert base64.b64encode(base64.b64decode(slot, validate=True)).decode() == slot
    assert slot.startswith(seals.MARK)
    assert seals.MARK_BYTES in b'{"signature":"' + slot.encode() + b'"}'


def test_a_slot_with_its_own_value_is_not_unpacked() -> None:
    assert seals.unpack("ErUBCkYIBRgCKkA=") is None
    assert seals.origin("ErUBCkYIBRgCKkA=", "anthropic", "", "m") == Seal("anthropic", "ErUBCkYIBRgCKkA=", "", "m")


@pytest.mark.parametrize(
    "plain", [b"dragoman:1", b"dragoman:1:", b"dragoman:1:gemini:k:m", b"dragoman:1?gemini:::x", b"dragoman:1:\xff:::"]
)
def test_what_only_looks_packed_is_left_alone(plain: bytes) -> None:
    assert seals.unpack(base64.b64encode(plain).decode()) is None


@pytest.mark.parametrize("slot", [seals.MARK, seals.MARK + "p", seals.MARK + "p!!!", seals.MARK + "pä"])
def test_a_broken_slot_is_left_alone(slot: str) -> None:
    assert seals.unpack(slot) is None
