"""Replaces lone surrogates in JSON text: half a character, written as an escape such as `\\ud83d`.

Agents that cut strings between the two halves of a character send such escapes. JSON allows the escape, but UTF-8 text
cannot hold the value. The decoder refuses the document, and so do upstreams (Anthropic: status 400, "no low surrogate
in string"). All functions here work on text that was already refused, so sound documents cost nothing. A replacement
has the length of the escape, so positions in the text stay the same.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Path
from ...context import Context
from ..json_text import decode, encode, fields

REPLACED = "character.replaced"
"""The loss code."""

LONE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""Any escape; the first group is a lone surrogate. Escapes are matched one after the other, so that the second
backslash of an escaped backslash does not begin a new escape.
"""
# Possessive quantifiers: a long string without its end must not be searched again from each position.
_TOKEN = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"|[\[\]{},:]', re.DOTALL)
_REPLACEMENT = rb"\ufffd"


def without_surrogates(document: bytes) -> bytes | None:
    """The JSON text with U+FFFD in place of each lone surrogate; None if the text has none."""
    if not _has_surrogates(document):
        return None
    out = bytearray(document)
    for found in LONE.finditer(document):
        # The replacement has six bytes, as the escape has. So positions
        # stay the same, and the array can be changed in place.
        if found[1] is not None:
            out[found.start() : found.end()] = _REPLACEMENT
    return None if out == document else bytes(out)


def has_lone_surrogate(arguments: str) -> bool:
    """Whether the arguments of a call have a lone surrogate. Arguments are JSON text that came in a JSON string."""
    return "\\u" in arguments and without_surrogates(arguments.encode()) is not None


def sound_arguments(arguments: str, at: Path, context: Context) -> str:
    """The arguments of a call with U+FFFD in place of each lone surrogate. `at`: the path of the arguments."""
    if "\\u" not in arguments:
        return arguments
    cleaned = without_surrogates(arguments.encode())
    if cleaned is None:
        return arguments
    context.lose(REPLACED, at)
    return cleaned.decode()


def encode_escaped(value: Any) -> bytes:
    """The JSON text of a value, with JSON's escapes for lone surrogates, which UTF-8 cannot hold."""
    try:
        return encode(value)
    except UnicodeEncodeError:
        from json import dumps  # late: hardly any value needs it

        return dumps(value, separators=(",", ":")).encode()


def _has_surrogates(document: bytes) -> bool:
    # Nearly all documents have no such escapes, and this check avoids the pattern.
    return b"\\ud" in document or b"\\uD" in document


def decode_tolerant(document: bytes) -> Any:
    """The value of a JSON text, with U+FFFD in place of each lone surrogate. Raises the decoder's exceptions."""
    try:
        return decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError):
        cleaned = without_surrogates(document)
        if cleaned is None:
            # The document was refused for another reason, so the first error is the right one.
            raise
    return decode(cleaned)


def fields_tolerant(document: bytes | Raw) -> dict[str, Raw]:
    """The fields of a JSON object, each with its exact text, and with U+FFFD in place of each lone surrogate."""
    try:
        return fields(document)
    except (msgspec.DecodeError, UnicodeDecodeError):
        cleaned = without_surrogates(bytes(document))
        if cleaned is None:
            raise
    return fields(cleaned)


def decodable_frame(data: bytes, context: Context) -> bytes:
    """A frame that the decoder refused, changed so that the decoder accepts it if surrogates were the reason."""
    if not _has_surrogates(data):
        return data
    halves = context.half_characters
    return halves.marked(data) if halves is not None else without_surrogates(data) or data


def lose_replaced(document: bytes, cleaned: bytes, context: Context) -> None:
    """Report each string of a document in which surrogates were replaced."""
    for at in replaced_places(document, cleaned):
        context.lose(REPLACED, at)


def replaced_places(document: bytes, cleaned: bytes) -> list[Path]:
    """The paths of the strings with replaced surrogates: values, and names of members."""
    changed = [found.start() for found in LONE.finditer(document) if found[1] is not None]
    changed.reverse()  # the next position is the last element
    path = _Path()
    places: list[Path] = []
    for token in _TOKEN.finditer(cleaned):
        path.read(token[0])
        if changed and changed[-1] < token.end():
            places.append(path.here())
            while changed and changed[-1] < token.end():
                changed.pop()
        if not changed:
            break
    return places


class _Path:
    """The path of the current value, updated token by token."""

    __slots__ = ("_names", "_steps")

    def __init__(self) -> None:
        self._steps: list[bytes | int] = []  # for each open object the member's name, for each open array the index
        self._names = [False]  # whether the next string is a member's name

    def read(self, token: bytes) -> None:
        """Read one bracket, comma, colon or string."""
        steps, names = self._steps, self._names
        first = token[:1]
        if first == b'"':
            if names[-1]:
                steps[-1] = token
        elif first in b"{[":
            steps.append(b'""' if first == b"{" else 0)
            names.append(first == b"{")
        elif not steps:
            pass  # the text of an error need not be JSON
        elif first in b"}]":
            steps.pop()
            names.pop()
        elif first == b":":
            names[-1] = False
        else:
            step = steps[-1]
            if isinstance(step, int):
                steps[-1] = step + 1
            else:
                names[-1] = True

    def here(self) -> Path:
        """The path of the last token."""
        return tuple([step if isinstance(step, int) else decode(step) for step in self._steps])
