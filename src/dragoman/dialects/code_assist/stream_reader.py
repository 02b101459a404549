"""Code Assist streams: every frame holds one wrapped chunk. Read by Gemini's reader, written by Gemini's writer.

Chunks are told apart from faults by their envelope: a fault has none.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, Start
from ...codec import json_text
from ...codec.admit import Unknown
from ...codec.answer_ids import original
from ...codec.dialect_extras import carried
from ...codec.faults import said_nothing
from ...codec.surrogates.documents import decodable_frame
from ...context import Context
from ...errors import WireError
from ..gemini import stream_reader as gemini
from . import wire
from .faults import mended, refined

_KEY = "response"
_END = b"\r\n\r\n"
_DATA = b"data: "
_OPEN = b'data: {"response":'


class StreamReader(gemini.StreamReader):
    """Wrapped chunks in, events out."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        wire.unwrap(context, _KEY)
        self._trace: dict[str, Raw] = {}
        self._told: dict[str, Raw] = {}  # the last word on the envelope's own fields

    def _take(self, data: bytes, events: list[Event]) -> None:
        if self._over or data == b"[DONE]":
            return
        try:
            wrapped, unknown, _ = wire.admit_answer(data)
        except WireError:
            sound = decodable_frame(data, self._context)
            repaired = mended(sound) or sound
            if repaired is data:
                raise
            wrapped, unknown, _ = wire.admit_answer(repaired)
        unknown = self._note(wrapped, unknown)
        chunk = wrapped.response
        if wrapped.error and not said_nothing(wrapped.error):
            chunk = wire.InnerAnswer(error=wrapped.error)
        if chunk is None:
            self._odd = self._odd or data
            return
        if not self._started:
            self._trace = wire.traced(chunk, wrapped.traceId)
        self._chunk(chunk, unknown, events)

    def _take_figures(self, data: bytes) -> None:
        wrapped, unknown, _ = wire.admit_answer(data)
        self._note(wrapped, unknown)
        if wrapped.response is not None:
            self._usage = wrapped.response.usageMetadata or self._usage

    def _note(self, wrapped: wire.Wrapped, unknown: Unknown) -> Unknown:
        """Remember what the envelope says for itself; gives what was not understood inside."""
        if wrapped.consumedCredits or wrapped.remainingCredits:
            self._told.update(carried(wrapped, wire.CREDITS) or {})
        held = wrapped.response
        if held is not None and held.automaticFunctionCallingHistory:
            self._told[wire.HISTORY] = held.automaticFunctionCallingHistory
        if not unknown:
            return unknown
        fields, inner = wire.parted(unknown, _KEY)
        self._told.update(fields)
        return inner

    def _start(self, chunk: Any, events: list[Event]) -> None:
        super()._start(chunk, events)
        start = events[-1]
        if self._trace and isinstance(start, Start):
            events[-1] = msgspec.structs.replace(start, extra=wire.with_fields(start.extra, self._trace))

    def _finish(self, events: list[Event]) -> None:
        super()._finish(events)
        wire.report(self._context, {**self._trace, **self._told})
        for place, event in enumerate(events):
            if isinstance(event, Finish):
                extra = wire.with_fields(event.extra, self._told)
                events[place] = msgspec.structs.replace(event, extra=extra)
                return

    def _fault(self, fault: Fault, events: list[Event]) -> None:
        super()._fault(refined(fault), events)


class StreamWriter(gemini.StreamWriter):
    """Events in, wrapped chunks out."""

    def __init__(self, context: Context) -> None:
        if wire.mine(context):
            context.source = wire.GEMINI
        super().__init__(context)
        self._close = b"}" + _END
        self._trace: dict[str, Raw] = {}

    def send(self, event: Event) -> bytes:
        if type(event) is PartDelta and not event.tokens:
            return super().send(event)  # in its envelope already: see _frame_around
        out = super().send(event)
        return self._wrapped(out) if out and not isinstance(event, Fault) else out

    def _frame_around(self, answer: int, before: bytes, after: bytes) -> tuple[bytes, bytes]:
        head, tail = super()._frame_around(answer, before, after)
        return _OPEN + head[len(_DATA) :], tail[: -len(_END)] + self._close

    def _wrapped(self, frames: bytes) -> bytes:
        """Those frames wrapped that are not made by `_frame_around`."""
        out: list[bytes] = []
        for frame in frames.split(_END)[:-1]:
            out.append(frame + _END if frame.startswith(_OPEN) else _OPEN + frame[len(_DATA) :] + self._close)
        return b"".join(out)

    def _start(self, event: Start) -> bytes:
        trace = wire.own(event.extra).get("traceId")
        if trace is None and event.id:
            trace = json_text.raw(original(event.id))
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
    """Carried JSON on one line: a line end would end the frame's data."""
    return bytes(value).replace(b"\r", b" ").replace(b"\n", b" ")
