"""Writes Messages streams: canon events to wire events, in the full grammar (docs "Streaming messages", 2026-10).

Grammar: message_start, (content_block_start, content_block_delta*, content_block_stop)*, message_delta, message_stop;
or an error event as the last one.
"""

from __future__ import annotations

from typing import Any

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall
from ...canon.response import Stop, Usage
from ...codec import answer_ids, json_text
from ...codec.call_ids import hashed_id
from ...codec.call_ids import send as send_id
from ...codec.dialect_extras import restore
from ...codec.failure_sentence_in_answer import cut_short, failure, report_broken_arguments, unusable_call_fault
from ...codec.media import missing_media_text
from ...codec.repeated_frame_interface import FrameTemplate
from ...codec.surrogates.documents import has_lone_surrogate
from ...context import Context
from . import wire
from .faults import error_event
from .message_content_reader import own_fields
from .message_content_writer import DIRECT, BlockWriter, thought
from .response import counted, write_stop, write_usage
from .tools import IDS

_DELTA_END = b"}}\n\n"
_STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
_OWN_TEXT, _TEXT = b'{"type":"text","text":""}', b'{"type":"text","text":"","citations":null}'
_THOUGHT = b'{"type":"thinking","thinking":"","signature":""}'
"""The empty blocks with which texts and thoughts begin. For other dialects a text has every field of its schema."""
_NULL_FIELDS = {"stop_details": None, "container": None}
"""Fields that the schemas of a message and of its end require, and that no other dialect has."""


