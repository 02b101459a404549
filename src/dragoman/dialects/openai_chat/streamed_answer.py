"""Owns the state of one answer whose chunks are still arriving: its open part, and what waits behind the part."""

from __future__ import annotations

from ...canon.parts import Media, Opaque, Part, Reasoning
from .audio_reader import StreamedSound
from .streamed_calls import Call


class Answer:
    """The open parts of one answer."""

    __slots__ = (
        *("before", "by_id", "by_index", "call", "calls", "index", "kind", "latest", "length", "number", "seen"),
        *("sound", "waiting", "word"),
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.index = -1
        self.kind = ""  # text, refusal, reasoning, call; "": no part is open
        self.call: Call | None = None
        self.calls = 0
        self.latest: Call | None = None
        self.by_index: dict[int, Call] = {}
        self.by_id: dict[str, Call] = {}
        self.waiting: list[Call | tuple[str, str] | Reasoning | Media | Opaque] = []
        self.seen: list[Part] = []
        self.word: str | None = None
        self.sound: StreamedSound | None = None
        self.length = 0  # characters of text so far: annotations count in the text of the whole answer
        self.before = 0  # characters before the open text

    def breaks_off(self) -> bool:
        """Whether the arguments of a call are not whole yet."""
        calls = [self.call, *[item for item in self.waiting if isinstance(item, Call)]]
        return any(call is not None and not call.part.custom and not call.whole() for call in calls)
