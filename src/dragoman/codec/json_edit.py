"""Edits JSON text: a change is applied to the bytes of a document, and all other bytes stay.

Key order, spacing, spellings of numbers and unknown fields stay as the client wrote them. The change is given as two
values: the document as it was read, and as it shall be. Only differences between the two values change the text.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from . import json_text

_KEY = re.compile(rb'\s*,?\s*("(?:[^"\\]|\\.)*")\s*:\s*', re.DOTALL)
_SNAKE = re.compile(r"_([a-z])")
_ITEM = re.compile(rb"\s*,?\s*")
_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


class _Member(NamedTuple):
    """The positions of one member of an object, or one item of an array, in the text."""

    name: str
    gap: int
    """Start of the white space and the comma before the member."""
    begin: int
    """Start of the key, or of the item."""
    colon: int
    """Start of the white space and the colon after the key."""
    value: int
    """Start of the value; `end` is its end."""
    end: int


_Piece = tuple[bytes | None, bytes]
"""The text before a member (white space and comma; None for a new member), and the text of the member."""


class _Unclear(Exception):
    """The text cannot be edited: an object has the same key twice."""


def edit_document(document: bytes, before: Any, after: Any) -> bytes | None:
    """The document with the differences between `before`, the value as it was read, and `after`. None: the text cannot
    be edited. Where the document itself differs from `before`, it stays unchanged.
    """
    begin = len(document) - len(document.lstrip())
    end = len(document.rstrip())
    try:
        return document[:begin] + _edited(document, begin, end, before, after) + document[end:]
    # The caller then encodes the whole document anew: correct, but without the client's spelling.
    except (_Unclear, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def edited_around_surrogates(document: bytes, key: str, value: Any) -> bytes | None:
    """Replace the value at one key of a document with lone surrogates, which decoders refuse. None: the text cannot
    be edited.
    """
    from .surrogates.documents import without_surrogates  # late: few documents have them

    cleaned = without_surrogates(document)
    if cleaned is None:
        return None
    begin, end = len(cleaned) - len(cleaned.lstrip()), len(cleaned.rstrip())
    try:
        members = _members(cleaned, begin, end)
    except (_Unclear, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    # The cleaned text has the same length as the document, so members have the same positions in both.
    for member in members:
        if member.name == key:
            # The value replaces bytes of the original document, so that all surrogates outside of it stay.
            return document[: member.value] + json_text.encode(value) + document[member.end :]
    new = json_text.encode(key) + b":" + json_text.encode(value)
    comma = b"," if members else b""
    return document[: end - 1] + comma + new + document[end - 1 :]


def _edited(text: bytes, begin: int, end: int, before: Any, after: Any) -> bytes:
    """The text of the value between `begin` and `end`."""
    if isinstance(before, dict) and isinstance(after, dict) and text[begin : begin + 1] == b"{":
        return _edited_object(text, begin, end, before, after)
    if isinstance(before, list) and isinstance(after, list) and text[begin : begin + 1] == b"[":
        return _edited_array(text, begin, end, before, after)
    return json_text.encode(after)


def _edited_object(text: bytes, begin: int, end: int, before: dict[str, Any], after: dict[str, Any]) -> bytes:
    members = _members(text, begin, end)
    pieces: list[_Piece] = []
    for member in members:
        name = _known(member.name, before, after)
        if name in before and name not in after:
            continue
        value = text[member.value : member.end]
        # Equal values keep their bytes, also where the client spells a number as 1e2 or an escape in capitals.
        if name in after and (name not in before or before[name] != after[name]):
            value = _edited(text, member.value, member.end, before.get(name), after[name])
        pieces.append((text[member.gap : member.begin], text[member.begin : member.value] + value))
    present = {_known(member.name, before, after) for member in members}
    colon = text[members[0].colon : members[0].value] if members else b":"
    for name, value in after.items():
        if name not in present and (name not in before or before[name] != value):
            pieces.append((None, json_text.encode(name) + colon + json_text.encode(value)))
    return _joined(text, begin, end, members, pieces)


def _known(name: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    """A key in the spelling of the values: Google's APIs accept snake_case for camelCase (google-genai 3.1.0)."""
    if name in before or name in after or "_" not in name:
        return name
    return _SNAKE.sub(lambda found: found.group(1).upper(), name)


def _edited_array(text: bytes, begin: int, end: int, before: list[Any], after: list[Any]) -> bytes:
    members = _elements(text, begin, end)
    # The document differs from `before`: it was changed elsewhere, or the reader left out its nulls. Then the numbers
    # of the items do not agree.
    if len(members) != len(before):
        return json_text.encode(after)
    # Histories grow at the end and change at the end. So equal items at both ends keep their bytes.
    same = min(len(before), len(after))
    head = next((i for i in range(same) if before[i] != after[i]), same)
    tail = next((i for i in range(same - head) if before[-1 - i] != after[-1 - i]), same - head)
    pieces: list[_Piece] = [(text[member.gap : member.begin], text[member.value : member.end]) for member in members]
    changed = after[head : len(after) - tail]
    middle = members[head : len(members) - tail]
    new_pieces: list[_Piece]
    if len(changed) == len(middle):
        new_pieces = [
            (gap, _edited(text, member.value, member.end, was, value))
            for (gap, _), member, was, value in zip(pieces[head:], middle, before[head:], changed, strict=False)
        ]
    else:
        new_pieces = [(None, json_text.encode(value)) for value in changed]
    return _joined(text, begin, end, members, pieces[:head] + new_pieces + pieces[len(members) - tail :])


def _joined(text: bytes, begin: int, end: int, members: list[_Member], pieces: list[_Piece]) -> bytes:
    """The members between the brackets of the document, each with its own white space."""
    if not members:
        return text[begin : begin + 1] + b",".join([piece for _, piece in pieces]) + text[end - 1 : end]
    # A new member gets the white space of the second one: the first has none before its comma.
    usual = text[members[1].gap : members[1].begin] if len(members) > 1 else b","
    out = [text[begin : members[0].begin]]
    for i, (gap, piece) in enumerate(pieces):
        if i:
            out.append(gap if gap is not None and b"," in gap else usual)
        out.append(piece)
    return b"".join([*out, text[members[-1].end : end]])


def _members(text: bytes, begin: int, end: int) -> list[_Member]:
    place = begin + 1
    out: list[_Member] = []
    for name, raw in json_text.fields(text[begin:end]).items():
        found = _KEY.match(text, place)
        if found is None or json_text.decode(found.group(1)) != name:
            # Of two equal keys the decoder keeps the last, so the positions cannot be trusted.
            raise _Unclear
        value, stop = found.end(), found.end() + len(raw)
        if text[value:stop] != bytes(raw):
            raise _Unclear
        out.append(_Member(name, place, found.start(1), found.end(1), value, stop))
        place = stop
    if text[place : end - 1].strip():
        raise _Unclear
    return out


def _elements(text: bytes, begin: int, end: int) -> list[_Member]:
    place = begin + 1
    out: list[_Member] = []
    for raw in _items(text[begin:end]):
        found = _ITEM.match(text, place)
        value = found.end() if found is not None else place
        out.append(_Member("", place, value, value, value, value + len(raw)))
        place = value + len(raw)
    return out
