"""Reads Responses streams: wire events to canon events.

Items begin and end with events here, so nothing has to be guessed. Deltas are passed at once. The final item
(`output_item.done`) is compared with the text so far, and missing text is added. Overlapping items are written one
after the other, in the order of `output_index`. Items of hosted tools are passed whole when they are done; their deltas
are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, Start
from ...canon.parts import Part, Path, ToolCall
from ...codec import json_text
from ...codec.dialect_extras import NULL
from ...codec.failure_sentence_in_answer import events_of_whole_answer
from ...codec.fault_kinds_statuses_and_error_object import broken_off, is_empty_field
from ...codec.late_id_and_model_losses import report_id, report_model
from ...codec.sse_splitter import SseSplitter
from ...codec.sse_stream_reader_base import FrameReader, starts_part
from ...codec.surrogates.documents import decodable_frame
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .assistant_items import read_item
from .client_tools import PROGRESS
from .faults import fault_from
from .generated_images import EVENTS as IMAGE_EVENTS
from .generated_images import KIND as IMAGE
from .hosted_programs_and_mcp import STREAM_EVENTS
from .items_repeated_in_last_event import FinishedItems
from .response import answer_extra, read_figures, read_response, read_stop
from .streamed_item_reader import ANNOTATION, DONE, KINDS, PART_DONE, PartEvents, StreamedItem


def _decoder(**fields: Any) -> Callable[[bytes], wire.StreamEvent]:
    """A decoder for events whose one large value is needed: the value is decoded at once, and strictly."""
    shape = [(name, kind, wire.NONE) for name, kind in fields.items()]
    made: Any = msgspec.defstruct("Event", shape, bases=(wire.StreamEvent,))
    decode: Callable[[bytes], wire.StreamEvent] = msgspec.json.Decoder(made).decode
    return decode


_strict = msgspec.json.Decoder(wire.StreamEvent).decode
_opening, _item = _decoder(response=wire.AnswerHead), _decoder(item=wire.Item)
_whole = _decoder(response=wire.LAST_ANSWER)
_DECODERS = {
    b"response.created": _opening,
    b"response.queued": _opening,
    b"response.in_progress": _opening,
    b"response.output_item.added": _item,
    b"response.output_item.done": _item,
    b"response.completed": _whole,
    b"response.incomplete": _whole,
}
_RESPONSE = b',"response":'
_IN_PROGRESS = re.compile(rb'{"type":"response\.in_progress","sequence_number":\d+').fullmatch
_STREAMED = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})
_SILENT = frozenset(
    {
        "response.created",
        "response.queued",
        "response.in_progress",
        "response.content_part.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        *[f"response.{IMAGE}.{state}" for state in IMAGE_EVENTS],
        *STREAM_EVENTS,
        *PROGRESS,
        # Progress of a search: its item comes whole.
        "response.web_search_call.in_progress",
        "response.web_search_call.searching",
        "response.web_search_call.completed",
    }
)
_PROGRESS_NAMES = {kind.encode(): kind for kind in (*PROGRESS, *STREAM_EVENTS)}
"""Event names -> kinds of events with pieces of an item that follows whole. They may come hundreds of times."""


class _Typed(Struct):
    """An event of which only the type is read."""

    type: str = ""


_typed = msgspec.json.Decoder(_Typed).decode
_ADDED, _ENDED = "response.output_item.added", "response.output_item.done"
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_KNOWN = _TERMINAL | _SILENT | {*KINDS, *DONE, _ADDED, _ENDED, ANNOTATION, PART_DONE, "error"}


class StreamReader(FrameReader):
    """Takes wire events and returns canon events."""

    def __init__(self, context: Context) -> None:
        super().__init__(SseSplitter(wire.NAME))
        self._context = context
        self._part_events = PartEvents(context)
        self._active: StreamedItem | None = None
        self._waiting: dict[int, StreamedItem] = {}
        self._done: set[int] = set()
        self._free = 0  # the first place after all finished items
        self._finished = FinishedItems()
        self._names: set[bytes] = set()  # the ids of items that are done
        self._moved: dict[int, int] = {}  # output_index -> the place of another item
        self._later: list[Part] = []
        self._whole_answer = b""  # a whole answer in place of a stream
        self._echo = b""  # the response of the first event, until the second came
        self._started = False
        self._model = ""
        self._over = False
        self._ended = False  # with a terminal event, not with a fault
        self._noted: set[str] = set()

    def close(self) -> list[Event]:
        """The stream is over: the rest of its events, or a fault."""
        events: list[Event] = []
        self.settle()
        for name, data in self._frames.close():
            self._frame(name, data, events)
        if not self._over:
            self._over = True
            events.extend(self._instead())
        return events

    def _instead(self) -> list[Event]:
        """The events or the fault for a body that is not a stream."""
        stray = self._frames.stray or self._whole_answer
        found = events_of_whole_answer(stray, read_response, self._context) if not self._started else []
        return found or [broken_off(stray, lambda error: fault_from(error, 0, {}))]

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        # The stream needs no [DONE], but OpenRouter sends it (recorded 2026-08).
        if self._ended and data[:6] != b"[DONE]":
            self._context.lose("event.dropped", (), "an event after the end of the answer")
        if self._over or data[:6] == b"[DONE]":
            return False
        if (self._echo and self._echoed(data)) or (name in _PROGRESS_NAMES and self._is_progress(name, data)):
            return False
        try:
            unknown: Unknown = {}
            try:
                decode = _DECODERS.get(name, _strict)
                event = decode(data)
                if decode is not _strict and event.type.encode() != name:
                    event = _strict(data)  # its type differs from its event name
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                event, unknown, _ = wire.EVENT.admit(decodable_frame(data, self._context))
                # A whole answer in place of events, of a host that ignores `stream`.
                if not (event.type or name or self._started):
                    self._whole_answer = data
                    return False
                self._note(event.type, unknown)
            event.type = event.type or name.decode("utf-8", "replace")
            if not self._started and not unknown:
                self._echo = data.partition(_RESPONSE)[2]
            before = len(events)
            self._event(event, events)
            if event.type == _ENDED:
                self._finished.add(event.output_index, data)
            active = self._active
            if active is not None and active.continues_with(event) and not unknown:
                return starts_part(events, before) or (len(events) == before + 1 and type(events[-1]) is PartDelta)
        except WireError as error:
            self._over = True
            events.append(Fault("upstream_bad", f"the upstream sent a broken frame: {error}", 502))
        return False

    def _is_progress(self, name: bytes, data: bytes) -> bool:
        """Whether an event only has a piece of an item that follows whole, and no unknown field to report."""
        kind = _PROGRESS_NAMES[name]
        if not self._started or not (kind in PROGRESS or kind in self._noted):
            return False
        try:
            return _typed(data).type == kind
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return False

    def _echoed(self, data: bytes) -> bool:
        """Whether the second event repeats the first."""
        head, _, response = data.partition(_RESPONSE)
        again = response == self._echo and _IN_PROGRESS(head) is not None
        self._echo = b""
        return again

    def _catch_up(self, texts: list[str], last: bytes) -> None:
        if self._active is not None:
            self._active.count += sum(map(len, texts))
            self._active.pieces += texts

    def _event(self, event: wire.StreamEvent, events: list[Event]) -> None:
        """Read one event."""
        # An error event is flat: code and message without an object `error` around them (openai 3.49.0, 2026-11).
        if event.type == "error" or (not event.type and event.error and not is_empty_field(event.error)):
            self._fault(event, events)
            return
        if not self._started:
            self._start(event, events)
        if self._moved or event.type == _ADDED:
            event.output_index = self._place(event)
        if event.type not in KINDS:
            self._other(event, events)
        elif self._active is not None and self._active.place == event.output_index:
            self._part_events.delta(self._active, event, events)
        else:
            self._elsewhere(event, events)

    def _place(self, event: wire.StreamEvent) -> int:
        """The place of an event's item. Several items may have one number (recorded traffic, 2026-11): a new item with
        the number of a finished one gets the next free number.
        """
        place = self._moved.get(event.output_index, event.output_index)
        # output_index values must be dense and used once (lint rule OAR-S03); some hosts reuse them.
        if event.type == _ADDED and place in self._done and event.item:
            name = bytes(_admitted(event.item)[0].id)
            if name and name not in self._names:
                place = self._moved[event.output_index] = self._free
        return place

    def _mark_done(self, place: int) -> None:
        self._done.add(place)
        self._free = max(self._free, place + 1)

    def _start(self, event: wire.StreamEvent, events: list[Event]) -> None:
        self._started = True
        if not event.response:
            events.append(Start())
            return
        answer: Any = event.response
        if isinstance(answer, Raw):
            answer = wire.answer_head(answer)
        created = int(answer.created_at) if answer.created_at is not None else None
        self._part_events.id = answer.id or ""
        self._model = answer.model or ""
        events.append(Start(self._part_events.id, self._model, created))

    def _other(self, event: wire.StreamEvent, events: list[Event]) -> None:
        kind = event.type
        place = event.output_index
        if kind == _ADDED:
            # output_item.added of a call has call_id and name, and empty arguments (openai 3.49.0, 2026-11).
            self._added(place, _admitted(event.item)[0] if event.item else wire.Item(), events)
        elif kind == _ENDED or kind in DONE or kind in (PART_DONE, ANNOTATION):
            active = self._active
            if active is None or active.place != place:
                self._elsewhere(event, events)
            elif kind == _ENDED:
                self._finish_item(active, event.item, events)
                self._go_on(events)
            else:
                self._part_events.inside(active, event, events)
        elif kind in _TERMINAL:
            self._terminal(event, events)
        # Unknown events must be ignored.
        elif kind not in _SILENT:
            self._context.lose("event.dropped", (), kind)

    def _added(self, place: int, item: wire.Item, events: list[Event]) -> None:
        # Items of hosted tools come whole when they are done. An open one must not hold up the text after it: a list of
        # tools may never end (recorded 2026).
        if item.type not in _STREAMED or place in self._done:
            return
        opened = StreamedItem(place, item)
        if self._active is None:
            self._begin_item(opened, events)
        else:
            # Items may overlap, but parts of the canon do not: a later item waits for its turn, in the order of
            # output_index.
            self._waiting[place] = opened

    def _elsewhere(self, event: wire.StreamEvent, events: list[Event]) -> None:
        """Read an event of an item that is not open: it waits, is whole, or was never announced."""
        place = event.output_index
        if place in self._done:
            return
        waiting = self._waiting.get(place)
        if waiting is not None:
            waiting.queue.append(event)
            return
        if event.type == _ENDED:
            item, parts = self._read_item(place, event.item)
            if item.type in _STREAMED and self._active is not None:
                self._added(place, item, events)
                self._waiting[place].queue.append(event)
                return
            self._mark_done(place)
            if self._active is not None:
                self._later.extend(parts)
            else:
                self._part_events.add_parts(parts, events)
        elif event.type in KINDS:
            self._added(place, wire.Item(KINDS[event.type], "assistant"), events)
            if self._active is not None and self._active.place == place:
                self._part_events.delta(self._active, event, events)
            else:
                self._waiting[place].queue.append(event)

    def _begin_item(self, item: StreamedItem, events: list[Event]) -> None:
        self._active = item
        wire_item = item.item
        if wire_item.type in ("function_call", "custom_tool_call") and wire_item.name:
            call = self._part_events.parts_of(item, wire_item)[0]
            if type(call) is ToolCall:
                empty = ToolCall(call.id, call.name, "", call.custom, call.namespace, extra=call.extra, at=call.at)
                self._part_events.begin(item, empty, events)
                if call.arguments:
                    self._part_events.add_text(item, call.arguments, events)
        queue, item.queue = item.queue, []
        for event in queue:
            if self._active is not item:
                break
            if event.type in KINDS:
                self._part_events.delta(item, event, events)
            elif event.type == _ENDED:
                self._finish_item(item, event.item, events)
            else:
                self._part_events.inside(item, event, events)

    def _finish_item(self, item: StreamedItem, raw: Raw | wire.Item, events: list[Event]) -> None:
        """End an item with its final value: text that the deltas lack is added now."""
        self._active = None
        self._mark_done(item.place)
        # Take encrypted_content from output_item.done: the value in `.added` may be partial (openai 3.49.0, 2026-11).
        parts = self._read_item(item.place, raw)[1] if raw else []
        if item.index < 0:
            self._part_events.add_parts(parts[item.part_count :], events)
            return
        if len(parts) >= item.part_count:
            last = parts[item.part_count - 1]
            self._part_events.complete(item, last, events)
            self._part_events.add_parts(parts[item.part_count :], events)
        else:
            events.append(PartEnd(item.index))

    def _go_on(self, events: list[Event]) -> None:
        """No item is open: write the waiting parts and items in order."""
        while self._active is None and (self._later or self._waiting):
            later, self._later = self._later, []
            self._part_events.add_parts(later, events)
            if self._waiting:
                self._begin_item(self._waiting.pop(min(self._waiting)), events)

    def _read_item(self, place: int, raw: Raw | wire.Item) -> tuple[wire.Item, list[Part]]:
        parts: list[Part] = []
        at: Path = ("output", place)
        item, unknown = _admitted(raw, at)
        if item.id:
            self._names.add(bytes(item.id))
        read_item(item, at, parts, self._context, unknown, self._part_events.id)
        return item, parts

    def _terminal(self, event: wire.StreamEvent, events: list[Event]) -> None:
        self._over = True
        answer, unknown = self._last_answer(event.response)
        # response.failed has the error inside the response (openai 3.49.0, 2026-11).
        if event.type == "response.failed":
            error_value = answer.error if answer.error and answer.error != NULL else event.error
            error = json_text.plain(error_value) if error_value else None
            events.append(fault_from(error if isinstance(error, dict) else {"message": "the response failed"}, 0, {}))
            return
        if event.type == "response.cancelled":
            events.append(Fault("cancelled", "the response was cancelled", 499))
            return
        report_id(self._context, ("id",), self._part_events.id, answer.id)
        report_model(self._context, ("model",), self._model, answer.model)
        output = answer.output or []
        # Hosted items may lack their done event (recorded 2026); the last event has the item.
        while self._active is not None:
            place = self._active.place
            raw = json_text.raw(output[place]) if 0 <= place < len(output) else wire.NONE
            self._finish_item(self._active, raw, events)
            self._go_on(events)
        # Items without events of their own are read from the last event.
        for place, item in enumerate(output):
            if place not in self._done:
                parts: list[Part] = []
                read_item(item, ("output", place), parts, self._context, unknown, self._part_events.id)
                self._part_events.add_parts(parts, events)
        self._drop_items(unknown)
        stop = read_stop(answer, self._part_events.seen, self._context)
        usage = read_figures(answer, self._context, unknown)
        self._ended = True
        events.append(Finish(stop, usage, extra=answer_extra(answer, self._context, unknown)))

    def _last_answer(self, sent: Any) -> tuple[Any, Unknown]:
        """The response of the last event. Its items are decoded only if one of them was not read before."""
        answer = sent
        unknown: Unknown = {}
        if not isinstance(sent, wire.Answer):
            answer, unknown, _ = wire.ENDING.admit(sent or Raw(b"{}"))
        items = answer.output or ()
        for place, item in enumerate(items):
            if place in self._done:
                self._finished.compare(place, item, self._context)
        if self._active is None:
            for place, item in enumerate(items):
                if place not in self._done or bytes(memoryview(item)[:1]) != b"{":
                    break
            else:
                answer.output = None
                return answer, unknown
        answer, unknown, _ = wire.ANSWER.admit(json_text.raw(sent) if sent else Raw(b"{}"))
        return answer, unknown

    def _drop_items(self, unknown: Unknown) -> None:
        """Drop unknown fields of items: the terminal event repeats items that were already read."""
        for path in [path for path in unknown if path[:1] == ("output",)]:
            del unknown[path]

    def _fault(self, event: wire.StreamEvent, events: list[Event]) -> None:
        self._over = True
        error: dict[str, object] = {}
        if event.error and not is_empty_field(event.error):
            nested = json_text.plain(event.error)
            error = nested if isinstance(nested, dict) else {"message": str(nested)}
        for name in ("code", "message", "param"):
            value = getattr(event, name)
            if value:
                error.setdefault(name, json_text.plain(value))
        events.append(fault_from(error, 0, {}))

    def _note(self, kind: str, unknown: Unknown) -> None:
        """Report unknown fields once for each kind of event. Fields of an event with a piece of an item are also in the
        item.
        """
        if unknown and kind not in self._noted and kind in _KNOWN and kind not in PROGRESS:
            self._noted.add(kind)
            for path, fields in unknown.items():
                self._context.keep(path, fields)


def _admitted(item: Raw | wire.Item, at: Path = ()) -> tuple[wire.Item, Unknown]:
    """An item, which may already be decoded with its event."""
    if isinstance(item, wire.Item):
        return item, {}
    value, unknown, _ = wire.ITEM.admit(item, at)
    return value, unknown
