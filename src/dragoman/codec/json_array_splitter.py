"""Splits a growing JSON array into its elements. The elements do not depend on how the bytes are cut.

Google's servers stream an array unless the request asks for server-sent events (`alt=sse`). The splitter also accepts
bare objects one after another (an error without the array), so any stream that begins with a bracket can be read here.
"""

from __future__ import annotations

import re

from ..errors import WireError
from .sse_splitter import MAX_FRAME

_OUTSIDE = re.compile(rb'["{}\[\]]')
_INSIDE = re.compile(rb'["\\]')
# A comma is a separator like a space: gemini-cli collapses doubled commas that Code Assist sent (sources, 2026-08).
_BETWEEN = b" \t\r\n,"


class JsonArraySplitter:
    """Takes bytes and returns the exact text of whole elements."""

    __slots__ = ("_buffered", "_depth", "_dialect", "_escaped", "_pieces", "_string", "broken", "ended", "whole")

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._pieces: list[bytes] = []
        self._buffered = 0
        self._depth = 0  # brackets open inside the element
        self._string = False
        self._escaped = False
        self.whole = 0
        """The end of the last whole element, or of the array, in the last chunk; 0 if there is none."""
        self.ended = False
        """The closing bracket of the array was found. Later bytes are ignored."""
        self.broken: WireError | None = None
        """An illegal byte was between elements. The error is not raised, so that the elements before it do not depend
        on how the bytes are cut. No element follows.
        """

    def feed(self, chunk: bytes) -> list[bytes]:
        """The elements that end in this chunk."""
        elements: list[bytes] = []
        self.whole = len(chunk) if self.ended else 0
        start = place = 0  # start of the open element in this chunk; position of the scan
        while True:
            if self._depth == 0:
                begin = self._skip(chunk, place)
                if begin < 0:
                    return elements
                start = begin
                self._depth = 1
                place = begin + 1
            place = self._scan(chunk, place)
            if self._depth:
                self._hold(chunk[start:])
                return elements
            self.whole = place
            self._pieces.append(chunk[start:place])
            elements.append(b"".join(self._pieces))
            self._pieces.clear()
            self._buffered = 0

    def _skip(self, chunk: bytes, place: int) -> int:
        """The start of the next element, after separators; -1 if the chunk has none."""
        for at in range(place, len(chunk)):
            if self.ended or self.broken is not None:
                return -1
            byte = chunk[at : at + 1]
            if byte == b"{":
                return at
            if byte == b"]":
                self.ended = True
                self.whole = len(chunk)
            elif byte not in _BETWEEN and byte != b"[":
                self.broken = WireError(self._dialect, "", "objects in a JSON array", repr(byte))
        return -1

    def _scan(self, chunk: bytes, place: int) -> int:
        """Continue inside an element. Returns the position after its end, or after the chunk."""
        size = len(chunk)
        if self._escaped and place < size:
            self._escaped = False
            place += 1
        while place < size:
            # A search with a pattern runs in C. A loop over the bytes would cost more than decoding them.
            found = (_INSIDE if self._string else _OUTSIDE).search(chunk, place)
            if found is None:
                return size
            place = found.end()
            mark = found[0]
            if mark == b'"':
                self._string = not self._string
            elif mark == b"\\":
                # The escaped byte may be the first one of the next chunk.
                self._escaped = place == size
                place += 1
            elif mark in b"{[":
                self._depth += 1
            else:
                self._depth -= 1
                if not self._depth:
                    return place
        return size

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._buffered += len(piece)
            if self._buffered > MAX_FRAME:
                raise WireError(self._dialect, "", f"stream frames of at most {MAX_FRAME} bytes", "a longer one")
            self._pieces.append(piece)

    @property
    def open(self) -> bool:
        """An element has begun and is not whole."""
        return self._depth > 0