class StreamWriter:
    """Takes canon events and returns wire events. A text or thinking block begins with its first text, so that no block
    is empty.
    """

    fault: Fault | None = None
    """The fault with which this writer ended the stream."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._blocks = BlockWriter(context)
        self._own = self._blocks.own  # fields are not added to an answer of this dialect
        self._number = 0
        self._index = -1  # index of the open part
        self._part: Part | None = None
        self._head = b""  # the bytes before the text of each delta; empty while no block is open
        self._mode = ""  # for a call that is held: custom (wrapped), raw (no JSON object)
        self._pieces: list[str] | None = None  # pieces of a call's arguments
        self._seal: Seal | None = None
        self._cited: list[Citation] = []
        self._ids: set[str] = set()
        self._called = False
        self._refused = False
        self._cut = False  # a call breaks off
        self._flawed = ""  # a sent call whose arguments are not a JSON object; its block is still open
        self._usage: Usage | None = None
        self._stop: Stop | None = None
        self._started = False
        self._ended = False

    def send(self, event: Event) -> bytes:
        """The bytes of one event."""
        if type(event) is PartDelta:
            return self._delta(event)
        if self._ended:
            return b""
        if type(event) is PartStart:
            return self._part_start(event)
        if type(event) is PartEnd:
            return self._part_end(event)
        if type(event) is Start:
            return self._start(event)
        if type(event) is Finish:
            return self._finish(event)
        self._ended = True
        self._head = b""
        # A fault in a stream is an error event with the body of an error answer (docs "Errors", 2026-10).
        error = json_text.encode({**error_event(event), "request_id": event.request_id or None})
        return b"event: error\ndata: %b\n\n" % error

    def template(self, index: int) -> FrameTemplate | None:
        """The template for more text of the open block."""
        return FrameTemplate(self._head, _DELTA_END) if index == self._index and self._head else None

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Take note of text that was written with the template."""
        if self._pieces is not None:
            self._pieces += texts

    def close(self) -> bytes:
        """The end of the stream: an error event if the answer is not complete."""
        if not self._started or self._ended:
            return b""
        return self.send(Fault("upstream_bad", "the stream ended before the answer did", 502))

    def _start(self, event: Start) -> bytes:
        context = self._context
        self._started = True
        self._usage = event.usage
        message: dict[str, Any] = {
            "id": answer_ids.for_stream(event.id, event.model, event.created, answer_ids.MESSAGES, context),
            "type": "message",
            "role": "assistant",
            "model": context.model or event.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(event.usage or Usage(), context),
        }
        # stop_reason is null in message_start, and usage holds the input tokens (docs "Streaming messages", 2026-10).
        restore(message, event.extra, wire.NAME)
        if not self._own:
            message |= _NULL_FIELDS
        return b'event: message_start\ndata: {"type":"message_start","message":%b}\n\n' % json_text.encode(message)

    def _part_start(self, event: PartStart) -> bytes:
        # A message has one answer: there is no `n` (anthropic 2.8.0, 2026-11).
        if event.answer:
            self._context.lose(
                "answer.dropped", self._context.answer_paths.answer(event.answer), "only the first answer is written"
            )
            return b""
        # Blocks do not overlap, and their indexes count from 0 (docs "Streaming messages", 2026-10).
        out = b"" if self._part is None else self._part_end(PartEnd(self._index))
        part = event.part
        if self._flawed:
            # Arguments may break off only at the end of an answer.
            why = f"the arguments of {self._flawed} are not a JSON object, and the answer goes on"
            return out + self.send(Fault("upstream_bad", why, 502))
        self._index, self._part, self._head, self._mode = event.index, part, b"", ""
        self._pieces, self._seal, self._cited = None, part.seal, []
        if type(part) is ToolCall:
            return out + self._call_start(part)
        if part.seal is not None and type(part) is not Reasoning:
            self._context.lose("seal.dropped", part.at)
        if type(part) is Text:
            if part.refusal:
                self._refused = True
                self._context.lose("refusal.as_text", part.at)
        # Answers have no media blocks (anthropic 2.8.0, 2026-11).
        elif type(part) is Media:
            self._context.lose("media.dropped", part.at, part.mime or part.kind)
            out += self._open(b"text", missing_media_text(part)) + self._close()
            self._part = None
        elif isinstance(part, Opaque):
            if part.dialect == wire.NAME:
                return out + self._opaque(part)
            self._context.lose("hosted.dropped", part.at, part.kind)
        return out

    def _call_start(self, call: ToolCall) -> bytes:
        context = self._context
        self._called = True
        self._pieces = []
        if call.seal is not None:
            context.lose("seal.dropped", call.at)
        call_id = send_id(call.id, IDS, context, call.at)
        if call_id in self._ids:
            context.lose("call.id.rewritten", call.at, "the same id is in an earlier call")
            # Ids of tool_use blocks must be unique in the next request.
            call_id = hashed_id(f"{call_id}\x1f{len(self._ids)}")
        self._ids.add(call_id)
        name = self._blocks.names.send(call.name, call.namespace, context, call.at)
        block: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        if not self._own:
            block["caller"] = DIRECT
        out = self._block_start(json_text.encode(restore(block, call.extra, wire.NAME)))
        if call.custom:
            context.lose("call.custom.wrapped", call.at)
            self._mode = "custom"
            return out + self._input('{"input":"')
        return out

    def _delta(self, event: PartDelta) -> bytes:
        """Write more of an open block."""
        part = self._part
        if event.index != self._index or self._ended or part is None:
            return b""
        text = event.text
        if type(part) is Reasoning:
            self._seal = event.seal or self._seal
            if not text:
                return b""
            return self._more(text) if self._head else self._open(b"thinking", text)
        if event.seal is not None:
            self._context.lose("seal.dropped", part.at)
        if type(part) is ToolCall:
            return self._arguments(text)
        if type(part) is not Text:
            return b""
        self._cited.extend(event.citations)
        out = b""
        if text and not self._head:
            # First the block start, then citations that came before the first text, then the text.
            out = self._open(b"text")
        if self._head and self._cited:
            out += self._citations(part)
        return out + self._more(text) if text else out

    def _citations(self, part: Text) -> bytes:
        blocks = self._blocks.citations(tuple(self._cited), part.at)
        self._cited = []
        head = self._delta_head(b"citations_delta", b"citation")
        return b"".join([head + json_text.encode(block) + _DELTA_END for block in blocks])

    def _arguments(self, text: str) -> bytes:
        """Write arguments of a call. They are held until they are known to be a JSON object."""
        if self._mode == "custom":
            return self._input(json_text.encode(text)[1:-1].decode())
        pieces = self._pieces
        if pieces is None:
            return b""
        pieces.append(text)
        if self._head:
            return self._more(text)
        if self._mode == "raw" or not text.strip():
            return b""
        joined = "".join(pieces)
        if not joined.lstrip().startswith("{"):
            self._mode = "raw"
            return b""
        self._head = self._delta_head(b"input_json_delta", b"partial_json")
        return self._more(joined)

    def _part_end(self, event: PartEnd) -> bytes:
        part = self._part
        if event.index != self._index or part is None:
            return b""
        out = b""
        if type(part) is ToolCall:
            self._cut = self._cut or event.cut
            out = self._call_end(part)
            out += b"" if self._flawed else self._close()
        elif type(part) is Reasoning:
            out = self._thought_end()
        elif self._head:
            out = self._close()
        elif self._cited:
            self._context.lose("citation.dropped", part.at)
        self._index, self._part, self._head = -1, None, b""
        return out

    def _call_end(self, call: ToolCall) -> bytes:
        if self._mode == "custom":
            return self._input('"}')
        arguments = "".join(self._pieces or ())
        self._cut = report_broken_arguments(call, arguments, self._context) or self._cut
        if json_text.object_raw(arguments) is not None or has_lone_surrogate(arguments):
            return b""
        if self._mode != "raw":
            self._cut, self._flawed = True, call.name or call.id  # too late to wrap them
            return b""
        self._context.lose("call.truncated", call.at, f"the call of {call.name}: its arguments are not a JSON object")
        # The block is open. Without input the client would run it as a complete call.
        self._flawed, self.fault = call.name or call.id, unusable_call_fault()
        return self.send(self.fault)

    def _thought_end(self) -> bytes:
        if not self._head and self._seal is None:
            return b""
        signature, kind = self._blocks.signature(self._seal)
        # redacted_thinking has no deltas (docs "Streaming messages", 2026-10).
        if kind == "redacted" and not self._head:
            return self._block_start(json_text.encode(thought("", signature, kind))) + self._close()
        out = b"" if self._head else self._open(b"thinking")
        # A thinking block ends with exactly one signature_delta (docs "Streaming messages", 2026-10).
        signed = self._delta_head(b"signature_delta", b"signature") + json_text.encode(signature) + _DELTA_END
        return out + signed + self._close()

    def _opaque(self, part: Opaque) -> bytes:
        """Write a block of hosted tools: calls with their input in a delta, all others whole."""
        fields: dict[str, Any] = dict(json_text.fields(part.value))
        # Hosted calls stream their input like tool_use (docs "Streaming messages", 2026-10).
        if part.kind in ("server_tool_use", "mcp_tool_use") and "input" in fields:
            arguments = json_text.text(fields["input"])
            fields["input"] = {}
            out = self._block_start(json_text.encode(fields))
            return out + self._input(arguments) + self._close()
        if part.kind == "compaction":
            delta: dict[str, Any] = {"type": "compaction_delta"}
            for name in ("content", "encrypted_content"):
                if name in fields:
                    delta[name] = fields.pop(name)
            begun = self._block_start(json_text.encode({**fields, "content": None}))
            more = b'"index":%d,"delta":%b' % (self._number, json_text.encode(delta))
            return begun + _framed(b"content_block_delta", more) + self._close()
        return self._block_start(json_text.encode(fields)) + self._close()

    def _open(self, kind: bytes, text: str = "") -> bytes:
        """Begin a text or thinking block, with its first text."""
        out = self._block_start(_THOUGHT if kind == b"thinking" else _OWN_TEXT if self._own else _TEXT)
        self._head = self._delta_head(kind + b"_delta", kind)
        return out + self._more(text) if text else out

    def _more(self, text: str) -> bytes:
        return self._head + json_text.encode(text) + _DELTA_END

    def _block_start(self, block: bytes) -> bytes:
        return _framed(b"content_block_start", b'"index":%d,"content_block":%b' % (self._number, block))

    def _delta_head(self, kind: bytes, field: bytes) -> bytes:
        return (
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":"%b","%b":'
            % (self._number, kind, field)
        )

    def _input(self, text: str) -> bytes:
        return self._delta_head(b"input_json_delta", b"partial_json") + json_text.encode(text) + _DELTA_END

    def _close(self) -> bytes:
        number = self._number
        self._number += 1
        return _framed(b"content_block_stop", b'"index":%d' % number)

    def _finish(self, event: Finish) -> bytes:
        if not event.answer:
            self._stop = event.stop
        else:
            self._context.lose(
                "answer.dropped", self._context.answer_paths.answer(event.answer), "only the first answer is written"
            )
        if not event.last:
            return b""
        out = b"" if self._part is None else self._part_end(PartEnd(self._index))
        if self._ended:  # ended by a call that cannot be used
            return out
        stop = self._stop or event.stop
        stop = cut_short(stop, self._context) if self._cut else stop
        words = failure(stop, wire.NAME)
        if words and self._flawed:
            return out + self.send(Fault("upstream_bad", words, 502))
        out += self._close() if self._flawed else b""
        if words:
            out += self._open(b"text", words) + self._close()
            self._head = b""
        self._ended = True
        figures = write_usage(counted(event.usage or self._usage, self._context), self._context)
        delta = write_stop(stop, self._called, self._refused, self._context)
        # stop_reason is never null at the end of a stream (docs "Handling stop reasons", 2026-10).
        delta["stop_reason"] = delta["stop_reason"] or "end_turn"
        if not self._own:
            delta = {**_NULL_FIELDS, **delta}
        extra: dict[str, Any] = dict(own_fields(event.extra)) if not event.answer else {}
        if "container" in extra:
            delta["container"] = extra.pop("container")
        # service_tier is in message_start only (anthropic 2.8.0, 2026-11).
        if figures.get("service_tier") and not self._own:
            start_tier = self._usage.tier if self._usage is not None else None
            ended = event.usage.tier if event.usage is not None else None
            if ended is not None and start_tier != ended:
                self._context.lose("tier.dropped", ended.at, "it came after message_start, which has its field")
        for name in figures.keys() - wire.DELTA_USAGE:
            del figures[name]
        extra |= {"delta": delta, "usage": figures}
        # message_delta, then message_stop, end every stream (docs "Streaming messages", 2026-10).
        return out + _framed(b"message_delta", json_text.encode(extra)[1:-1]) + _STOP


def _framed(kind: bytes, members: bytes) -> bytes:
    """One event. `members`: its other members as JSON text, without the braces around them."""
    return b'event: %b\ndata: {"type":"%b",%b}\n\n' % (kind, kind, members)
