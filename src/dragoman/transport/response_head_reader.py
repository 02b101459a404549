"""Reads heads of answers: the values of headers, by the names of the headers (`HeadShape`).

Heads with the same names as an earlier one are found by `fast.repeated_response_heads`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import httptools
from msgspec import Struct

from ..fast.repeated_response_heads import RepeatedResponseHeads

_FINAL = (b"HTTP/1.1 2", b"HTTP/1.1 4", b"HTTP/1.1 5", b"HTTP/1.1 3")
_line = re.compile(rb"([^:\s]+):[ \t]*([^\r\n]*)").match


class HeadShape:
    """The header names of heads that differ in their values only."""

    __slots__ = ("compressed", "kind", "names", "notes", "places")

    def __init__(self, names: Iterable[bytes]) -> None:
        self.names = [name.decode("latin-1").lower() for name in names]
        self.places = {name: place for place, name in reversed(list(enumerate(self.names, 1)))}
        """The position of each name's value; of a repeated name the first one's."""
        self.kind = self.places.get("content-type", 0)
        """The position of the content type; 0: there is none."""
        self.compressed = "content-encoding" in self.places
        self.notes: dict[tuple[str, str], Any] = {}
        """Notes of other modules about such heads. They live as long as the shape."""


class ResponseHead(Struct, frozen=True, eq=False):
    """The head of one answer: its headers in their order."""

    shape: HeadShape
    values: tuple[bytes, ...]
    """The rest of the status line, which is not used, and then the value of each header."""

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Names in lower case, and values."""
        return zip(self.shape.names, [value.decode("latin-1") for value in self.values[1:]], strict=True)

    def value(self, place: int) -> str:
        """The value at a position, as text."""
        return self.values[place].decode("latin-1")

    def header(self, name: str) -> str:
        """The first header of a name; "" where there is none."""
        place = self.shape.places.get(name)
        return "" if place is None else self.value(place)

    def size(self) -> int:
        """Bytes of the headers."""
        return sum(map(len, self.shape.names)) + sum(map(len, self.values[1:])) + 4 * len(self.shape.names)


class HeadReader:
    """Reads the heads of one upstream's answers."""

    __slots__ = ("repeated",)

    def __init__(self) -> None:
        self.repeated: RepeatedResponseHeads[HeadShape] = RepeatedResponseHeads()

    def read(self, head: bytes) -> ResponseHead:
        """The head of an answer that the parser has accepted. `head` may have interim heads before it and a part of the
        body behind it."""
        known = self.repeated.find(head)
        if known is not None:
            return ResponseHead(*known)
        end = head.find(b"\r\n\r\n")
        lines = head[:end].split(b"\r\n")
        found = [(line[1], line[2]) for line in map(_line, lines[1:]) if line is not None]
        if not head.startswith(_FINAL) or not len(found) == len(lines) - 1 == head.count(b"\n", 0, end):
            return listed(_Parsed(head).headers)
        parsed = listed(found)
        self.repeated.learn(head, end, [name for name, _ in found], parsed.shape)
        return parsed


def listed(headers: Iterable[tuple[bytes, bytes]]) -> ResponseHead:
    """A head made of single headers."""
    pairs = list(headers)
    return ResponseHead(HeadShape([name for name, _ in pairs]), (b"", *[value for _, value in pairs]))


NONE = listed([])
"""The head of an answer that has not come."""


class _Parsed:
    """Headers as the parser reports them: for heads behind interim ones, and for unusual heads."""

    def __init__(self, head: bytes) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self._final = False
        self._parser: Any = httptools.HttpResponseParser(self)
        with suppress(httptools.HttpParserError):  # The caller has already checked the rest.
            self._parser.feed_data(head)
        self._parser = None  # the parser holds a reference to this object

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._final:  # trailers behind a body are not used
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._final = self._parser.get_status_code() >= 200
        if not self._final:
            self.headers.clear()
