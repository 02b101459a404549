"""Reads Code Assist streams: each frame has one wrapped chunk, which Gemini's reader reads.

A fault has no envelope, so the envelope distinguishes chunks from faults.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, Start
from ...codec.dialect_extras import carried
from ...codec.faults import said_nothing
from ...codec.surrogates.documents import decodable_frame
from ...codec.wire_decoding import Unknown
from ...context import Context
from ...errors import WireError
from ..gemini import stream_reader as gemini
from . import wire
from .faults import mended, refined

_KEY = "response"


class StreamReader(gemini.StreamReader):
    """Takes wrapped chunks and returns events."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        wire.unwrap(context, _KEY)
        self._trace: dict[str, Raw] = {}
        self._told: dict[str, Raw] = {}  # latest values of the envelope's own fields

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
        """Keep the envelope's own fields, and return the unknown fields of the inner chunk."""
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
