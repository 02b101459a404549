"""Writes Chat Completions streams: events to chunks."""

from __future__ import annotations

from typing import Any

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, is_stored_elsewhere
from ...codec import answer_ids, answer_service_tiers, json_text
from ...codec.call_ids import to_chat_client
from ...codec.failure_sentence_in_answer import GAP, cut_short, failure, report_broken_arguments
from ...codec.media import missing_media_text
from ...codec.packed_seals import pack
from ...codec.repeated_frame_interface import FrameTemplate
from ...context import Context
from . import wire
from .answer_audio_reader import AUDIO
from .answer_audio_writer import is_sound, report_format, sound_id
from .answer_images import FIELD as IMAGES
from .answer_images import is_image, write_image
from .faults import error_object
from .hosted_calls import DETAIL
from .message_content import annotations_to, write_seal
from .reasoning_details import FIELD, is_carrier, written_entry, written_use_entry
from .response import id_prefix, own_word, stop_for_calls, write_stop, write_usage
from .tools import IDS, NAMES

_MAX_CHOICES = 128
"""The largest number of choices that a request may ask for (OpenAI's specification, `n`, 2026-11)."""


class StreamWriter:
    """Takes events and returns chunks."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._head = b""
        self._tail = b""
        self._open: dict[int, tuple[bytes, bytes]] = {}
        self._parts: dict[int, tuple[Part, int]] = {}  # part index -> part and answer
        self._calls: dict[int, int] = {}  # answer -> calls so far
        self._unfinished: set[int] = set()  # answers that have begun and have no end
        self._pieces: dict[int, list[str]] = {}  # arguments of open calls
        self._cut: set[int] = set()  # answers with a call that breaks off
        self._cited: dict[int, list[Citation]] = {}
        self._lengths: dict[int, int] = {}  # lengths of open texts
        self._before: dict[int, int] = {}  # answer -> length of the texts that have ended
        self._refused: set[int] = set()  # answers with a refusal
        self._entries: dict[int, int] = {}  # answer -> seals in its list so far
        self._sounds: set[int] = set()  # answers with a sound
        self._images: dict[int, int] = {}  # how many each answer has
        stream_usage = context.answers.settings.stream_usage if context.answers is not None else True
        self._usage_wanted = bool(stream_usage)

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
        return self._fault(event)

    def template(self, index: int) -> FrameTemplate | None:
        """The template for more text of an open part."""
        frame = self._open.get(index)
        return None if frame is None else FrameTemplate(*frame)

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Take note of text that was written with the template."""
        if index in self._lengths:
            self._lengths[index] += sum(map(len, texts))
        elif index in self._pieces:
            self._pieces[index] += texts

    def close(self) -> bytes:
        """Nothing: the end is written with the last Finish."""
        return b""

    def _start(self, event: Start) -> bytes:
        context = self._context
        head = {
            "id": answer_ids.for_stream(event.id, event.model, event.created, id_prefix(context), context),
            "object": "chat.completion.chunk",
            "created": context.created if event.created is None else event.created,
            "model": context.model or event.model,
        }
        self._head = b"data: " + json_text.encode(head)[:-1] + b',"choices":['
        # With include_usage every other chunk has usage null (openai 3.49.0, 2026-11).
        self._tail = b'],"usage":null}\n\n' if self._usage_wanted and context.answers is not None else b"]}\n\n"
        return self._opened(0)

    def _opened(self, answer: int) -> bytes:
        """The first chunk of an answer, once."""
        if answer in self._calls:
            return b""
        # Clients add each new choice at the end of their list (openai 3.49.0, 2026-11), so choices begin in order.
        out: list[bytes] = []
        for number in range(answer + 1) if 0 <= answer < _MAX_CHOICES else (answer,):
            if number not in self._calls:
                self._calls[number] = 0
                self._unfinished.add(number)
                # The first chunk of a choice has the role (openai 3.49.0, 2026-11).
                out.append(self._chunk(number, b'{"role":"assistant","content":""}'))
        return b"".join(out)

    def _chunk(self, answer: int, delta: bytes, finish: bytes = b"null") -> bytes:
        choice = b'{"index":%d,"delta":%b,"logprobs":null,"finish_reason":%b}' % (answer, delta, finish)
        return self._head + choice + self._tail

    def _frame_around(self, answer: int, before: bytes, after: bytes) -> tuple[bytes, bytes]:
        """The bytes before and after the text in every delta of a part."""
        return (
            self._head + b'{"index":%d,"delta":' % answer + before,
            after + b',"logprobs":null,"finish_reason":null}' + self._tail,
        )

    def _part_start(self, event: PartStart) -> bytes:
        part, answer = event.part, event.answer
        out = self._opened(answer)
        if part.seal is not None and is_carrier(part):
            return out + self._entry(part.seal, answer)
        self._parts[event.index] = part, answer
        if part.seal is not None and part.seal.data and type(part) is not ToolCall:
            self._context.lose("seal.dropped", part.at)
        if type(part) is Text:
            key = b'{"content":'
            self._lengths[event.index] = 0
            self._cited[event.index] = list(part.citations)
            if part.refusal:
                key = b'{"refusal":'
                self._refused.add(answer)
            self._open[event.index] = self._frame_around(answer, key, b"}")
        elif type(part) is Reasoning:
            # OpenAI has no field for reasoning text (openai 3.49.0, 2026-11). Compatible hosts use `reasoning_content`
            # (recorded 2026).
            self._open[event.index] = self._frame_around(answer, b'{"reasoning_content":', b"}")
        elif type(part) is ToolCall:
            calls = self._calls[answer]
            self._calls[answer] = calls + 1
            # The arguments of a custom call are free text, which cannot be incomplete JSON.
            if not part.custom:
                self._pieces[event.index] = []
            inner = (b'"custom":{"input":', b"}}]}") if part.custom else (b'"function":{"arguments":', b"}}]}")
            before = b'{"tool_calls":[{"index":%d,' % calls + inner[0]
            self._open[event.index] = self._frame_around(answer, before, inner[1])
            out += self._chunk(answer, json_text.encode({"tool_calls": [self._call(part, calls)]}))
        elif is_stored_elsewhere(part):
            pass  # its call is written or reported
        elif isinstance(part, Opaque) and part.kind == DETAIL and part.dialect == wire.NAME:
            out += self._chunk(answer, _line({FIELD: [written_use_entry(part, self._next_entry(answer))]}))
        elif type(part) is Media and is_sound(part):
            out += self._sound(part, answer)
        elif isinstance(part, Opaque) and part.kind == AUDIO and part.dialect == wire.NAME:
            out += self._chunk(answer, b'{"audio":%b}' % _one_line(bytes(part.value)))
        elif type(part) is Media and is_image(part):
            entry = write_image(part, self._images.get(answer, 0), self._context)
            self._images[answer] = entry["index"] + 1
            out += self._chunk(answer, json_text.encode({IMAGES: [entry]}))
        elif type(part) is Media:
            self._context.lose("media.dropped", part.at, part.mime or part.kind)
            out += self._chunk(answer, json_text.encode({"content": missing_media_text(part)}))
        else:
            self._context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else "")
        return out

    def _sound(self, sound: Media, answer: int) -> bytes:
        """A piece of a sound. The first piece of an answer has the id."""
        audio = {"data": sound.data}
        if answer not in self._sounds:
            self._sounds.add(answer)
            report_format(sound, self._context)
            audio = {"id": sound_id(sound), **audio}
        if sound.name:
            self._context.lose("media.name.dropped", sound.at, sound.name)
        return self._chunk(answer, json_text.encode({AUDIO: audio}))

    def _entry(self, seal: Seal, answer: int) -> bytes:
        """One whole entry of `reasoning_details`."""
        return self._chunk(answer, json_text.encode({FIELD: [written_entry(pack(seal), self._next_entry(answer))]}))

    def _next_entry(self, answer: int) -> int:
        index = self._entries.get(answer, 0)
        self._entries[answer] = index + 1
        return index

    def _part_end(self, event: PartEnd) -> bytes:
        index = event.index
        frame = self._open.pop(index, None)
        if index in self._lengths:
            return self._annotations(index)
        if frame is None:
            return b""
        call, answer = self._parts[index]
        pieces = self._pieces.pop(index, None)
        arguments = "".join(pieces) if pieces is not None else ""
        if event.cut or (pieces and type(call) is ToolCall and report_broken_arguments(call, arguments, self._context)):
            self._cut.add(answer)
        if pieces is None or arguments.strip():
            return b""
        return frame[0] + b'"{}"' + frame[1]  # clients decode the arguments, and an empty text is not JSON

    def _call(self, part: ToolCall, number: int) -> dict[str, Any]:
        name = NAMES.send(part.name, part.namespace, self._context, part.at)
        call: dict[str, Any] = {"index": number, "id": to_chat_client(part.id, IDS, self._context, part.at)}
        if part.custom:
            # The streamed form of a custom call is untyped in openai 3.49.0; the form of a whole call is used.
            call |= {"type": "custom", "custom": {"name": name, "input": ""}}
        else:
            call |= {"type": "function", "function": {"name": name, "arguments": ""}}
        if part.seal is not None:
            slot = write_seal(part.seal, self._context, request=False)
            if slot is None:
                self._context.lose("seal.dropped", part.at)
            else:
                call["extra_content"] = slot
        return call

    def _delta(self, event: PartDelta) -> bytes:
        frame = self._open.get(event.index)
        if frame is None:
            return b""
        out = b""
        if event.text:
            out = frame[0] + json_text.encode(event.text) + frame[1]
            if event.index in self._lengths:
                self._lengths[event.index] += len(event.text)
            elif event.index in self._pieces:
                self._pieces[event.index].append(event.text)
        if event.seal is not None and event.seal.data:
            self._context.lose("seal.dropped", self._parts[event.index][0].at)
        if event.tokens:
            out += self._scores(event)
        if event.citations:
            self._cited.setdefault(event.index, []).extend(event.citations)
        return out

    def _scores(self, event: PartDelta) -> bytes:
        """Log probabilities of the text before."""
        from ...codec import logprobs  # late: few streams have them

        part, answer = self._parts[event.index]
        tokens = bytes(logprobs.write(list(event.tokens), "tokens"))
        pair = (b"null", tokens) if type(part) is Text and part.refusal else (tokens, b"null")
        scores = b'{"content":%b,"refusal":%b}' % pair
        choice = b'{"index":%d,"delta":{},"logprobs":%b,"finish_reason":null}' % (answer, scores)
        return self._head + choice + self._tail

    def _annotations(self, index: int) -> bytes:
        """The annotations of a text, once its position in the whole answer is known."""
        part, answer = self._parts[index]
        before, length = self._before.get(answer, 0), self._lengths.pop(index)
        self._before[answer] = before + length
        notes = annotations_to(tuple(self._cited.pop(index)), part.at, self._context, before, length)
        return self._chunk(answer, json_text.encode({"annotations": notes})) if notes else b""

    def _finish(self, event: Finish) -> bytes:
        stop = cut_short(event.stop, self._context, event.answer) if event.answer in self._cut else event.stop
        stop = stop_for_calls(
            own_word(stop, self._context), bool(self._calls.get(event.answer)), self._context, event.answer
        )
        word = write_stop(stop, event.answer in self._refused, self._context, event.answer)
        out = self._opened(event.answer) + (self._end_others(event.answer) if event.last else b"")
        out += self._failed(failure(stop, wire.NAME), event.answer)
        if event.answer in self._sounds:
            # The last audio delta has expires_at (openai 3.49.0, 2026-11).
            out += self._chunk(event.answer, b'{"audio":{"expires_at":%d}}' % self._context.created)
        last = self._chunk(event.answer, b"{}", json_text.encode(word))
        tier = answer_service_tiers.write(event.usage, answer_service_tiers.OPENAI, self._context)
        out += last if tier is None else last[:-3] + b',"service_tier":"%b"}\n\n' % tier.encode()
        self._unfinished.discard(event.answer)
        if not event.last:
            return out
        # The usage chunk has empty choices and comes after the finish chunk (openai 3.49.0, 2026-11).
        if event.usage is not None and self._usage_wanted:
            usage = json_text.encode(write_usage(event.usage, self._context))
            out += self._head + b'],"usage":' + usage + b"}\n\n"
        return out + b"data: [DONE]\n\n"

    def _end_others(self, answer: int) -> bytes:
        """The ends of all other choices that have begun. Every choice has one finish_reason (lint rule OAC-S01)."""
        others = sorted(self._unfinished - {answer})
        for number in others:
            # The upstream left out the choice or its end.
            self._context.lose("answer.invented", self._context.answer_paths.answer(number))
        self._unfinished = {answer}
        return b"".join([self._chunk(number, b"{}", b'"stop"') for number in others])

    def _failed(self, words: str, answer: int) -> bytes:
        """The sentence for an answer that failed."""
        if not words:
            return b""
        words = GAP + words if self._before.get(answer) else words
        return self._opened(answer) + self._chunk(answer, json_text.encode({"content": words}))

    def _fault(self, fault: Fault) -> bytes:
        # A chunk with `error` ends a stream; no [DONE] follows (openai SDK, 2026-11).
        return b"data: " + json_text.encode({"error": error_object(fault)}) + b"\n\n"


def _line(value: Any) -> bytes:
    """A value as JSON on one line."""
    return _one_line(json_text.encode(value))


def _one_line(value: bytes) -> bytes:
    """JSON on one line: a line end in raw JSON would end the frame's data."""
    return value.replace(b"\r", b" ").replace(b"\n", b" ")
