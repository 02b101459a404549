"""Reads OpenRouter streams: Chat's chunks with `reasoning_details`, images and errors.

The details are read as for any Chat host (`openai_chat/reasoning_details_stream_reader.py`), and may contain packed
seals of other origins. OpenRouter also sends comment lines (`: OPENROUTER PROCESSING`), which are not frames.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish
from ...canon.parts import Part, Path, Seal
from ...canon.response import Response, Usage
from ...codec import json_text, packed_seals
from ...codec.dialect_extras import Fields, sent_fields
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ..openai_chat.reasoning_details import ENCRYPTED, listed, look
from ..openai_chat.reasoning_details_stream_reader import DetailStreamReader, GrowingDetail
from ..openai_chat.stream_reader import EMPTY, ROOT_FIELDS
from ..openai_chat.streamed_answer import StreamedAnswer
from . import wire
from .faults import fault_from
from .hosted_calls import read_hosted
from .reasoning_details import has_no_proof, read_detail, read_image
from .response import cut_stop, read_response, was_cut


class StreamReader(DetailStreamReader):
    """Takes chunks and returns events."""

    _strict = _strict_for_others = staticmethod(msgspec.json.Decoder(wire.Chunk).decode)
    _door = wire.CHUNK
    _dialect = wire.NAME
    _reads_details = True
    _root_fields = staticmethod(Fields(*ROOT_FIELDS, "provider", "openrouter_metadata").values)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._reported: set[tuple[Any, ...]] = set()
        self._natives: dict[int, str] = {}  # answer -> the provider's own word for its end

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        context = self._context
        # Chat's reader keeps unknown fields under the name of the source. As a document of Chat the shared fields stay
        # Chat's.
        context.source = wire.CHAT
        try:
            return super()._frame(name, data, events)
        finally:
            context.source = wire.NAME

    def close(self) -> list[Event]:
        """The stream is over: the rest of its events, or a fault."""
        context = self._context
        context.source = wire.CHAT
        try:
            return super().close()
        finally:
            context.source = wire.NAME

    def _read_response(self, body: bytes, context: Context) -> Response:
        context.source = wire.NAME
        try:
            return read_response(body, context)
        finally:
            context.source = wire.CHAT

    def _take_roots(self, chunk: Any) -> None:
        super()._take_roots(chunk)
        if chunk.provider is not None:
            self._report((), {"provider": json_text.raw(chunk.provider)})
        self._report((), sent_fields(chunk, _METADATA))

    def _figures(self, chunk: Any, unknown: Unknown) -> Usage:
        usage_fields = sent_fields(chunk.usage, wire.USAGE_EXTRAS)
        self._report(("usage",), usage_fields)
        usage = super()._figures(chunk, unknown)
        return msgspec.structs.replace(usage, extra=wire.with_own(usage.extra, usage_fields)) if usage_fields else usage

    def _fault(self, error: dict[str, Any]) -> Fault:
        return fault_from(error, 0, {})

    def _choice(self, choice: Any, events: list[Event]) -> bool:
        if choice.native_finish_reason is not None:
            self._natives[choice.index] = choice.native_finish_reason
            self._report(
                ("choices", choice.index), {"native_finish_reason": json_text.raw(choice.native_finish_reason)}
            )
        delta = choice.delta
        if delta is None or not any(_own_fields(delta)):
            return super()._choice(choice, events)
        answer = self._answer(choice.index)
        images = listed(delta.images) if delta.images else None
        self._report(("choices", choice.index, "delta"), sent_fields(delta, wire.MESSAGE_EXTRAS))
        super()._choice(choice, events)
        for value in images or ():
            self._whole(answer, read_image(value, ("choices", choice.index, "delta", "images")), events)
        return False

    def _thought_origin(self) -> Seal | None:
        return None  # the details contain the seals

    def _detail_seal(self, answer: StreamedAnswer, detail: GrowingDetail) -> Seal | None:
        """The whole detail as a seal; or the seal of another origin that is packed in it."""
        whole = detail.whole()
        found = look(whole)
        slot = None if found is None else found.data if found.type == ENCRYPTED else found.signature
        packed = packed_seals.packed_seal_in(slot) if slot else None
        # The client returns a seal of another upstream. It must reach that upstream unchanged.
        if packed is not None and packed.dialect != wire.NAME:
            return packed
        if found is not None and has_no_proof(found):
            return None
        return Seal(wire.NAME, json_text.text(whole), detail.first.type)

    def _whole_detail(self, value: Raw, at: Path) -> Part | None:
        return read_detail(value, at)[0]

    def _odd_detail(self, answer: StreamedAnswer, value: Raw, at: Path, events: list[Event]) -> None:
        for use in read_hosted(value, at):
            self._whole(answer, use, events)

    def _odd_field(self, at: Path, fields: dict[str, Raw]) -> None:
        self._report(at, fields)

    def _whole(self, answer: StreamedAnswer, part: Any, events: list[Event]) -> None:
        """Add a part that comes in one piece. It ends an open call."""
        self._end(answer, events)
        self._begin(answer, "whole", part, events)
        self._end(answer, events)

    def _put_aside(self, at: Path, fields: dict[str, Raw]) -> None:
        wire.report(self._context, at, fields)

    def _finish(self, events: list[Event]) -> None:
        super()._finish(events)
        for place, event in enumerate(events):
            if type(event) is Finish:
                word = self._answers[event.answer].word
                if was_cut(word, self._natives.get(event.answer)):
                    events[place] = msgspec.structs.replace(event, stop=cut_stop(event.stop))

    def _report(self, at: Path, fields: dict[str, Raw] | None) -> None:
        """Report each of this dialect's own fields once, because a stream repeats it in every chunk."""
        fresh = {
            name: value
            for name, value in (fields or {}).items()
            if (at, name) not in self._reported and bytes(value) not in EMPTY
        }
        if fresh:
            self._reported.update([(at, name) for name in fresh])
            wire.report(self._context, at, fresh)


_own_fields = wire.MESSAGE_OWN.values
_METADATA = Fields("openrouter_metadata")
