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

import msgspec

from ..canon.events import Event, PartDelta
from .jsontext import encode
from .sse import Splitter

_string = msgspec.json.Decoder(str).decode
OBFUSCATED = {"mark": b'"obfuscation":"', "noise": bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))}
"""OpenAI ends a frame with random letters and digits, so that its length says nothing about the text."""
_PATIENCE = 8
"""Frames to learn from without ever hearing one again, before giving up: then each frame is unlike the others."""


Hear = Callable[[bytes], str | None]
"""The text, when a frame is the remembered one but for it."""


def _deaf(frame: bytes) -> None:
    return None


def _listener(head: bytes, second: bytes, after: bytes, tail: bytes, noise: bytes) -> Hear:
    """A function, not a method: its names are bound once for hundreds of frames. Slices are compared, because on bytes
    that is faster than startswith and endswith."""
    size, second_size, after_size = len(head), len(second), len(after)
    exact = not noise or not tail

    def hear(frame: bytes) -> str | None:
        if frame[:size] != head:
            return None
        begin = size
        if second:
            number = frame.find(b",", begin)
            begin = number + second_size
            if frame[number:begin] != second or not frame[size:number].isdigit():
                return None
        end = frame.rfind(after)
        if end < begin:
            return None
        rest = frame[end + after_size :]
        if rest != tail and (exact or rest.translate(None, noise) != tail):
            return None
        try:
            return _string(frame[begin - 1 : end + 1])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    return hear


def _first_end(chunk: bytes) -> int:
    """Where the first frame in a chunk ends; where the chunk does, if none ends in it."""
    ends = [at + len(blank) for blank in (b"\n\n", b"\r\n\r\n") if (at := chunk.find(blank)) >= 0]
    return min(ends, default=len(chunk))


class Refrain:
    """One frame with the blank line behind it, and where the text stands in it.

    `keys`: the text stands behind one of these. `counter`: a number behind these bytes, before the text, may differ.
    `mark`: behind these bytes, after the text, all bytes out of `noise` may differ.
    """

    __slots__ = ("_counter", "_keys", "_mark", "_noise", "hear", "tries")

    def __init__(self, keys: tuple[bytes, ...], *, counter: bytes = b"", mark: bytes = b"", noise: bytes = b"") -> None:
        self._keys = keys
        self._counter = counter
        self._mark = mark
        self._noise = noise
        self.hear: Hear = _deaf
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
        self.hear = _listener(head, second, rest[:end], rest[end:].translate(None, self._noise), self._noise)

    def forget(self) -> None:
        self.hear = _deaf


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

    def feed(self, chunk: bytes) -> list[Event]:
        text = self.__refrain.hear(chunk)
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
        for piece in pieces:
            frame = piece + blank
            text = self.__refrain.hear(frame)
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
        """Read one frame; True when it gave one PartDelta of text, the last event, and said nothing else."""
        raise NotImplementedError

    def _catch_up(self, said: list[str], last: bytes) -> None:
        """The open part went on with the texts `said`; `last` is the frame of the last one."""
