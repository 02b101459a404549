"""Finds the end of a Messages stream: an event of type `message_stop`, or an error."""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import EventStreamEnd, decode_event


class _Event(msgspec.Struct):
    type: Any = None
    error: Any = None


_event = msgspec.json.Decoder(_Event).decode


class StreamEnd(EventStreamEnd):
    """The end of a Messages stream."""

    ending = (b"message_stop",)

    def frame(self, name: bytes, data: bytes) -> None:
        """Decode one frame, and take note of an end or an error."""
        event = decode_event(data, _event, _Event)
        if event is None:
            return
        kind = event.type or name.decode("utf-8", "replace")  # without a type, the event's name decides
        if event.error or kind == "error":
            self.fail(name, data)
        elif kind == "message_stop":
            self.end()
