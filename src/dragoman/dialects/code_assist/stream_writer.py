"""Writes Code Assist streams: Gemini's writer makes chunks of events, and each chunk gets an envelope. There is no
terminator (gemini-cli 0.56, 2026-08).
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, Start
from ...codec import json_text
from ...codec.answer_ids import original_id
from ...context import Context
from ..gemini import stream_writer as gemini
from . import wire

# Google's streams end lines with CRLF (recorded on Gemini, 2026).
_END = b"\r\n\r\n"
_DATA = b"data: "
_OPEN = b'data: {"response":'


class StreamWriter(gemini.StreamWriter):
    """Takes events and returns wrapped chunks."""

    def __init__(self, context: Context) -> None:
        if wire.mine(context):
            context.source = wire.GEMINI
        super().__init__(context)
        # The trace follows the inner answer in each chunk, so the last bytes of a chunk change once the trace is known.
        self._close = b"}" + _END
        self._trace: dict[str, Raw] = {}

    def send(self, event: Event) -> bytes:
        """The bytes of one event."""
        if type(event) is PartDelta and not event.tokens:
            return super().send(event)  # `_frame_around` has added the envelope
        out = super().send(event)
        # A fault has no envelope.
        return self._wrapped(out) if out and type(event) is not Fault else out

    def _frame_around(self, answer: int, before: bytes, after: bytes) -> tuple[bytes, bytes]:
        head, tail = super()._frame_around(answer, before, after)
        return _OPEN + head[len(_DATA) :], tail[: -len(_END)] + self._close

    def _wrapped(self, frames: bytes) -> bytes:
        """The frames with an envelope. Frames made by `_frame_around` already have one."""
        out: list[bytes] = []
        for frame in frames.split(_END)[:-1]:
            out.append(frame + _END if frame.startswith(_OPEN) else _OPEN + frame[len(_DATA) :] + self._close)
        return b"".join(out)

    def _start(self, event: Start) -> bytes:
        trace = wire.own(event.extra).get("traceId")
        if trace is None and event.id:
            trace = json_text.raw(original_id(event.id))
            event = msgspec.structs.replace(event, id="")
        if trace is not None and bytes(trace) != b"null":
            self._trace["traceId"] = trace
            self._close = b"," + json_text.encode(self._trace)[1:] + _END
        return super()._start(event)

    def _finish(self, event: Finish) -> bytes:
        fields = dict(wire.own(event.extra))
        fields.pop("traceId", None)
        history = fields.pop(wire.HISTORY, None)
        out = super()._finish(event)
        if history is not None:
            name = wire.HISTORY.rpartition("/")[2].encode()
            out = b'%b,"%b":%b}%b' % (out[: -len(_END) - 1], name, _line(history), _END)
        if fields:
            self._close = b"," + _line(json_text.raw({**self._trace, **fields}))[1:] + _END
        return out


def _line(value: Raw) -> bytes:
    """Carried JSON on one line, because a line end would end the data of the frame."""
    return bytes(value).replace(b"\r", b" ").replace(b"\n", b" ")
