"""A stream repeats itself: frame after frame is the same bytes but for the next few words of the same text.

Refrain remembers the last such frame. While the next one differs from it in nothing but that string (and in places that
say nothing: a running number, padding, token counts), the string is all that has to be decoded. Measured: a third to a
tenth of the time that decoding the frame takes. Any other frame is decoded whole, and what follows is compared with it.

FrameReader is what all readers of server-sent events are built on: it cuts chunks into frames and asks the refrain
first. Frames that were only compared changed nothing but the open part's text, so a reader that keeps count of it
catches up before the next frame that it really reads.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from ..canon.events import Event, Lane, PartDelta, PartEnd, PartStart, Template
from ..codec.json_text import encode
from ..codec.sse import Frame, Splitter

_string = msgspec.json.Decoder(str).decode
OBFUSCATED = {"mark": b'"obfuscation":"', "noise": bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))}
"""OpenAI ends a frame with random letters and digits, so that its length says nothing about the text."""
_ARGUMENTS = b'"arguments":'
_PATIENCE = 8
"""Frames to learn from without ever hearing one again, before giving up: then each frame is unlike the others."""
_PADDING = 32
"""Characters of padding that are looked for (upstreams have been seen to send up to 15), and bytes behind it: of longer
ones nothing is kept beyond the stream."""
_HEARD = Template(b"", b"")
"""Where nothing has to be written."""


class Shape(NamedTuple):
    """A frame without its text: what stands before a number that may differ and behind it, what stands after the text,
    and the rest without what may differ in it: bytes out of `noise` at its beginning, or out of `figures` anywhere.
    `quote`: the text's last one, if `after` begins with it, since what follows could not be found without."""

    head: bytes
    second: bytes
    quote: bytes
    after: bytes
    rest: bytes
    noise: bytes
    figures: bytes


@lru_cache(maxsize=64)
def _padded(noise: bytes, rest: bytes) -> frozenset[bytes]:
    """What may stand there when a frame is padded with one character."""
    return frozenset([noise * size + rest for size in range(_PADDING)])


def _lane(shape: Shape, told: list[str], template: Template) -> Lane:
    """A function, not a method: its names are bound once for hundreds of frames, slices too. Slices are compared, since
    on bytes that is faster than startswith and endswith. Whether what is left is one string, its decoder says."""
    head, second, quote, after, rest, noise, figures = shape
    known = _padded(noise, rest) if len(noise) == 1 and len(rest) <= _PADDING else None
    size = len(head)
    opening, words = slice(size), slice(size, None)
    number = link = opening  # where they stand when there is a number: not known yet
    arguments = head.rstrip(b" ").endswith(_ARGUMENTS)
    before, behind, between, count, escapes = template
    tell = told.append

    def lane(frame: bytes) -> bytes | None:
        nonlocal count, link, number, words
        if frame[opening] != head:
            return None
        if second:
            if frame[link] != second:  # the number has more digits than the last one, or fewer
                middle = frame.find(b",", size)
                start = middle + len(second)
                number, link, words = slice(size, middle), slice(middle, start), slice(start, None)
                if frame[link] != second:
                    return None
            if not frame[number].isdigit():
                return None
        literal, _, end = frame[words].rpartition(after)
        if known is not None:
            if end not in known:
                return None
        elif (end.translate(None, figures) if figures else end.lstrip(noise)) != rest:
            return None
        try:
            text = _string(literal + quote if quote else literal)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if not text:
            return None
        if arguments and text[:1] == "{" and (not told or told[-1].rstrip()[-1:] == "}"):
            return None  # they may be those of another call: the reader has to look
        if escapes and ("\\ud" in text or "\\uD" in text or text.endswith(("\\", "\\u"))):
            return None  # it may be half a character
        tell(text)
        if between:
            count += 1
            return b"".join((before, encode(count - 1), between, encode(text), behind))
        return before + encode(text) + behind if before else b""

    return lane


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


