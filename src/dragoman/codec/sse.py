"""Server-sent events: byte chunks to frames, the same frames however the bytes are cut.

Takes LF, CRLF and CR line ends, comments, several data lines, a byte-order mark, a last frame without its blank line.
"""

from __future__ import annotations

from ..errors import WireError

Frame = tuple[bytes, bytes]
"""(event name or b"", data)."""

MAX_FRAME = 64 * 1024 * 1024


class Splitter:
    """Feed bytes, get whole frames."""

    __slots__ = ("_dialect", "_held", "_started", "_tail")

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._tail: list[bytes] = []
        self._held = 0
        self._started = False

    def feed(self, chunk: bytes) -> list[Frame]:
        # What nearly always comes: one whole frame of one data line.
        if self._started and not self._tail and chunk.startswith(b"data: ") and b"\r" not in chunk:
            end = chunk.find(b"\n", 6)
            if end == len(chunk) - 2 and chunk.endswith(b"\n\n"):
                return [(b"", chunk[6:end])]
        if not self._started and chunk:
            chunk = self._start(chunk)
        if b"\r" in chunk or (self._tail and self._tail[-1].endswith(b"\r")):
            chunk = self._unify(chunk)
        if self._tail:
            # A frame's end can straddle the cut, so the last held byte is looked at with the new ones.
            if b"\n\n" not in chunk and not (chunk.startswith(b"\n") and self._tail[-1].endswith(b"\n")):
                return self._hold(chunk)
            self._tail.append(chunk)
            chunk = b"".join(self._tail)
            self._tail.clear()
            self._held = 0
        elif b"\n\n" not in chunk:
            return self._hold(chunk)
        blocks = chunk.split(b"\n\n")
        rest = blocks.pop()
        if rest:
            self._hold(rest)
        if not chunk.isascii():
            blocks = [_utf8(block) for block in blocks]
        frames = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                frames.append((b"", block[6:]))
            elif block:
                frame = _frame(block)
                if frame is not None:
                    frames.append(frame)
        return frames

    def close(self) -> list[Frame]:
        """The last frame, if the stream ended without the blank line after it."""
        rest = _utf8(b"".join(self._tail).replace(b"\r", b"\n"))
        self._tail.clear()
        self._held = 0
        return [frame for frame in map(_frame, rest.split(b"\n\n")) if frame is not None]

    def _hold(self, chunk: bytes) -> list[Frame]:
        if chunk:
            self._held += len(chunk)
            if self._held > MAX_FRAME:
                raise WireError(self._dialect, "", f"stream frames of at most {MAX_FRAME} bytes", "a longer one")
            self._tail.append(chunk)
        return []

    def _start(self, chunk: bytes) -> bytes:
        held = b"".join(self._tail) + chunk
        if len(held) < 3 and b"\xef\xbb\xbf".startswith(held):
            return chunk
        self._started = True
        if not held.startswith(b"\xef\xbb\xbf"):
            return chunk
        self._tail.clear()
        self._held = 0
        return held[3:]

    def _unify(self, chunk: bytes) -> bytes:
        """Line ends to LF. A CR at the very end waits in the tail, since an LF may follow it."""
        if self._tail and self._tail[-1].endswith(b"\r"):
            last = self._tail.pop()
            self._held -= len(last)
            chunk = last + chunk
        waiting = chunk.endswith(b"\r")
        if waiting:
            chunk = chunk[:-1]
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk + b"\r" if waiting else chunk


def _utf8(block: bytes) -> bytes:
    """`block` with U+FFFD for what is not UTF-8, as the event-stream standard wants it decoded."""
    try:
        block.decode()
    except UnicodeDecodeError:
        return block.decode("utf-8", "replace").encode()
    return block


def _frame(block: bytes) -> Frame | None:
    event = b""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        elif line.startswith(b"event:"):
            event = line[6:].strip()
        elif line == b"data":
            data.append(b"")
    if not data:
        return None
    return event, data[0] if len(data) == 1 else b"\n".join(data)


def frame(data: bytes) -> bytes:
    return b"data: %b\n\n" % data


def named(event: bytes, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event, data)
