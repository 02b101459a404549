"""Finds the end of a Responses stream: an event of a terminal type.

Every response has an `error` field, which is usually null. So the type of the event decides, not that field.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import EventStreamEnd, decode_event

_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.cancelled"})
_FAILED = ("error", "response.failed")


class _Event(msgspec.Struct):
    type: Any = None
    error: Any = None


_event = msgspec.json.Decoder(_Event).decode


class StreamEnd(EventStreamEnd):
    """The end of a Responses stream."""

    ending = tuple([kind.encode() for kind in sorted(_TERMINAL)])

    def frame(self, name: bytes, data: bytes) -> None:
        """Decode one frame, and take note of an end or an error."""
        event = decode_event(data, _event, _Event)
        if event is None:
            return
        kind = event.type or name.decode("utf-8", "replace")
        # Without a type the `event:` line, or an error, decides.
        if kind in _FAILED or (event.error and not kind):
            self.fail(name, data)
        elif isinstance(kind, str) and kind in _TERMINAL:
            self.end()
