"""Reads Code Assist streams: each frame has one wrapped chunk, which Gemini's reader reads.

A fault has no envelope, so the envelope distinguishes chunks from faults.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, Start
from ...codec import json_text
from ...codec.dialect_extras import sent_fields
from ...codec.fault_kinds_statuses_and_error_object import is_empty_field
from ...codec.surrogates.documents import decodable_frame
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from ..gemini import stream_reader as gemini
from . import wire
from .faults import with_kind_of_reason, with_single_commas

_KEY = "response"


class StreamReader(gemini.StreamReader):
    """Takes wrapped chunks and returns events."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        wire.unwrap(context, _KEY)
        self._trace: dict[str, Raw] = {}
        self._trace_id = ""
        self._late_trace: dict[str, Raw] = {}  # a trace that changed: the first one was written
        self._envelope_fields: dict[str, Raw] = {}  # latest values of the envelope's own fields

    def _take(self, data: bytes, events: list[Event]) -> None:
        # Code Assist sends no [DONE] (gemini-cli 0.56, 2026-08); one that a proxy added has no meaning.
        if self._over or data == b"[DONE]":
            return
        try:
            wrapped, unknown, _ = wire.admit_answer(data)
        except WireError:
            # gemini-cli skips a chunk that is not JSON (0.56, 2026-08). Here it ends the stream with a fault, since
            # skipping it would be a silent loss.
            sound = decodable_frame(data, self._context)
            repaired = with_single_commas(sound) or sound
            if repaired is data:
                raise
            wrapped, unknown, _ = wire.admit_answer(repaired)
        unknown = self._note(wrapped, unknown)
        chunk = wrapped.response
        # A fault in a stream is beside `response`, without an envelope of its own (gemini-cli 0.56, 2026-08).
        if wrapped.error and not is_empty_field(wrapped.error):
            chunk = wire.InnerAnswer(error=wrapped.error)
        if chunk is None:
            # `response` may be absent (gemini-cli 0.56, 2026-08). Only a stream without any candidates is a fault, at
            # its end.
            self._odd = self._odd or data
            return
        if not self._started:
            self._trace = wire.traced(chunk, wrapped.traceId)
            self._trace_id = wrapped.traceId or ""
        elif wrapped.traceId != self._trace_id and wrapped.traceId:
            self._late_trace["traceId"] = json_text.raw(wrapped.traceId)
        self._chunk(chunk, unknown, events)

    def _take_figures(self, data: bytes) -> None:
        wrapped, unknown, _ = wire.admit_answer(data)
        self._note(wrapped, unknown)
        if wrapped.response is not None and wrapped.response.usageMetadata is not None:
            self._take_usage(wrapped.response.usageMetadata)

    def _note(self, wrapped: wire.Wrapped, unknown: Unknown) -> Unknown:
        """Keep the envelope's own fields, and return the unknown fields of the inner chunk."""
        if wrapped.consumedCredits or wrapped.remainingCredits:
            self._envelope_fields.update(sent_fields(wrapped, wire.CREDITS) or {})
        answer = wrapped.response
        if answer is not None and answer.automaticFunctionCallingHistory:
            self._envelope_fields[wire.HISTORY] = answer.automaticFunctionCallingHistory
        if not unknown:
            return unknown
        fields, inner = wire.parted(unknown, _KEY)
        self._envelope_fields.update(fields)
        return inner

    def _start(self, chunk: Any, events: list[Event]) -> None:
        super()._start(chunk, events)
        start = events[-1]
        if self._trace and type(start) is Start:
            events[-1] = msgspec.structs.replace(start, extra=wire.with_fields(start.extra, self._trace))

    def _finish(self, events: list[Event]) -> None:
        super()._finish(events)
        wire.report(self._context, {**self._trace, **self._late_trace, **self._envelope_fields})
        for place, event in enumerate(events):
            if type(event) is Finish:
                extra = wire.with_fields(event.extra, self._envelope_fields)
                events[place] = msgspec.structs.replace(event, extra=extra)
                return

    def _fault(self, fault: Fault, events: list[Event]) -> None:
        super()._fault(with_kind_of_reason(fault), events)
