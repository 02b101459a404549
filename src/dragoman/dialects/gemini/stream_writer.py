"""Writes Gemini streams: events to chunks, each a legal answer by itself.

Texts and thoughts are written at once. A call is written whole at its end, because the Developer API has no argument
deltas (google-genai 3.1.0). A sealed text is also written whole, because its seal belongs to exactly that part. The
last chunk has the finish reason, the usage and the citations.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.events import Event, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Citation, Extra, Media, Opaque, Part, Path, Reasoning, Seal, Text, ToolCall
from ...codec import json_text
from ...codec.answer_ids import original_id
from ...codec.failure_sentence_in_answer import leave_out_broken_call, stop_without_call
from ...codec.repeated_frame_interface import FrameTemplate
from ...codec.surrogates.documents import sound_arguments
from ...context import Context
from . import wire
from .faults import error_object
from .grounding import METADATA, write_grounding
from .hosted_calls import is_metadata, write_metadata
from .message_content import write_part
from .original_values import own, put_back
from .response import write_stop, write_time, write_usage

_END = b"\r\n\r\n"

_Words = tuple[list[str], list[Citation], Path]
"""A text so far, its citations, and its path in the source."""


def _line(value: Any) -> bytes:
    """JSON on one line: a raw value may span several lines, and a line end would end the frame's data."""
    out = json_text.encode(value)
    if b"\n" in out or b"\r" in out:
        out = out.replace(b"\r", b" ").replace(b"\n", b" ")
    return out


_MOST_ANSWERS = 128
"""The largest number of answers that OpenAI gives; a higher number is not a count of answers."""


class _Open:
    """A part that is being written: the bytes around its text if it is written at once, else the held text."""

    __slots__ = ("after", "answer", "before", "part", "pieces", "seal")

    def __init__(self, part: Part, answer: int) -> None:
        self.part = part
        self.answer = answer
        self.before = b""
        self.after = b""
        self.pieces: list[str] | None = None
        self.seal: Seal | None = None


