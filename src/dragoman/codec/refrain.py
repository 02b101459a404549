"""A stream repeats itself: frame after frame is the same bytes but for the next few words of the same text.

Refrain remembers the last such frame. While the next one differs from it in nothing but that string (and in places that
say nothing: a running number, padding, token counts), the string is all that has to be decoded. Measured: a third to a
tenth of the time that decoding the frame takes. Any other frame is decoded whole, and what follows is compared with it.

FrameReader is what all readers of server-sent events are built on: it cuts chunks into frames and asks the refrain
first. Frames that were only compared changed nothing but the open part's text, so a reader that keeps count of it
catches up before the next frame that it really reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from ..canon.events import Event, Lane, PartDelta, PartEnd, PartStart, Template
from .jsontext import encode
from .sse import Splitter

_string = msgspec.json.Decoder(str).decode
OBFUSCATED = {"mark": b'"obfuscation":"', "noise": bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))}
"""OpenAI ends a frame with random letters and digits, so that its length says nothing about the text."""
_ARGUMENTS = b'"arguments":'
_MANY = 64
"""Endings of frames that are kept."""
_PATIENCE = 8
"""Frames to learn from without ever hearing one again, before giving up: then each frame is unlike the others."""


Hear = Callable[[bytes], str | None]


class Shape(NamedTuple):
    """A frame without its text: what stands before a number that may differ and behind it, what stands after the text,
    and the rest, in which all bytes out of `noise` may differ."""

    head: bytes
    second: bytes
    after: bytes
    rest: bytes
    noise: bytes


def _ending(shape: Shape) -> tuple[Callable[[bytes, int, int], int], set[bytes] | None]:
    """Says where the text ends that begins in a frame, and may end at `end`, if what follows is as it should be, else
    -1; and keeps the endings that were, where they come again."""
    after, rest, noise = shape.after, shape.rest, shape.noise
    tail = rest.translate(None, noise)
    known = {after + rest} if len(noise) < 2 else None

    def end_of(frame: bytes, begin: int, end: int) -> int:
        if frame[end : end + len(after)] != after:
            end = frame.rfind(after)  # the text may have such a character, too
            if end < begin:
                return -1
        found = frame[end + len(after) :]
        if found != rest and (not noise or not tail or found.translate(None, noise) != tail):
            return -1
        if known is not None and len(known) < _MANY:
            known.add(frame[end:])
        return end

    return end_of, known


def _listener(shape: Shape, told: list[str] | None = None, template: Template | None = None) -> Callable[[bytes], Any]:
    """A function, not a method: its names are bound once for hundreds of frames. Slices are compared, because on bytes
    that is faster than startswith and endswith. With a template it is a lane, and `told` is what went through."""
    head, second, after, rest, noise = shape
    size, second_size, after_size = len(head), len(second), len(after)
    end_of, endings = _ending(shape)
    tail = rest.lstrip(noise)
    together = tail == rest.translate(None, noise)  # all that may differ
    arguments = head[:-1].rstrip(b" ").endswith(_ARGUMENTS)
    out_before, out_after, between, number = template or Template(b"", b"")

    def hear(frame: bytes) -> Any:
        nonlocal number
        if frame[:size] != head:
            return None
        begin = size
        if second:
            comma = frame.find(b",", begin)
            begin = comma + second_size
            if frame[comma:begin] != second or not frame[size:comma].isdigit():
                return None
        elif arguments and frame[size : size + 1] == b"{" and (not told or told[-1].rstrip()[-1:] == "}"):
            return None  # they may be those of another call: the reader has to look
        end = frame.find(b'"', begin)
        if endings is not None:
            known = frame[end:] in endings
        elif together and frame[end : end + after_size] == after:
            known = frame[end + after_size :].lstrip(noise) == tail
        else:
            known = False
        if not known:
            end = end_of(frame, begin, end)
            if end < 0:
                return None
        try:
            text = _string(frame[begin - 1 : end + 1])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if told is None or not text:
            return text or None
        told.append(text)
        if number < 0:
            return out_before + encode(text) + out_after if out_before else b""
        number += 1
        return b"".join((out_before, encode(number - 1), between, encode(text), out_after))

    return hear


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
    `mark`: behind these bytes, after the text, all bytes out of `noise` may differ.
    """

    __slots__ = ("_counter", "_hear", "_keys", "_mark", "_noise", "_shape", "tries")

    def __init__(self, keys: tuple[bytes, ...], *, counter: bytes = b"", mark: bytes = b"", noise: bytes = b"") -> None:
        self._keys = keys
        self._counter = counter
        self._mark = mark
        self._noise = noise
        self._shape: Shape | None = None
        self._hear: Hear | None = None
        self.tries = 0
        """Frames learned since one was heard again."""

    def learn(self, frame: bytes, text: str) -> None:
        """The frame says `text` and nothing else."""
        literal = encode(text)
        start = frame.find(literal)
        if self.tries > _PATIENCE or start < 0 or frame.find(literal, start + 1) >= 0:
            return
        head = frame[: start + 1]
        if not head[:-1].rstrip(b" ").endswith(self._keys):
            return
        self.tries += 1
        second = b""
        number = head.find(self._counter) if self._counter else -1
        if number >= 0:
            number += len(self._counter)
            second = head[head.find(b",", number) :]
            head = head[:number]
        rest = frame[start + len(literal) - 1 :]
        mark = rest.find(self._mark) if self._mark else -1
        end = len(rest) if mark < 0 else mark + len(self._mark)
        self._shape = Shape(head, second, rest[:end], rest[end:], self._noise)

    def hear(self, frame: bytes) -> str | None:
        """The text, when a frame is the remembered one but for it."""
        if self._hear is None:
            if self._shape is None:
                return None
            self._hear = _listener(self._shape)
        return self._hear(frame)

    def lane(self, template: Template, told: list[str]) -> Lane | None:
        """From frame to frame: as long as one after the other is more of the same text, nobody else has to be asked.
        None while nothing goes on."""
        return None if self._shape is None else _listener(self._shape, told, template)

    def forget(self) -> None:
        self._shape = self._hear = None


