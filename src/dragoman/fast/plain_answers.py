"""What the plain answers (`canon.response.Plain`) of all dialects have in common: shapes, and how calls are checked. It
knows no dialect."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

from ..canon.parts import Path
from ..canon.response import Named, Plain
from ..codec import json_text
from ..codec.tool_names import SAFE_NAMES, safe

Word = Annotated[str, Meta(min_length=1)]
"""Text that is not empty."""

CallId = Annotated[str, Meta(min_length=1, max_length=40)]
"""An id as short as every dialect takes it. Decoding knows the length; the letters are looked at in `plain_calls`."""


class Exact(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What is null or of one value in a plain answer is of that type, so that decoding checks it. Where it is written
    from: what is not known is null, and left out."""


NOT_PLAIN = (msgspec.DecodeError, RecursionError, UnicodeError)
"""What decoding raises."""

_text = msgspec.json.Decoder(str).decode
_check_object = msgspec.json.Decoder(dict[str, Any]).decode
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_IN_IDS = bytes([byte if byte in _LETTERS else _LETTERS[0] for byte in range(256)])
"""By which everything else becomes one of them."""
_QUOTE = ord('"')
NO_TEXT = Raw()

EMPTY_VALUES = (Raw(), Raw(b"null"), Raw(b"[]"), Raw(b"{}"), Raw(b'""'))
"""A field that is absent, and the values that are no loss where they are left out of an answer
(`canon.severity.field_severity`)."""


class Kinds(dict[tuple[bool, ...], Named]):
    """The fields of a dialect that only it knows and that say something in an answer, by whether each does: there are
    not many kinds of answers, and the names of each are put together once.

    Made of all such fields, and where they stand."""

    def __init__(self, *fields: tuple[Path, tuple[str, ...]]) -> None:
        super().__init__()
        self._fields = fields

    def __missing__(self, silent: tuple[bool, ...]) -> Named:
        places = [(at, name) for at, names in self._fields for name in names]
        told = [place for place, quiet in zip(places, silent, strict=True) if not quiet]
        named = [(at, tuple([name for where, name in told if where == at])) for at, _ in self._fields]
        self[silent] = found = tuple([(at, names) for at, names in named if names])
        return found


def as_spelled(sent: Raw) -> Raw | None:
    """A text as JSON spells it when it is encoded, which nearly always is as it was sent. None for what is no text;
    null is an empty one."""
    found = bytes(sent)
    if found[0] != _QUOTE:
        return NO_TEXT if found == b"null" else None
    if len(found) == 2:
        return NO_TEXT
    # Characters that are written by their numbers, and slashes behind a backslash, are spelled otherwise.
    if found.find(b"\\") >= 0 and (found.find(b"\\u") >= 0 or found.find(b"\\/") >= 0):
        return Raw(json_text.encode(_text(sent)))
    return sent


def length(text: Raw) -> int:
    """How many characters a text has."""
    return len(_text(text)) if text else 0


def plain_calls(plain: Plain, called: tuple[frozenset[str], ...] | None) -> bool:
    """Whether the calls are such as every dialect takes: by their ids, their names, and their arguments, unless those
    came as objects. And none has an id that stands in the conversation already, for hosts number the calls of each
    answer anew. `called`: the ids that do; None if that is not known."""
    calls = plain.calls
    ids = "".join(calls).encode()
    if called is None or ids.translate(_IN_IDS) != ids:
        return False
    for given in called:
        if not given.isdisjoint(calls):
            return False
    parsed = plain.parsed
    try:
        for call in calls.values():
            if call.name not in SAFE_NAMES and not safe(call.name):
                return False
            if not parsed:
                _check_object(call.arguments)
    except NOT_PLAIN:
        return False
    return True


def decodable(plain: Plain) -> bool:
    """Whether arguments that came as objects can be decoded: they may hold numbers beyond all doubles, and who gets
    them as objects trips."""
    try:
        for call in plain.calls.values():
            _check_object(call.arguments)
    except NOT_PLAIN:
        return False
    return True
