"""Passes a stream within one dialect: whole frames, byte for byte.

Half a frame waits for its other half. If the bytes end before the answer does, the client gets one fault event after
the last whole frame. The dialect's StreamEnd decides whether the answer has ended.
"""

from __future__ import annotations

from ..canon.events import Fault, Finish
from ..canon.losses import Loss
from ..codec import json_array_splitter
from ..codec.json_text import decode
from ..codec.ndjson_splitter import one_line
from ..codec.passthrough_stream_end import decode_event, events_in
from ..codec.sse_splitter import MAX_FRAME, named_frame
from ..context import Context
from ..dialect import Dialect, StreamEnd
from ..dialects import get
from ..errors import WireError

HELD_BACK = 4096
"""The largest number of bytes of comments that wait for the first frame with data. An error in that frame can then
replace the whole answer.
"""
RECENT = 16
"""The number of last chunks that are kept, because the end of a stream is in its last frames. Up to twice as many are
kept.
"""
MAX_RECENT = 4096
"""The largest size of a kept chunk. Of a longer chunk only the last frames are kept."""
TAIL = 1024
"""The size of these last frames."""
# Streams end their lines with LF, CRLF or CR (WHATWG HTML, server-sent events).
_BLANK_LINES = (b"\n\n", b"\n\r\n", b"\r\r")
_LINE_END = (b"\n",)
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_BOM = b"\xef\xbb\xbf"
_CUT = "the upstream's stream ended before the answer did"


