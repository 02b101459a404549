"""Turns the items of a Responses stream into canon events: their places, and the events of their parts.

A text begins with its first words. It ends with its item, or with the next text of the same message. An item without
deltas is written whole.
"""

from __future__ import annotations

from msgspec import Raw
from msgspec.structs import replace

from ...canon.events import Event, PartDelta, PartEnd, PartStart
from ...canon.parts import Citation, Extra, Part, Path, Reasoning, Text, ToolCall, pointer
from ...codec import json_text
from ...codec.failure_sentence_in_answer import GAP
from ...codec.surrogates.streams import spelled_whole
from ...context import Context
from ...errors import WireError
from . import wire
from .assistant_items import read_item
from .message_content import read_citation, read_part
from .tools import own_fields, with_fields

DONE = {
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
    "response.reasoning_summary_text.done": "text",
    "response.reasoning_text.done": "text",
}
"""Events that repeat a whole text -> the field that holds it."""
KINDS = {
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": "custom_tool_call",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
}
"""Events with a piece of an item -> the type of the item."""
ANNOTATION = "response.output_text.annotation.added"
PART_DONE = "response.content_part.done"
_SUMMARY, _SUMMARY_DONE = "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done"
_NO_DELTA = "\0"


def _shifted(cited: Citation, by: int) -> Citation:
    """A citation in a text that follows another text of the same part."""
    if cited.start is None or cited.end is None:
        return cited
    return replace(cited, start=cited.start + by, end=cited.end + by)


def _same_object(one: str, other: str) -> bool:
    """Whether two texts hold the same JSON object."""
    whole = json_text.is_object(one) and json_text.is_object(other)
    return whole and json_text.decode(one) == json_text.decode(other)


class StreamedItem:
    """An item whose events are still arriving."""

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
        "part_count",
        "pieces",
        "place",
        "queue",
        "summary",
    )

    def __init__(self, place: int, item: wire.Item) -> None:
        self.place = place
        self.item = item
        self.index = -1  # index of the open part; -1: none
        self.inner = -1  # the number of the item's current text
        self.pieces: list[str] = []  # text of the open part so far
        self.count = 0  # its number of characters
        self.base = 0  # characters before the current text
        self.cited = 0
        self.part_count = 0  # number of begun parts
        self.delta = _NO_DELTA  # the event type that continues the current text
        self.content = 0
        self.summary = 0
        self.part = wire.NONE
        self.queue: list[wire.StreamEvent] = []

    def continues_with(self, event: wire.StreamEvent) -> bool:
        """Whether an event is more of the current text."""
        return (
            event.type == self.delta
            and event.output_index == self.place
            and event.content_index == self.content
            and event.summary_index == self.summary
            and bool(event.delta)
        )


