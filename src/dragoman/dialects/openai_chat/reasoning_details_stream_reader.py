"""Reads Chat streams with `reasoning_details`: the deltas of one entry become one thought, with the whole entry as its
seal.

Deltas of one entry have the same type and index. Their texts are joined and their other fields collected. The whole
entry is known when the thought ends. OpenRouter's reader reads its own list in the same way.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Raw

from ...canon.events import Event, PartDelta
from ...canon.parts import Part, Path, Reasoning, Seal
from ...codec import json_text
from ...context import Context
from . import wire
from .reasoning_details import (
    ENCRYPTED,
    FIELD,
    SUMMARY,
    Detail,
    has_other_fields,
    is_proof,
    listed,
    look,
    marked_seal,
    words,
)
from .stream_reader import StreamReader
from .streamed_answer import StreamedAnswer

_KIND = "detail"


class GrowingDetail:
    """An entry whose deltas are still arriving."""

    __slots__ = ("fields", "first", "pieces")

    def __init__(self, first: Detail, value: Raw) -> None:
        self.first = first
        self.fields = json_text.fields(value)
        self.pieces: list[str] = [words(first)]

    def takes(self, detail: Detail) -> bool:
        """Whether a delta belongs to this entry."""
        mine = self.first
        # `reasoning.encrypted` always comes whole, so a second one is another entry (openrouter 1.3.84, 2026-11).
        if mine.type != detail.type or mine.type == ENCRYPTED or mine.index != detail.index:
            return False
        return mine.id is None or detail.id is None or mine.id == detail.id

    def more(self, detail: Detail, value: Raw) -> None:
        """Add a delta."""
        self.pieces.append(words(detail))
        for name, field in json_text.fields(value).items():
            # Text and signature may come in separate deltas (openrouter 1.3.84, 2026-11): a later null must not erase a
            # signature.
            if name not in ("text", "summary") and (name not in self.fields or bytes(field) != b"null"):
                self.fields[name] = field

    def whole(self) -> Raw:
        """The entry as in a whole answer."""
        name = "summary" if self.first.type == SUMMARY else "text"
        text = "".join(self.pieces)
        if text or name in self.fields:
            self.fields[name] = json_text.raw(text)
        return json_text.raw(self.fields)


class DetailStreamReader(StreamReader):
    """Takes chunks and returns events."""

    _reads_details: ClassVar[bool] = False
    """True: the list is always read. False: only for another dialect than this one."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._details: dict[int, GrowingDetail] = {}

    def _take_details(self, answer: StreamedAnswer, delta: wire.Message, events: list[Event]) -> None:
        if self._reads_details or self._context.target != wire.NAME:
            if delta.reasoning and not self._field:
                self._field = "reasoning"
            self._read_details(answer, delta, events)
            delta.reasoning_details = wire.NONE

    def _read_details(self, answer: StreamedAnswer, delta: wire.Message, events: list[Event]) -> None:
        values = listed(delta.reasoning_details)
        at: Path = ("choices", answer.number, "delta")
        if values is None:
            self._odd_field(at, {FIELD: delta.reasoning_details})
            return
        all_text = ""
        for value in values:
            detail = look(value)
            if detail is None:
                self._odd_detail(answer, value, (*at, FIELD), events)
                continue
            all_text += words(detail)
            open_ = self._details.get(answer.number) if answer.kind == _KIND else None
            if open_ is not None and open_.takes(detail):
                open_.more(detail, value)
            # An open call must not be cut by a thought: parts of the canon do not overlap.
            elif answer.waiting or (answer.call is not None and not answer.call.whole()):
                part = self._whole_detail(value, (*at, FIELD))
                if type(part) is Reasoning:
                    answer.waiting.append(part)
                continue
            else:
                self._end(answer, events)
                self._details[answer.number] = GrowingDetail(detail, value)
                self._begin(answer, _KIND, Reasoning(at=(*at, FIELD)), events)
            text = words(detail)
            if text:
                events.append(PartDelta(answer.index, text))
        if all_text:
            thought = delta.reasoning_content or delta.reasoning
            if thought and thought != all_text:
                self._odd_field(at, {"reasoning": json_text.raw(thought)})
            delta.reasoning = delta.reasoning_content = None

    def _end(self, answer: StreamedAnswer, events: list[Event]) -> None:
        if answer.kind == _KIND:
            seal = self._detail_seal(answer, self._details.pop(answer.number))
            if seal is not None:
                events.append(PartDelta(answer.index, "", seal))
        super()._end(answer, events)

    def _detail_seal(self, answer: StreamedAnswer, detail: GrowingDetail) -> Seal | None:
        """The seal of a thought: the whole entry, if it proves anything."""
        whole = detail.whole()
        found = look(whole)
        if found is None or not is_proof(found):
            if has_other_fields(whole):
                self._odd_field(("choices", answer.number, "delta"), {FIELD: whole})
            return self._thought_origin()
        return marked_seal(found) or Seal(wire.NAME, json_text.text(whole), found.type)

    def _whole_detail(self, value: Raw, at: Path) -> Part | None:
        """The thought of an entry in one piece."""
        found = look(value)
        if found is None:
            return None
        seal = marked_seal(found) or self._thought_origin()
        if is_proof(found) and marked_seal(found) is None:
            seal = Seal(wire.NAME, json_text.text(value), found.type)
        return Reasoning(words(found), seal=seal, at=at)

    def _odd_detail(self, answer: StreamedAnswer, value: Raw, at: Path, events: list[Event]) -> None:
        """Keep an entry of an unknown type."""
        self._odd_field(at[:-1], {FIELD: value})

    def _odd_field(self, at: Path, fields: dict[str, Raw]) -> None:
        """Keep a field that is not understood."""
        self._note(at, fields)
