"""Writes OpenRouter streams: Chat's chunks, with each thought in `reasoning` and in `reasoning_details`."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Media, Opaque, Reasoning, Seal, ToolCall, is_stored_elsewhere
from ...canon.response import Stop
from ...codec import answer_service_tiers, json_text, packed_seals
from ...codec.failure_sentence_in_answer import cut_short
from ...codec.repeated_frame_interface import FrameTemplate
from ...context import Context
from ..openai_chat import stream_writer as chat
from ..openai_chat.reasoning_details import TEXT
from ..openai_chat.response import write_usage
from . import wire
from .faults import error_object
from .reasoning_details import detail_id, new_detail, shown_id, write_image
from .response import failed, homed_usage, written_stop

_END = b"]}\n\n"


class _Thought:
    """An open thought: the index of its detail, whether it has text, and the text that is held back."""

    __slots__ = ("answer", "has_text", "index", "pieces", "seal")

    def __init__(self, answer: int, index: int, seal: Seal | None) -> None:
        self.answer = answer
        self.seal = seal
        self.index = index
        self.has_text = False
        self.pieces: list[str] = []


class StreamWriter(chat.StreamWriter):
    """Takes events and returns chunks."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._usage_wanted = True  # always sent; `stream_options` has no effect (openrouter 1.3.84)
        self._numbers: dict[int, int] = {}  # answer -> details so far
        self._thoughts: dict[int, _Thought] = {}
        self._wrapped: set[int] = set()  # custom calls
        self._is_own = context.source == wire.NAME
        self._native = ""  # the upstream's own stop word

    def send(self, event: Event) -> bytes:
        """The bytes of one event."""
        if type(event) is PartDelta and event.index in self._thoughts:
            return self._more(self._thoughts[event.index], event)
        return super().send(event)

    def template(self, index: int) -> FrameTemplate | None:
        """The template for more text of an open part."""
        # A thought is written twice in each chunk, and the arguments of a wrapped call are text inside of text. A
        # template holds one value, unchanged.
        return None if index in self._thoughts or index in self._wrapped else super().template(index)

    def _chunk(self, answer: int, delta: bytes, finish: bytes = b"null") -> bytes:
        if self._native and finish != b"null":
            finish += b',"native_finish_reason":' + json_text.encode(self._native)
        return super()._chunk(answer, delta, finish)

    def _start(self, event: Start) -> bytes:
        super()._start(event)
        # Chat's writer adds a null usage to each chunk; OpenRouter's chunks have usage only at the end (recorded 2026).
        self._tail = _END
        self._calls.clear()
        return self._opened(0)

    def _part_start(self, event: PartStart) -> bytes:
        part, answer = event.part, event.answer
        if type(part) is Reasoning:
            self._thoughts[event.index] = thought = _Thought(answer, self._next(answer), part.seal)
            return self._opened(answer) + self._more(thought, PartDelta(event.index, part.text))
        if type(part) is Media and part.kind == "image" and (part.data or part.url):
            # Images of an answer are in `images`, beside the text, in a stream too (openrouter 1.3.84, 2026-11).
            return self._opened(answer) + self._chunk(answer, _line({"images": [write_image(part, self._context)]}))
        if isinstance(part, Opaque) and part.dialect == wire.NAME:
            if is_stored_elsewhere(part):
                return b""
            name = "images" if "images" in part.at else "reasoning_details"
            if name == "reasoning_details":
                self._next(answer)  # it takes a place in the list, as in a whole answer
            return self._opened(answer) + self._chunk(answer, _line({name: [part.value]}))
        out = b""
        if type(part) is ToolCall:
            if part.seal is not None:
                detail = new_detail("", part.seal, self._next(answer), detail_id(part.id))
                out = self._opened(answer) + self._chunk(answer, _line({"reasoning_details": [detail]}))
            if part.custom:
                self._context.lose("call.custom.wrapped", part.at)
                self._wrapped.add(event.index)
            part = msgspec.structs.replace(part, seal=None, custom=False)
            event = PartStart(event.index, part, answer)
        out += super()._part_start(event)
        if event.index in self._wrapped:
            # There are no custom tools, so a custom call is a function call with one member `input` (openrouter
            # 1.3.84).
            out += super()._delta(PartDelta(event.index, '{"input":"'))
        return out

    def _delta(self, event: PartDelta) -> bytes:
        if event.index in self._wrapped and event.text:
            event = PartDelta(event.index, json_text.encode(event.text)[1:-1].decode(), event.seal)
        if event.seal is not None and isinstance(self._parts[event.index][0], ToolCall):
            part, answer = self._parts[event.index]
            detail = new_detail(
                "", event.seal, self._next(answer), detail_id(part.id) if type(part) is ToolCall else ""
            )
            out = self._chunk(answer, _line({"reasoning_details": [detail]}))
            return out + super()._delta(PartDelta(event.index, event.text, None, event.citations))
        return super()._delta(event)

    def _part_end(self, event: PartEnd) -> bytes:
        index = event.index
        thought = self._thoughts.pop(index, None)
        if thought is not None:
            return self._sealed(thought)
        if index in self._wrapped:
            self._wrapped.discard(index)
            return super()._delta(PartDelta(index, '"}')) + super()._part_end(event)
        return super()._part_end(event)

    def _next(self, answer: int) -> int:
        number = self._numbers.get(answer, 0)
        self._numbers[answer] = number + 1
        return number

    def _more(self, thought: _Thought, event: PartDelta) -> bytes:
        """More text of a thought. Its seal is written last, in the order of all upstreams."""
        if event.seal is not None:
            thought.seal = event.seal
        if not event.text:
            return b""
        thought.has_text = True
        if self._is_own or (thought.seal is not None and thought.seal.dialect == wire.NAME):
            # The seal contains the whole detail, so the text waits for it.
            thought.pieces.append(event.text)
            return b""
        detail = {"type": TEXT, "text": event.text, **_place(thought)}
        return self._chunk(thought.answer, _line({"reasoning": event.text, "reasoning_details": [detail]}))

    def _sealed(self, thought: _Thought) -> bytes:
        """The end of a thought."""
        delta: dict[str, Any] = {"reasoning": "".join(thought.pieces)} if thought.pieces else {}
        if thought.seal is not None:
            delta["reasoning_details"] = [_proof(thought.seal, thought)]
        return self._chunk(thought.answer, _line(delta)) if delta else b""

    def _finish(self, event: Finish) -> bytes:
        usage = homed_usage(event.usage, self._context)
        stop = cut_short(event.stop, self._context, event.answer) if event.answer in self._cut else event.stop
        words = failed(stop)
        if wire.own(stop.extra):
            stop = Stop(stop.reason)  # without the provider's own word
        # The ends of other choices come first, and have no word of the provider.
        self._native = ""
        out = self._opened(event.answer) + (self._end_others(event.answer) if event.last else b"")
        stop, self._native = written_stop(stop, self._context, event.answer)
        out += self._failed(words, event.answer)
        out += super()._finish(Finish(stop, None, event.answer, False, event.extra))
        # Usage is in the last chunk with choices (recorded 2026).
        if usage is not None and event.last:
            figures = _line(write_usage(usage, self._context))
            tier = answer_service_tiers.write(usage, answer_service_tiers.OPENAI, self._context)
            end = b"}\n\n" if tier is None else b',"service_tier":"%b"}\n\n' % tier.encode()
            out = out[: -len(_END)] + b'],"usage":' + figures + end
        return out + b"data: [DONE]\n\n" if event.last else out

    def _fault(self, fault: Fault) -> bytes:
        # An error in a stream is in a chunk with the finish reason error; no [DONE] follows (OpenRouter's docs,
        # 2026-11).
        head = self._head
        if not head:
            self._start(Start("gen-0", self._context.model))
            head = self._head
        choice = b'{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"error"}'
        return head + choice + b'],"error":' + _line(error_object(fault)) + b"}\n\n"


def _place(thought: _Thought) -> dict[str, Any]:
    return {"id": shown_id(thought.index), "format": "unknown", "index": thought.index}


def _proof(seal: Seal, thought: _Thought) -> Any:
    """The detail for a seal: the seal itself if it is of this dialect, else a delta with the packed seal."""
    if seal.dialect == wire.NAME and json_text.is_object(seal.data):
        if not thought.has_text or thought.pieces:
            return Raw(seal.data)
        # The text is already written: write the rest under the same index.
        fields = {name: value for name, value in json_text.fields(seal.data).items() if name not in ("text", "summary")}
        return {**fields, "type": TEXT, "index": thought.index}
    if not thought.has_text:
        return new_detail("", seal, thought.index)
    delta = {"type": TEXT, "signature": packed_seals.pack(seal), **_place(thought)}
    return {**delta, "text": "".join(thought.pieces)} if thought.pieces else delta


def _line(value: Any) -> bytes:
    """JSON on one line, because a line end in carried JSON would end the data of the frame."""
    return json_text.encode(value).replace(b"\r", b" ").replace(b"\n", b" ")
