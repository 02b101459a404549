"""Reads Messages streams: wire events to canon events. `stream_writer.py` does the reverse.

Each block is a part. Blocks begin and end with events, and do not overlap (docs "Streaming messages", 2026-10); if a
server interleaves them, the later block is held back. Blocks of hosted tools are held until they are whole.
"""

from __future__ import annotations

from itertools import compress
from operator import is_not
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Citation, Opaque, Part, Path, Reasoning, Text, ToolCall
from ...canon.response import Usage
from ...codec import json_text
from ...codec.dialect_extras import NULL, Fields, gather, sent_fields
from ...codec.failure_sentence_in_answer import events_of_whole_answer
from ...codec.fault_kinds_statuses_and_error_object import broken_off, is_empty_field
from ...codec.packed_seals import origin
from ...codec.sse_splitter import SseSplitter
from ...codec.sse_stream_reader_base import FrameReader
from ...codec.surrogates.documents import decodable_frame
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .compaction import compaction_delta, with_delta
from .faults import fault_from
from .hosted_calls import read_hosted
from .message_content_reader import WRAPPED, read_block, read_citations, unwrapped
from .response import explanation, plain_stop, read_counts, read_response, read_stop, read_usage
from .wire_by_block_type import read_event, sort_out_block

_FIGURES = Fields(*wire.Usage.__struct_fields__)
_UNSENT = _FIGURES.values(wire.Usage())
"""The values of figures that an event does not have."""
_OPENING = "input_json_delta?"
_WRAPPED = "input_json_delta!"
"""Used in place of a delta's type: the first for a call whose arguments may be wrapped text, the second for a call
whose arguments are wrapped text."""


class _Block(Struct):
    """An open block."""

    number: int
    """The number on the wire."""
    index: int
    """The index of its part."""
    part: Part
    delta: str
    """The type of delta that passes at once; "": the block is held until its end."""
    text_passed: bool = False
    """Some text has passed."""
    initial: str = ""
    """Arguments in the start event."""
    signature: str = ""
    citations: tuple[Citation, ...] = ()
    """Citations that came before their text."""
    pieces: list[str] = []
    waiting: list[Event] = []
    """Events that wait for the end of an earlier block."""
    over: bool = False
    implied: bool = False
    """The block had no start event, so it ends when another block begins."""


_DELTAS = frozenset(
    {
        "text_delta",
        "thinking_delta",
        "input_json_delta",
        "signature_delta",
        "citations_delta",
        "compaction_delta",
    }
)


def _kind_of(delta: wire.Delta) -> str:
    """The kind of a delta without a known type, by the field that it holds."""
    fields = {
        "text_delta": delta.text,
        "thinking_delta": delta.thinking,
        "input_json_delta": delta.partial_json,
        "signature_delta": delta.signature,
        "citations_delta": delta.citation,
        "compaction_delta": delta.content or delta.encrypted_content,
    }
    return next((kind for kind, value in fields.items() if value), delta.type)


_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    }
)


def _event_kind(event: wire.StreamEvent, kind: str) -> str:
    """The kind of an event without a known type, by the field that it holds: a text must not vanish with its type."""
    if event.message is not None:
        return "message_start"
    if event.content_block is not None:
        return "content_block_start"
    delta = event.delta
    if delta is None:
        return kind
    if delta.stop_reason is not None:
        return "message_delta"
    return "content_block_delta" if _kind_of(delta) in _DELTAS else kind


