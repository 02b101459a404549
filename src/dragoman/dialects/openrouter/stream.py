"""OpenRouter streams, read: Chat's chunks with `reasoning_details`, images and errors among them.

The deltas of one detail have its type and index: their texts are joined, what else they say is added. The whole detail
is the seal of its part, told when the part ends. Comments are no frames.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta
from ...canon.parts import Path, Reasoning, Seal
from ...canon.response import Response, Usage
from ...codec import jsontext, seals
from ...codec.admit import Unknown
from ...codec.extras import Fields, carried
from ...crossing import Crossing
from ..openai_chat import stream as chat
from ..openai_chat.stream import Answer
from . import wire
from .details import ENCRYPTED, SUMMARY, Detail, listed, look, read_detail, read_image, unproved, words
from .faults import fault_from
from .response import cut_stop, read_response, was_cut

_KIND = "detail"


class _Growing:
    """A detail whose deltas are still coming."""

    __slots__ = ("fields", "pieces", "told")

    def __init__(self, told: Detail, value: Raw) -> None:
        self.told = told
        self.fields = jsontext.fields(value)
        self.pieces: list[str] = [words(told)]

    def takes(self, told: Detail) -> bool:
        mine = self.told
        if mine.type != told.type or mine.type == ENCRYPTED or mine.index != told.index:
            return False
        return mine.id is None or told.id is None or mine.id == told.id

    def more(self, told: Detail, value: Raw) -> None:
        self.pieces.append(words(told))
        for name, field in jsontext.fields(value).items():
            if name not in ("text", "summary") and (name not in self.fields or bytes(field) != b"null"):
                self.fields[name] = field

    def seal(self) -> Seal | None:
        """The whole detail; or the seal of another origin that stands packed in it."""
        name = "summary" if self.told.type == SUMMARY else "text"
        text = "".join(self.pieces)
        if text or name in self.fields:
            self.fields[name] = jsontext.raw(text)
        whole = jsontext.raw(self.fields)
        found = look(whole)
        slot = None if found is None else found.data if found.type == ENCRYPTED else found.signature
        packed = seals.foreign(slot) if slot else None
        if packed is not None and packed.dialect != wire.NAME:
            return packed
        if found is not None and unproved(found):
            return None
        return Seal(wire.NAME, jsontext.text(whole), self.told.type)


class StreamReader(chat.StreamReader):
    """Chunks in, events out."""

    _strict = staticmethod(msgspec.json.Decoder(wire.Chunk).decode)
    _door = wire.CHUNK

    def __init__(self, crossing: Crossing) -> None:
        super().__init__(crossing)
        self._details: dict[int, _Growing] = {}
        self._told: set[tuple[Any, ...]] = set()
        self._natives: dict[int, str] = {}  # answer -> how the provider called its end

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        crossing = self._crossing
        crossing.source = wire.CHAT
        try:
            return super()._frame(name, data, events)
        finally:
            crossing.source = wire.NAME

    def close(self) -> list[Event]:
        crossing = self._crossing
        crossing.source = wire.CHAT
        try:
            return super().close()
        finally:
            crossing.source = wire.NAME

    def _read_response(self, body: bytes, crossing: Crossing) -> Response:
        crossing.source = wire.NAME
        try:
            return read_response(body, crossing)
        finally:
            crossing.source = wire.CHAT

    def _start(self, chunk: Any, events: list[Event]) -> None:
        super()._start(chunk, events)
        if chunk.provider is not None:
            self._report((), {"provider": jsontext.raw(chunk.provider)})
        self._report((), carried(chunk, _METADATA))

    def _figures(self, chunk: Any, unknown: Unknown) -> Usage:
        self._report((), carried(chunk, _METADATA))
        told = carried(chunk.usage, wire.USAGE_EXTRAS)
        self._report(("usage",), told)
        usage = super()._figures(chunk, unknown)
        return msgspec.structs.replace(usage, extra=wire.with_own(usage.extra, told)) if told else usage

    def _fault(self, error: dict[str, Any]) -> Fault:
        return fault_from(error, 0, {})

    def _choice(self, choice: Any, events: list[Event]) -> bool:
        if choice.native_finish_reason is not None:
            self._natives[choice.index] = choice.native_finish_reason
            self._report(("choices", choice.index), {"native_finish_reason": jsontext.raw(choice.native_finish_reason)})
        delta = choice.delta
        if delta is None or not any(_own_fields(delta)):
            return super()._choice(choice, events)
        answer = self._answer(choice.index)
        if delta.reasoning_details:
            self._read_details(answer, delta, events)
            delta.reasoning_details = wire.NONE
        images = listed(delta.images) if delta.images else None
        self._report(("choices", choice.index, "delta"), carried(delta, wire.MESSAGE_EXTRAS))
        super()._choice(choice, events)
        for value in images or ():
            self._whole(answer, read_image(value, ("choices", choice.index, "delta", "images")), events)
        return False

    def _thought_origin(self) -> Seal | None:
        return None  # the details have the seals

    def _read_details(self, answer: Answer, delta: wire.Message, events: list[Event]) -> None:
        values = listed(delta.reasoning_details)
        at = ("choices", answer.number, "delta")
        if values is None:
            self._report(at, {"reasoning_details": delta.reasoning_details})
            return
        spoken = ""
        for value in values:
            told = look(value)
            if told is None:
                self._whole(answer, read_detail(value, (*at, "reasoning_details"))[0], events)
                continue
            spoken += words(told)
            open_ = self._details.get(answer.number) if answer.kind == _KIND else None
            if open_ is not None and open_.takes(told):
                open_.more(told, value)
            elif answer.waiting or (answer.call is not None and not answer.call.whole()):
                part, _ = read_detail(value, (*at, "reasoning_details"))
                if isinstance(part, Reasoning):
                    answer.waiting.append(part)
                continue
            else:
                self._end(answer, events)
                self._details[answer.number] = _Growing(told, value)
                self._begin(answer, _KIND, Reasoning(at=(*at, "reasoning_details")), events)
            text = words(told)
            if text:
                events.append(PartDelta(answer.index, text))
        if spoken:
            if delta.reasoning and delta.reasoning != spoken:
                self._report(at, {"reasoning": jsontext.raw(delta.reasoning)})
            delta.reasoning = None

    def _whole(self, answer: Answer, part: Any, events: list[Event]) -> None:
        """A part that comes in one piece; an open call is whole by then, or it never will be."""
        self._end(answer, events)
        self._begin(answer, "whole", part, events)
        self._end(answer, events)

    def _end(self, answer: Answer, events: list[Event]) -> None:
        if answer.kind == _KIND:
            seal = self._details.pop(answer.number).seal()
            if seal is not None:
                events.append(PartDelta(answer.index, "", seal))
        super()._end(answer, events)

    def _put_aside(self, at: Path, fields: dict[str, Raw]) -> None:
        wire.report(self._crossing, at, fields)

    def _finish(self, events: list[Event]) -> None:
        super()._finish(events)
        for place, event in enumerate(events):
            if isinstance(event, Finish):
                word = self._answers[event.answer].word
                if was_cut(word, self._natives.get(event.answer)):
                    events[place] = msgspec.structs.replace(event, stop=cut_stop(event.stop))

    def _report(self, at: Path, fields: dict[str, Raw] | None) -> None:
        """Each of this dialect's own fields once: a stream repeats them in every chunk."""
        fresh = {name: value for name, value in (fields or {}).items() if (at, name) not in self._told}
        if fresh:
            self._told.update([(at, name) for name in fresh])
            wire.report(self._crossing, at, fresh)


_own_fields = wire.MESSAGE_OWN.values
_METADATA = Fields("openrouter_metadata")
