"""Removes from JSON text the nulls that represent absent properties.

OpenAI's strict mode has no optional properties: all are required, and an absent one is null (docs "Structured outputs",
2026-11). The client's own schema does not allow that null, so the property is removed from the answer. All other text
stays.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from .schema.lossless_strict_form import AbsentNulls

_STRING: Final = re.compile(r'[^"\\]+')
_SPACE: Final = re.compile(r"[ \t\r\n]+")
_SCALAR: Final = re.compile(r"[^\s,\]}\[{\":]+")

_VALUE, _KEY, _COLON, _NEXT, _OVER = range(5)
"""The expected token: a value, a key (or the end of the object), a colon, a comma (or the end), nothing."""


def without_absent(text: str, shape: AbsentNulls) -> str:
    """A whole JSON text without absent properties."""
    found = AbsentRemover(shape)
    return found.feed(text) + found.close()


class _Open:
    """An open object or array."""

    __slots__ = ("first", "is_object", "shape")

    def __init__(self, shape: AbsentNulls | None, is_object: bool) -> None:
        self.shape = shape
        self.is_object = is_object
        self.first = True
        """No member of the object is written yet."""


class AbsentRemover:
    """Removes absent properties from a text while its pieces arrive. Text that is not JSON passes unchanged."""

    __slots__ = ("_buffer", "_due", "_escaped", "_inside", "_key", "_open", "_scalar", "_shape", "_word")

    def __init__(self, shape: AbsentNulls) -> None:
        self._shape: AbsentNulls | None = shape
        """The shape of the next value."""
        self._open: list[_Open] = []
        self._due = _VALUE
        self._buffer: list[str] = []
        """A comma, a key and a colon whose value is not known yet."""
        self._inside = ""
        """Whether the current string is a key or a value."""
        self._escaped = False
        self._key: list[str] = []
        self._scalar = False
        """The last token is a number or a word that may continue."""
        self._word: str | None = None
        """The first letters of a null that may be removed."""

    def feed(self, text: str) -> str:
        """The remaining text of a piece, as far as it is decided."""
        out: list[str] = []
        at = 0
        while at < len(text):
            # After the value nothing is removed: later text is not JSON, and passes unchanged.
            if self._due == _OVER:
                out.append(text[at:])
                break
            at = self._string(text, at, out) if self._inside else self._step(text, at, out)
        return "".join(out)

    def close(self) -> str:
        """The text is over. Returns the held text; a text that breaks off keeps its last characters."""
        rest = "".join(self._buffer) + (self._word or "")
        # A null at the very end of a text that breaks off is removed too: it may only be an absent property.
        removed = self._word == "null"
        self._buffer, self._word, self._due = [], None, _OVER
        return "" if removed else rest

    def _string(self, text: str, at: int, out: list[str]) -> int:
        """Continue in a string."""
        to = self._buffer if self._inside == "key" else out
        if self._escaped:
            end, self._escaped = at + 1, False
        elif text[at] == "\\":
            end, self._escaped = at + 1, True
        elif text[at] == '"':
            to.append('"')
            self._due = _COLON if self._inside == "key" else _NEXT
            self._inside = ""
            return at + 1
        else:
            found = _STRING.match(text, at)
            end = found.end() if found is not None else at + 1
        to.append(text[at:end])
        if self._inside == "key":
            self._key.append(text[at:end])
        return end

    def _step(self, text: str, at: int, out: list[str]) -> int:
        """Continue outside of strings."""
        if self._word is not None:
            return self._null(text, at, out)
        more = _SCALAR.match(text, at) if self._scalar else None
        self._scalar = False
        if more is not None:
            out.append(more[0])
            self._scalar = True
            return more.end()
        space = _SPACE.match(text, at)
        if space is not None:
            # Space before a member belongs to it: it is removed together with the member.
            buffered = self._due in (_KEY, _COLON) or self._buffer
            (self._buffer if buffered else out).append(space[0])
            return space.end()
        char = text[at]
        top = self._open[-1] if self._open else None
        if self._due == _VALUE:
            return self._value(text, at, out)
        if char in "}]" and self._due in (_KEY, _NEXT) and top is not None and top.is_object == (char == "}"):
            self._release(out)
            self._end(char, out)
        elif char == "," and self._due == _NEXT and top is not None:
            self._due = _KEY if top.is_object else _VALUE
            (self._buffer if top.is_object else out).append(char)
            self._shape = top.shape.items if top.shape is not None else None
        elif char == '"' and self._due == _KEY:
            self._inside, self._key = "key", []
            self._buffer.append(char)
        elif char == ":" and self._due == _COLON:
            self._buffer.append(char)
            self._due = _VALUE
        else:
            self._give_up(text[at:], out)
            return len(text)
        return at + 1

    def _value(self, text: str, at: int, out: list[str]) -> int:
        """A value begins."""
        char = text[at]
        top = self._open[-1] if self._open else None
        if top is not None and top.is_object:
            absent, shape = self._member(top)
            # Only null begins with n, but the letters may come in several pieces.
            if absent and char == "n":
                self._word = ""
                return at
            self._shape = shape
            self._release(out)
            top.first = False
        if char in "{[":
            out.append(char)
            self._open.append(_Open(self._shape, char == "{"))
            self._due = _KEY if char == "{" else _VALUE
            self._shape = self._shape.items if self._shape is not None else None
        elif char == '"':
            out.append(char)
            self._inside = "value"
        elif char == "]" and top is not None and not top.is_object:
            self._end(char, out)
        else:
            word = _SCALAR.match(text, at)
            if word is None:
                self._give_up(text[at:], out)
                return len(text)
            out.append(word[0])
            self._due = _NEXT if self._open else _OVER
            self._scalar = True
            return word.end()
        return at + 1

    def _member(self, top: _Open) -> tuple[bool, AbsentNulls | None]:
        if top.shape is None:
            return False, None
        key = "".join(self._key)
        # A key with escapes is rare. Only then the decoder is needed.
        if "\\" in key:
            try:
                key = msgspec.json.decode(f'"{key}"', type=str)
            except (msgspec.DecodeError, UnicodeEncodeError):
                # A key that cannot be decoded has no entry in the schema, so its value stays.
                return False, None
        return top.shape.members.get(key, (False, None))

    def _null(self, text: str, at: int, out: list[str]) -> int:
        """Continue in a word that may be null."""
        word = _SCALAR.match(text, at)
        if word is not None:
            self._word = (self._word or "") + word[0]
            return word.end()
        if self._word == "null":
            self._buffer = []
        else:
            self._release(out)
            out.append(self._word or "")
            self._open[-1].first = False
        self._word = None
        self._due = _NEXT
        return at

    def _release(self, out: list[str]) -> None:
        """Write the held text, with the comma only if a member is before it."""
        if not self._buffer:
            return
        text = "".join(self._buffer)
        self._buffer = []
        if self._open and self._open[-1].is_object and self._open[-1].first and text.lstrip().startswith(","):
            # The first written member must have no comma before it, also if members before it were removed.
            text = text.lstrip()[1:].lstrip()
        out.append(text)

    def _end(self, char: str, out: list[str]) -> None:
        out.append(char)
        self._open.pop()
        self._due = _NEXT if self._open else _OVER

    def _give_up(self, rest: str, out: list[str]) -> None:
        """The text is not JSON: nothing more is removed."""
        out.extend(self._buffer)
        out.append(rest)
        self._buffer, self._due = [], _OVER