class StreamReader(FrameReader):
    """Takes wire events and returns canon events."""

    def __init__(self, context: Context) -> None:
        super().__init__(SseSplitter(wire.NAME))
        self._context = context
        self._live: _Block | None = None
        self._waiting: list[_Block] = []
        self._next = 0
        self._whole_answer = b""  # a whole answer in place of a stream
        self._started = False
        self._over = False
        self._ended = False  # with message_stop, not with a fault
        self._called = False
        self._model = ""
        self._usage: wire.Usage | None = None
        self._first_usage: Usage | None = None  # of message_start; None after an event with more than counts
        self._word: str | None = None
        self._sequence: str | None = None
        self._details: Raw = wire.NONE
        self._extra: dict[str, Raw] = {}
        self._noted: set[tuple[Path, str]] = set()

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        if self._over:
            # A ping may come at any time (docs "Streaming messages", 2026-10).
            if self._ended and b'"ping"' not in data:
                self._context.lose("event.dropped", (), "an event after the end of the answer")
            return False
        try:
            event = read_event(data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            self._tolerant(name, data, events)
            return False
        return self._event(name, event, {}, events)

    def _catch_up(self, texts: list[str], last: bytes) -> None:
        if self._live is not None and self.held is not None:
            self._live.pieces += texts

    def close(self) -> list[Event]:
        """The stream is over: the rest of its events, or a fault."""
        events: list[Event] = []
        self.settle()
        for name, data in self._frames.close():
            if not self._over:
                self._tolerant(name, data, events)
        # message_stop is missing, but the stop_reason has already ended the answer.
        if not self._over:
            if self._word is not None:
                self._finish(events)
            else:
                self._over = True
                events.extend(self._instead())
        return events

    def _instead(self) -> list[Event]:
        """The events or the fault for a body that is not a stream."""
        stray = self._frames.stray or self._whole_answer
        found = events_of_whole_answer(stray, read_response, self._context) if not self._started else []
        return found or [broken_off(stray, lambda error: fault_from(error, 0, {}))]

    def _break(self, why: str, events: list[Event]) -> None:
        self._over = True
        events.append(Fault("upstream_bad", why, 502))

    def _tolerant(self, name: bytes, data: bytes, events: list[Event]) -> None:
        try:
            event, unknown, _ = wire.EVENT.admit(decodable_frame(data, self._context))
        except WireError as error:
            self._break(f"the upstream sent a broken frame: {error}", events)
            return
        if event.type == "message" and not self._started:
            self._whole_answer = data
            return
        self._event(name, event, unknown, events)

    def _event(self, name: bytes, event: wire.StreamEvent, unknown: Unknown, events: list[Event]) -> bool:
        """Read one event. True: it was more text of the open block, and nothing else."""
        is_more_text = False
        kind = event.type or name.decode("utf-8", "replace")
        if kind not in _EVENTS:
            kind = _event_kind(event, kind)
        # An error event ends the stream; HTTP status stays 200 (docs "Streaming messages", 2026-10).
        if event.error and not is_empty_field(event.error):
            self._over = True
            error_value = json_text.plain(event.error)
            request_id = json_text.plain(event.request_id) if event.request_id else ""
            error = error_value if isinstance(error_value, dict) else {"message": str(error_value)}
            events.append(fault_from(error, 0, {}, request_id if isinstance(request_id, str) else ""))
        elif kind == "content_block_delta" and event.delta is not None:
            if unknown and ("delta",) in unknown:
                unknown[self._place(event.index)] = unknown.pop(("delta",))
            is_more_text = self._delta(event, event.delta, events)
        elif kind == "message_start" and event.message is not None:
            if self._started:
                self._break("the upstream began a second answer before the first had ended", events)
            else:
                self._start(event.message, unknown, events)
        elif kind == "content_block_start" and event.content_block is not None:
            if self._started:
                self._begin(event.index, event.content_block, unknown, events)
            else:
                self._break("the upstream's stream has no beginning", events)
        elif kind == "content_block_stop":
            block = self._block(event.index)
            if block is not None:
                self._end(block, events)
        elif kind == "message_delta":
            self._ending(event, unknown)
        elif kind == "message_stop":
            self._finish(events)
        # Clients must ignore unknown event types (docs "Streaming messages", 2026-10).
        elif kind != "ping":
            self._context.lose("event.dropped", (), kind)
        if unknown:
            for at, fields in unknown.items():
                self._note(at, fields)
        return is_more_text

    def _start(self, message: wire.Answer, unknown: Unknown, events: list[Event]) -> None:
        self._started = True
        self._model = message.model or ""
        usage = None
        if message.usage is not None:
            self._usage = message.usage
            self._first_usage = usage = read_usage(message.usage, ("message", "usage"), self._context, unknown)
        more = sent_fields(message, wire.ANSWER_EXTRAS)
        extra = gather(self._context, ("message",), unknown, more) if unknown or more else None
        events.append(Start(message.id or "", self._model, None, usage, extra))
        # Content is empty in message_start (docs "Streaming messages", 2026-10); blocks in it are read as complete.
        for number, block in enumerate(message.content):
            self._begin(number, block, unknown, events)
            self._end(self._live or self._waiting[-1], events)

    def _block(self, number: int | None) -> _Block | None:
        """The open block with that number; the latest if the server gives none."""
        for block in reversed(self._waiting):
            if not block.over and (number is None or block.number == number):
                return block
        live = self._live
        return live if live is not None and not live.over and (number is None or live.number == number) else None

    def _begin(self, number: int | None, block: wire.Block, unknown: Unknown, events: list[Event]) -> _Block:
        if self._live is not None and self._live.implied:
            self._end(self._live, events)
        index = self._next
        self._next += 1
        below: Unknown = {}
        if unknown:
            for path in [path for path in unknown if path[:1] == ("content_block",)]:
                below[("content", index, *path[1:])] = unknown.pop(path)
        sort_out_block(block, ("content", index), below)
        part = read_block(block, ("content", index), self._context, below, self._model)
        text = ""
        citations: tuple[Citation, ...] = ()
        delta = ""
        if type(part) is Text:
            text, citations, delta = part.text, part.citations, "text_delta"
            if text or citations or part.cache is not None:
                part = Text("", extra=part.extra, at=part.at)
        elif type(part) is ToolCall:
            # content_block_start of a call has `input: {}`; the arguments follow as deltas (docs "Streaming messages",
            # 2026-10).
            self._called = True
            delta = _OPENING
            text, part = part.arguments, msgspec.structs.replace(part, arguments="")
        elif type(part) is Reasoning and block.type == "thinking":
            text, delta = part.text, "thinking_delta"
            if text or part.seal is not None:
                part = Reasoning("", extra=part.extra, at=part.at)
        opened = _Block(index if number is None else number, index, part, delta)
        # Blocks do not overlap (docs "Streaming messages", 2026-10). An overlapping block of another host waits.
        if self._live is None:
            self._live = opened
        else:
            self._waiting.append(opened)
            events = opened.waiting
        opened.signature = block.signature or ""
        if delta:
            events.append(PartStart(index, part))
        opened.citations = citations
        if type(part) is ToolCall:
            opened.initial = text
        elif text:
            events.append(PartDelta(index, text))
        return opened

    def _pass_on(self, block: _Block, event: Event, events: list[Event]) -> None:
        (events if block is self._live else block.waiting).append(event)

    def _place(self, number: int | None) -> Path:
        """The path of the delta's block, for losses."""
        block = self._block(number)
        return ("content", block.index if block is not None else number or 0)

    def _delta(self, event: wire.StreamEvent, delta: wire.Delta, events: list[Event]) -> bool:
        """Read one delta. True: it was more text of the open block, and nothing else."""
        block = self._block(event.index)
        kind = delta.type if delta.type in _DELTAS else _kind_of(delta)
        if block is None and kind in ("text_delta", "thinking_delta") and self._started:
            # The start of the block is missing, or its end came too early. Text may continue; half a call is not a
            # call.
            empty = wire.Block("text", "") if kind == "text_delta" else wire.Block("thinking", thinking="")
            self._begin(event.index, empty, {}, events).implied = True
            return self._delta(event, delta, events)
        if delta.estimated_tokens:
            self._note(("delta",), {"estimated_tokens": delta.estimated_tokens})
        if block is None and kind == "input_json_delta":
            self._break("the upstream's stream has arguments outside of a call", events)
        elif block is None:
            self._context.lose("event.dropped", self._place(event.index), f"{kind} outside of a block")
        elif kind and kind == block.delta:
            text = delta.text or delta.partial_json or delta.thinking
            if text:
                block.text_passed = True
                self._pass_on(block, PartDelta(block.index, text), events)
            return bool(text) and block is self._live and not delta.estimated_tokens
        elif kind == "signature_delta":
            # The signature comes in one delta before the end of a thinking block (docs "Streaming messages", 2026-10).
            block.signature = delta.signature or ""
        elif kind == "citations_delta" and delta.citation:
            cited = Raw(b"[%b]" % bytes(delta.citation))
            block.citations += read_citations(cited, ("content", block.index), self._context)
        elif kind == "input_json_delta" and isinstance(block.part, Opaque):
            # The input of a hosted tool is held until it is whole.
            piece = delta.partial_json or ""
            block.pieces.append(piece)
            if piece and block is self._live and not self._waiting and not delta.estimated_tokens:
                self.held = PartDelta(block.index, piece)
                return True
        elif kind == "input_json_delta" and block.delta in (_OPENING, _WRAPPED):
            if delta.partial_json:  # the first piece is often empty (docs "Streaming messages", 2026-10)
                block.pieces.append(delta.partial_json)
            if block.delta == _OPENING and block.pieces:
                self._opened("".join(block.pieces), block, events)
        # The content of a compaction block comes in deltas (anthropic 2.8.0 beta types).
        elif kind == "compaction_delta" and isinstance(block.part, Opaque):
            fields = json_text.fields(block.part.value) | compaction_delta(delta)
            block.part = msgspec.structs.replace(block.part, value=json_text.raw(fields))
        elif kind == "compaction_delta" and type(block.part) is Reasoning and not block.delta:
            block.part = with_delta(block.part, compaction_delta(delta), self._context)
        else:
            self._context.lose("event.dropped", ("content", block.index), kind)
        return False

    def _opened(self, opening: str, block: _Block, events: list[Event]) -> None:
        """Pass the first arguments of a call, once it is certain that they are not wrapped."""
        if opening.startswith(WRAPPED):
            block.delta = _WRAPPED
        elif not WRAPPED.startswith(opening):
            block.delta = "input_json_delta"
            block.text_passed = True
            self._pass_on(block, PartDelta(block.index, opening), events)

    def _end(self, block: _Block, events: list[Event]) -> None:
        index, part = block.index, block.part
        out = events if block is self._live else block.waiting
        if not block.delta:
            whole = self._whole(block)
            words = whole.text if type(whole) is Reasoning else ""
            out.append(PartStart(index, msgspec.structs.replace(whole, text="") if words else whole))
            if words:
                out.append(PartDelta(index, words))
        elif type(part) is ToolCall and not block.text_passed:
            # A call without arguments has no delta; its arguments are {} (docs "Streaming messages", 2026-10).
            arguments = unwrapped("".join(block.pieces) or block.initial or "{}")
            if arguments:
                out.append(PartDelta(index, arguments))
        elif type(part) is Reasoning and block.signature:
            seal = origin(block.signature, wire.NAME, "", self._model)
            out.append(PartDelta(index, "", seal))
        elif block.citations:
            out.append(PartDelta(index, "", None, block.citations))
        out.append(PartEnd(index))
        block.over = True
        while self._live is not None and self._live.over:
            self._live = self._waiting.pop(0) if self._waiting else None
            if self._live is not None:
                events.extend(self._live.waiting)
                self._live.waiting = []

    def _whole(self, block: _Block) -> Part:
        part = block.part
        arguments = "".join(block.pieces)
        if not arguments or not isinstance(part, Opaque):
            return part
        value = json_text.object_raw(arguments)
        if value is None:
            self._context.lose("arguments.invalid", part.at)
            value = json_text.raw({"__raw": arguments})
        fields = json_text.fields(part.value) | {"input": value}
        return read_hosted(part.kind, json_text.raw(fields), part.at)

    def _ending(self, event: wire.StreamEvent, unknown: Unknown) -> None:
        delta = event.delta
        if delta is not None:
            # message_delta has the stop reason (docs "Streaming messages", 2026-10).
            if delta.stop_reason is not None:
                self._word, self._sequence = delta.stop_reason, delta.stop_sequence
            if delta.stop_details:
                self._details = delta.stop_details
            if delta.container and delta.container != NULL:
                self._extra["container"] = delta.container
        self._extra.update(sent_fields(event, wire.EVENT_EXTRAS) or ())
        if unknown:
            for at in ((), ("delta",)):
                self._extra.update(unknown.pop(at, {}))
        if event.usage is None:
            return
        if self._usage is None:
            self._usage = wire.Usage()
        if wire.USAGE_EXTRAS.any_sent(event.usage):
            self._first_usage = None
        # Figures in message_delta are cumulative (docs "Streaming messages", 2026-10): they replace earlier ones;
        # absent ones stay.
        values = _FIGURES.values(event.usage)
        for name, value in compress(zip(_FIGURES, values, strict=True), map(is_not, values, _UNSENT)):
            if value != NULL:
                setattr(self._usage, name, value)

    def _finish(self, events: list[Event]) -> None:
        while self._live is not None:
            self._end(self._live, events)
        self._over = self._ended = True
        if not self._started:
            self._break("the upstream's stream ended without an answer", events)
            return
        stop = plain_stop(self._word, self._sequence, self._details)
        if stop is None or (stop.reason == "stop" and self._called):
            stop = read_stop(self._word, self._sequence, self._details, self._called, self._context)
            refusal = explanation(self._word, self._details, self._context)
            if refusal is not None:
                empty = msgspec.structs.replace(refusal, text="")
                events += (PartStart(self._next, empty), PartDelta(self._next, refusal.text), PartEnd(self._next))
        extra = self._context.keep((), self._extra) if self._extra else None
        events.append(Finish(stop, self._last_usage(), extra=extra))

    def _last_usage(self) -> Usage | None:
        """The usage at the end. Fields that are not counts were read with the first usage, unless a later event repeats
        them."""
        first, last = self._first_usage, self._usage
        if last is None:
            return None
        if first is None:
            return read_usage(last, ("message", "usage"), self._context, {})
        return Usage(*read_counts(last), first.extra, None, first.tier)

    def _note(self, at: Path, fields: dict[str, Any]) -> None:
        """Keep each field once: a stream repeats fields in every event."""
        fresh = {name: value for name, value in fields.items() if (at, name) not in self._noted}
        if fresh:
            self._noted.update([(at, name) for name in fresh])
            self._context.keep(at, fresh)
