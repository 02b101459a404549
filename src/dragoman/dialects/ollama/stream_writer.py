"""Writes Ollama streams: events to lines.

Texts and thoughts are written at once. A call is written whole at its end, because the dialect has no argument deltas
(server sources, 2026-08). The last line has `done: true`, the reason and the usage. After a fault the last line has
`error` instead.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall
from ...codec import json_text
from ...codec.failure_sentence_in_answer import (
    GAP,
    failure,
    leave_out_broken_call,
    stop_without_call,
    unusable_call_fault,
)
from ...codec.media import missing_media_text
from ...codec.ndjson_splitter import one_line
from ...codec.repeated_frame_interface import FrameTemplate
from ...codec.surrogates.documents import sound_arguments
from ...context import Context
from . import wire
from .faults import error_line
from .media import write_image
from .message_content import write_call
from .original_values import put_back
from .response import head, write_end

_AFTER = b'},"done":false}\n'


class StreamWriter:
    """Takes events and returns lines."""

    fault: Fault | None = None
    """The fault that ended the stream here."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._fields: dict[str, Any] = head("", "", None, None, context)
        self._message = b""
        self._open: dict[int, bytes] = {}  # part -> the bytes before its text in every line
        self._parts: dict[int, Part] = {}
        self._arguments: dict[int, list[str]] = {}  # call -> its arguments so far
        self._dropped: set[int] = set()  # parts of the second and later answers
        self._first: int | None = None  # the written answer: the lowest number
        self._early: list[Event] = []  # events of other answers, until the first one begins
        self._calls = 0
        self._cut = False  # a call is incomplete
        self._has_text = False  # whether there is a text
        self._ended: Finish | None = None  # the Finish of the first answer
        self._over = False
        self._extra: Extra | None = None

    def send(self, event: Event) -> bytes:
        """The bytes of one event."""
        if type(event) is PartDelta:
            return self._delta(event)
        if type(event) is PartStart:
            return self._part_start(event)
        if type(event) is PartEnd:
            if self._early and self._first is None:
                self._early.append(event)
                return b""
            return self._part_end(event)
        if type(event) is Start:
            return self._start(event)
        if type(event) is Finish:
            return self._finish(event)
        self._over = True
        return error_line(event)

    def template(self, index: int) -> FrameTemplate | None:
        """The template for more text of an open part."""
        before = self._open.get(index)
        return None if before is None else FrameTemplate(before, _AFTER)

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Nothing to count for text that was written with the template."""

    def close(self) -> bytes:
        """Nothing: the end is written with the last Finish."""
        return b""

    def _start(self, event: Start) -> bytes:
        self._fields = head(event.id, event.model, event.created, event.extra, self._context)
        self._extra = event.extra
        return b""

    def _line_of(self, message: dict[str, Any]) -> bytes:
        """A line before the last one, with a whole message."""
        return one_line(json_text.encode({**self._fields, "message": message, "done": False})) + b"\n"

    def _before(self, more: bytes) -> bytes:
        """The bytes before the text in every line of a part."""
        if not self._message:
            self._message = json_text.encode(self._fields)[:-1] + b',"message":{"role":"assistant",'
        return self._message + more

    def _part_start(self, event: PartStart) -> bytes:
        part = event.part
        if self._first is None:
            if event.answer:
                self._early.append(event)
                return b""
            self._first = 0
            self._drop_early()
        elif event.answer != self._first:
            self._context.lose(
                "answer.dropped", self._context.answer_paths.answer(event.answer), "only the first answer is written"
            )
            self._dropped.add(event.index)
            return b""
        if part.seal is not None and part.seal.data and type(part) is not ToolCall:
            self._context.lose("seal.dropped", part.at)
        self._parts[event.index] = part
        if type(part) is Text:
            if part.refusal:
                self._context.lose("refusal.as_text", part.at)
            if part.citations:
                self._context.lose("citation.dropped", part.at)
            self._has_text = True
            self._open[event.index] = self._before(b'"content":')
        elif type(part) is Reasoning:
            # `content` is a member of every message, empty beside thinking (server sources, 2026-08).
            self._open[event.index] = self._before(b'"content":"","thinking":')
        elif type(part) is ToolCall:
            self._arguments[event.index] = []
        elif type(part) is Media:
            return self._media(part)
        elif isinstance(part, Opaque) and part.dialect == wire.NAME:
            return self._line_of({"role": "assistant", "content": "", "tool_calls": [part.value]})
        else:
            self._context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else "")
        return b""

    def _drop_early(self) -> None:
        """Drop the events of other answers that came before the first answer began."""
        for event in self._early:
            if type(event) is PartStart:
                at = self._context.answer_paths.answer(event.answer)
                self._context.lose("answer.dropped", at, "only the first answer is written")
                self._dropped.add(event.index)
        self._early.clear()

    def _write_early(self) -> bytes:
        """Write the answer with the lowest number, if the answer 0 does not exist."""
        early, self._early = self._early, []
        starts = [event for event in early if type(event) is PartStart]
        self._first = min([start.answer for start in starts])
        return b"".join([self.send(event) for event in early])

    def _media(self, part: Media) -> bytes:
        image = write_image(part, self._context)
        if image is not None:
            return self._line_of({"role": "assistant", "content": "", "images": [image]})
        self._context.lose("media.dropped", part.at, part.url or part.mime or part.kind)
        return self._line_of({"role": "assistant", "content": missing_media_text(part)})

    def _delta(self, event: PartDelta) -> bytes:
        if self._early and self._first is None:
            self._early.append(event)
            return b""
        if event.index in self._dropped or event.index not in self._parts:
            return b""
        part = self._parts[event.index]
        if event.seal is not None and event.seal.data:
            self._context.lose("seal.dropped", part.at)
        if event.citations:
            self._context.lose("citation.dropped", part.at)
        if event.tokens:
            from ...codec import logprobs  # late: few streams have them

            scores = logprobs.write(list(event.tokens), "tokens", spelled=False)
            fields = {**self._fields, "message": {"role": "assistant", "content": ""}, "done": False}
            return json_text.encode({**fields, "logprobs": scores}) + b"\n"
        if not event.text:
            return b""
        if event.index in self._arguments:
            self._arguments[event.index].append(event.text)
            return b""
        before = self._open.get(event.index)
        return b"" if before is None else before + json_text.encode(event.text) + _AFTER

    def _part_end(self, event: PartEnd) -> bytes:
        part = self._parts.pop(event.index, None)
        self._open.pop(event.index, None)
        pieces = self._arguments.pop(event.index, None)
        if pieces is None or type(part) is not ToolCall:
            return b""
        arguments = part.arguments + "".join(pieces)
        if "\\u" in arguments and not part.custom:
            arguments = sound_arguments(arguments, part.at, self._context)
        call = msgspec.structs.replace(part, arguments=arguments)
        if leave_out_broken_call(call, call.arguments, self._context):
            self._cut = True
            return b""
        self._cut = event.cut or self._cut
        written = write_call(call, self._calls, self._context, request=False)
        self._calls += 1
        return self._line_of({"role": "assistant", "content": "", "tool_calls": [written]})

    def _finish(self, event: Finish) -> bytes:
        """End the stream. Only the first answer is written; the last Finish has the usage."""
        if self._over:
            return b""
        out_early = b""
        if self._first is None and event.answer and not event.last:
            self._early.append(event)
            return b""
        if self._first is None:
            if self._early and event.answer:
                out_early = self._write_early()
            else:
                self._first = event.answer
                self._drop_early()
        if event.answer == self._first:
            self._ended = event
        else:
            self._context.lose(
                "answer.dropped", self._context.answer_paths.answer(event.answer), "only the first answer is written"
            )
        if not event.last:
            return b""
        self._over = True
        ended = self._ended or event
        stop = stop_without_call(ended.stop, self._context, ended.answer) if self._cut else ended.stop
        # No done_reason states a broken call, and a line with `done` would hide that one is missing.
        if stop is not ended.stop:
            self.fault = unusable_call_fault()
            return error_line(self.fault)
        words = failure(stop, wire.NAME)
        words = GAP + words if words and self._has_text else words
        # The last line has a message too, empty unless words of a failure are left (server sources, 2026-08).
        out = {**self._fields, "message": {"role": "assistant", "content": words}}
        write_end(stop, self._calls > 0, event.usage or ended.usage, out, self._context)
        put_back(out, self._extra)
        return out_early + one_line(json_text.encode(put_back(out, ended.extra))) + b"\n"
