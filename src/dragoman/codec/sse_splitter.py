"""Splits server-sent events into frames. The frames do not depend on how the bytes are cut.

It accepts LF, CRLF and CR line ends, comments, several data lines, a byte-order mark, and frames without the blank line
after them. If the first line ends with a lone CR, all lines of the stream do; only such streams are searched for CR.
"""

from __future__ import annotations

from ..errors import WireError

Frame = tuple[bytes, bytes]
"""(event name or b"", data)."""

MAX_FRAME = 64 * 1024 * 1024
"""An image of 4,096 by 4,096 points comes in one frame of 20 to 35 MB (Gemini, 2026-11)."""
MAX_STRAY = 8 * 1024 * 1024
"""The largest number of bytes outside of frames that is kept: enough for a whole answer in place of a stream."""
_SILENT = (b":", b"id:", b"retry:")
_BOM = b"\xef\xbb\xbf"
_OPENING = (b"{", b"[")


class SseSplitter:
    """Takes bytes and returns whole frames."""

    __slots__ = (
        "_after_cr",
        "_buffered",
        "_cr",
        "_data",
        "_dialect",
        "_event",
        "_started",
        "_stray",
        "_strayed",
        "_tail",
        "between",
    )

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._tail: list[bytes] = []  # pieces of an unfinished line
        self._event = b""
        self._data: list[bytes] = []
        self._buffered = 0
        self._started = False
        self._cr: bool | None = None  # lines end with a lone CR; None: no line has ended yet
        self._after_cr = False  # the last byte was a CR; an LF after it belongs to the same line end
        self.between = True
        """Between two frames, or before the first, with no held bytes."""
        self._stray: list[bytes] = []  # lines outside of frames
        self._strayed = 0

    @property
    def stray(self) -> bytes:
        """The first bytes outside of frames: a whole answer, or an error page, in place of a stream."""
        return b"".join(self._stray)

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that end in this chunk."""
        frame = self.one(chunk)
        return self._lines(chunk) if frame is None else [frame]

    def one(self, chunk: bytes) -> Frame | None:
        """The usual case: a chunk that is one whole frame of one data line, with or without an event line. None for any
        other chunk.
        """
        if not self.between:
            return None
        name = b""
        # Most chunks are one frame, so this way must be the shortest.
        line, _, rest = chunk.partition(b"\n")  # faster than split for long lines
        if line[:7] == b"event: ":
            name = line[7:].strip()
            line, _, rest = rest.partition(b"\n")
        if line[:6] != b"data: ":
            return None
        if rest == b"\n":
            data = line[6:]
            # A CR before LF belongs to the line end, and the general way removes it.
            if data[-1:] == b"\r":
                return None
        elif rest == b"\r\n" and line[-1:] == b"\r":
            data = line[6:-1]
        else:
            return None
        self._started = True
        return name, data if data.isascii() else _utf8(data)

    def close(self) -> list[Frame]:
        """The last frame, if the stream ended without the blank line after it."""
        return [] if self.between else self._lines(b"\n\n")

    def _lines(self, chunk: bytes) -> list[Frame]:
        if self._cr is not False and (self._cr or self._ends_with_cr(chunk)):
            chunk = self._with_lf(chunk)
        if b"\n" not in chunk:
            self._hold(chunk)
            return []
        if self._tail:
            self._tail.append(chunk)
            chunk = b"".join(self._tail)
            self._tail.clear()
            self._buffered = 0
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if not self._started:
            self._started = True
            # A byte order mark is legal at the start of an event stream (WHATWG HTML, server-sent events).
            lines[0] = lines[0].removeprefix(_BOM)
        frames: list[Frame] = []
        for line in lines:
            if line.endswith(b"\r"):
                line = line[:-1]
            if not line:
                self._end(frames)
            elif line.startswith(b"data:"):
                # One space after the colon is not part of the data (WHATWG HTML, server-sent events).
                data = line[6:] if line.startswith(b"data: ") else line[5:]
                # An array or object can only begin here if the line before is complete.
                if self._data and data[:1] in _OPENING and self._data[-1][-1:] == b"}":
                    # A JSON value cannot continue in this way: some hosts omit the blank line between two frames.
                    self._end(frames)
                self._data.append(data)
                self._hold_bytes(len(line))
            elif line.startswith(b"event:"):
                # The name of the next frame shows that the frame before has ended.
                if self._data and self._event:
                    self._end(frames)
                self._event = line[6:].strip()
            # Bytes outside of frames are kept only for the fault at the end, so their number is limited.
            elif self._strayed < MAX_STRAY and not line.startswith(_SILENT):
                self._stray += (line[:MAX_STRAY], b"\n")
                self._strayed += len(line) + 1
        self.between = not (rest or self._data or self._event)
        if rest:
            self._hold(rest)
        return frames

    def _ends_with_cr(self, chunk: bytes) -> bool:
        """Whether the first line ends with a lone CR. A CR at the end of the bytes does not decide it yet."""
        if self._started:
            self._cr = False
            return False
        cr, lf = chunk.find(b"\r"), chunk.find(b"\n")
        if self._tail and self._tail[-1][-1:] == b"\r":
            lone = lf != 0
        else:
            lone = 0 <= cr < len(chunk) - 1 and (lf < 0 or cr + 1 < lf)
        if lone:
            self._cr = True
            self._tail = [self._with_lf(piece) for piece in self._tail]
        elif lf >= 0:
            self._cr = False
        return self._cr is True

    def _with_lf(self, chunk: bytes) -> bytes:
        """The bytes with LF for each line end."""
        # CR, LF and CRLF each end a line (WHATWG HTML, server-sent events).
        if self._after_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
        if chunk:
            self._after_cr = chunk[-1:] == b"\r"
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _end(self, frames: list[Frame]) -> None:
        if self._data:
            # Several data lines of one frame are joined by a line feed (WHATWG HTML, server-sent events).
            frames.append((self._event, _utf8(b"\n".join(self._data))))
            self._data.clear()
            self._buffered = 0
        self._event = b""

    def _hold(self, piece: bytes) -> None:
        if piece:
            self.between = False
            self._tail.append(piece)
            self._hold_bytes(len(piece))

    def _hold_bytes(self, count: int) -> None:
        self._buffered += count
        if self._buffered > MAX_FRAME:
            raise WireError(self._dialect, "", f"stream frames of at most {MAX_FRAME} bytes", "a longer one")


def _utf8(data: bytes) -> bytes:
    """`data` with U+FFFD for bytes that are not UTF-8, as the event-stream standard (WHATWG HTML, 9.2) demands."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


def named_frame(event: bytes, data: bytes) -> bytes:
    """A frame with an event line."""
    return b"event: %b\ndata: %b\n\n" % (event, data)