class StreamWriter:
    """Takes events and returns chunks."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tail = b"]}" + _END
        self._open: dict[int, _Open] = {}
        self._numbers: dict[int, int] = {}  # answer -> index of its candidate
        self._ended: set[int] = set()
        self._cut: set[int] = set()  # answers with a call that breaks off
        self._called: set[int] = set()  # answers with a call
        self._finished = False
        self._texts: dict[int, list[_Words]] = {}
        self._uses: dict[int, list[Opaque]] = {}  # uses of hosted tools
        self._text: dict[int, _Words] = {}
        self._head: dict[str, Any] = {}
        self._extra: Extra | None = None

    def send(self, event: Event) -> bytes:
        """The bytes of one event."""
        if type(event) is PartDelta:
            return self._delta(event)
        if type(event) is PartStart:
            return self._part_start(event)
        if type(event) is PartEnd:
            return self._part_end(event)
        if type(event) is Start:
            return self._start(event)
        if type(event) is Finish:
            return self._finish(event)
        # A fault in a stream has the form of an error answer (google-genai 3.3.0 sources, 2026-11).
        return b"data: " + _line({"error": error_object(event)}) + _END

    def template(self, index: int) -> FrameTemplate | None:
        """The template for more text of an open part."""
        opened = self._open.get(index)
        if opened is None or not (opened.before or opened.pieces is not None):
            return None
        return FrameTemplate(opened.before, opened.after)

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Take note of text that was written with the template."""
        pieces = self._open[index].pieces
        if pieces is not None:
            pieces += texts
        if index in self._text:
            self._text[index][0].extend(texts)

    def close(self) -> bytes:
        """Nothing: the end is written with the last Finish."""
        return b""

    def _start(self, event: Start) -> bytes:
        model = self._context.model or event.model
        if model:
            self._head["modelVersion"] = model
        if event.id:
            self._head["responseId"] = original_id(event.id)
        created = own(event.extra, "createTime")
        stamp: Any = created if created is not None else write_time(event.created) if event.created else None
        if stamp is not None:
            self._head["createTime"] = stamp
        self._extra = event.extra
        self._tail = b"]," + json_text.encode(self._head)[1:] + _END if self._head else b"]}" + _END
        return b""

    def _frame_around(self, answer: int, before: bytes, after: bytes) -> tuple[bytes, bytes]:
        """The bytes before and after the text in every chunk of a part."""
        return (
            b'data: {"candidates":[{"content":{"parts":[' + before,
            after + b'],"role":"model"},"index":%d}' % answer + self._tail,
        )

    def _chunk(self, answer: int, part: Any) -> bytes:
        before, after = self._frame_around(answer, b"", b"")
        return before + _line(part) + after

    def _begin(self, answer: int) -> tuple[int, bytes]:
        """The index of a new answer, and the chunks that begin it. Candidates begin in the order of their indexes, so
        earlier candidates begin too.
        """
        numbers = self._numbers
        if not 0 < answer < _MOST_ANSWERS:
            index = numbers[answer] = len(numbers)
            return index, self._chunk(index, {"text": ""}) if index else b""
        out: list[bytes] = []
        if len(numbers) == 1 and not self._finished:
            out.append(self._chunk(0, {"text": ""}))  # the first answer has begun, perhaps without text
        for number in range(answer + 1):
            if number not in numbers:
                index = numbers[number] = len(numbers)
                out.append(self._chunk(index, {"text": ""}))
        return numbers[answer], b"".join(out)

    def _absent(self, index: int) -> bytes:
        """The end of a candidate that began only for the order and has no content."""
        candidate = {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "OTHER", "index": index}
        return b"data: " + _line({"candidates": [candidate], **self._head}) + _END

    def _part_start(self, event: PartStart) -> bytes:
        part = event.part
        answer = self._numbers.get(event.answer, -1)
        out = b""
        if answer < 0:
            answer, out = self._begin(event.answer)
        opened = self._open[event.index] = _Open(part, answer)
        if type(part) is Text:
            self._text[event.index] = ([], list(part.citations), part.at)
            self._texts.setdefault(answer, []).append(self._text[event.index])
            if part.refusal:
                self._context.lose("refusal.as_text", part.at)
        if type(part) is ToolCall or (
            isinstance(part, Text | Reasoning)
            and (part.seal is not None or (part.extra is not None and wire.NAME in part.extra))
        ):
            opened.pieces = []
        elif type(part) is Text:
            opened.before, opened.after = self._frame_around(answer, b'{"text":', b"}")
        elif type(part) is Reasoning:
            opened.before, opened.after = self._frame_around(answer, b'{"text":', b',"thought":true}')
        elif isinstance(part, Opaque) and is_metadata(part):
            self._uses.setdefault(answer, []).append(part)
        elif isinstance(part, Media | Opaque):
            written = write_part(part, self._context, request=False)
            if written is not None:
                out += self._chunk(answer, written)
        return out

    def _delta(self, event: PartDelta) -> bytes:
        opened = self._open.get(event.index)
        if opened is None:
            return b""
        if event.seal is not None:
            opened.seal = event.seal
        if event.tokens:
            from ...codec import logprobs  # late: few streams have them

            scores = {"logprobsResult": logprobs.write(list(event.tokens), "chosen")}
            return self._cited(opened.answer, {"text": ""}, scores)
        text = event.text
        if event.index in self._text:
            words, citations, _ = self._text[event.index]
            if text:
                words.append(text)
            if event.citations:
                citations.extend(event.citations)
        if not text:
            return b""
        if opened.pieces is not None:
            opened.pieces.append(text)
            return b""
        return opened.before + json_text.encode(text) + opened.after if opened.before else b""

    def _part_end(self, event: PartEnd) -> bytes:
        opened = self._open.pop(event.index, None)
        if opened is None:
            return b""
        words = self._text.pop(event.index, None)
        part, answer = opened.part, opened.answer
        # Citations are written while their text is open: a reader puts them on the open text.
        metadata = self._metadata(answer) if words is not None and words[1] else {}
        if opened.pieces is not None:
            text = "".join(opened.pieces)
            seal = opened.seal or part.seal
            if type(part) is ToolCall:
                if "\\u" in text and not part.custom:
                    text = sound_arguments(text, part.at, self._context)
                part = msgspec.structs.replace(part, arguments=text, seal=seal)
                self._called.add(answer)
                if leave_out_broken_call(part, text, self._context):
                    self._cut.add(answer)
                    return self._left_seal(answer, seal, part)
                if event.cut:
                    self._cut.add(answer)
            else:
                part = msgspec.structs.replace(part, text=text, seal=seal)
            return self._written(answer, part, metadata)
        out = self._cited(answer, {"text": ""}, metadata) if metadata else b""
        if opened.seal is not None and isinstance(part, Text | Reasoning):
            # The text is already written; its seal follows on an empty part, as Gemini itself does (docs "Thought
            # signatures", 2026-10).
            last: Part = Reasoning(seal=opened.seal) if type(part) is Reasoning else Text("", seal=opened.seal)
            out += self._written(answer, last)
        return out

    def _left_seal(self, answer: int, seal: Seal | None, call: ToolCall) -> bytes:
        """The seal of a call that is left out. A foreign seal may belong to the thought before the call, and stays on
        an empty part. Gemini's own belongs to the call.
        """
        if seal is None or not seal.data:
            return b""
        if seal.dialect == wire.NAME:
            self._context.lose("seal.dropped", call.at, "of a call that is left out")
            return b""
        return self._written(answer, Text("", seal=seal))

    def _written(self, answer: int, part: Part, metadata: dict[str, Any] | None = None) -> bytes:
        written = write_part(part, self._context, request=False)
        if written is None:
            return b""
        return self._cited(answer, written, metadata) if metadata else self._chunk(answer, written)

    def _cited(self, answer: int, part: Any, metadata: dict[str, Any]) -> bytes:
        """A chunk with fields beside its content: all citations so far, or log probabilities."""
        candidate = {"content": {"parts": [part], "role": "model"}, "index": answer, **metadata}
        return b"data: " + _line({"candidates": [candidate], **self._head}) + _END

    def _finish(self, event: Finish) -> bytes:
        out: dict[str, Any] = {}
        blocked = not self._numbers and own(event.stop.extra, "promptFeedback")
        lead = b""
        number = self._numbers.get(event.answer, -1)
        if number < 0:
            number, lead = self._begin(event.answer)
        self._ended.add(number)
        if event.last and len(self._ended) < len(self._numbers):
            lead += b"".join([self._absent(index) for index in range(len(self._numbers)) if index not in self._ended])
        self._finished = True
        first = number == 0
        extra = event.extra
        if first and self._extra is not None:
            extra = {wire.NAME: {**self._extra.get(wire.NAME, {}), **(extra or {}).get(wire.NAME, {})}}
        if blocked:
            out["promptFeedback"] = blocked
        else:
            candidate: dict[str, Any] = {"content": {"parts": [{"text": ""}], "role": "model"}}
            stop = stop_without_call(event.stop, self._context, event.answer) if number in self._cut else event.stop
            write_stop(stop, number in self._called, candidate, self._context, event.answer)
            # The last chunk of a candidate needs a finishReason (lint rule GEM-S01).
            candidate.setdefault("finishReason", "STOP")
            candidate["index"] = number
            if not first:
                put_back(candidate, extra)
            out["candidates"] = [candidate]
            prefix = "candidates/0/" if first else ""
            if extra is None or not any(own(extra, prefix + name) for name in METADATA):
                candidate.update(self._metadata(number))
        if event.usage is not None:
            out["usageMetadata"] = write_usage(event.usage, self._context)
        elif event.last:
            self._context.lose("usage.invented")
            # The last chunk has usageMetadata.
            out["usageMetadata"] = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}
        out |= self._head
        if first:
            put_back(out, extra)
        return lead + b"data: " + _line(out) + _END

    def _metadata(self, answer: int) -> dict[str, Any]:
        """The citation metadata of an answer so far: this dialect's own if the answer has it, else made from all texts,
        because positions count from the first text.
        """
        if self._extra is not None:
            prefix = "" if answer else "candidates/0/"
            mine = {name: own(self._extra, prefix + name) for name in METADATA}
            found: dict[str, Any] = {name: value for name, value in mine.items() if value is not None}
            if found:
                return found
        texts = self._texts.get(answer, [])
        grounding = None
        if any(citations for _, citations, _ in texts):
            whole = [("".join(words), tuple(citations), at) for words, citations, at in texts]
            grounding = write_grounding(whole, self._context)
        uses = self._uses.get(answer, [])
        return write_metadata(grounding, uses) if grounding is not None or uses else {}
