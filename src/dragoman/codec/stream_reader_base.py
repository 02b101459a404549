"""Cuts the chunks of server-sent events into frames, with a short way for repeated frames.

Many frames of a stream are equal except for the next words of the same text. A reader may get a FrameMatcher
(`fast/repeated_frames.py`), which is tried first. A frame that was only compared changes only the text of the open
part. A reader that counts this text catches up before the next frame that it decodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..canon.events import Event, PartDelta, PartEnd, PartStart
from .sse_splitter import Frame, Splitter

Lane = Callable[[bytes], bytes | None]
"""Translates a frame with more of the same text into the client's dialect. Returns None for any other frame."""


class Template(NamedTuple):
    """How more text of an open part is written: the bytes before and after the text, and a number before it that rises
    with every piece, if the dialect has one. Nothing is written for a part that is held until its end.
    """

    before: bytes
    after: bytes
    between: bytes = b""
    """The bytes between the number and the text."""
    number: int = -1


class EscapeCleaner(Protocol):
    """Mends arguments of calls with escapes of half characters, on their way to the writer."""

    holding: bool
    """Whether anything is held back."""

    def text(self, index: int, text: str) -> str:
        """The arguments to write for these of the call with that index; "" where none can be written yet."""
        ...


class EscapeCleaning(NamedTuple):
    """Who mends the texts of a part, and which texts were sent otherwise than they came."""

    mender: EscapeCleaner
    part: int
    """The index of the part."""
    changed: dict[int, str]
    """The number of a text, by the order in which they came -> the text as it was sent."""


class FrameMatcher(Protocol):
    """Remembers a frame, and recognises frames that differ only in their text."""

    tries: int
    """The number of frames learned since the last match."""

    def learn(self, frame: bytes, text: str) -> bool:
        """Remember a frame that holds `text` and no other content. Returns whether the text can be found in such
        frames.
        """
        ...

    def matched_text(self, frame: bytes) -> str | None:
        """The text of a frame that differs from the remembered frame only in its text; else None."""
        ...

    def lane(self, template: Template, texts: list[str], cleaning: EscapeCleaning | None = None) -> Lane | None:
        """A function that translates frame after frame, as long as all are more of the same text. None if no frame is
        remembered. `texts` gets the texts as they come.
        """
        ...

    def forget(self) -> None:
        """Drop the known frame: the next frame differs."""
        ...


def starts_part(events: list[Event], before: int) -> bool:
    """Whether the added events are the start of a part with its first text, and at most the end of the previous
    part.
    """
    added = len(events) - before
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

    def __init__(self, frames: Splitter, *, keeps_count: bool) -> None:
        self._frames = frames
        self.one: Callable[[bytes], Frame | None] = frames.one
        """The frame that a chunk is, if it is one, whole and in its usual form."""
        self.__matcher: FrameMatcher | None = None
        self.__counts = keeps_count
        self.__texts: list[str] = []
        self.__last = b""
        self.__listens = False
        self.__blank = b"\n\n"  # between frames
        self.going_on = -1
        """The index of the part that the last frame added text to, if the next frame may continue it; else -1."""
        self.held: PartDelta | None = None
        """The last frame was more of a part that its reader holds until it is whole. No event was made of the frame."""

    def match(self, matcher: FrameMatcher) -> None:
        """Use a matcher for repeated frames."""
        self.__matcher = matcher

    def feed(self, chunk: bytes) -> list[Event]:
        """The events of a chunk."""
        frame = self.one(chunk)
        if frame is not None:
            return self.take(chunk, frame)
        events: list[Event] = []
        if not self._frames.between:
            # The rest of a frame that came in pieces. Whole frames may follow.
            end = _first_end(chunk)
            self.__read_bytes(chunk[:end], events)
            chunk = chunk[end:]
            if not chunk or not self._frames.between:
                if chunk:
                    self.__read_bytes(chunk, events)
                return events
        pieces = chunk.split(self.__blank)
        if len(pieces) == 1:
            self.__blank = b"\r\n\r\n" if b"\r\n\r\n" in chunk else b"\n\n"
            pieces = chunk.split(self.__blank)
        rest = pieces.pop()
        for piece in pieces:
            whole = piece + self.__blank
            if not (self.__listens and self.__match(whole, events)):
                for frame in self._frames.feed(whole):
                    self.__read(whole, frame, events)
        if rest:
            self.__read_bytes(rest, events)
        return events

    def take(self, chunk: bytes, frame: Frame) -> list[Event]:
        """The events of such a chunk."""
        events: list[Event] = []
        if not (self.__listens and self.__match(chunk, events)):
            if self.going_on >= 0:
                self.settle()
            if self._frame(*frame, events):
                self.__learn(chunk, events)
        return events

    def __match(self, frame: bytes, events: list[Event]) -> bool:
        text = self.__matcher.matched_text(frame) if self.__matcher is not None else None
        if text is None:
            return False
        self.__last = frame
        if self.__counts:
            self.__texts.append(text)
        events.append(PartDelta(self.going_on, text))
        return True

    def __read(self, whole: bytes, frame: Frame, events: list[Event]) -> None:
        self.settle()
        if self._frame(*frame, events):
            self.__learn(whole, events)

    def __learn(self, whole: bytes, events: list[Event]) -> None:
        matcher, delta = self.__matcher, self.held or events[-1]
        if matcher is not None and type(delta) is PartDelta and matcher.learn(whole, delta.text):
            self.going_on = delta.index
            self.__listens = self.held is None
        else:
            self.held = None

    def __read_bytes(self, chunk: bytes, events: list[Event]) -> None:
        """Read bytes that are not whole frames, or not yet."""
        self.settle()
        for name, data in self._frames.feed(chunk):
            self._frame(name, data, events)
        self.held = None

    def lane(self, template: Template, texts: list[str], cleaning: EscapeCleaning | None = None) -> Lane | None:
        """The function for more of the open text; this reader no longer matches frames itself. The caller reports the
        text with `add_texts` at the end.
        """
        self.__listens = False
        return self.__matcher.lane(template, texts, cleaning) if self.__matcher is not None else None

    def add_texts(self, texts: list[str], last: bytes) -> None:
        """Take note of texts that were read elsewhere. `last`: the frame of the last text."""
        self.__last = last
        if self.__counts:
            self.__texts += texts

    def settle(self) -> None:
        """Another frame comes: catch up with the frames that were only compared."""
        if self.going_on >= 0 and self.__matcher is not None:
            if self.__last:
                self.__matcher.tries = 0
                self._catch_up(self.__texts, self.__last)
                self.__texts = []
                self.__last = b""
            self.__matcher.forget()
            self.__listens = False
            self.going_on = -1
            self.held = None

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        """Read one frame. True: the last event is a PartDelta of text, and the frame holds nothing else. The same frame
        with another text would give only a PartDelta, apart from the start of the part. True also for a
        frame without an event that adds to a part that the reader holds: then `held` is that addition.
        """
        raise NotImplementedError

    def _catch_up(self, texts: list[str], last: bytes) -> None:
        """The open part continued with `texts`; `last` is the frame of the last one."""
