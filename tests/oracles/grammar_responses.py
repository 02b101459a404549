"""Owns the stream grammar of the Responses dialect: rules OAR-S01 to OAR-S03 and their consequences."""

from __future__ import annotations

from typing import Any

from tests.oracles.body_verdict import check_event
from tests.oracles.event_stream_reader import Findings, frames, json_object, payload

Json = Any

_TERMINAL = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
_OPENING = ("response.created", "response.queued", "response.in_progress")
# Streamed texts: event stem -> (field of the .done event, index field inside the item, kind of the item).
_TEXTS: dict[str, tuple[str, str | None, str]] = {
    "response.output_text": ("text", "content_index", "message"),
    "response.refusal": ("refusal", "content_index", "message"),
    "response.reasoning_text": ("text", "content_index", "reasoning"),
    "response.reasoning_summary_text": ("text", "summary_index", "reasoning"),
    "response.function_call_arguments": ("arguments", None, "function_call"),
    "response.custom_tool_call_input": ("input", None, "custom_tool_call"),
    "response.mcp_call_arguments": ("arguments", None, "mcp_call"),
    "response.code_interpreter_call_code": ("code", None, "code_interpreter_call"),
}
_PARTS: dict[str, tuple[str, str]] = {
    "response.content_part": ("content_index", "content"),
    "response.reasoning_summary_part": ("summary_index", "summary"),
}


