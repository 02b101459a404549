"""Texts that match a regular expression: enough of its language for the patterns that stand in schemas.

What is not understood gives None, and the caller does without. No pattern is run here that could run away: one with a
repetition or a choice inside an unbounded repetition is read, but never matched.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MOST = 4096
"""Longer patterns, and longer texts, are not looked at."""
_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_COUNTED = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")
_NAMED = re.compile(r"\?(:|P?<[A-Za-z_]\w*>)")
_SETS = ("[", "--", "&&", "||", "~~")
"""Inside a class, what some languages read as operations on sets."""
_CANDIDATES = "a0A-_ .1b/Zz9@:+"


class _Strange(Exception):
    """The pattern has something in it that is not understood here."""


class _Reader:
    """Reads a pattern and writes the shortest text that matches it; `stretch` adds to each unbounded repetition."""

    def __init__(self, pattern: str, stretch: int) -> None:
        self._pattern = pattern
        self._at = 0
        self._stretch = stretch
        self._depth = 0
        self.nested = False

    def whole(self) -> str:
        text = self._either()
        if self._at < len(self._pattern):
            raise _Strange
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
            least, most = self._times()
            if most is None and any(mark in inner for mark in "*+{|") and inner[:1] == "(":
                self.nested = True
            times = least if most is not None else least + self._stretch
            if len(piece) * times > _MOST:
                raise _Strange
            out.append(piece * times)
        return "".join(out)

    def _times(self) -> tuple[int, int | None]:
        """How often the last atom stands: at least, and at most (None: without bound)."""
        mark = self._peek()
        counted = _COUNTED.match(self._pattern, self._at) if mark == "{" else None
        if mark not in ("*", "+", "?") and counted is None:
            return 1, 1
        if counted is not None:
            self._at = counted.end()
            least = int(counted[1])
            found: tuple[int, int | None] = least, least
            if counted[2]:
                found = least, int(counted[3]) if counted[3] else None
        else:
            self._at += 1
            found = {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
        if self._peek() in ("?", "+") and self._peek():
            self._at += 1  # lazy or possessive: the same texts match
        return found

    def _atom(self) -> str:
        sign = self._pattern[self._at]
        self._at += 1
        if sign in "^$":
            return ""
        if sign == ".":
            return "a"
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._class()
        if sign == "\\":
            return self._escape()
        if sign in "*+?{":
            raise _Strange
        return sign

    def _group(self) -> str:
        self._depth += 1
        if self._depth > 50:
            raise _Strange
        if self._peek() == "?":
            named = _NAMED.match(self._pattern, self._at)
            if named is None:
                raise _Strange  # looks around, flags
            self._at = named.end()
        text = self._either()
        if self._peek() != ")":
            raise _Strange
        self._at += 1
        self._depth -= 1
        return text

    def _escape(self) -> str:
        sign = self._peek()
        self._at += 1
        if sign in ("b", "B"):
            return ""
        if sign == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", self._pattern[self._at : self._at + 4]):
            self._at += 4
            return chr(int(self._pattern[self._at - 4 : self._at], 16))
        if sign == "x" and re.fullmatch(r"[0-9a-fA-F]{2}", self._pattern[self._at : self._at + 2]):
            self._at += 2
            return chr(int(self._pattern[self._at - 2 : self._at], 16))
        if not sign or (sign.isalnum() and sign not in _CLASSES and sign not in _ESCAPES):
            raise _Strange
        return _CLASSES.get(sign) or _ESCAPES.get(sign) or sign

    def _class(self) -> str:
        """A character of a class: the first of some usual ones that Python finds in it."""
        end = self._at + 1 if self._peek() == "^" else self._at
        end += self._pattern[end : end + 1] == "]"
        while end < len(self._pattern) and self._pattern[end] != "]":
            end += 2 if self._pattern[end] == "\\" else 1
        text = self._pattern[self._at - 1 : end + 1]
        self._at = end + 1
        if any(mark in text[1:] for mark in _SETS):
            raise _Strange
        try:
            inside = re.compile(text)
        except re.error:
            raise _Strange from None
        for sign in _CANDIDATES + text[1:-1]:
            if inside.fullmatch(sign):
                return sign
        raise _Strange


def sample(pattern: str, least: int = 0) -> str | None:
    """A text that matches the pattern, at least so long if it can be; None when the pattern is not understood."""
    if len(pattern) > _MOST:
        return None
    for stretch in (0, 1, max(1, least)):
        try:
            text = _Reader(pattern, min(stretch, 1000)).whole()
        except _Strange:
            return None
        if len(text) >= least and matches(pattern, text):
            return text
    return None


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; True when that cannot be told."""
    compiled = _compiled(pattern)
    return True if compiled is None or len(text) > _MOST else compiled.search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern, when it can be run and will come to an end."""
    if len(pattern) > _MOST:
        return None
    reader = _Reader(pattern, 0)
    try:
        reader.whole()
    except _Strange:
        return None
    if reader.nested:
        return None
    try:
        return re.compile(pattern)
    except (re.error, OverflowError):
        return None
