"""Responses streams, read: wire events to canon's.

Items open and close by name here, so nothing has to be guessed: deltas are passed on as they come, and the item's last
word (`output_item.done`) is compared with what was told so far; what is missing is told then. Items that overlap are
told one after the other, in the order of `output_index`. Items of tools the upstream runs itself have no deltas worth
telling: they come whole when they are done, and hold nobody up.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Citation, Extra, Part, Path, Reasoning, Text, ToolCall, pointer
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.endings import told_whole
from ...codec.extras import NULL
from ...codec.faults import broken_off
from ...codec.refrain import OBFUSCATED, FrameReader, Refrain, begun
from ...codec.sse import Splitter
from ...crossing import Crossing
from ...errors import WireError
from . import wire
from .faults import fault_from
from .items import read_item
from .message import read_citation, read_part
from .response import answer_extra, read_response, read_stop, read_usage
from .tools import own_fields, with_fields

_strict = msgspec.json.Decoder(wire.StreamEvent).decode

_STREAMED = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})
_KINDS = {
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": "custom_tool_call",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
}
_DONE = {
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
    "response.reasoning_summary_text.done": "text",
    "response.reasoning_text.done": "text",
}
_SILENT = frozenset(
    {
        "response.created",
        "response.queued",
        "response.in_progress",
        "response.content_part.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
    }
)
_SUMMARY, _SUMMARY_DONE = "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done"
_ANNOTATION = "response.output_text.annotation.added"
_PART_DONE = "response.content_part.done"
_NO_DELTA = "\0"
_ADDED, _ENDED = "response.output_item.added", "response.output_item.done"
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_KNOWN = _TERMINAL | _SILENT | {*_KINDS, *_DONE, _ADDED, _ENDED, _ANNOTATION, _PART_DONE, "error"}


class _Item:
    """An item whose events are still coming."""

    __slots__ = (
        "base",
        "cited",
        "content",
        "count",
        "delta",
        "index",
        "inner",
        "item",
        "part",
        "pieces",
        "place",
        "queue",
        "summary",
        "told",
    )

    def __init__(self, place: int, item: wire.Item) -> None:
        self.place = place
        self.item = item
        self.index = -1  # of the open part; -1 when none is open
        self.inner = -1  # which text of the item the open part, or its last piece, belongs to
        self.pieces: list[str] = []  # of the open part told so far
        self.count = 0  # characters of these
        self.base = 0  # of these, those before the inner text
        self.cited = 0
        self.told = 0  # parts begun
        self.delta = _NO_DELTA  # what the events are called that go on with the inner text, and where they point to
        self.content = 0
        self.summary = 0
        self.part = wire.NONE
        self.queue: list[wire.StreamEvent] = []

    def goes_on(self, event: wire.StreamEvent) -> bool:
        """Whether an event is more of the inner text."""
        return (
            event.type == self.delta
            and event.output_index == self.place
            and event.content_index == self.content
            and event.summary_index == self.summary
            and bool(event.delta)
        )


class StreamReader(FrameReader):
    """Wire events in, canon's events out."""

    def __init__(self, crossing: Crossing) -> None:
        refrain = Refrain((b'"delta":',), counter=b'"sequence_number":', **OBFUSCATED)
        super().__init__(Splitter(wire.NAME), refrain, keeps_count=True)
        self._crossing = crossing
        self._own = crossing.target == wire.NAME
        self._active: _Item | None = None
        self._waiting: dict[int, _Item] = {}
        self._done: set[int] = set()
        self._names: set[bytes] = set()  # the ids of items that are done
        self._moved: dict[int, int] = {}  # numbers that stand for another item by now
        self._later: list[Part] = []
        self._seen: list[Part] = []
        self._next = 0
        self._id = ""
        self._odd = b""  # a whole answer in place of the events
        self._started = False
        self._over = False
        self._noted: set[str] = set()

    def close(self) -> list[Event]:
        events: list[Event] = []
        self.settle()
        for name, data in self._frames.close():
            self._frame(name, data, events)
        if not self._over:
            self._over = True
            events.extend(self._instead())
        return events

    def _instead(self) -> list[Event]:
        """What came in place of the rest of the stream."""
        stray = self._frames.stray or self._odd
        found = told_whole(stray, read_response, self._crossing) if not self._started else []
        return found or [broken_off(stray, lambda error: fault_from(error, 0, {}))]

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        if self._over or data.startswith(b"[DONE]"):
            return False
        try:
            unknown: Unknown = {}
            try:
                event = _strict(data)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                event, unknown, _ = wire.EVENT.admit(data)
                if not (event.type or name or self._started):
                    self._odd = data
                    return False
                self._note(event.type, unknown)
            active = self._active
            if active is not None and active.goes_on(event):
                active.count += len(event.delta)
                active.pieces.append(event.delta)
                events.append(PartDelta(active.index, event.delta))
                return not unknown
            event.type = event.type or name.decode("utf-8", "replace")
            before = len(events)
            self._event(event, events)
            active = self._active
            if active is not None and active.goes_on(event) and not unknown:
                return begun(events, before) or (len(events) == before + 1 and type(events[-1]) is PartDelta)
        except WireError as error:
            self._over = True
            events.append(Fault("upstream_bad", f"the upstream sent a broken frame: {error}", 502))
        return False

    def _catch_up(self, said: list[str], last: bytes) -> None:
        if self._active is not None:
            self._active.count += sum(map(len, said))
            self._active.pieces += said

    def _event(self, event: wire.StreamEvent, events: list[Event]) -> None:
        """Any event but one more piece of the open text."""
        if event.type == "error" or (event.error and not event.type):
            self._fault(event, events)
            return
        if not self._started:
            self._start(event, events)
        if self._moved or event.type == _ADDED:
            event.output_index = self._place(event)
        if event.type not in _KINDS:
            self._other(event, events)
        elif self._active is not None and self._active.place == event.output_index:
            self._delta(self._active, event, events)
        else:
            self._elsewhere(event, events)

    def _place(self, event: wire.StreamEvent) -> int:
        """Where the item of an event stands. Hosts give one number to several: a new item under the number of one that
        is done gets the next that is free."""
        place = self._moved.get(event.output_index, event.output_index)
        if event.type == _ADDED and place in self._done and event.item:
            name = bytes(wire.ITEM.admit(event.item).value.id)
            if name and name not in self._names:
                place = self._moved[event.output_index] = max(self._done) + 1
        return place

    def _start(self, event: wire.StreamEvent, events: list[Event]) -> None:
        self._started = True
        if not event.response:
            events.append(Start())
            return
        answer = wire.answer_head(event.response)
        created = int(answer.created_at) if answer.created_at is not None else None
        self._id = answer.id or ""
        events.append(Start(self._id, answer.model or "", created))

    def _other(self, event: wire.StreamEvent, events: list[Event]) -> None:
        kind = event.type
        place = event.output_index
        if kind == _ADDED:
            self._added(place, wire.ITEM.admit(event.item).value if event.item else wire.Item(), events)
        elif kind == _ENDED or kind in _DONE or kind in (_PART_DONE, _ANNOTATION):
            active = self._active
            if active is None or active.place != place:
                self._elsewhere(event, events)
            elif kind == _ENDED:
                self._finish_item(active, event.item, events)
                self._go_on(events)
            else:
                self._inside(active, event, events)
        elif kind in _TERMINAL:
            self._terminal(event, events)
        elif kind not in _SILENT:
            self._crossing.lose("event.dropped", (), kind)

    def _added(self, place: int, item: wire.Item, events: list[Event]) -> None:
        if item.type not in _STREAMED or place in self._done:
            return
        opened = _Item(place, item)
        if self._active is None:
            self._begin_item(opened, events)
        else:
            self._waiting[place] = opened

    def _elsewhere(self, event: wire.StreamEvent, events: list[Event]) -> None:
        """An event for an item that is not the one being told: it waits, is whole by itself, or was never announced."""
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
            self._done.add(place)
            if self._active is not None:
                self._later.extend(parts)
            else:
                self._tell(parts, events)
        elif event.type in _KINDS:
            self._added(place, wire.Item(_KINDS[event.type], "assistant"), events)
            if self._active is not None and self._active.place == place:
                self._delta(self._active, event, events)
            else:
                self._waiting[place].queue.append(event)

    def _begin_item(self, item: _Item, events: list[Event]) -> None:
        self._active = item
        wire_item = item.item
        if wire_item.type in ("function_call", "custom_tool_call") and wire_item.name:
            call = self._parts_of(item, wire_item)[0]
            if isinstance(call, ToolCall):
                empty = ToolCall(call.id, call.name, "", call.custom, call.namespace, extra=call.extra, at=call.at)
                self._begin_part(item, empty, events)
                if call.arguments:
                    self._tell_text(item, call.arguments, events)
        queue, item.queue = item.queue, []
        for event in queue:
            if self._active is not item:
                break
            if event.type in _KINDS:
                self._delta(item, event, events)
            elif event.type == _ENDED:
                self._finish_item(item, event.item, events)
            else:
                self._inside(item, event, events)

    def _parts_of(self, item: _Item, wire_item: wire.Item) -> list[Part]:
        """The parts an item has so far. What it says of its state is left out: it is not the last word."""
        parts: list[Part] = []
        status, wire_item.status = wire_item.status, wire.NONE
        read_item(wire_item, ("output", item.place), parts, self._crossing, {}, self._id)
        wire_item.status = status
        return parts

    def _delta(self, item: _Item, event: wire.StreamEvent, events: list[Event]) -> None:
        text = event.delta
        if not text:
            return
        kind = event.type
        inner = event.summary_index * 2 + 1 if kind == _SUMMARY else event.content_index * 2
        if inner == item.inner and item.index >= 0:
            self._tell_text(item, text, events)
            return
        if item.item.type == "message":
            self._open_text(item, inner, kind == "response.refusal.delta", events)
        elif item.item.type == "reasoning":
            if item.index < 0:
                self._begin_part(item, self._blank_reasoning(item), events)
            elif item.count:
                self._tell_text(item, "\n\n", events)
        elif item.index < 0:
            return  # a call without a name yet: told whole when it is done
        item.inner = inner
        item.base = item.count
        item.delta, item.content, item.summary = kind, event.content_index, event.summary_index
        self._tell_text(item, text, events)

    def _open_text(self, item: _Item, inner: int, refusal: bool, events: list[Event]) -> None:
        if item.index >= 0:
            self._end_early(item, events)
        at: Path = ("output", item.place, "content", inner // 2)
        extra = self._message_extra(item) if not item.told else None
        item.inner = inner
        self._begin_part(item, Text("", refusal, extra=extra, at=at), events)

    def _message_extra(self, item: _Item) -> Extra | None:
        """Fields of the message item, which hang on its first part."""
        bare = wire.Item("message", "assistant", "", item.item.phase, item.item.id)
        parts: list[Part] = []
        read_item(bare, ("output", item.place), parts, self._crossing, {})
        return parts[0].extra

    def _blank_reasoning(self, item: _Item) -> Reasoning:
        handles = {"id": item.item.id} if self._own and item.item.id else {}
        return Reasoning(extra=with_fields(None, handles), at=("output", item.place))

    def _end_early(self, item: _Item, events: list[Event]) -> None:
        """A text ends because the next one of the same message begins."""
        extra = None
        if item.part:
            at: Path = ("output", item.place, "content", item.inner // 2)
            part, unknown, _ = wire.PART.admit(item.part, at)
            extra = read_part(part, at, self._crossing, unknown).extra
            item.part = wire.NONE
            self._score(item.index, at, extra, events)
        if item.told == 1 and self._own and item.item.status:
            extra = with_fields(extra, {"item/status": Raw(b'"completed"')})
        events.append(PartEnd(item.index, extra))
        item.index = -1
        item.delta = _NO_DELTA
        item.count = item.base = item.cited = 0
        item.pieces.clear()

    def _inside(self, item: _Item, event: wire.StreamEvent, events: list[Event]) -> None:
        """The `.done` of a text repeats it: told only where no delta did. Annotations are told as they come."""
        kind = event.type
        if kind == _ANNOTATION:
            if item.index >= 0 and event.annotation:
                at: Path = ("output", item.place, "content", event.content_index, "annotations", item.cited)
                item.cited += 1
                cited = read_citation(wire.ANNOTATION.admit(event.annotation, at).value, at, self._crossing)
                events.append(PartDelta(item.index, "", None, (cited,)))
            return
        if kind == _PART_DONE:
            item.part = event.part
            return
        text = getattr(event, _DONE[kind]) or ""
        inner = event.summary_index * 2 + 1 if kind == _SUMMARY_DONE else event.content_index * 2
        known = item.count - item.base if inner == item.inner else 0
        if len(text) > known and (not known or text.startswith("".join(item.pieces)[item.base :])):
            event.type = kind[:-4] + "delta"
            event.delta = text[known:]
            self._delta(item, event, events)

    def _finish_item(self, item: _Item, raw: Raw, events: list[Event]) -> None:
        """The item's last word: what it says beyond the deltas is told now."""
        self._active = None
        self._done.add(item.place)
        parts = self._read_item(item.place, raw)[1] if raw else []
        if item.index < 0:
            self._tell(parts[item.told :], events)
            return
        if len(parts) >= item.told:
            last = parts[item.told - 1]
            self._complete(item, last, events)
            self._tell(parts[item.told :], events)
        else:
            events.append(PartEnd(item.index))

    def _complete(self, item: _Item, last: Part, events: list[Event]) -> None:
        text = ""
        citations: tuple[Citation, ...] = ()
        if isinstance(last, Text):
            text, citations = last.text, last.citations[item.cited :]
        elif isinstance(last, Reasoning):
            text = last.text
        elif isinstance(last, ToolCall):
            text = last.arguments
        rest = self._untold(item, last, text)
        if rest or citations or last.seal is not None:
            events.append(PartDelta(item.index, rest, last.seal, citations))
        self._score(item.index, last.at, last.extra, events)
        events.append(PartEnd(item.index, last.extra))

    def _score(self, index: int, at: Path, extra: Extra | None, events: list[Event]) -> None:
        """The log probabilities of a text, which its last word has."""
        told = own_fields(extra).get("logprobs") if self._crossing.scored and not self._own else None
        if told is None:
            return
        from ...codec import logprobs  # late: few streams have them

        found = logprobs.read(told, "tokens")
        if found:
            logprobs.unkeep(self._crossing, [(*at, "logprobs")])
            events.append(PartDelta(index, "", None, (), tuple(found)))

    def _untold(self, item: _Item, last: Part, text: str) -> str:
        """What the last word says beyond the deltas. A host may space it otherwise; if it says something else, frames
        are missing, and a call with a hole in it is no call."""
        told = "".join(item.pieces)
        if text.startswith(told):
            return text[item.count :]
        if not isinstance(last, ToolCall):
            self._crossing.lose("event.dropped", last.at, "the deltas differ from the whole text", "warning")
        elif last.custom or not jsontext.is_whole(told):
            raise WireError(wire.NAME, pointer(last.at), "arguments that go on as they began")
        return ""

    def _go_on(self, events: list[Event]) -> None:
        """Nothing is open: tell what had to wait, in order."""
        while self._active is None and (self._later or self._waiting):
            later, self._later = self._later, []
            self._tell(later, events)
            if self._waiting:
                self._begin_item(self._waiting.pop(min(self._waiting)), events)

    def _read_item(self, place: int, raw: Raw) -> tuple[wire.Item, list[Part]]:
        parts: list[Part] = []
        at: Path = ("output", place)
        item, unknown, _ = wire.ITEM.admit(raw, at)
        if item.id:
            self._names.add(bytes(item.id))
        read_item(item, at, parts, self._crossing, unknown, self._id)
        return item, parts

    def _begin_part(self, item: _Item, part: Part, events: list[Event]) -> None:
        item.index = self._next
        item.told += 1
        item.count = 0
        item.pieces.clear()
        self._next += 1
        self._seen.append(part)
        events.append(PartStart(item.index, part))

    def _tell_text(self, item: _Item, text: str, events: list[Event]) -> None:
        item.count += len(text)
        item.pieces.append(text)
        events.append(PartDelta(item.index, text))

    def _tell(self, parts: list[Part], events: list[Event]) -> None:
        """Parts that are whole already."""
        for part in parts:
            text = ""
            citations: tuple[Citation, ...] = ()
            empty: Part = part
            if isinstance(part, Text):
                text, citations = part.text, part.citations
                empty = Text("", part.refusal, extra=part.extra, at=part.at)
            elif isinstance(part, Reasoning):
                text, empty = part.text, Reasoning("", extra=part.extra, at=part.at)
            elif isinstance(part, ToolCall):
                text = part.arguments
                empty = ToolCall(part.id, part.name, "", part.custom, part.namespace, extra=part.extra, at=part.at)
            self._seen.append(part)
            events.append(PartStart(self._next, empty))
            if text or citations or part.seal is not None:
                events.append(PartDelta(self._next, text, part.seal, citations))
            self._score(self._next, part.at, part.extra, events)
            events.append(PartEnd(self._next))
            self._next += 1

    def _terminal(self, event: wire.StreamEvent, events: list[Event]) -> None:
        self._over = True
        answer, unknown, _ = wire.ANSWER.admit(event.response or Raw(b"{}"))
        if event.type == "response.failed":
            said = answer.error if answer.error and answer.error != NULL else event.error
            error = jsontext.plain(said) if said else None
            events.append(fault_from(error if isinstance(error, dict) else {"message": "the response failed"}, 0, {}))
            return
        if event.type == "response.cancelled":
            events.append(Fault("cancelled", "the response was cancelled", 499))
            return
        output = answer.output or []
        while self._active is not None:
            place = self._active.place
            raw = jsontext.raw(output[place]) if 0 <= place < len(output) else wire.NONE
            self._finish_item(self._active, raw, events)
            self._go_on(events)
        for place, item in enumerate(output):
            if place not in self._done:
                parts: list[Part] = []
                read_item(item, ("output", place), parts, self._crossing, unknown, self._id)
                self._tell(parts, events)
        self._drop_items(unknown)
        stop = read_stop(answer, self._seen, self._crossing)
        usage = read_usage(answer.usage, self._crossing, unknown) if answer.usage is not None else None
        events.append(Finish(stop, usage, extra=answer_extra(answer, self._crossing, unknown)))

    def _drop_items(self, unknown: Unknown) -> None:
        """Items were read when they were done; the terminal event repeats them."""
        for path in [path for path in unknown if path[:1] == ("output",)]:
            del unknown[path]

    def _fault(self, event: wire.StreamEvent, events: list[Event]) -> None:
        self._over = True
        error: dict[str, object] = {}
        if event.error:
            nested = jsontext.plain(event.error)
            error = nested if isinstance(nested, dict) else {"message": str(nested)}
        for name in ("code", "message", "param"):
            value = getattr(event, name)
            if value:
                error.setdefault(name, jsontext.plain(value))
        events.append(fault_from(error, 0, {}))

    def _note(self, kind: str, unknown: Unknown) -> None:
        """Fields of events that nobody knows are said once for each kind of event."""
        if unknown and kind not in self._noted and kind in _KNOWN:
            self._noted.add(kind)
            for path, fields in unknown.items():
                self._crossing.keep(path, fields)