class PassThrough:
    """A StreamTranslator within one dialect."""

    losses: tuple[Loss, ...] = ()
    fault: Fault | None = None
    """The fault that ended the stream: the upstream's own, or the cut of the stream."""
    note: str = ""
    """How the upstream broke off after the answer was whole. The client has lost nothing."""
    _array: json_array_splitter.JsonArraySplitter | None = None
    _flows = False  # a frame has passed
    _opened = False  # an element of an array has passed

    def __init__(self, dialect: str, *, as_events: bool = False) -> None:
        """`as_events`: a stream that comes as one JSON array is sent as server-sent events."""
        self._dialect = known = get(dialect)
        self._end: StreamEnd = known.stream_end() if known.stream_end is not None else _ReadStreamEnd(known)
        self._sse = known.framing == "sse"
        self._frame_ends = _BLANK_LINES if self._sse else _LINE_END
        self._as_events = as_events
        self._buffer = bytearray()
        self._searched = 0  # number of held bytes without a frame end
        self._take = self._opening
        self._recent: list[bytes] = []
        self._before: list[bytes] = []

    def feed(self, chunk: bytes) -> bytes:
        """The frames that are complete now."""
        # The usual case: whole frames, nothing held. The bytes pass without a copy.
        if self._flows and not self._buffer and chunk.endswith(self._frame_ends):
            recent = self._recent
            recent.append(chunk)
            if len(recent) >= RECENT or len(chunk) > MAX_RECENT:
                self._pass_on()
            return chunk
        return self._take(chunk)

    def _pass_on(self) -> None:
        """Pass the older frames to StreamEnd, because they are no longer among the last."""
        if self._before:
            self._end.passed(b"".join(self._before))
        self._before, self._recent = self._recent, []
        last = self._before[-1]
        if len(last) > MAX_RECENT:
            cut = self._frame_end(last, len(last) - TAIL)
            if cut < len(last):
                self._end.passed(b"".join([*self._before[:-1], last[:cut]]))
                self._before = [last[cut:]]
            # One frame is longer than the kept bytes, so the frame is decoded now.
            else:  # one long frame
                self._end.passed(b"".join(self._before[:-1]))
                self._end.look(last)
                self._before = []

    def close(self, fault: Fault | None = None) -> bytes:
        """End the stream, with `fault` if the bytes broke off. Returns the last bytes."""
        # Without any frame, the body is not a stream.
        if self._take in (self._opening, self._hold):
            return self._instead(fault)
        rest = self._last_frame()
        end = self._end
        end.last([*self._before, *self._recent, rest])
        if end.ended:
            if end.error:
                self.fault = self.fault or self._read_error()
            elif fault is not None:
                self.note = fault.message
            return rest
        # Google ends a failed stream with a bare error object.
        if fault is None and rest and self._array is None:
            fault = self._read_unframed(rest)
        self.fault = fault or Fault("upstream_bad", _CUT, 502)
        return self._written(self.fault)

    # cutting the bytes into frames

    def _opening(self, chunk: bytes) -> bytes:
        """Read the first bytes, which distinguish a stream from an error page, a whole answer or an error."""
        self._buffer += chunk
        if not self._sse and b"\n" not in chunk:
            return b""
        head = bytes(self._buffer if not self._sse else self._buffer[:HELD_BACK])
        # The first bytes may be half of a byte-order mark.
        if _BOM.startswith(head):
            return b""
        head = head.removeprefix(_BOM).lstrip()
        if not head:
            # White space alone decides nothing.
            if len(self._buffer) > HELD_BACK:
                self._take = self._hold
            return b""
        if not self._sse:
            line, ended, _ = head.partition(b"\n")
            if not ended:
                return b""
            line = line.strip()
            # A line of NDJSON is an object. Anything else is an error page.
            self._take = self._frames if line[:1] == b"{" and line[-1:] == b"}" else self._hold
        elif head.startswith(_FIELDS):
            self._take = self._frames
        elif self._end.arrays and head[:1] == b"[":
            self._array = json_array_splitter.JsonArraySplitter(self._dialect.name)
            self._take = self._elements
            chunk = bytes(self._buffer)
            self._buffer.clear()
            return self._elements(chunk)
        elif not any(field.startswith(head) for field in _FIELDS):
            self._take = self._hold
        else:
            return b""
        return self._take(b"")

    def _hold(self, chunk: bytes) -> bytes:
        """The body is not a stream: hold everything until the end."""
        self._buffer += chunk
        self._bound(len(self._buffer))
        return b""

    def _bound(self, size: int) -> None:
        if size > MAX_FRAME:
            raise WireError(self._dialect.name, "", f"stream frames of at most {MAX_FRAME} bytes", "a longer one")

    def _frames(self, chunk: bytes) -> bytes:
        """Frames that arrive in several pieces."""
        buffer = self._buffer
        buffer += chunk
        # A frame end may begin in the bytes that were searched before.
        start = max(0, self._searched - 2)
        size = 0
        for blank in self._frame_ends:
            found = buffer.rfind(blank, start)
            if found >= 0:
                size = max(size, found + len(blank))
        self._bound(len(buffer) - size)
        self._searched = len(buffer)
        if not size:
            return b""
        out = bytes(buffer[:size])
        first = not self._flows
        # Comments wait for the first frame: an error in it can still become an answer with a status.
        if first and self._sse and size < HELD_BACK and not events_in(out):
            return b""
        self._flows = True
        del buffer[:size]
        self._searched = len(buffer)
        rest = out
        if first:
            cut = self._frame_end(out, MAX_RECENT)
            # The first frame may be an error, which decides about the whole answer.
            self._end.look(out[:cut])
            if self._end.error:
                self.fault = self._read_error()
            rest = out[cut:]
        if rest:
            self._recent.append(rest)
            if len(self._recent) >= RECENT or len(rest) > MAX_RECENT:
                self._pass_on()
        return out

    def _frame_end(self, frames: bytes, start: int) -> int:
        """The end of the first frame that ends at or after `start`."""
        ends = [found + len(blank) for blank in self._frame_ends if (found := frames.find(blank, start)) >= 0]
        return min(ends, default=len(frames))

    def _elements(self, chunk: bytes) -> bytes:
        """The elements of one JSON array."""
        array = self._array
        assert array is not None
        elements = array.feed(chunk)
        for element in elements:
            self._end.frame(b"", element)
        if self._end.error and not self._opened:
            self.fault = self._read_error()
        if array.broken is not None:
            raise array.broken
        if self._as_events:
            # The client wants events, and each element of the array is one event.
            return b"".join([b"data: " + one_line(element) + b"\r\n\r\n" for element in elements])
        buffer = self._buffer
        buffer += chunk
        size = len(buffer) - len(chunk) + array.whole if array.whole else 0
        out = bytes(buffer[:size])
        del buffer[:size]
        self._opened = self._opened or bool(elements)
        return out

    # ending the stream

    def _last_frame(self) -> bytes:
        """The bytes after the last whole frame, if they are complete frames without their end."""
        if self._array is not None:
            return b"" if self._array.ended or self._as_events else b"]"
        rest = bytes(self._buffer)
        frames = events_in(rest) if self._sse else [(b"", line) for line in rest.splitlines() if line.strip()]
        # Half a frame at the end must not reach the client.
        if any(data.strip() != b"[DONE]" and decode_event(data, decode, dict) is None for _, data in frames):
            return b""
        if frames or rest.lstrip()[:1] in (b"", b":") or decode_event(rest, decode, dict) is not None:
            return rest
        return b""

    def _written(self, fault: Fault) -> bytes:
        """The fault as the last event."""
        if self._array is not None and not self._as_events:
            body, _, _ = self._dialect.write_fault(fault)
            return (b",\r\n" if self._opened else b"[") + body + b"]"
        return self._dialect.writer(self._context()).send(fault)

    def _read_unframed(self, rest: bytes) -> Fault | None:
        """Google's servers end a failed stream with a bare error object, without `data:` before it."""
        reader = self._dialect.reader(self._context())
        events = [*reader.feed(rest), *reader.close()]
        last = events[-1] if events else None
        return last if isinstance(last, Fault) else None

    def _read_error(self) -> Fault:
        try:
            events = self._dialect.reader(self._context()).feed(self._end.error)
        except WireError:  # an unreadable error
            events = []
        last = events[-1] if events else None
        return last if isinstance(last, Fault) else Fault("server", "the upstream's stream ended with an error", 502)

    def _instead(self, fault: Fault | None) -> bytes:
        """A whole answer in place of the stream becomes a stream. An error page, an error or nothing becomes a
        fault.
        """
        reader, writer = self._dialect.reader(self._context()), self._dialect.writer(self._context())
        events = [*reader.feed(bytes(self._buffer)), *reader.close()]
        last = events[-1] if events else None
        if isinstance(last, Finish):
            return b"".join([writer.send(event) for event in events]) + writer.close()
        # A fault that the upstream itself wrote is better than the reason of the cut.
        if isinstance(last, Fault) and (fault is None or last.kind != "upstream_bad"):
            fault = last
        self.fault = fault or Fault("upstream_bad", _CUT, 502)
        return writer.send(self.fault)

    def _context(self) -> Context:
        return Context(self._dialect.name, self._dialect.name)


class _ReadStreamEnd:
    """Finds the end of a stream in a dialect without a StreamEnd: its reader reads all frames."""

    arrays = False
    error: bytes = b""

    def __init__(self, dialect: Dialect) -> None:
        self._reader = dialect.reader(Context(dialect.name, dialect.name))
        self._sse = dialect.framing == "sse"
        self._finished = self._closed = False

    @property
    def ended(self) -> bool:
        if not self._closed:
            self._closed = True
            self._finished = self._finished or any(type(event) is Finish for event in self._reader.close())
        return self._finished or bool(self.error)

    def passed(self, frames: bytes) -> None:
        self.look(frames)

    def last(self, chunks: list[bytes]) -> None:
        self.look(b"".join(chunks))

    def look(self, frames: bytes) -> None:
        for event in self._reader.feed(frames):
            if type(event) is Finish:
                self._finished = True
            elif type(event) is Fault:
                self.error = frames

    def frame(self, name: bytes, data: bytes) -> None:
        self.look((named_frame(name, data) if name else b"data: %b\n\n" % data) if self._sse else data + b"\n")
