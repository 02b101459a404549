"""Where a Messages stream ends: at an event of type `message_stop`, or at an error."""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import EventStreamEnd, decoded


class _Event(msgspec.Struct):
    type: Any = None
    error: Any = None


_event = msgspec.json.Decoder(_Event).decode


class StreamEnd(EventStreamEnd):
    ending = (b"message_stop",)

    def frame(self, name: bytes, data: bytes) -> None:
        event = decoded(data, _event, _Event)
        if event is None:
            return
        kind = event.type or name.decode("utf-8", "replace")  # some servers give the type in the event's name alone
        if event.error or kind == "error":
            self.fail(name, data)
        elif kind == "message_stop":
            self.end()