class FrameReader:
    """Chunks in, events out. A dialect's reader takes the frames.

    Two underscores: the readers built on it have words of their own for what is open and what was said.
    """

    def __init__(self, frames: Splitter, refrain: Refrain, *, keeps_count: bool) -> None:
        self._frames = frames
        self.__refrain = refrain
        self.__blank = b"\n\n"
        self.__going_on = 0
        self.__counts = keeps_count
        self.__said: list[str] = []
        self.__last = b""
        self.__listens = True

    def feed(self, chunk: bytes) -> list[Event]:
        text = self.__refrain.hear(chunk) if self.__listens else None
        if text:
            self.__last = chunk
            if self.__counts:
                self.__said.append(text)
            return [PartDelta(self.__going_on, text)]
        events: list[Event] = []
        if not self._frames.between:
            # The end of a frame that came in pieces, or the very first one; whole ones may follow.
            end = _first_end(chunk)
            self.__read_bytes(chunk[:end], events)
            chunk = chunk[end:]
            if not chunk or not self._frames.between:
                if chunk:
                    self.__read_bytes(chunk, events)
                return events
        blank = self.__blank
        pieces = chunk.split(blank)
        rest = pieces.pop()
        if not rest and len(pieces) == 1:
            self.__read_frame(chunk, events)
            return events
        for piece in pieces:
            frame = piece + blank
            text = self.__refrain.hear(frame) if self.__listens else None
            if text:
                self.__last = frame
                if self.__counts:
                    self.__said.append(text)
                events.append(PartDelta(self.__going_on, text))
            else:
                self.__read_frame(frame, events)
        if rest:
            self.__read_bytes(rest, events)
        return events

    def __read_frame(self, frame: bytes, events: list[Event]) -> None:
        for name, data in self._frames.feed(frame):
            self.settle()
            if self._frame(name, data, events):
                delta = events[-1]
                if isinstance(delta, PartDelta):
                    self.__going_on = delta.index
                    self.__refrain.learn(frame, delta.text)

    def __read_bytes(self, chunk: bytes, events: list[Event]) -> None:
        """Bytes that are not whole frames, or not yet."""
        self.settle()
        for name, data in self._frames.feed(chunk):
            self._frame(name, data, events)
        self.__blank = b"\r\n\r\n" if chunk.endswith(b"\r\n") else b"\n\n"

    @property
    def between(self) -> bytes | None:
        """What stands between frames, if one has just ended."""
        return self.__blank if self._frames.between else None

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

    @property
    def going_on(self) -> int:
        """The part that goes on."""
        return self.__going_on

    def settle(self) -> None:
        """Something else comes: catch up with what was only compared."""
        if self.__last:
            self.__refrain.tries = 0
            self._catch_up(self.__said, self.__last)
            self.__said = []
            self.__last = b""
        self.__refrain.forget()

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        """Read one frame; True when it gave one PartDelta of text, the last event, and said nothing else: but for the
        beginning of that part, the same frame with other words would give a PartDelta alone."""
        raise NotImplementedError

    def _catch_up(self, said: list[str], last: bytes) -> None:
        """The open part went on with the texts `said`; `last` is the frame of the last one."""
