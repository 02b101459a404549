"""Reads Ollama streams: lines to events. (`stream_writer.py` writes them.)

Each line is one JSON object (application/x-ndjson). Texts and thoughts are increments and end when another part begins.
Calls come whole, several on one line or on several lines. The line with `done: true` ends the answer; a line with
`error` ends the stream with a fault (server sources, 2026-08).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Part, Path, Reasoning, Text, ToolCall
from ...codec import json_text, ndjson_splitter
from ...codec.dialect_extras import sent_fields
from ...codec.failure_sentence_in_answer import events_of_whole_answer
from ...codec.fault_kinds_statuses_and_error_object import broken_off
from ...codec.late_id_and_model_losses import report_model
from ...codec.sse_splitter import MAX_STRAY
from ...codec.surrogates.documents import decodable_frame
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .call_pairing import Ids, seed
from .faults import fault_from
from .media import read_image
from .message_content import read_call
from .response import MESSAGE, read_created, read_response, read_stop, read_usage
from .stream_writer import StreamWriter

__all__ = ["StreamReader", "StreamWriter"]

_strict = msgspec.json.Decoder(wire.Answer).decode


class StreamReader:
    """Takes lines and returns events."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lines = ndjson_splitter.NdjsonSplitter(wire.NAME)
        self._ids = Ids(context)
        self._next = 0
        self._kind = ""  # text or thought, or "" when no part is open
        self._seen: list[Part] = []
        self._stray: list[bytes] = []  # lines that are not a stream: an answer on several lines, a web page
        self._started = False
        self._model = ""
        self._over = False
        self._ended = False  # ended by its last line, not by a fault
        self._noted: set[tuple[Path, str]] = set()

    def feed(self, chunk: bytes) -> list[Event]:
        """The events of a chunk of bytes."""
        events: list[Event] = []
        if self._over and not self._ended:
            return events
        for line in self._lines.feed(chunk):
            self._take(line, events)
        if self._lines.broken is not None:
            self._fault(Fault("upstream_bad", f"the upstream sent a broken frame: {self._lines.broken}", 502), events)
        return events

    def close(self) -> list[Event]:
        """The stream is over: the rest of its events, or a fault."""
        events: list[Event] = []
        if not self._over:
            for line in self._lines.close():
                self._take(line, events)
        if not self._over:
            stray = b"\n".join(self._stray)
            found = events_of_whole_answer(stray, read_response, self._context)
            self._over = True
            events.extend(found or [broken_off(stray, lambda error: fault_from({"error": error}, 0, {}))])
        return events

    def _fault(self, fault: Fault, events: list[Event]) -> None:
        if not self._over:
            self._over = True
            events.append(fault)

    def _take(self, line: bytes, events: list[Event]) -> None:
        if self._over:
            if self._ended and line.strip():
                self._context.lose("event.dropped", MESSAGE, "a line after the last line of the answer")
            return
        if self._stray:
            self._take_odd(line, events)
            return
        try:
            answer = _strict(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            self._take_odd(line, events)
            return
        self._whole(answer, {}, events)

    def _take_odd(self, line: bytes, events: list[Event]) -> None:
        """Read a line with an error, with unknown fields, or a broken line."""
        line = decodable_frame(line, self._context)
        # Before the first line of an answer the bytes may be a whole answer over several lines, or a proxy's web page.
        # Both are read at the end.
        if not self._started and (self._stray or not json_text.is_whole(line)):
            if sum(map(len, self._stray)) < MAX_STRAY:
                self._stray.append(line)
            return
        try:
            fields = json_text.fields(line)
            # The HTTP status stays 200 when a stream fails: the line alone shows it (server sources, 2026-08).
            if "error" in fields and bytes(fields["error"]) not in (b"null", b'""'):
                self._fault(fault_from({name: json_text.plain(value) for name, value in fields.items()}, 0, {}), events)
                return
            if self._started and "message" not in fields and "done" in fields:
                # A last line without a message is accepted: the message has no content there.
                line = json_text.encode(fields | {"message": json_text.EMPTY_OBJECT})
            answer, unknown, _ = wire.ANSWER.admit(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, WireError) as error:
            if not self._started:
                self._stray.append(line)
                return
            self._fault(Fault("upstream_bad", f"the upstream sent a broken frame: {error}", 502), events)
            return
        self._whole(answer, unknown, events)

    def _whole(self, answer: wire.Answer, unknown: Unknown, events: list[Event]) -> None:
        """Read a line with any fields."""
        if not self._started:
            self._started = True
            self._ids = Ids(self._context, seed(answer.created_at, self._context))
            created, extra = read_created(answer.created_at, None, self._context)
            self._model = answer.model or ""
            events.append(Start("", self._model, created, None, extra))
        elif answer.model != self._model:
            report_model(self._context, ("model",), self._model, answer.model)
        message = answer.message
        if message.thinking:
            self._words("thought", message.thinking, events)
        if message.content:
            self._words("text", message.content, events)
        for i, image in enumerate(message.images or ()):
            self._part(read_image(image, (*MESSAGE, "images", i)), events)
        # Each call comes whole, and every call is a new one, even with an index seen before (server sources, 2026-08).
        for i, call in enumerate(message.tool_calls or ()):
            at: Path = (*MESSAGE, "tool_calls", i)
            self._part(read_call(call, at, self._ids, unknown), events)
        for at, fields in unknown.items():
            self._note(at, fields)
        if answer.logprobs and self._score(answer.logprobs, events):
            answer.logprobs = wire.NONE
        # The last line may hold calls too, so it ends the answer only after its parts are read.
        if answer.done:
            self._finish(answer, events)
        elif answer.logprobs:
            self._note((), {"logprobs": answer.logprobs})

    def _score(self, scores: Raw, events: list[Event]) -> bool:
        """Add the log probabilities of this line's text; false if they cannot be read or have no text."""
        from ...codec import logprobs  # late: few streams have them

        found = logprobs.read(scores, "tokens") if self._context.scored and self._kind == "text" else None
        if found:
            events.append(PartDelta(self._next - 1, "", None, (), tuple(found)))
        return found is not None

    def _words(self, kind: str, text: str, events: list[Event]) -> None:
        if self._kind != kind:
            self._end(events)
            self._open(kind, Reasoning() if kind == "thought" else Text(""), events)
        events.append(PartDelta(self._next - 1, text))

    def _part(self, part: Part, events: list[Event]) -> None:
        """Add a part that is complete at once."""
        self._end(events)
        empty = msgspec.structs.replace(part, arguments="") if type(part) is ToolCall else part
        self._open("whole", empty, events)
        if type(part) is ToolCall and part.arguments:
            events.append(PartDelta(self._next - 1, part.arguments))
        self._end(events)

    def _open(self, kind: str, part: Part, events: list[Event]) -> None:
        self._kind = kind
        self._seen.append(part)
        events.append(PartStart(self._next, part))
        self._next += 1

    def _end(self, events: list[Event]) -> None:
        if self._kind:
            events.append(PartEnd(self._next - 1))
            self._kind = ""

    def _finish(self, answer: wire.Answer, events: list[Event]) -> None:
        self._over = self._ended = True
        self._end(events)
        stop = read_stop(answer.done_reason, self._seen, self._context)
        fields: dict[str, Raw] | None = sent_fields(answer, wire.ANSWER_EXTRAS)
        if fields:
            self._note((), fields)
        events.append(Finish(stop, read_usage(answer), extra={wire.NAME: fields} if fields else None))

    def _note(self, at: Path, fields: dict[str, Any]) -> None:
        """Keep each field once, because a stream repeats it in every line."""
        fresh = {name: value for name, value in fields.items() if (at, name) not in self._noted}
        if fresh:
            self._noted.update([(at, name) for name in fresh])
            self._context.keep(at, fresh)
