"""Owns the state of one answer whose chunks are still arriving: its open part, and the content that waits until the
part ends."""

from __future__ import annotations

import msgspec

from ...canon.parts import Citation, Media, Opaque, Part, Path, Reasoning
from ...context import Context
from .answer_audio_reader import StreamedSound
from .streamed_calls import StreamedCall


class StreamedAnswer:
    """The open parts of one answer."""

    __slots__ = (
        *("before", "by_id", "by_index", "call", "calls", "index", "kind", "latest", "length", "number", "seen"),
        *("sound", "waiting", "word"),
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.index = -1
        self.kind = ""  # text, refusal, reasoning, call; "": no part is open
        self.call: StreamedCall | None = None
        self.calls = 0
        self.latest: StreamedCall | None = None
        self.by_index: dict[int, StreamedCall] = {}
        self.by_id: dict[str, StreamedCall] = {}
        self.waiting: list[StreamedCall | tuple[str, str] | Reasoning | Media | Opaque] = []
        self.seen: list[Part] = []
        self.word: str | None = None
        self.sound: StreamedSound | None = None
        self.length = 0  # characters of text so far: annotations count in the text of the whole answer
        self.before = 0  # characters before the open text

    def breaks_off(self) -> bool:
        """Whether the arguments of a call are not whole yet."""
        calls = [self.call, *[item for item in self.waiting if isinstance(item, StreamedCall)]]
        return any(call is not None and not call.part.custom and not call.whole() for call in calls)

    def placed(self, cited: Citation, at: Path, context: Context) -> Citation:
        """A citation with its position in the open text. A citation of an earlier text loses its position."""
        if cited.start is None or cited.end is None:
            return cited
        if cited.start < self.before:
            context.lose("citation.approximated", at, "the text of its place has ended")
            return msgspec.structs.replace(cited, start=None, end=None)
        return msgspec.structs.replace(cited, start=cited.start - self.before, end=cited.end - self.before)
