"""Finds the end of a stream whose frames pass unchanged: the part that all dialects share.

Only the first and the last frames of a stream are decoded, and of these only the few decisive fields. A text search
would not do: the words may be in the model's text, or in the arguments of a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from .sse_splitter import Frame, named_frame

T = TypeVar("T")
_INDEX = re.compile(rb'"index":( ?)\d').search
_BOM = b"\xef\xbb\xbf"
_UNDECODED = (msgspec.DecodeError, RecursionError, UnicodeError)


def events_in(frames: bytes) -> list[Frame]:
    """The name and the data of each whole server-sent event in some bytes. Comments are left out.

    Lines end with LF, CRLF or a lone CR: `bytes.splitlines` splits at exactly these three.
    """
    found: list[Frame] = []
    name: bytes = b""
    data: list[bytes] = []
    # An empty line at the end closes the last frame: the caller gives whole frames only.
    for line in (*frames.removeprefix(_BOM).splitlines(), b""):
        more = None
        if line.startswith(b"data:"):
            more = line[6:] if line[5:6] == b" " else line[5:]
            # Some hosts omit the blank line between two frames. A JSON value cannot continue in this way.
            over = bool(data) and data[-1].endswith(b"}") and more[:1] in (b"{", b"[")
        elif line.startswith(b"event:"):
            over = bool(data and name)
        else:
            over = not line
        if over:
            if data:
                found.append((name, b"\n".join(data)))
            name, data = b"", []
        if more is not None:
            data.append(more)
        elif line.startswith(b"event:"):
            name = line[6:].strip()
    return found


def decode_event(data: bytes, decode: Callable[[bytes], T], shape: type[T]) -> T | None:
    """The fields of `shape` in JSON text; None if the text is no such JSON.

    A model that is cut at a limit may leave half a character, which the fast decoder refuses. Such text must not hide
    the end of a stream, so the tolerant decoder of the standard library is tried as well.
    """
    try:
        return decode(data)
    except _UNDECODED:
        pass
    from json import loads  # late: hardly any frame needs it

    try:
        # `strict=False`: the standard library then accepts raw control characters in strings, which JSON forbids.
        return msgspec.convert(loads(data.decode("utf-8", "replace"), strict=False), shape)
    except (ValueError, RecursionError, msgspec.ValidationError):
        return None


class EventStreamEnd:
    """Finds the end of a stream of server-sent events. A dialect's subclass decides which frame ends it."""

    ended = False
    """The answer is whole, or an error ended it: no frame has to follow."""
    error: bytes = b""
    """The frame with the error that ended the answer."""
    arrays = False
    """Streams of the dialect may also come as the elements of one JSON array."""
    over = False
    """No other frame can change the result."""

    ending: tuple[bytes, ...] = ()
    """Every frame that ends a stream has one of these words. A text may have them too."""

    def passed(self, frames: bytes) -> None:
        """Take note of whole frames that are not the last ones. A few servers send frames after the end."""
        # The words may also be in the model's text. So they only decide whether the frames are decoded at all.
        if not self.ended and any(word in frames for word in self.ending):
            self.look(frames)

    def look(self, frames: bytes) -> None:
        """Decode all frames in the bytes."""
        for name, data in events_in(frames):
            self.frame(name, data)

    def last(self, chunks: list[bytes]) -> None:
        """Decode the last whole frames. The end is in the last ones, so usually one chunk is decoded."""
        for place in range(len(chunks) - 1, -1, -1):
            self.look(chunks[place])
            if self.ended:
                # Some hosts end a failed stream like any other, so the frames before are checked too.
                self.passed(b"".join(chunks[:place]))
                # An error may come one frame before the terminator, as in Chat's `[DONE]`.
                if place and not self.error and b"error" in chunks[place - 1]:
                    self.look(chunks[place - 1])
                return

    def frame(self, name: bytes, data: bytes) -> None:
        """Decode one frame, and take note of an end or an error."""
        raise NotImplementedError

    def end(self) -> None:
        """The frame ends the stream."""
        self.ended = self.over = True

    def fail(self, name: bytes, data: bytes) -> None:
        """The frame is an error."""
        self.end()
        self.error = self.error or (named_frame(name, data) if name else b"data: %b\n\n" % data)


class AnswersStreamEnd(EventStreamEnd):
    """Finds the end of a stream with one or several answers, distinguished by an index. Each has its own end, possibly
    far from the others.
    """

    def __init__(self, finish: bytes) -> None:
        """`finish`: the name of the field that ends an answer."""
        self._finish = finish
        self._marks: tuple[bytes, bytes] | None = None
        self._open: set[int] = set()
        self._finished: set[int] = set()

    def passed(self, frames: bytes) -> None:
        """Take note of whole frames that are not the last ones."""
        if self._marks is None:
            # A host writes all its frames alike: with or without a space after the colon.
            found = _INDEX(frames)
            if found is None:
                self.look(frames)
                return
            gap = found[1]
            self._marks = b'"%b":%b"' % (self._finish, gap), b'"index":%b1' % gap
        finish, second = self._marks
        # If there are several answers, one of them has the number 1.
        if len(self._open) > 1 or finish in frames or second in frames:
            self.look(frames)

    def answer(self, index: object, finish: object) -> None:
        """Take note of one answer in a frame: its number, and its finish reason if it has one."""
        # Gemini leaves out the index 0 (recorded).
        number = index if isinstance(index, int) else 0
        if finish:
            self._open.discard(number)
            self._finished.add(number)
        elif number not in self._finished:
            self._open.add(number)
        self.ended = self.over or not self._open