class _Text:
    """One streamed text: its pieces, and the value of the .done event."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.done: str | None = None


class _Item:
    def __init__(self, item: Json) -> None:
        self.id = item.get("id")
        self.kind = item.get("type")
        self.final: Json = None
        self.texts: dict[tuple[str, int | None], _Text] = {}
        self.parts: dict[str, dict[int, Json]] = {"content": {}, "summary": {}}
        self.annotations: dict[int, list[Json]] = {}


class _Machine:
    def __init__(self, found: Findings) -> None:
        self.found = found
        self.sequence = 0
        self.same: dict[str, Json] = {}
        self.items: list[_Item] = []
        self.ended: str | None = None
        self.opened = False

    def take(self, place: int, event: Json) -> None:
        kind = str(event.get("type"))
        if self.ended is not None:
            self.found.at(place, f"OAR-S01 {kind} after {self.ended}")
        number = event.get("sequence_number")
        if number != self.sequence:
            self.found.at(place, f"OAR-S01 sequence_number {number}, expected {self.sequence}")
        self.sequence = number + 1 if isinstance(number, int) else self.sequence + 1
        if kind == "error":
            self.ended = kind
            return
        if not self.opened and kind != "response.created":
            self.found.at(place, f"OAR-S01 {kind} before response.created")
        if kind in _OPENING or kind in _TERMINAL:
            self.envelope(place, kind, event.get("response") or {})
        elif kind == "response.output_item.added":
            self.added(place, event)
        else:
            self.inside(place, kind, event)

    def envelope(self, place: int, kind: str, response: Json) -> None:
        if kind == "response.created" and self.opened:
            self.found.at(place, "OAR-S01 a second response.created")
        self.opened = True
        for field in ("id", "created_at", "model"):
            if self.same.setdefault(field, response.get(field)) != response.get(field):
                self.found.at(place, f"OAR-S03 response {field} changes to {response.get(field)!r}")
        status = response.get("status")
        if kind not in _TERMINAL:
            if status not in ("in_progress", "queued"):
                self.found.at(place, f"{kind} with status {status!r}")
            if response.get("output"):
                self.found.at(place, f"{kind} with output")
            return
        self.ended = kind
        if status != _TERMINAL[kind]:
            self.found.at(place, f"{kind} with status {status!r}")
        if kind == "response.failed":
            if not response.get("error"):
                self.found.at(place, "response.failed without an error")
            return
        if kind == "response.incomplete" and not (response.get("incomplete_details") or {}).get("reason"):
            self.found.at(place, "response.incomplete without a reason")
        self.output(place, response.get("output"))

    def output(self, place: int, output: Json) -> None:
        """The terminal response repeats the streamed items exactly."""
        for index, item in enumerate(self.items):
            if item.final is None:
                self.found.at(place, f"OAR-S02 output {index} was added and never done")
        if not isinstance(output, list) or len(output) != len(self.items):
            count = len(output) if isinstance(output, list) else None
            self.found.at(place, f"the terminal response has {count} items, {len(self.items)} were streamed")
            return
        for index, (item, last) in enumerate(zip(self.items, output, strict=True)):
            fields = sorted(_differences(item.final, last)) if item.final is not None else []
            if fields:
                self.found.at(place, f"output {index} of the terminal response differs from its done event in {fields}")

    def added(self, place: int, event: Json) -> None:
        index, item = event.get("output_index"), event.get("item") or {}
        if index != len(self.items):
            self.found.at(place, f"OAR-S03 output_index {index}, expected {len(self.items)}")
        if item.get("id") is not None and item["id"] in [other.id for other in self.items]:
            self.found.at(place, f"item id {item['id']!r} used twice")
        for field in ("arguments", "input", "content", "summary"):
            if item.get(field):
                self.found.at(place, f"the added {item.get('type')} has {field} already")
        self.items.append(_Item(item))

    def inside(self, place: int, kind: str, event: Json) -> None:
        """An event that belongs to one open item."""
        index = event.get("output_index")
        item = self.items[index] if isinstance(index, int) and 0 <= index < len(self.items) else None
        if item is None:
            self.found.at(place, f"OAR-S02 {kind} for output {index}, which was never added")
            return
        if item.final is not None:
            self.found.at(place, f"OAR-S02 {kind} for output {index}, which is done")
            return
        if kind == "response.output_item.done":
            self.done(place, index, item, event.get("item") or {})
            return
        # Shell events name their item by output_index only. The event types define where item_id is required.
        if event.get("item_id", item.id) != item.id:
            self.found.at(place, f"OAR-S03 item_id {event.get('item_id')!r}, output {index} is {item.id!r}")
        stem, _, verb = kind.rpartition(".")
        if stem in _TEXTS:
            self.text(place, stem, verb, item, event)
        elif stem in _PARTS:
            self.part(place, stem, verb, item, event)
        elif kind == "response.output_text.annotation.added":
            noted = item.annotations.setdefault(event.get("content_index", 0), [])
            if event.get("annotation_index") != len(noted):
                self.found.at(place, f"annotation_index {event.get('annotation_index')}, expected {len(noted)}")
            noted.append(event.get("annotation"))

    def text(self, place: int, stem: str, verb: str, item: _Item, event: Json) -> None:
        field, index_field, owner = _TEXTS[stem]
        if item.kind != owner:
            self.found.at(place, f"OAR-S02 {stem}.{verb} for a {item.kind}")
        index: Json = event.get(index_field) if index_field else None
        # Reasoning text may come without parts around it. Every other event with an index is inside a part.
        holder = "summary" if index_field == "summary_index" else "content" if owner == "message" else None
        if holder and index_field:
            if item.parts[holder].get(index, _DONE) is not _OPEN:
                self.found.at(place, f"OAR-S02 {stem}.{verb} for part {index}, which is not open")
        state = item.texts.setdefault((stem, index), _Text())
        if state.done is not None:
            self.found.at(place, f"OAR-S02 {stem}.{verb} after its done")
        elif verb == "delta":
            state.pieces.append(str(event.get("delta", "")))
        elif verb == "done":
            state.done = event.get(field)
            if state.done != "".join(state.pieces):
                self.found.at(place, f"OAR-S02 {stem}.done is not its deltas joined")

    def part(self, place: int, stem: str, verb: str, item: _Item, event: Json) -> None:
        index_field, field = _PARTS[stem]
        index, parts = event.get(index_field), item.parts[field]
        if verb == "added":
            if index != len(parts):
                self.found.at(place, f"{index_field} {index}, expected {len(parts)}")
            parts[index] = _OPEN
        elif parts.get(index, _DONE) is not _OPEN:
            self.found.at(place, f"OAR-S02 {stem}.done for part {index}, which is not open")
        else:
            parts[index] = event.get("part") or {}
            self.part_text(place, item, index, parts[index])

    def part_text(self, place: int, item: _Item, index: int, part: Json) -> None:
        stem, field = {
            "output_text": ("response.output_text", "text"),
            "refusal": ("response.refusal", "refusal"),
            "reasoning_text": ("response.reasoning_text", "text"),
            "summary_text": ("response.reasoning_summary_text", "text"),
        }.get(str(part.get("type")), (None, ""))
        if stem is None:
            return
        state = item.texts.get((stem, index))
        if state is None or state.done is None:
            self.found.at(place, f"OAR-S02 part {index} is done without {stem}.done")
        elif state.done != part.get(field):
            self.found.at(place, f"OAR-S02 part {index} differs from {stem}.done")
        if part.get("type") == "output_text" and (part.get("annotations") or []) != item.annotations.get(index, []):
            self.found.at(place, f"part {index} has annotations other than those added")

    def done(self, place: int, index: int, item: _Item, final: Json) -> None:
        item.final = final
        if (final.get("id"), final.get("type")) != (item.id, item.kind):
            self.found.at(place, f"OAR-S03 output {index} was added as {(item.kind, item.id)}")
        for field, parts in item.parts.items():
            for number, part in parts.items():
                if part is _OPEN:
                    self.found.at(place, f"OAR-S02 {field} part {number} was added and never done")
            streamed = [parts[number] for number in sorted(parts) if parts[number] is not _OPEN]
            stated = final.get(field) or []
            if (streamed or item.kind == "message") and stated != streamed:
                self.found.at(place, f"{field} of the done item is not the parts streamed")
        for (stem, _), state in item.texts.items():
            field, index_field, _owner = _TEXTS[stem]
            if state.done is None:
                self.found.at(place, f"OAR-S02 {stem} has deltas and no done")
            elif index_field is None and final.get(field) != state.done:
                self.found.at(place, f"{field} of the done item is not what was streamed")
        self.call(place, item, final)

    def call(self, place: int, item: _Item, final: Json) -> None:
        stem = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}
        if item.kind in stem and (f"response.{stem[item.kind]}", None) not in item.texts:
            self.found.at(place, f"OAR-S02 a {item.kind} without {stem[item.kind]}.done")
        if item.kind == "function_call" and final.get("status") != "incomplete":
            wrong = json_object(final.get("arguments") or "")
            if wrong is not None:
                self.found.at(place, f"arguments of {final.get('call_id')}: {wrong}")
        if item.kind in stem:
            ids = [other.final.get("call_id") for other in self.items if other.final and other.kind in stem]
            if ids.count(final.get("call_id")) > 1:
                self.found.at(place, f"call_id {final.get('call_id')!r} used twice")

    def close(self) -> None:
        if self.ended is None:
            self.found.end("OAR-S01 no terminal event")


def _differences(done: Json, last: Json) -> set[str]:
    fields = {key for key in {*done, *last} if done.get(key) != last.get(key)}
    # OpenAI encrypts again for each event (5 of 40 recorded streams), so only the presence can be compared.
    if done.get("encrypted_content") and last.get("encrypted_content"):
        fields.discard("encrypted_content")
    return fields


_OPEN: Json = object()
_DONE: Json = object()


def check(raw: bytes) -> list[str]:
    """Findings in one stream."""
    found = Findings()
    machine = _Machine(found)
    for frame in frames(raw, found):
        if frame.data == "[DONE]":
            found.at(frame.place, "[DONE]; this dialect has none")
            continue
        event = payload(frame, found)
        if event is None:
            continue
        for text in check_event("openai-responses", frame.data.encode()):
            found.at(frame.place, text)
        if frame.name != event.get("type"):
            found.at(frame.place, f"event line {frame.name!r} with type {event.get('type')!r}")
        machine.take(frame.place, event)
    machine.close()
    return list(found)
