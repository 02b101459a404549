"""Owns `reasoning_details` of a Chat message: the list that carries seals to a Chat client and back.

OpenRouter and similar gateways write this list, and many Chat clients return it with the message. Each seal of another
upstream is one whole marked entry, also in a stream. Clients join the pieces of an entry in different ways, but they
all keep an entry in one piece. An entry without the mark belongs to the host that wrote it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Opaque, Part, Path, Reasoning, Seal
from ...codec import json_text
from ...codec.packed_seals import BUNDLE, MARK, MARK_BYTES, pack, packed_seal_in
from . import wire
from .hosted_calls import DETAIL, is_marked, read_use

FIELD = "reasoning_details"
TEXT, SUMMARY, ENCRYPTED = "reasoning.text", "reasoning.summary", "reasoning.encrypted"
_KINDS = frozenset({TEXT, SUMMARY, ENCRYPTED})
_FORMAT = "unknown"
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class Detail(Struct):
    """The fields of an entry that are read."""

    type: str = ""
    text: str | None = None
    summary: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    index: int | None = None
    format: str | None = None


_list = msgspec.json.Decoder(list[Raw]).decode
_detail = msgspec.json.Decoder(Detail).decode


def listed(raw: Raw) -> list[Raw] | None:
    """The entries of a list; None for another value."""
    try:
        return _list(raw)
    except _REFUSED:
        return None


def look(value: Raw) -> Detail | None:
    """An entry of a known type, else None."""
    try:
        found = _detail(value)
    except _REFUSED:
        return None
    return found if found.type in _KINDS else None


def words(detail: Detail) -> str:
    """The text of an entry."""
    return (detail.summary if detail.type == SUMMARY else detail.text if detail.type == TEXT else "") or ""


_TEXT_FIELDS = frozenset({"type", "text", "summary", "format", "index", "signature", "data"})


def is_proof(detail: Detail) -> bool:
    """Whether the host wants an entry back whole: it has a signature or encrypted reasoning, or the host's own format
    (MiniMax demands its list back, whose entries hold only text: its guide on tool use, 2026-03).
    """
    return bool(detail.signature or detail.data) or detail.format not in (None, "", _FORMAT)


def has_other_fields(value: Raw) -> bool:
    """Whether an entry without proof has more fields than its text."""
    return not json_text.fields(value).keys() <= _TEXT_FIELDS


def written_entry(packed: str, index: int) -> dict[str, Any]:
    """The entry for a packed seal. The SDK joins entries by `index` (openai 3.51.0, 2026-11), so each entry of an
    answer has its own.
    """
    return {"type": ENCRYPTED, "data": packed, "format": _FORMAT, "index": index}


def is_chat_entry(entry: Any) -> bool:
    """Whether a decoded entry was written here, for a client of Chat."""
    if isinstance(entry, dict) and entry.get("type") == DETAIL:
        return MARK in str(entry.get("tool_call_id")) and "index" in entry
    data = entry.get("data") if isinstance(entry, dict) and entry.get("type") == ENCRYPTED else None
    return isinstance(data, str) and data.startswith(MARK) and "id" not in entry


def written_use_entry(part: Opaque, index: int) -> dict[str, Any]:
    """The entry for the use of a hosted tool, with its own `index`."""
    return {**json_text.fields(part.value), "index": index}


def is_carrier(part: Part) -> bool:
    """Whether a part only carries packed seals."""
    return type(part) is Reasoning and not part.text and part.seal is not None and part.seal.dialect == BUNDLE


def take_marked(message: wire.Message, at: Path) -> list[Part]:
    """The thoughts with packed seals, and the marked uses of hosted tools, in the list of a message. The list keeps all
    other entries.
    """
    raw = message.reasoning_details
    # Most lists have no seal of ours: the look at the bytes saves decoding them.
    if MARK_BYTES not in bytes(raw):
        return []
    entries = listed(raw)
    if entries is None:
        return []
    found: list[Part] = []
    others: list[Raw] = []
    for i, value in enumerate(entries):
        place = (*at, FIELD, i)
        part = _read_marked(value, place)
        if part is not None:
            found.append(part)
        elif is_marked(value):
            found += read_use(value, place, wire.NAME)
        else:
            others.append(value)
    if found:
        message.reasoning_details = json_text.raw(others) if others else wire.NONE
    return found


def _read_marked(value: Raw, at: Path) -> Reasoning | None:
    if MARK_BYTES not in bytes(value):
        return None
    entry = look(value)
    seal = marked_seal(entry) if entry is not None else None
    return Reasoning(words(entry), seal=seal, at=at) if entry is not None and seal is not None else None


def marked_seal(entry: Detail) -> Seal | None:
    """The packed seal in an entry."""
    slot = entry.data or entry.signature
    return packed_seal_in(slot) if slot else None


def take_own(message: wire.Message, at: Path) -> list[Part]:
    """The thoughts in a host's list, for another dialect: each with its whole entry as seal, so that the host
    recognises it. The fields that repeat their text become empty. A list that is not understood, or that differs from
    these fields, stays in the message.
    """
    values = listed(message.reasoning_details)
    entries = [look(value) for value in values or ()]
    if not values or None in entries:
        return []
    known = [entry for entry in entries if entry is not None]
    text = "".join(map(words, known))
    thought = message.reasoning_content or message.reasoning or ""
    if not any(map(is_proof, known)):
        # The details only repeat the thinking text.
        if text == thought and not any(map(has_other_fields, values)):
            message.reasoning_details = wire.NONE
        return []
    # Two different texts: both are kept.
    if text and thought and text != thought:
        return []
    message.reasoning_details = wire.NONE
    if text:
        # Hosts repeat the text of the entries in one of these fields (recorded 2026-03). It must not be read twice.
        message.reasoning_content = message.reasoning = None
    return [
        Reasoning(words(entry), seal=Seal(wire.NAME, json_text.text(value), entry.type), at=(*at, FIELD, i))
        for i, (value, entry) in enumerate(zip(values, known, strict=True))
    ]


def is_entry(seal: Seal) -> bool:
    """Whether a seal is a whole entry of a host's list."""
    return seal.dialect == wire.NAME and seal.kind in _KINDS and json_text.is_object(seal.data)


def put_back(entries: list[Any], part: Reasoning) -> None:
    """Add a carrier that the client returned to the list again. `index` is its old place."""
    seal = part.seal
    if seal is None:
        return
    place = part.at[-1] if part.at and isinstance(part.at[-1], int) else len(entries)
    packed = seal.data if seal.data.startswith(MARK) else pack(seal)
    entries.append(written_entry(packed, place))


def among_others(entries: list[Any], others: Raw) -> list[Any]:
    """The marked entries at their old places among the host's entries."""
    whole: list[Any] = _list(others)
    for entry in entries:
        whole.insert(entry["index"] if isinstance(entry, dict) else len(whole), entry)
    return whole
