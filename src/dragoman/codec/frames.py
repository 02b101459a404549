"""Owns how the readers of server-sent events cut chunks into frames, and the short way for frames that repeat.

A stream repeats itself: frame after frame is the same bytes but for the next few words of the same text. A reader may
be given a FrameMatcher (`fast/repeated_frames.py`), which is asked first. Frames that were only compared changed
nothing but the open part's text: a reader that keeps count of it catches up before the next frame that it really reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..canon.events import Event, PartDelta, PartEnd, PartStart
from .sse import Frame, Splitter

Lane = Callable[[bytes], bytes | None]
"""The short way for a frame that is more of the same text: what it is in the client's dialect; None for any other."""


class Template(NamedTuple):
    """How more words of an open part are written: what stands before and after them, and before them a number that
    rises with every piece, if there is one. Nothing at all is written for a part that is held until its end."""

    before: bytes
    after: bytes
    between: bytes = b""
    """What stands between the number and the words."""
    number: int = -1


class Mender(Protocol):
    """Mends arguments of calls with escapes of half characters, on their way to the writer."""

    holding: bool
    """Whether anything is held back."""

    def text(self, index: int, text: str) -> str:
        """The arguments to write for these of the call with that index; "" where none can be written yet."""
        ...


class Mended(NamedTuple):
    """Who mends the texts of a part, and the texts as they were sent."""

    mender: Mender
    part: int
    """The index of the part."""
    sent: list[str]


class FrameMatcher(Protocol):
    """Remembers a frame, and knows others that differ from it in their text only."""

    tries: int
    """Frames learned since one was known again."""

    def learn(self, frame: bytes, text: str) -> bool:
        """Learn a frame that holds `text` and nothing else. Gives whether the text can be found in such frames."""
        ...

    def hear(self, frame: bytes) -> str | None:
        """The text, when a frame is the remembered one but for it."""
        ...

    def lane(self, template: Template, told: list[str], mended: Mended | None = None) -> Lane | None:
        """From frame to frame: as long as one after the other is more of the same text, nobody else has to be asked.
        None while nothing goes on. `told` gets the texts as they come."""
        ...

    def forget(self) -> None: ...


def begun(events: list[Event], before: int) -> bool:
    """Whether what was added is a part that begins, with its first words, and the end of the last part at most."""
    added = len(events) - before
    if added < 2 or type(events[-1]) is not PartDelta or type(events[-2]) is not PartStart:
        return False
    return added == 2 or (added == 3 and type(events[before]) is PartEnd)


def _first_end(chunk: bytes) -> int:
    """Where the first frame in a chunk ends; where the chunk does, if none ends in it."""
    ends = [at + len(blank) for blank in (b"\n\n", b"\r\n\r\n") if (at := chunk.find(blank)) >= 0]
    return min(ends, default=len(chunk))


class FrameReader:
    """Chunks in, events out. A dialect's reader takes the frames.

    Attributes begin with two underscores: readers built on this class have attributes of similar names.
    """

    def __init__(self, frames: Splitter, *, keeps_count: bool) -> None:
        self._frames = frames
        self.one: Callable[[bytes], Frame | None] = frames.one
        """The frame that a chunk is, if it is one, whole and in its usual form."""
        self.__matcher: FrameMatcher | None = None
        self.__counts = keeps_count
        self.__said: list[str] = []
        self.__last = b""
        self.__listens = False
        self.__blank = b"\n\n"  # between frames
        self.going_on = -1
        """The part of which the last frame was more, if the next one may be, too; else -1."""
        self.held: PartDelta | None = None
        """The last frame was more of a part that its reader holds until it is whole. No event was made of the frame."""

    def match(self, matcher: FrameMatcher) -> None:
        """Ask for repeated frames first."""
        self.__matcher = matcher

    def feed(self, chunk: bytes) -> list[Event]:
        frame = self.one(chunk)
        if frame is not None:
            return self.take(chunk, frame)
        events: list[Event] = []
        if not self._frames.between:
            # The end of a frame that came in pieces; whole ones may follow.
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
            if not (self.__listens and self.__hear(whole, events)):
                for frame in self._frames.feed(whole):
                    self.__read(whole, frame, events)
        if rest:
            self.__read_bytes(rest, events)
        return events

    def take(self, chunk: bytes, frame: Frame) -> list[Event]:
        """What such a chunk says."""
        events: list[Event] = []
        if not (self.__listens and self.__hear(chunk, events)):
            if self.going_on >= 0:
                self.settle()
            if self._frame(*frame, events):
                self.__learn(chunk, events)
        return events

    def __hear(self, frame: bytes, events: list[Event]) -> bool:
        text = self.__matcher.hear(frame) if self.__matcher is not None else None
        if text is None:
            return False
        self.__last = frame
        if self.__counts:
            self.__said.append(text)
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
        """Bytes that are not whole frames, or not yet."""
        self.settle()
        for name, data in self._frames.feed(chunk):
            self._frame(name, data, events)
        self.held = None

    def lane(self, template: Template, told: list[str], mended: Mended | None = None) -> Lane | None:
        """The short way for more of the open text, which nobody listens for here any more. What goes there is told by
        `heard` when it is over."""
        self.__listens = False
        return self.__matcher.lane(template, told, mended) if self.__matcher is not None else None

    def heard(self, said: list[str], last: bytes) -> None:
        """Another way has read these texts; `last` is the frame of the last one."""
        self.__last = last
        if self.__counts:
            self.__said += said

    def settle(self) -> None:
        """Something else comes: catch up with what was only compared."""
        if self.going_on >= 0 and self.__matcher is not None:
            if self.__last:
                self.__matcher.tries = 0
                self._catch_up(self.__said, self.__last)
                self.__said = []
                self.__last = b""
            self.__matcher.forget()
            self.__listens = False
            self.going_on = -1
            self.held = None

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        """Read one frame; True when it gave one PartDelta of text, the last event, and said nothing else: but for the
        beginning of that part, the same frame with other words would give a PartDelta alone. Also true when the frame
        gave no event, but more of a part that is held: then `held` is that."""
        raise NotImplementedError

    def _catch_up(self, said: list[str], last: bytes) -> None:
        """The open part went on with the texts `said`; `last` is the frame of the last one."""
