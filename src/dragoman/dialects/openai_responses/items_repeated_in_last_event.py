"""Compares the items in the last event of a stream with the items that the stream has already passed.

`response.completed` repeats every item of `response.output_item.done`. An item is passed to the client when it is done.
So a value that differs in the last event comes too late, and is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Path
from ...codec.surrogates.documents import decode_tolerant
from ...codec.surrogates.streams import without_halves
from ...context import Context

_NOT_COMPARED = frozenset({"id", "status", "encrypted_content", "fingerprint"})
"""OpenAI encrypts an item again for the last event (recorded streams, 2026-11). Some hosts give new ids."""
_MOST = 8
"""The largest number of differences of one item that get a loss of their own."""
_FIRST = 32
_EMPTY: tuple[Any, ...] = (None, "", [], {})


class FinishedItems:
    """The frames of the items that are done, by the place of the item."""

    __slots__ = ("_by_id", "_frames")

    def __init__(self) -> None:
        self._frames: dict[int, bytes] = {}
        self._by_id: dict[str, Any] | None = None

    def add(self, place: int, frame: bytes) -> None:
        """Keep the frame with which an item ended. Only the first frame of a place is kept."""
        self._frames.setdefault(place, frame)

    def compare(self, place: int, item: Raw, context: Context) -> None:
        """Report the values of a repeated item that differ from the values in the passed item."""
        frame = self._frames.get(place)
        text = bytes(item)
        # The usual case needs no decoding: the last event repeats the bytes. They stand where their first bytes stand,
        # which are found much faster than the whole item.
        if frame is None or frame.startswith(text, frame.find(text[:_FIRST])) or text in frame:
            return
        try:
            repeated = decode_tolerant(without_halves(text))
            passed = self._passed(place, repeated)
        except (msgspec.DecodeError, UnicodeDecodeError):
            context.lose("event.dropped", ("output", place), "the item in the last event cannot be read", "warning")
            return
        for number, at in enumerate(_differences(passed, repeated, ("output", place))):
            if number == _MOST:
                context.lose("event.dropped", ("output", place), "more values differ in the last event", "warning")
                return
            context.lose("event.dropped", at, "the value in the last event is different", "warning")

    def _passed(self, place: int, repeated: Any) -> Any:
        """The item that was passed: the item with the same id, because some hosts number the items in another order;
        else the item at the same place.
        """
        passed = decode_tolerant(self._frames[place]).get("item")
        if not isinstance(passed, dict) or not isinstance(repeated, dict) or passed.get("id") == repeated.get("id"):
            return passed
        if self._by_id is None:
            items = [decode_tolerant(frame).get("item") for frame in self._frames.values()]
            self._by_id = {str(one.get("id")): one for one in items if isinstance(one, dict)}
        return self._by_id.get(str(repeated.get("id")), passed)


def _differences(one: Any, other: Any, at: Path) -> Iterator[Path]:
    """The paths at which two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            if name not in _NOT_COMPARED:
                yield from _differences(one.get(name), other.get(name), (*at, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from _differences(first, second, (*at, i))
    # An empty member may be absent in one event and written in the other; that changes no meaning.
    elif one != other and not (one in _EMPTY and other in _EMPTY):
        yield at
