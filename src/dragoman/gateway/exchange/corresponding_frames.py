"""Finds the places of two answers that hold the same part, where one answer or both are streams.

The place of a part in a whole answer is a JSON pointer. The place of a part in a stream is a list of frames: the number
of each frame, and the range of the part's characters in the frame. So the frames of both sides with the same characters
can be joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from ...canon.events import Event, PartDelta, PartEnd, PartStart
from ...canon.parts import HostedCall, Part, Reasoning, Text, ToolCall, pointer
from ...context import Context
from ...dialects import get
from ...errors import DragomanError
from .corresponding_parts import FoundPart, join_parts, joinable_parts, plain_arguments, read_document

_FRAME = re.compile(rb".+?(?:\r?\n\r?\n|\Z|\n(?=\{))", re.S)
_FIELD = re.compile(rb"^\s*\{|^(?:data|event):", re.M)
"""A JSON line, or a data or event field. A frame without any of these is only a comment."""
MOST_FRAMES = 2000
"""Frames of a stream whose parts are joined."""


class AnswerSide(NamedTuple):
    """An answer: its dialect, its bytes, and whether the bytes are a stream."""

    dialect: str
    body: bytes
    stream: bool


def frames(stream: bytes) -> list[bytes]:
    """The frames of a stream, each with its end."""
    return [one for one in _FRAME.findall(stream) if one.strip()]


def join_answers(one: AnswerSide | None, other: AnswerSide | None) -> list[dict[str, Any]]:
    """The places that belong together, as `joined` gives them. The place in a stream is a list of [frame, first
    character, character after the last]."""
    if one is None or other is None:
        return []
    try:
        return join_parts(list(_parts_of_side(one)), list(_parts_of_side(other)))
    except (DragomanError, RecursionError):
        return []


def _parts_of_side(side: AnswerSide) -> Iterator[FoundPart]:
    if side.stream:
        yield from _stream_parts(side)
        return
    placed = read_document(side.dialect, side.body, "response")
    for key, path, name in joinable_parts(placed.document) if placed is not None else ():
        yield FoundPart(key, pointer(placed.within + path), name)  # type: ignore[union-attr]


class _StreamPart:
    """A part of a stream, as far as it was read."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.pieces: list[str] = []
        self.size = 0
        self.frames: list[list[int]] = []

    def add(self, frame: int, text: str = "") -> None:
        """Note that a frame contains more of the part."""
        start = self.size
        self.size = end = start + len(text)
        self.pieces.append(text)
        if self.frames and self.frames[-1][0] == frame:
            self.frames[-1][2] = end
        else:
            self.frames.append([frame, start, end])

    def found_part(self) -> FoundPart | None:
        """The part and its place; None for a part that is not joined."""
        kind = _KINDS.get(type(self.part))
        if kind is None:
            return None
        text = "".join(self.pieces)
        if isinstance(self.part, ToolCall):
            return FoundPart((kind, self.part.name, plain_arguments(text)), self.frames, self.part.id)
        return FoundPart((kind, text), self.frames, "")


_KINDS: dict[type[Part], Literal["text", "thought", "call"]] = {Text: "text", Reasoning: "thought", ToolCall: "call"}


def _stream_parts(side: AnswerSide) -> Iterator[FoundPart]:
    reader = get(side.dialect).reader(Context(side.dialect, side.dialect))
    parts: dict[int, _StreamPart] = {}
    counted = [one for one in frames(side.body) if _FIELD.search(one)][:MOST_FRAMES]
    for number, frame in enumerate(counted):
        for event in reader.feed(frame):
            _note(event, number, parts)
    for event in reader.close():
        _note(event, len(counted) - 1, parts)
    yield from [found for part in parts.values() if (found := part.found_part()) is not None]


def _note(event: Event, frame: int, parts: dict[int, _StreamPart]) -> None:
    if isinstance(event, PartStart):
        if not isinstance(event.part, HostedCall):
            parts[event.index] = _StreamPart(event.part)
            parts[event.index].add(frame)
    elif isinstance(event, PartDelta | PartEnd) and event.index in parts:
        parts[event.index].add(frame, event.text if isinstance(event, PartDelta) else "")
