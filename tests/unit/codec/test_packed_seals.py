"""Seals in slots of another dialect: packed with a mark, recognised later, never mistaken for a seal of the slot."""

from __future__ import annotations

import base64

import pytest

from dragoman.canon.parts import Seal
from dragoman.codec import packed_seals as seals

SEALS = [
    Seal("gemini", "c2lnbmF0dXJl+/=="),
    Seal("anthropic", "ErUB:with:colons", "redacted", "claude-opus-5"),
    Seal("openai-responses", "gAAAA", "", "ft:gpt-5%:x"),
    Seal("a", ""),
    Seal("Z", "ü"),
    Seal("9", "x"),
]


@pytest.mark.parametrize("seal", SEALS)
def test_a_packed_seal_is_unpacked_completely(seal: Seal) -> None:
    slot = seals.pack(seal)
    assert seals.unpack(slot) == seal
    assert seals.origin(slot, "openai-chat", "own", "m") == seal


@pytest.mark.parametrize("seal", SEALS)
def test_a_packed_seal_is_base64_that_begins_with_the_mark(seal: Seal) -> None:
    slot = seals.pack(seal)
    assert base64.b64encode(base64.b64decode(slot, validate=True)).decode() == slot
    assert slot.startswith(seals.MARK)
    assert seals.MARK_BYTES in b'{"signature":"' + slot.encode() + b'"}'


def test_a_slot_with_a_value_of_its_own_dialect_is_not_unpacked() -> None:
    assert seals.unpack("ErUBCkYIBRgCKkA=") is None
    assert seals.origin("ErUBCkYIBRgCKkA=", "anthropic", "", "m") == Seal("anthropic", "ErUBCkYIBRgCKkA=", "", "m")


@pytest.mark.parametrize(
    "plain", [b"dragoman:1", b"dragoman:1:", b"dragoman:1:gemini:k:m", b"dragoman:1?gemini:::x", b"dragoman:1:\xff:::"]
)
def test_a_value_that_only_looks_packed_is_left_alone(plain: bytes) -> None:
    assert seals.unpack(base64.b64encode(plain).decode()) is None


@pytest.mark.parametrize("slot", [seals.MARK, seals.MARK + "p", seals.MARK + "p!!!", seals.MARK + "pä"])
def test_a_broken_slot_is_left_alone(slot: str) -> None:
    assert seals.unpack(slot) is None


@pytest.mark.parametrize(
    "plain", [b"dragoman:9:zzz", b"dragoman:2:[[", b"dragoman:1:gemini", b"dragoman:id:x", b"dragoman:1:\xff:::"]
)
def test_a_marked_value_that_cannot_be_read_belongs_to_no_dialect(plain: bytes) -> None:
    slot = base64.b64encode(plain).decode()
    found = seals.origin(slot, "anthropic", "", "m")
    assert found == seals.packed_seal_in(slot) == Seal(seals.BUNDLE, slot)
    assert seals.read_records(found.data) is None
    assert seals.pack(found) == slot
    assert seals.packed_seal_in("ErUBCkYIBRgCKkA=") is None


RECORDS = (
    seals.PackedSeal("call", "gemini", "c2lnbmF0dXJl+/==", call="call:1/ü"),
    seals.PackedSeal("thought", "anthropic", "ErUB", "redacted", "claude-opus-5", "eu", "", 1, 20, 0, 'said "so"\n'),
    seals.PackedSeal("text", "gemini", "x", calls=2, offset=-1, length=7, text=seals.digest("a text.")),
)


def test_several_records_are_packed_into_one_seal() -> None:
    bundle = seals.bundle(RECORDS)
    assert bundle.dialect == seals.BUNDLE
    slot = seals.pack(bundle)
    assert slot.startswith(seals.MARK)
    found = seals.unpack(slot)
    assert found == bundle
    assert seals.read_records(bundle.data) == RECORDS
    assert seals.pack(bundle) == slot


def test_a_seal_of_a_host_keeps_its_host() -> None:
    seal = Seal("openai-chat", "x", "k", "deepseek-chat", "api.deepseek.com")
    found = seals.unpack(seals.pack(seal))
    assert found is not None
    (record,) = seals.read_records(found.data) or ()
    assert record.seal() == seal
    assert record.length == -1


@pytest.mark.parametrize("plain", [b"dragoman:2:", b"dragoman:2:{}", b'dragoman:2:[["call"]]', b"dragoman:2:[[1]]"])
def test_a_value_that_is_no_record_is_left_alone(plain: bytes) -> None:
    assert seals.unpack(base64.b64encode(plain).decode()) is None


@pytest.mark.parametrize("call_id", ["call_1", "", "functions.f:0", "ü"])
def test_seals_are_packed_into_an_id_and_unpacked(call_id: str) -> None:
    packed = seals.pack_id(call_id, RECORDS)
    assert packed.startswith(seals.MARK)
    assert packed.replace("_", "").replace("-", "").isalnum()
    assert packed.isascii()
    assert seals.unpack_id(packed) == (call_id, RECORDS)
    assert seals.pack_id(call_id, RECORDS) == packed


@pytest.mark.parametrize(
    "call_id",
    [
        "call_1",
        seals.MARK,
        seals.MARK + "ä",
        seals.MARK + "!",
        seals.pack(seals.bundle(RECORDS)),
        base64.urlsafe_b64encode(b"dragoman:id:[1]").decode(),
        base64.urlsafe_b64encode(b"dragoman:id:\xff").decode(),
    ],
)
def test_an_id_without_valid_seals_is_a_plain_id(call_id: str) -> None:
    assert seals.unpack_id(call_id) is None


def test_records_in_json_are_packed_as_the_seal_that_holds_them() -> None:
    records = (seals.PackedSeal("call", "gemini", "c2ln", call="c1"), seals.PackedSeal("text", "gemini", "ü"))
    slot = seals.pack_written(seals.write_records(records))
    assert slot == seals.pack(seals.bundle(records))
    held = seals.unpack(slot)
    assert held is not None
    assert seals.read_records(held.data) == records
