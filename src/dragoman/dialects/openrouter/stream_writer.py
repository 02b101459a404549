"""OpenRouter streams, written: Chat's chunks, with thoughts said twice (`reasoning` and `reasoning_details`)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, PartStart, Start
from ...canon.parts import Media, Opaque, Reasoning, Seal, ToolCall
from ...codec import jsontext, seals
from ...crossing import Crossing
from ..openai_chat import stream_writer as chat
from ..openai_chat.response import write_usage
from . import wire
from .details import TEXT, made, write_image
from .faults import error_object
from .response import homed_usage, written_stop

_END = b"]}\n\n"


class _Thought:
    """A thought that is open: the number of its detail, whether it has said anything, and what is held back."""

    __slots__ = ("answer", "held", "index", "said")

    def __init__(self, answer: int, index: int) -> None:
        self.answer = answer
        self.index = index
        self.said = False
        self.held: list[str] = []


class StreamWriter(chat.StreamWriter):
    """Events in, chunks out."""

    def __init__(self, crossing: Crossing) -> None:
        super().__init__(crossing)
        self._usage_wanted = True  # always sent, whatever the request says
        self._numbers: dict[int, int] = {}  # answer -> details so far
        self._thoughts: dict[int, _Thought] = {}
        self._wrapped: set[int] = set()  # custom calls
        self._mine = crossing.source == wire.NAME

    def send(self, event: Event) -> bytes:
        if isinstance(event, PartDelta) and event.index in self._thoughts:
            return self._more(self._thoughts[event.index], event)
        return super().send(event)

    def _start(self, event: Start) -> bytes:
        super()._start(event)
        self._tail = _END
        self._calls.clear()
        return self._opened(0)

    def _part_start(self, event: PartStart) -> bytes:
        part, answer = event.part, event.answer
        if isinstance(part, Reasoning):
            self._thoughts[event.index] = thought = _Thought(answer, self._next(answer))
            out = self._opened(answer)
            return out + self._more(thought, PartDelta(event.index, part.text, part.seal))
        if isinstance(part, Media) and part.kind == "image" and (part.data or part.url):
            return self._opened(answer) + self._chunk(answer, _line({"images": [write_image(part)]}))
        if isinstance(part, Opaque) and part.dialect == wire.NAME:
            name = "images" if part.kind == "images" else "reasoning_details"
            return self._opened(answer) + self._chunk(answer, _line({name: [part.value]}))
        out = b""
        if isinstance(part, ToolCall):
            if part.seal is not None:
                detail = made("", part.seal, self._next(answer), part.id)
                out = self._opened(answer) + self._chunk(answer, _line({"reasoning_details": [detail]}))
            if part.custom:
                self._crossing.lose("call.custom.wrapped", part.at)
                self._wrapped.add(event.index)
            part = msgspec.structs.replace(part, seal=None, custom=False)
            event = PartStart(event.index, part, answer)
        out += super()._part_start(event)
        if event.index in self._wrapped:
            out += super()._delta(PartDelta(event.index, '{"input":"'))
        return out

    def _delta(self, event: PartDelta) -> bytes:
        if event.index in self._wrapped and event.text:
            event = PartDelta(event.index, jsontext.encode(event.text)[1:-1].decode(), event.seal)
        if event.seal is not None and isinstance(self._parts[event.index][0], ToolCall):
            part, answer = self._parts[event.index]
            detail = made("", event.seal, self._next(answer), part.id if isinstance(part, ToolCall) else "")
            out = self._chunk(answer, _line({"reasoning_details": [detail]}))
            return out + super()._delta(PartDelta(event.index, event.text, None, event.citations))
        return super()._delta(event)

    def _part_end(self, index: int) -> bytes:
        thought = self._thoughts.pop(index, None)
        if thought is not None and thought.held:
            return self._chunk(thought.answer, _line({"reasoning": "".join(thought.held)}))
        if index in self._wrapped:
            self._wrapped.discard(index)
            return super()._delta(PartDelta(index, '"}')) + super()._part_end(index)
        return super()._part_end(index)

    def _next(self, answer: int) -> int:
        number = self._numbers.get(answer, 0)
        self._numbers[answer] = number + 1
        return number

    def _more(self, thought: _Thought, event: PartDelta) -> bytes:
        """More of a thought, its seal with the rest of the detail, or both."""
        out = b""
        if self._mine:
            # The detail it belongs to is known with the seal: it is written whole.
            thought.held.append(event.text)
            if event.seal is not None:
                said = "".join(thought.held)
                thought.held.clear()
                delta = {"reasoning": said} if said else {}
                out = self._chunk(thought.answer, _line({**delta, "reasoning_details": [_own(event.seal)]}))
            return out
        if event.text:
            thought.said = True
            detail: dict[str, Any] = {"type": TEXT, "text": event.text, "format": "unknown", "index": thought.index}
            out = self._chunk(thought.answer, _line({"reasoning": event.text, "reasoning_details": [detail]}))
        if event.seal is not None:
            out += self._chunk(thought.answer, _line({"reasoning_details": [_proof(event.seal, thought)]}))
        return out

    def _finish(self, event: Finish) -> bytes:
        usage = homed_usage(event.usage)
        stop = written_stop(event.stop, self._crossing)
        out = super()._finish(Finish(stop, None, event.answer, False, event.extra))
        if usage is not None and event.last:
            figures = _line(write_usage(usage, self._crossing))
            out = out[: -len(_END)] + b'],"usage":' + figures + b"}\n\n"
        return out + b"data: [DONE]\n\n" if event.last else out

    def _fault(self, fault: Fault) -> bytes:
        head = self._head
        if not head:
            self._start(Start("gen-0", self._crossing.model))
            head = self._head
        choice = b'{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"error"}'
        return head + choice + b'],"error":' + _line(error_object(fault)) + b"}\n\n"


def _own(seal: Seal) -> Any:
    """The detail that a seal of this dialect is, or that another's is packed in."""
    if seal.dialect == wire.NAME and jsontext.is_object(seal.data):
        return Raw(seal.data)
    return made("", seal, 0)


def _proof(seal: Seal, thought: _Thought) -> Any:
    """The delta that brings the seal of another's thought."""
    if not thought.said:
        return made("", seal, thought.index)
    return {"type": TEXT, "signature": seals.pack(seal), "format": "unknown", "index": thought.index}


def _line(value: Any) -> bytes:
    """JSON on one line: a line end in carried JSON would end the frame's data."""
    return jsontext.encode(value).replace(b"\r", b" ").replace(b"\n", b" ")
