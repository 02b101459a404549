"""Splits NDJSON (one JSON value on each line) into lines. The lines do not depend on how the bytes are cut.

It accepts LF and CRLF line ends, a byte-order mark, blank lines (skipped), and a last line without a line end.
"""

from __future__ import annotations

from ..errors import WireError
from .sse_splitter import MAX_FRAME

_BOM = b"\xef\xbb\xbf"


class NdjsonSplitter:
    """Takes bytes and returns whole lines without their ends."""

    __slots__ = ("_buffered", "_dialect", "_started", "_tail", "broken")

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._tail: list[bytes] = []  # pieces of a line whose end has not come
        self._buffered = 0
        self._started = False
        self.broken: WireError | None = None
        """A line exceeded the limit. The error is not raised, so that the lines before it do not depend on how the
        bytes are cut. No line follows.
        """

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk."""
        if self.broken is not None:
            return []
        pieces = chunk.split(b"\n")
        rest = pieces.pop()
        if pieces:
            if self._tail:
                self._tail.append(pieces[0])
                pieces[0] = b"".join(self._tail)
                self._tail.clear()
                self._buffered = 0
            if not self._started:
                self._started = True
                # A byte-order mark can only be at the start; later it is part of the text.
                pieces[0] = pieces[0].removeprefix(_BOM)
        lines: list[bytes] = []
        for line in pieces:
            if len(line) > MAX_FRAME:
                self._break()
                return lines
            # Blank lines carry nothing. A server may send them to keep a connection open.
            if line and not line.isspace():
                lines.append(line)
        if rest:
            self._buffered += len(rest)
            if self._buffered > MAX_FRAME:
                self._break()
            else:
                self._tail.append(rest)
        return lines

    def close(self) -> list[bytes]:
        """The last line, if the stream ended without a line end."""
        return self.feed(b"\n")

    def _break(self) -> None:
        self._tail.clear()
        self.broken = WireError(self._dialect, "", f"stream lines of at most {MAX_FRAME} bytes", "a longer one")


def one_line(text: bytes) -> bytes:
    """JSON text on one line: a raw value may span several lines, and a line end would end the NDJSON value."""
    if b"\n" in text or b"\r" in text:
        # JSON allows line ends between tokens only, and a space there has the same meaning.
        return text.replace(b"\r", b" ").replace(b"\n", b" ")
    return text
