"""Writes Responses streams: canon events to the full grammar of the wire (openai 3.49.0, 2026-11).

Each item is added, written and done; `sequence_number` rises by one; the terminal event repeats the whole output.
Neighbouring texts share one message item, as in a whole answer. The end of a call waits for the next event: an answer
that is cut in the middle of a call must not mark it as complete.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import (
    Citation,
    Media,
    Opaque,
    Part,
    Path,
    Reasoning,
    Seal,
    Text,
    Token,
    ToolCall,
    is_stored_elsewhere,
)
from ...canon.response import Stop
from ...codec import answer_ids, json_text
from ...codec.dialect_extras import restore
from ...codec.failure_sentence_in_answer import cut_short, report_broken_arguments
from ...codec.media import missing_media_text
from ...codec.repeated_frame_interface import FrameTemplate
from ...context import Context
from . import wire
from .assistant_items import (
    MADE_HERE,
    answer_call,
    answer_id,
    answer_message,
    answer_part,
    answer_reasoning,
    call_prefix,
)
from .client_tools import has_own_item, own_item
from .faults import error_event, response_error
from .generated_images import EVENTS as IMAGE_EVENTS
from .generated_images import KIND as IMAGE
from .generated_images import image_item, is_picture
from .hosted_calls import SEARCH
from .hosted_programs_and_mcp import STEPPED, opening_item, stream_steps
from .message_content import write_citations
from .response import counted, filled, head, write_stop, write_tier
from .tools import own_fields, with_fields

_encode = json_text.encode
_join = b"".join
_DELTA = b',"delta":'
_EMPTIED = ("arguments", "input", "content", "summary")
_ARGUMENTS, _INPUT = b"response.function_call_arguments", b"response.custom_tool_call_input"
_FIRST_SUMMARY = b',"summary_index":0'
_SEARCH_STEPS = tuple([f"response.{SEARCH}.{step}".encode() for step in ("in_progress", "searching", "completed")])
_OUTPUT_TEXT = (
    b"response.output_text.delta",
    b',"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}',
    b',"logprobs":[]}\n\n',
)
"""How a text is written: the kind of its deltas, its empty part, and the bytes after the text of each delta."""
_REFUSAL = b"response.refusal.delta", b',"part":{"type":"refusal","refusal":""}', b"}\n\n"

_PLAIN_TEXT = b'{"type":"output_text","text":%b,"annotations":[],"logprobs":[]}'
_PLAIN_TEXT_DONE = (
    b'event: response.output_text.done\ndata: {"type":"response.output_text.done","sequence_number":%d,'
    b'%b,"text":%b,"logprobs":[]}\n\n'
    b'event: response.content_part.done\ndata: {"type":"response.content_part.done","sequence_number":%d,'
    b'%b,"part":%b}\n\n'
)
"""A text of another dialect with nothing but its words, as a piece of its message, and the events of its end."""

_NOTHING_COUNTED = Raw(
    b'{"input_tokens":0,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":0,'
    b'"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}'
)
"""Usage at the beginning of an answer: OpenAI's schema allows no null there (2026-08), and the Open Responses schema
requires the field.
"""


class StreamWriter:
    """Takes canon events and returns wire events."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._number = 0
        self._id = ""
        self._head: dict[str, Any] = {}
        self._items: list[Any] = []  # items that are done
        self._message: dict[str, Any] | None = None  # the open message item
        self._message_at: Path = ()
        self._call: dict[str, Any] | None = None  # the open call item
        self._part: Part | None = None
        self._index = -1  # index of the open part
        self._text_begun = False  # the text of the open part has begun
        self._before = b""  # the bytes before and after the text of each delta
        self._after = b""
        self._pieces: list[str] = []
        self._withheld = ""
        self._citations: list[Citation] = []
        self._late: list[Citation] = []
        self._tokens: list[Token] = []
        self._seal: Seal | None = None
        self._has_own_item = False  # the open call has an item of its own type, written whole
        self._seen: list[Part] = []
        self._stop: Stop | None = None
        self._cut = False  # a call breaks off
        self._started = False
        self._ended = False

    def send(self, event: Event) -> bytes:
        """The bytes of one event."""
        if type(event) is PartDelta:
            return self._delta(event) if event.index == self._index else b""
        if self._ended:
            return b""
        if type(event) is PartStart:
            return self._part_start(event)
        if type(event) is PartEnd:
            return self._part_end(event) if event.index == self._index else b""
        if type(event) is Start:
            return self._start(event)
        if type(event) is Finish:
            return self._finish(event)
        return self._fault(event)

    def template(self, index: int) -> FrameTemplate | None:
        """The template for more text of the open part."""
        if index != self._index or not self._text_begun:
            return None
        return FrameTemplate(self._before, self._after, _DELTA, self._number)

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Take note of text that was written with the template."""
        self._pieces += texts
        self._number += len(texts)

    def close(self) -> bytes:
        """Nothing: the end is written with the last Finish."""
        return b""

    def _event(self, kind: bytes, members: bytes) -> bytes:
        """One event. `members`: its other members as JSON text, without the braces around them."""
        number = self._number
        # sequence_number rises by one over the whole stream (openai 3.49.0, 2026-11).
        self._number = number + 1
        return b'event: %b\ndata: {"type":"%b","sequence_number":%d,%b}\n\n' % (kind, kind, number, members)

    def _added(self, item: dict[str, Any]) -> bytes:
        """The beginning of the next item."""
        members = b'"output_index":%d,"item":%b' % (len(self._items), _encode(item))
        return self._event(b"response.output_item.added", members)

    def _start(self, event: Start) -> bytes:
        if self._started:
            return b""
        self._started = True
        context = self._context
        # The response id must not change during a stream: the SDK raises an error (openai 3.49.0).
        self._id = answer_ids.for_stream(event.id, event.model, event.created, answer_ids.RESPONSES, context)
        self._head = head(self._id, event.created, event.model, "in_progress", context)
        response = filled({**self._head, "output": [], "usage": _NOTHING_COUNTED}, context.answers)
        members = b'"response":%b' % response
        return self._event(b"response.created", members) + self._event(b"response.in_progress", members)

    def _part_start(self, event: PartStart) -> bytes:
        # A response has one answer: there is no `n` (openai 3.49.0, 2026-11).
        if event.answer:
            self._context.lose(
                "answer.dropped", self._context.answer_paths.answer(event.answer), "only the first answer is written"
            )
            return b""
        out = b"" if self._started else self._start(Start())
        out += self._close_call(False)
        part = event.part
        self._part, self._index, self._text_begun, self._has_own_item = part, event.index, False, False
        self._pieces, self._citations, self._late, self._tokens, self._seal = [], [], [], [], part.seal
        if type(part) is Text:
            # Within this dialect each text stays in the item that it came from; texts of other dialects share one
            # message.
            if self._message is not None and self._context.source == wire.NAME and part.at[:2] != self._message_at:
                out += self._close_message(False)
            return out
        if type(part) is Media and is_picture(part):
            return out + self._close_message(False) + self._image(part)
        if type(part) is Media:
            out += self._begin_text(Text("", at=part.at))
            self._context.lose("media.dropped", part.at, part.mime or part.kind)
            self._part = Text("", at=part.at)
            return out + self.send(PartDelta(event.index, missing_media_text(part)))
        if type(part) is Reasoning:
            return out
        if type(part) is ToolCall:
            self._has_own_item = has_own_item(part, self._context)
            return out + self._close_message(False) + (b"" if self._has_own_item else self._begin_call(part))
        if isinstance(part, Opaque) and part.dialect == wire.NAME:
            if is_stored_elsewhere(part):
                self._index = -1
                return out
            return out + self._close_message(False) + self._opaque(part)
        self._context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
        self._index = -1
        return out

    def _begin_text(self, part: Text) -> bytes:
        """Begin a text in a message item, when its first words come."""
        out = b""
        if self._message is None:
            self._message = answer_message(part, answer_id(self._id, len(self._items), "msg_"))
            self._message_at = part.at[:2]
            out = self._added({**self._message, "status": "in_progress", "content": []})
        where = self._in_message()
        kind, empty, after = _REFUSAL if part.refusal else _OUTPUT_TEXT
        # Each text has content_part.added before its deltas (openai 3.49.0, 2026-11).
        out += self._event(b"response.content_part.added", where + empty)
        self._template(kind, where, after)
        return out

    def _where(self, item_id: Any) -> bytes:
        """The members that name the next item."""
        return b'"item_id":%b,"output_index":%d' % (_encode(item_id), len(self._items))

    def _in_message(self) -> bytes:
        """The members that name the next text of the open message."""
        message = self._message or {}
        return b'%b,"content_index":%d' % (self._where(message["id"]), len(message["content"]))

    def _template(self, kind: bytes, where: bytes, after: bytes) -> None:
        self._before = b'event: %b\ndata: {"type":"%b",%b,"sequence_number":' % (kind, kind, where)
        self._after = after
        self._text_begun = True

    def _begin_call(self, call: ToolCall) -> bytes:
        name = answer_id(self._id, len(self._items), call_prefix(call))
        self._call = answer_call(call, name, self._context)
        field = "input" if call.custom else "arguments"
        added = {**self._call, field: "", "status": "in_progress"}
        self._call[field] = None
        kind = _INPUT if call.custom else _ARGUMENTS
        out = self._added(added)
        self._template(kind + b".delta", self._where(self._call["id"]), b"}\n\n")
        self._text_begun = False
        self._withheld = ""
        self._seal = None  # already reported
        return out

    def _begin_reasoning(self, part: Reasoning) -> bytes:
        """Begin the item, with one part of its summary for the thoughts."""
        name = own_fields(part.extra).get("id") or answer_id(self._id, len(self._items), MADE_HERE)
        where = self._where(name) + _FIRST_SUMMARY
        out = self._added({"id": name, "type": "reasoning", "summary": []})
        self._template(b"response.reasoning_summary_text.delta", where, b"}\n\n")
        empty = b',"part":{"type":"summary_text","text":""}'
        return out + self._event(b"response.reasoning_summary_part.added", where + empty)

    def _delta(self, event: PartDelta) -> bytes:
        """Write more of the open part: text, seals, citations."""
        part = self._part
        out = b""
        if self._has_own_item:
            self._pieces.append(event.text)
            return out
        if event.seal is not None:
            if type(part) is Reasoning:
                self._seal = event.seal
            elif part is not None:
                self._context.lose("seal.dropped", part.at)
        text = event.text
        if text and not self._text_begun:
            if type(part) is Text:
                out += self._begin_text(part)
            elif type(part) is Reasoning:
                out += self._close_message(False) + self._begin_reasoning(part)
            elif type(part) is ToolCall:
                text, self._withheld = self._withheld + text, ""
                if text == "null" and not part.custom and self._context.source != wire.NAME:
                    # Some models write null for no arguments.
                    text, self._withheld = "", text
                else:
                    self._text_begun = True
        if text and self._text_begun:
            out += self._more(text)
        if event.citations:
            out += self._cite(event.citations)
        self._tokens += event.tokens
        return out

    def _more(self, text: str) -> bytes:
        self._pieces.append(text)
        self._number += 1
        return _join((self._before, _encode(self._number - 1), _DELTA, _encode(text), self._after))

    def _cite(self, citations: tuple[Citation, ...]) -> bytes:
        part = self._part
        if type(part) is not Text or part.refusal:
            if part is not None:
                self._context.lose("citation.dropped", part.at)
            return b""
        out = [b"" if self._text_begun else self._begin_text(part)]
        for cited in citations:
            if self._late or cited.end is None:
                # Citations keep their order: a citation that must wait holds back all later citations.
                self._late.append(cited)  # it covers the whole text, which is not complete yet
            else:
                self._annotate(part, cited, 0, out)
        return b"".join(out)

    def _annotate(self, part: Text, cited: Citation, size: int, out: list[bytes]) -> None:
        """Add the events of a citation to `out`. A text may have thousands of citations."""
        for note_ in write_citations((cited,), size, part.at, self._context):
            found = b'%b,"annotation_index":%d,"annotation":%b' % (
                self._in_message(),
                len(self._citations),
                _encode(note_),
            )
            out.append(self._event(b"response.output_text.annotation.added", found))
            self._citations.append(cited)

    def _part_end(self, event: PartEnd) -> bytes:
        part = self._part
        self._index = -1
        if type(part) is Text:
            return self._end_text(part, event)
        if type(part) is Reasoning:
            return self._end_reasoning(part, event)
        if type(part) is ToolCall:
            return self._end_own_item(part) if self._has_own_item else self._end_call(part, event)
        return b""

    def _end_text(self, part: Text, event: PartEnd) -> bytes:
        out = b""
        if not self._text_begun:
            if self._context.source != wire.NAME:
                if part.seal is not None:
                    self._context.lose("seal.dropped", part.at)
                return b""
            out = self._begin_text(part)
        text = "".join(self._pieces)
        if self._late:
            notes: list[bytes] = [out]
            for cited in self._late:
                self._annotate(part, cited, len(text), notes)
            out = b"".join(notes)
        extra = event.extra if event.extra is not None else part.extra
        scores = None
        if self._tokens:
            from ...codec import logprobs  # late: few streams have them

            scores = logprobs.write(self._tokens, "tokens", spelled=False)  # the event's type has no bytes
            extra = with_fields(extra, {"logprobs": logprobs.write(self._tokens, "tokens")})
        whole = Text(text, part.refusal, tuple(self._citations), seal=part.seal, extra=extra, at=part.at)
        self._seen.append(whole)
        message = self._message or {"content": []}
        plain = extra is None and part.seal is None and not (part.refusal or self._citations)
        if plain and event.extra is None and self._context.source != wire.NAME:
            return out + self._end_plain_text(_encode(text), message["content"])
        written = answer_part(whole, self._context)
        where = self._in_message()
        # The .done events repeat the whole value (openai 3.49.0, 2026-11).
        if part.refusal:
            out += self._event(b"response.refusal.done", b'%b,"refusal":%b' % (where, _encode(text)))
        else:
            found = where, _encode(text), _encode(scores or written.get("logprobs", []))
            out += self._event(b"response.output_text.done", b'%b,"text":%b,"logprobs":%b' % found)
        whole_part = _encode(written)
        message["content"].append(Raw(whole_part))  # later events repeat it
        if "item/status" in own_fields(event.extra):
            message["status"] = own_fields(event.extra)["item/status"]
        return out + self._event(b"response.content_part.done", b'%b,"part":%b' % (where, whole_part))

    def _end_plain_text(self, text: bytes, content: list[Any]) -> bytes:
        where, part, number = self._in_message(), _PLAIN_TEXT % text, self._number
        self._number = number + 2
        content.append(Raw(part))
        return _PLAIN_TEXT_DONE % (number, where, text, number + 1, where, part)

    def _end_reasoning(self, part: Reasoning, event: PartEnd) -> bytes:
        extra = {wire.NAME: {**own_fields(part.extra), **own_fields(event.extra)}}
        for name in ("summary", "content"):
            extra[wire.NAME].pop(name, None)  # written as one summary
        text = "".join(self._pieces)
        if not text and self._seal is None and self._context.source != wire.NAME:
            return b""
        out = b"" if self._text_begun else self._close_message(False)
        place = len(self._items)
        whole = Reasoning(text, seal=self._seal, extra=extra, at=part.at)
        item = answer_reasoning(whole, answer_id(self._id, place, MADE_HERE))
        if self._text_begun:
            where, thought = self._where(item["id"]) + _FIRST_SUMMARY, _encode(text)
            out += self._event(b"response.reasoning_summary_text.done", b'%b,"text":%b' % (where, thought))
            summary = b'%b,"part":{"type":"summary_text","text":%b}' % (where, thought)
            out += self._event(b"response.reasoning_summary_part.done", summary)
        else:
            out += self._added({"id": item["id"], "type": "reasoning", "summary": []})
        self._seen.append(whole)
        return out + self._done(item)

    def _end_own_item(self, call: ToolCall) -> bytes:
        self._has_own_item = False
        self._seen.append(call)
        name_item = partial(answer_id, self._id, len(self._items))
        item = own_item(call, "".join(self._pieces), name_item, self._context)
        self._cut = self._cut or item["status"] == "incomplete"
        return self._whole(Opaque(wire.NAME, item["type"], json_text.raw(item)))

    def _end_call(self, call: ToolCall, event: PartEnd) -> bytes:
        """The arguments are complete. The item is done when the next event shows that the answer was not cut."""
        item = self._call or {}
        text = "".join(self._pieces)
        out = b""
        if not text.strip() and not call.custom:
            text += "{}"
            out = self._more("{}")
        field = "input" if call.custom else "arguments"
        item[field] = text
        if event.cut or report_broken_arguments(call, text, self._context):
            self._cut = True
            item["status"] = "incomplete"
        if event.extra is not None:
            item |= {name: value for name, value in own_fields(event.extra).items() if name in ("status", "caller")}
        self._seen.append(call)
        where = self._where(item["id"])
        if call.custom:
            return out + self._event(_INPUT + b".done", b'%b,"input":%b' % (where, _encode(text)))
        found = where, _encode(item["name"]), _encode(text)
        return out + self._event(_ARGUMENTS + b".done", b'%b,"name":%b,"arguments":%b' % found)

    def _close_call(self, cut: bool) -> bytes:
        item = self._call
        if item is None:
            return b""
        self._call = None
        if cut and item.get("status") == "completed":
            item["status"] = "incomplete"
        return self._done(item)

    def _close_message(self, cut: bool) -> bytes:
        message = self._message
        if message is None:
            return b""
        self._message = None
        if cut and message.get("status") == "completed":
            message["status"] = "incomplete"
        return self._done(message)

    def _done(self, item: Any) -> bytes:
        whole = _encode(item)
        members = b'"output_index":%d,"item":%b' % (len(self._items), whole)
        self._items.append(Raw(whole))  # the last event repeats it
        # Every output_item.added has its output_item.done (lint rule OAR-S02).
        return self._event(b"response.output_item.done", members)

    def _run(self, part: Opaque) -> bytes:
        """Write a program, shell commands, or an MCP call that the upstream ran."""
        self._index = -1
        fields = json_text.fields(part.value)
        place = len(self._items)
        out = [self._added(opening_item(fields, part.kind))]
        for name, members in stream_steps(fields, part.kind, {"item_id": fields.get("id"), "output_index": place}):
            out.append(self._event(name.encode(), _encode(members)[1:-1]))
        return b"".join([*out, self._done(part.value)])

    def _opaque(self, part: Opaque) -> bytes:
        """Write an item of this dialect."""
        stepped = part.kind in STEPPED and self._context.source != wire.NAME
        return self._run(part) if stepped else self._whole(part)

    def _whole(self, part: Opaque) -> bytes:
        """Write a whole item of this dialect. Values that other events would send are left out of its beginning."""
        added = dict(json_text.fields(part.value))
        for name in _EMPTIED:
            value = json_text.plain(added[name]) if name in added else None
            if value:
                added[name] = json_text.raw("" if isinstance(value, str) else [] if isinstance(value, list) else {})
        self._index = -1
        if part.kind == SEARCH:
            added["status"] = json_text.raw("in_progress")
        out = self._added(added)
        if part.kind == SEARCH:
            where = self._where(added.get("id"))
            for step in _SEARCH_STEPS:
                out += self._event(step, where)
        return out + self._done(part.value)

    def _image(self, media: Media) -> bytes:
        """Write an image that the model made. No partial images are sent."""
        self._index = -1
        place = len(self._items)
        item = image_item(media, answer_id(self._id, place, "ig_"), self._context)
        opening = {"id": item["id"], "type": IMAGE, "status": "in_progress", "result": None}
        out = self._added(opening)
        where = b'"output_index":%d,"item_id":%b' % (place, _encode(item["id"]))
        for state in IMAGE_EVENTS:
            out += self._event(f"response.{IMAGE}.{state}".encode(), where)
        return out + self._done(item)

    def _finish(self, event: Finish) -> bytes:
        if event.answer == 0:
            self._stop = event.stop
        else:
            self._context.lose(
                "answer.dropped", self._context.answer_paths.answer(event.answer), "only the first answer is written"
            )
        if not event.last:
            return b""
        out = b"" if self._started else self._start(Start())
        stop = self._stop or event.stop
        end = write_stop(cut_short(stop, self._context) if self._cut else stop, self._seen, self._context)
        status = end["status"]
        cut = status == "incomplete"
        # Only the last item can have been cut.
        out += self._close_call(cut)
        out += self._close_message(cut)
        self._ended = True
        response: dict[str, Any] = {**self._head, "output": self._items}
        if event.usage is not None or self._context.source != wire.NAME:
            response["usage"] = counted(event.usage, self._context)
            write_tier(event.usage, response, self._context)
        response |= end
        if event.extra is not None:
            restore(response, event.extra, wire.NAME)
        # The terminal events of an answer are completed, incomplete and failed (openai 3.49.0, 2026-11).
        kind = status if status in ("completed", "incomplete", "failed") else "completed"
        response["status"] = kind
        members = b'"response":%b' % filled(response, self._context.answers)
        return out + self._event(f"response.{kind}".encode(), members)

    def _fault(self, fault: Fault) -> bytes:
        """Write a fault: a response that has begun fails; a fault before that is an `error` event."""
        self._ended = True
        self._index = -1
        if not self._started:
            # Without response.created there is no response that could fail.
            return b"event: error\ndata: %b\n\n" % _encode(error_event(fault, self._number))
        response = {**self._head, "status": "failed", "error": response_error(fault), "output": self._items}
        return self._event(b"response.failed", b'"response":%b' % filled(response, self._context.answers))
