"""Owns texts that match a regular expression, for the common syntax of patterns in schemas.

An expression with other syntax (look-around, back references, flags) gives no sample, and every text counts as a
match. An expression with a repetition or a choice inside an unbounded repetition is never run: it may not end.
"""

from __future__ import annotations

import re

from ..codec.cache_memory_budget import small_cache

_MAX_LENGTH = 4096
"""Characters of an expression, and of a text, that are read."""
_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a", "b": "", "B": ""}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_COUNTED = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")
_GROUP = re.compile(r"\?(:|P?<[A-Za-z_]\w*>)")
_SET = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_SET_OPERATIONS = ("[", "--", "&&", "||", "~~")
"""Signs in a set that Python's `re` keeps for operations on sets."""
_USUAL = "a0A-_ .1b/Zz9@:+"


class _UnknownSyntax(Exception):
    """The expression has syntax that is not read here."""


class _Reader:
    """Reads an expression, and writes the shortest text that matches. `stretch` adds to each unbounded repetition."""

    def __init__(self, pattern: str, stretch: int) -> None:
        self._pattern = pattern
        self._at = 0
        self._stretch = stretch
        self._depth = 0
        self.nested = False

    def whole(self) -> str:
        text = self._either()
        if self._at < len(self._pattern):
            raise _UnknownSyntax
        return text

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _either(self) -> str:
        first = self._sequence()
        while self._peek() == "|":
            self._at += 1
            other = self._sequence()
            first = first or other
        return first

    def _sequence(self) -> str:
        out: list[str] = []
        while self._peek() not in ("", "|", ")"):
            begin = self._at
            piece = self._atom()
            inner = self._pattern[begin : self._at]
            least, bounded = self._times()
            if not bounded and inner[:1] == "(" and any(mark in inner for mark in "*+{|"):
                self.nested = True
            times = least if bounded else least + self._stretch
            if len(piece) * times > _MAX_LENGTH:
                raise _UnknownSyntax
            out.append(piece * times)
        return "".join(out)

    def _times(self) -> tuple[int, bool]:
        """How often the last atom occurs at least, and whether there is an upper bound."""
        mark = self._peek()
        counted = _COUNTED.match(self._pattern, self._at) if mark == "{" else None
        if counted is not None:
            self._at = counted.end()
            found = int(counted[1]), not counted[2] or bool(counted[3])
        elif mark and mark in "*+?":
            self._at += 1
            found = int(mark == "+"), mark == "?"
        else:
            return 1, True
        if self._peek() in ("?", "+"):
            self._at += 1  # lazy or possessive: the same texts match
        return found

    def _atom(self) -> str:
        sign = self._pattern[self._at]
        if sign == "[":
            return self._set()
        self._at += 1
        if sign == "(":
            return self._group()
        if sign in "*+?{":
            raise _UnknownSyntax
        if sign != "\\":
            return {"^": "", "$": "", ".": "a"}.get(sign, sign)
        sign = self._peek()
        self._at += 1
        known = {**_CLASSES, **_ESCAPES}.get(sign, sign)
        if not sign or (known == sign and sign.isalnum()):
            raise _UnknownSyntax
        return known

    def _group(self) -> str:
        self._depth += 1
        if self._depth > 50:
            raise _UnknownSyntax
        if self._peek() == "?":
            named = _GROUP.match(self._pattern, self._at)
            if named is None:
                raise _UnknownSyntax  # look-around, flags
            self._at = named.end()
        text = self._either()
        if self._peek() != ")":
            raise _UnknownSyntax
        self._at += 1
        self._depth -= 1
        return text

    def _set(self) -> str:
        """A character of a set: the first usual one that the set holds."""
        found = _SET.match(self._pattern, self._at)
        if found is None or any(mark in found[0][1:] for mark in _SET_OPERATIONS):
            raise _UnknownSyntax
        self._at = found.end()
        try:
            inside = re.compile(found[0])
        except re.error:
            raise _UnknownSyntax from None
        for sign in _USUAL + found[0]:
            if inside.fullmatch(sign):
                return sign
        raise _UnknownSyntax


def sample(pattern: str, least: int = 0) -> str | None:
    """A text that matches the pattern, with at least `least` characters if possible. None: the pattern is not read."""
    if len(pattern) > _MAX_LENGTH:
        return None
    for stretch in (0, 1, max(1, least)):
        try:
            text = _Reader(pattern, min(stretch, 1000)).whole()
        except _UnknownSyntax:
            return None
        if len(text) >= least and matches(pattern, text):
            return text
    return None


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; also True if the pattern is not run."""
    compiled = _compiled(pattern)
    return True if compiled is None or len(text) > _MAX_LENGTH else compiled.search(text) is not None


@small_cache(256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """The compiled pattern. None: it is not read, or it may not end."""
    if len(pattern) > _MAX_LENGTH:
        return None
    reader = _Reader(pattern, 0)
    try:
        reader.whole()
        return None if reader.nested else re.compile(pattern)
    except (_UnknownSyntax, re.error, OverflowError):
        return None