class Refrain:
    """One frame with the blank line behind it, and where the text stands in it.

    `keys`: the text stands behind one of these. `counter`: a number behind these bytes, before the text, may differ.
    `mark`: behind these bytes, after the text, as many out of `noise` as follow may differ, or `figures` anywhere.
    """

    __slots__ = ("_counter", "_figures", "_heard", "_keys", "_lane", "_mark", "_noise", "shape", "tries")

    def __init__(
        self,
        keys: tuple[bytes, ...],
        *,
        counter: bytes = b"",
        mark: bytes = b"",
        noise: bytes = b"",
        figures: bytes = b"",
    ) -> None:
        self._keys = keys
        self._counter = counter
        self._mark = mark
        self._noise = noise
        self._figures = figures
        self._lane: Lane | None = None
        self._heard: list[str] = []
        self.shape: Shape | None = None
        """Of the frame that is remembered."""
        self.tries = 0
        """Frames learned since one was heard again."""

    def learn(self, frame: bytes, text: str) -> bool:
        """The frame says `text` and nothing else. Whether it can be told apart by that."""
        literal = encode(text)
        head, _, rest = frame.partition(literal)
        if self.tries > _PATIENCE or not rest or rest.find(literal) >= 0 or not head.rstrip(b" ").endswith(self._keys):
            return False
        self.tries += 1
        second = b""
        if self._counter:
            found, counter, behind = head.partition(self._counter)
            comma = behind.find(b",")
            if comma >= 0:
                head, second = found + counter, behind[comma:]
        rest = b'"' + rest
        after, mark, rest = rest.partition(self._mark) if self._mark else (rest, b"", b"")
        after += mark
        quote = b'"' if rest.find(after[1:]) >= 0 else b""
        rest = rest.translate(None, self._figures) if self._figures else rest.lstrip(self._noise)
        self.shape = Shape(head, second, quote, after if quote else after[1:], rest, self._noise, self._figures)
        return True

    def hear(self, frame: bytes) -> str | None:
        """The text, when a frame is the remembered one but for it."""
        if self._lane is None:
            if self.shape is None:
                return None
            self._lane = _lane(self.shape, self._heard, _HEARD)
        return None if self._lane(frame) is None else self._heard.pop()

    def lane(self, template: Template, told: list[str]) -> Lane | None:
        """From frame to frame: as long as one after the other is more of the same text, nobody else has to be asked.
        None while nothing goes on."""
        return None if self.shape is None else _lane(self.shape, told, template)

    def forget(self) -> None:
        self.shape = self._lane = None


class FrameReader:
    """Chunks in, events out. A dialect's reader takes the frames.

    Two underscores: the readers built on it have words of their own for what is open and what was said.
    """

    def __init__(self, frames: Splitter, refrain: Refrain, *, keeps_count: bool) -> None:
        self._frames = frames
        self.__refrain = refrain
        self.__counts = keeps_count
        self.__said: list[str] = []
        self.__last = b""
        self.__listens = False
        self.__blank = b"\n\n"  # between frames
        self.going_on = -1
        """The part of which the last frame was more, if the next one may be, too; else -1."""

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

    def one(self, chunk: bytes) -> Frame | None:
        """The frame that a chunk is, if it is one, whole and in its usual form."""
        return self._frames.one(chunk)

    def take(self, chunk: bytes, frame: Frame) -> list[Event]:
        """What such a chunk says."""
        events: list[Event] = []
        if not (self.__listens and self.__hear(chunk, events)):
            self.__read(chunk, frame, events)
        return events

    def __hear(self, frame: bytes, events: list[Event]) -> bool:
        text = self.__refrain.hear(frame)
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
            delta = events[-1]
            if type(delta) is PartDelta and self.__refrain.learn(whole, delta.text):
                self.going_on = delta.index
                self.__listens = True

    def __read_bytes(self, chunk: bytes, events: list[Event]) -> None:
        """Bytes that are not whole frames, or not yet."""
        self.settle()
        for name, data in self._frames.feed(chunk):
            self._frame(name, data, events)

    def lane(self, template: Template, told: list[str]) -> Lane | None:
        """The short way for more of the open text, which nobody listens for here any more. What goes there is told by
        `heard` when it is over."""
        self.__listens = False
        return self.__refrain.lane(template, told)

    def heard(self, said: list[str], last: bytes) -> None:
        """These texts were heard elsewhere; `last` is the frame of the last one."""
        self.__last = last
        if self.__counts:
            self.__said += said

    def settle(self) -> None:
        """Something else comes: catch up with what was only compared."""
        if self.going_on >= 0:
            if self.__last:
                self.__refrain.tries = 0
                self._catch_up(self.__said, self.__last)
                self.__said = []
                self.__last = b""
            self.__refrain.forget()
            self.__listens = False
            self.going_on = -1

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        """Read one frame; True when it gave one PartDelta of text, the last event, and said nothing else: but for the
        beginning of that part, the same frame with other words would give a PartDelta alone."""
        raise NotImplementedError

    def _catch_up(self, said: list[str], last: bytes) -> None:
        """The open part went on with the texts `said`; `last` is the frame of the last one."""