class PartEvents:
    """Makes part events, and numbers the parts."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._own = context.target == wire.NAME
        self._next = 0
        self.seen: list[Part] = []
        """All parts that have begun."""
        self.id = ""
        """The id of the answer."""

    def parts_of(self, item: StreamedItem, wire_item: wire.Item) -> list[Part]:
        """The parts of an item so far. Its status is left out, because it is not final."""
        parts: list[Part] = []
        status, wire_item.status = wire_item.status, wire.NONE
        read_item(wire_item, ("output", item.place), parts, self._context, {}, self.id)
        wire_item.status = status
        return parts

    def delta(self, item: StreamedItem, event: wire.StreamEvent, events: list[Event]) -> None:
        """Add the text of a delta to the right part."""
        text = event.delta
        if not text:
            return
        kind = event.type
        if item.index < 0 and KINDS[kind] != item.item.type:
            item.item.type = KINDS[kind]  # the item was announced without its type
        # Summary texts and content texts are counted apart (openai 3.49.0, 2026-11).
        inner = event.summary_index * 2 + 1 if kind == _SUMMARY else event.content_index * 2
        if inner == item.inner and item.index >= 0:
            self.add_text(item, text, events)
            return
        if item.item.type == "message":
            self._open_text(item, inner, kind == "response.refusal.delta", events)
        elif item.item.type == "reasoning":
            if item.index < 0:
                self.begin(item, self._blank_reasoning(item), events)
            elif item.count:
                # The pieces of a summary are paragraphs; a whole answer joins them in the same way.
                self.add_text(item, "\n\n", events)
        elif item.index < 0:
            return  # a call without a name: written whole when it is done
        item.inner = inner
        item.base = item.count
        item.delta, item.content, item.summary = kind, event.content_index, event.summary_index
        self.add_text(item, text, events)

    def _open_text(self, item: StreamedItem, inner: int, refusal: bool, events: list[Event]) -> None:
        if item.index >= 0:
            self._end_early(item, events)
        at: Path = ("output", item.place, "content", inner // 2)
        extra = self._message_extra(item) if not item.part_count else None
        item.inner = inner
        self.begin(item, Text("", refusal, extra=extra, at=at), events)

    def _message_extra(self, item: StreamedItem) -> Extra | None:
        """The fields of the message item, kept on its first part."""
        message = wire.Item("message", "assistant", "", item.item.phase, item.item.id)
        parts: list[Part] = []
        read_item(message, ("output", item.place), parts, self._context, {})
        return parts[0].extra

    def _blank_reasoning(self, item: StreamedItem) -> Reasoning:
        handles = {"id": item.item.id} if self._own and item.item.id else {}
        return Reasoning(extra=with_fields(None, handles), at=("output", item.place))

    def _end_early(self, item: StreamedItem, events: list[Event]) -> None:
        """End a text because the next text of the same message begins."""
        extra = None
        if item.part:
            at: Path = ("output", item.place, "content", item.inner // 2)
            part, unknown, _ = wire.PART.admit(item.part, at)
            extra = read_part(part, at, self._context, unknown).extra
            item.part = wire.NONE
            self._score(item.index, at, extra, events)
        if item.part_count == 1 and self._own and item.item.status:
            extra = with_fields(extra, {"item/status": Raw(b'"completed"')})
        events.append(PartEnd(item.index, extra))
        item.index = -1
        item.delta = _NO_DELTA
        item.count = item.base = item.cited = 0
        item.pieces.clear()

    def inside(self, item: StreamedItem, event: wire.StreamEvent, events: list[Event]) -> None:
        """Read an event inside an item. `.done` repeats a text: it is used only for text without deltas. Annotations
        are passed at once.
        """
        kind = event.type
        if kind == ANNOTATION:
            # An annotation before any text has no part to which it could belong; the item's last value repeats it.
            if item.index >= 0 and event.annotation:
                at: Path = ("output", item.place, "content", event.content_index, "annotations", item.cited)
                item.cited += 1
                cited = read_citation(wire.ANNOTATION.admit(event.annotation, at)[0], at, self._context)
                events.append(PartDelta(item.index, "", None, (cited,)))
            return
        if kind == PART_DONE:
            item.part = event.part
            return
        text = getattr(event, DONE[kind]) or ""
        inner = event.summary_index * 2 + 1 if kind == _SUMMARY_DONE else event.content_index * 2
        known = item.count - item.base if inner == item.inner else 0
        # A .done event repeats the text; it is used to complete missing deltas, not to append.
        if len(text) > known and (not known or text.startswith("".join(item.pieces)[item.base :])):
            event.type = kind[:-4] + "delta"
            event.delta = text[known:]
            self.delta(item, event, events)

    def complete(self, item: StreamedItem, last: Part, events: list[Event]) -> None:
        """End a part with its final value: the rest of its text, its seal and its citations."""
        text = ""
        citations: tuple[Citation, ...] = ()
        if type(last) is Text:
            text, citations = last.text, last.citations[item.cited :]
        elif type(last) is Reasoning:
            text = last.text
        elif type(last) is ToolCall:
            text = last.arguments
            self._report_renamed(self.seen[item.index], last)
        rest = self._missing_text(item, last, text)
        if citations and rest.endswith(text) and len(rest) > len(text):
            citations = tuple([_shifted(cited, item.count + len(rest) - len(text)) for cited in citations])
        if rest or citations or last.seal is not None:
            events.append(PartDelta(item.index, rest, last.seal, citations))
        self._score(item.index, last.at, last.extra, events)
        events.append(PartEnd(item.index, last.extra))

    def _report_renamed(self, announced: Part, last: ToolCall) -> None:
        """Report a call whose final item has another id or name than the item that announced the call."""
        if not isinstance(announced, ToolCall):
            return
        if last.id != announced.id:
            self._context.lose("call.id.rewritten", (*last.at, "call_id"), f"{last.id} came after the call's beginning")
        if last.name != announced.name:
            detail = f"{last.name} came after the call's beginning"
            self._context.lose("event.dropped", (*last.at, "name"), detail, "warning")

    def _score(self, index: int, at: Path, extra: Extra | None, events: list[Event]) -> None:
        """The log probabilities of a text, which are in its final value."""
        scores = own_fields(extra).get("logprobs") if self._context.scored and not self._own else None
        if scores is None:
            return
        from ...codec import logprobs  # late: few streams have them

        found = logprobs.read(scores, "tokens")
        if found:
            logprobs.remove_translated_fields(self._context, [(*at, "logprobs")])
            events.append(PartDelta(index, "", None, (), tuple(found)))

    def _missing_text(self, item: StreamedItem, last: Part, text: str) -> str:
        """The text of the final value that the deltas lack. A host may use other spaces. If the final value differs
        otherwise, frames are missing, and an incomplete call is not a call. If less than half of a text came, the whole
        text follows.
        """
        received = "".join(item.pieces)
        if text.startswith(received):
            return text[item.count :]
        for spelled in spelled_whole(received):
            if text.startswith(spelled):
                return text[len(spelled) :]
        if type(last) is not ToolCall:
            follows = len(text) > 2 * len(received)
            detail = "the deltas differ from the whole text" + (", which follows them" if follows else "")
            self._context.lose("event.dropped", last.at, detail, "warning")
            return GAP + text if follows else ""
        if last.custom or not json_text.is_whole(received):
            raise WireError(wire.NAME, pointer(last.at), "arguments that go on as they began")
        if text.strip() and not _same_object(text, received):
            self._context.lose("event.dropped", last.at, "the deltas differ from the whole arguments", "error")
        return ""

    def begin(self, item: StreamedItem, part: Part, events: list[Event]) -> None:
        """Begin a part."""
        item.index = self._next
        item.part_count += 1
        item.count = 0
        item.pieces.clear()
        self._next += 1
        self.seen.append(part)
        events.append(PartStart(item.index, part))

    def add_text(self, item: StreamedItem, text: str, events: list[Event]) -> None:
        """Add text to the open part."""
        item.count += len(text)
        item.pieces.append(text)
        events.append(PartDelta(item.index, text))

    def add_parts(self, parts: list[Part], events: list[Event]) -> None:
        """Write whole parts."""
        for part in parts:
            text = ""
            citations: tuple[Citation, ...] = ()
            empty: Part = part
            if type(part) is Text:
                text, citations = part.text, part.citations
                empty = Text("", part.refusal, extra=part.extra, at=part.at)
            elif type(part) is Reasoning:
                text, empty = part.text, Reasoning("", extra=part.extra, at=part.at)
            elif type(part) is ToolCall:
                text = part.arguments
                empty = ToolCall(part.id, part.name, "", part.custom, part.namespace, extra=part.extra, at=part.at)
            self.seen.append(part)
            events.append(PartStart(self._next, empty))
            if text or citations or part.seal is not None:
                events.append(PartDelta(self._next, text, part.seal, citations))
            self._score(self._next, part.at, part.extra, events)
            events.append(PartEnd(self._next))
            self._next += 1
