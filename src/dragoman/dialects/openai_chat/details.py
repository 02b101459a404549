"""`reasoning_details` of a Chat message: the list in which seals travel to a Chat client and come back.

OpenRouter and gateways like it write the list, and many Chat clients send it back with the message. Each seal of
another upstream is one whole entry under our mark, in a stream too: clients join the pieces of an entry in different
ways, and an entry that comes in one piece survives all of them. An entry without our mark belongs to the host that
wrote it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Part, Path, Reasoning
from ...codec import jsontext
from ...codec.seals import BUNDLE, MARK, MARK_BYTES, foreign, pack
from . import wire

FIELD = "reasoning_details"
_ENCRYPTED = "reasoning.encrypted"
_FORMAT = "unknown"
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class _Entry(Struct):
    """The fields of an entry in which a seal under our mark may stand."""

    text: str | None = None
    summary: str | None = None
    signature: str | None = None
    data: str | None = None


_list = msgspec.json.Decoder(list[Raw]).decode
_entry = msgspec.json.Decoder(_Entry).decode


def written_entry(packed: str, index: int) -> dict[str, Any]:
    """The entry for a packed seal. The OpenAI SDK joins entries by `index`, so each entry of an answer has its own."""
    return {"type": _ENCRYPTED, "data": packed, "format": _FORMAT, "index": index}


def is_chat_entry(entry: Any) -> bool:
    """Whether a decoded entry is one that was written here, for a client of Chat."""
    data = entry.get("data") if isinstance(entry, dict) and entry.get("type") == _ENCRYPTED else None
    return isinstance(data, str) and data.startswith(MARK) and "id" not in entry


def is_carrier(part: Part) -> bool:
    """Whether a part is nothing but a carrier of seals under our mark."""
    return type(part) is Reasoning and not part.text and part.seal is not None and part.seal.dialect == BUNDLE


def take_marked(message: wire.Message, at: Path) -> list[Part]:
    """The thoughts with seals under our mark in the list of a message; the list keeps all other entries."""
    raw = message.reasoning_details
    if MARK_BYTES not in bytes(raw):
        return []
    try:
        entries = _list(raw)
    except _REFUSED:
        return []
    found: list[Part] = []
    others: list[Raw] = []
    for i, value in enumerate(entries):
        part = _read_marked(value, (*at, FIELD, i))
        if part is None:
            others.append(value)
        else:
            found.append(part)
    if found:
        message.reasoning_details = jsontext.raw(others) if others else wire.NONE
    return found


def _read_marked(value: Raw, at: Path) -> Reasoning | None:
    if MARK_BYTES not in bytes(value):
        return None
    try:
        entry = _entry(value)
    except _REFUSED:
        return None
    for slot in (entry.data, entry.signature):
        seal = foreign(slot) if slot else None
        if seal is not None:
            return Reasoning(entry.text or entry.summary or "", seal=seal, at=at)
    return None


def put_back(entries: list[Any], part: Reasoning) -> None:
    """Put a carrier that the client brought along into the list again; `index` is its old place."""
    seal = part.seal
    if seal is None:
        return
    place = part.at[-1] if part.at and isinstance(part.at[-1], int) else len(entries)
    packed = seal.data if seal.data.startswith(MARK) else pack(seal)
    entries.append(written_entry(packed, place))


def among_others(entries: list[Any], others: Raw) -> list[Any]:
    """Our entries at their old places among those of the host."""
    whole: list[Any] = _list(others)
    for entry in entries:
        whole.insert(entry["index"], entry)
    return whole
