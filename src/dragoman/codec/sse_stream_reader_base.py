"""Owns the base class of stream readers: cuts chunks of server-sent events into frames. The subclasses decode them.

Repeated frames take a fast path past the reader (`repeated_frame_interface.py`). A reader that counts their text
catches up before the next frame that it decodes.
"""

from __future__ import annotations

from collections.abc import Callable

from ..canon.events import Event, PartDelta, PartEnd, PartStart
from .repeated_frame_interface import EscapeCleaning, FastPath, FrameMatcher, FrameTemplate
from .sse_splitter import Frame, SseSplitter

_PATIENCE = 8
"""The number of fast paths that no frame takes before a reader gives up: then all frames of its stream differ."""


def starts_part(events: list[Event], before: int) -> bool:
    """Whether the added events are the start of a part with its first text, and at most the end of the previous
    part.
    """
    added = len(events) - before
    # A start and one text: any other event in the frame may not occur in the next one.
    if added < 2 or type(events[-1]) is not PartDelta or type(events[-2]) is not PartStart:
        return False
    return added == 2 or (added == 3 and type(events[before]) is PartEnd)


def _first_end(chunk: bytes) -> int:
    """The end of the first frame in a chunk; the end of the chunk if no frame ends in it."""
    ends = [at + len(blank) for blank in (b"\n\n", b"\r\n\r\n") if (at := chunk.find(blank)) >= 0]
    return min(ends, default=len(chunk))


class FrameReader:
    """Takes chunks and returns events. A dialect's reader decodes the frames.

    Attributes begin with two underscores, because subclasses have attributes with similar names.
    """

    def __init__(self, frames: SseSplitter) -> None:
        self._frames = frames
        self.one: Callable[[bytes], Frame | None] = frames.one
        """Returns the frame in a chunk that is exactly one whole frame in its usual form; None for any other chunk."""
        self.__matcher: FrameMatcher | None = None
        self.__texts: list[str] = []
        self.__last = b""
        self.__repeated = b"", ""  # the frame that may be repeated, and its text
        self.__fast_paths = 0  # fast paths made since a frame last took one
        self.going_on = -1
        """The index of the part that the last frame added text to, if the next frame may continue it; else -1."""
        self.held: PartDelta | None = None
        """The addition in the last frame, if it belongs to a part that its reader holds until the part is whole. Such a
        frame makes no event."""

    def match(self, matcher: FrameMatcher) -> None:
        """Use a matcher for repeated frames."""
        self.__matcher = matcher

    def feed(self, chunk: bytes) -> list[Event]:
        """The events of a chunk."""
        events: list[Event] = []
        frame = self.one(chunk)
        if frame is not None:
            self.take(chunk, frame, events)
            return events
        # Networks cut streams at any byte. The rest of a frame is
        # read alone, so that the frames after it can take the fast path.
        if not self._frames.between:
            # The rest of a frame that came in pieces. Whole frames may follow.
            end = _first_end(chunk)
            self.__read_bytes(chunk[:end], events)
            chunk = chunk[end:]
            if not chunk or not self._frames.between:
                if chunk:
                    self.__read_bytes(chunk, events)
                return events
        blank = b"\n\n"
        pieces = chunk.split(blank)
        if len(pieces) == 1:
            blank = b"\r\n\r\n"
            pieces = chunk.split(blank)
        rest = pieces.pop()
        for piece in pieces:
            whole = piece + blank
            for frame in self._frames.feed(whole):
                self.take(whole, frame, events)
        if rest:
            self.__read_bytes(rest, events)
        return events

    def take(self, whole: bytes, frame: Frame, events: list[Event]) -> None:
        """Append the events of a chunk that is one whole frame."""
        if self.going_on >= 0:
            self.settle()
        self.held = None
        name, data = frame
        if self._frame(name, data, events):
            delta = self.held or events[-1]
            if self.__matcher is not None and type(delta) is PartDelta:
                # The fast path compares the bytes around the text, so it needs the frame as it was received.
                self.going_on, self.__repeated = delta.index, (whole, delta.text)
            else:
                self.held = None

    def __read_bytes(self, chunk: bytes, events: list[Event]) -> None:
        """Read bytes that are not whole frames, or not yet."""
        self.settle()
        for name, data in self._frames.feed(chunk):
            self._frame(name, data, events)
        self.held = None

    def fast_path(
        self, template: FrameTemplate, texts: list[str], cleaning: EscapeCleaning | None = None
    ) -> FastPath | None:
        """The function for more of the open text. The caller reports the text with `add_texts` at the end."""
        if self.__matcher is None:
            return None
        fast_path = self.__matcher.fast_path(*self.__repeated, template, texts, cleaning)
        if fast_path is None:
            self.going_on, self.held = -1, None
            return None
        self.__fast_paths += 1
        # Fast paths that no frame takes cost more than they save.
        if self.__fast_paths > _PATIENCE:
            self.__matcher = None
        return fast_path

    def add_texts(self, texts: list[str], last: bytes) -> None:
        """Take note of texts that were read elsewhere. `last`: the frame of the last text."""
        self.__last = last
        self.__texts += texts

    def settle(self) -> None:
        """Read the frames that were only compared, before another frame is read."""
        if self.going_on >= 0:
            if self.__last:
                self.__fast_paths = 0
                self._catch_up(self.__texts, self.__last)
                self.__texts = []
                self.__last = b""
            self.going_on = -1
            self.held = None

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        """Read one frame. True: the last event is a PartDelta of text, and the frame holds nothing else. The same frame
        with another text would give only a PartDelta, apart from the start of the part. True also when the reader
        collects the part: then the frame gives no event, and `held` is the text that the frame adds.
        """
        raise NotImplementedError

    def _catch_up(self, texts: list[str], last: bytes) -> None:
        """Add `texts` to the open part. `last`: the frame of the last text."""
