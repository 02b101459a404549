"""What the plain answers (`canon.response.Plain`) of all dialects have in common: shapes, and how calls are checked. It
knows no dialect."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ..canon.response import Plain
from .names import SAFE_NAMES, safe

Word = Annotated[str, Meta(min_length=1)]
"""Text that is not empty."""

CallId = Annotated[str, Meta(min_length=1, max_length=40)]
"""An id as short as every dialect takes it. Decoding knows the length; the letters are looked at in `plain_calls`."""


class Exact(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What is null or of one value in a plain answer is of that type, so that decoding checks it. Where it is written
    from: what is not known is null, and left out."""


NOT_PLAIN = (msgspec.DecodeError, RecursionError, UnicodeError)
"""What decoding raises."""

_check_object = msgspec.json.Decoder(dict[str, Any]).decode
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


def plain_calls(plain: Plain, called: tuple[frozenset[str], ...] | None) -> bool:
    """Whether the calls are such as every dialect takes: by their ids, their names, and their arguments, unless those
    came as objects. And none has an id that stands in the conversation already, for hosts number the calls of each
    answer anew. `called`: the ids that do; None if that is not known."""
    calls = plain.calls
    if called is None or "".join(calls).encode().translate(None, _LETTERS):
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
