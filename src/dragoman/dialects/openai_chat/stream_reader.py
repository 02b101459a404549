"""Reads Chat Completions streams: chunks to events.

Chat has no event for the end of a part. A text ends when another part begins; a call ends when its arguments are a
whole JSON object and another part begins; everything ends at the finish. Calls with interleaved pieces are therefore
held back until the earlier call is whole.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Media, Opaque, Part, Path, Reasoning, Seal, Text, ToolCall
from ...canon.response import Response, Usage
from ...codec import answer_service_tiers, json_text
from ...codec.call_ids import hashed_id
from ...codec.dialect_extras import Fields, sent_fields
from ...codec.failure_sentence_in_answer import events_of_whole_answer
from ...codec.fault_kinds_statuses_and_error_object import broken_off
from ...codec.late_id_and_model_losses import report_id, report_model
from ...codec.sse_splitter import SseSplitter
from ...codec.sse_stream_reader_base import FrameReader, starts_part
from ...codec.surrogates.documents import decodable_frame
from ...codec.wire_decoding_with_unknown_fields import Admitter, Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .answer_audio_reader import StreamedSound
from .answer_images import take_images
from .faults import fault_from
from .groq_executed_tools_reader import ExecutedTools
from .message_content import read_annotations, read_seal, text_value, thinking_text, thought_origin
from .response import TIER_AT, read_response, read_stop, read_usage, with_earlier_counts
from .search_result_reader import Search, take_search
from .streamed_answer import StreamedAnswer
from .streamed_calls import StreamedCall, begins

_CHUNK_EXTRAS = Fields("service_tier", "system_fingerprint", "prompt_filter_results", "timings", "x_groq")
ROOT_FIELDS = Fields("id", "model", *_CHUNK_EXTRAS)
"""The fields outside the choices that a later chunk may add or change."""
_has_more_than_calls = Fields(
    *("content", "reasoning_content", "reasoning", "refusal", "annotations", "audio", "reasoning_details"),
    *("name", "tool_call_id"),
).any_sent
_NAMES = Fields("name", "tool_call_id")
_CHOICE_EXTRAS = Fields("logprobs", "content_filter_results", "content_filter_offsets", "stop_reason")


class StreamReader(FrameReader):
    """Takes chunks and returns events."""

    _strict = staticmethod(msgspec.json.Decoder(wire.Chunk).decode)
    _strict_for_others: ClassVar[staticmethod[[bytes], Any]] = staticmethod(msgspec.json.Decoder(wire.HostChunk).decode)
    """In place of `_strict` for targets that do not restore the fields of this dialect."""
    _door: ClassVar[Admitter[Any]] = wire.CHUNK
    _dialect: ClassVar[str] = wire.NAME
    """The dialect of the stream. Readers of related dialects set Chat as the source while they read."""
    _root_fields = staticmethod(ROOT_FIELDS.values)
    _executed: ExecutedTools | None = None  # set at the first field that OpenAI's chunk does not have

    def __init__(self, context: Context) -> None:
        super().__init__(SseSplitter(wire.NAME))
        self._context = context
        self._decode = self._strict if context.target in wire.KIN else self._strict_for_others
        self._answers: dict[int, StreamedAnswer] = {}
        self._first: StreamedAnswer | None = None
        self._next = 0
        self._started = False
        self._over = False
        self._ended = False  # without a fault
        self._id = self._model = ""
        self._roots: tuple[Any, ...] = ()  # the latest fields outside the choices
        self._usage: Usage | None = None
        self._tier: str | None = None
        self._noted: set[tuple[Path, str]] = set()
        self._field = ""  # the host's field for thinking
        self._search: Search | None = None  # the search that the host ran
        self._late: Search | None = None  # a search that is reported at the end of the answer
        self._words_cited: list[str] = []  # the text that may cite its pages
        self._skips_numbers = False  # the open text has annotations, or began before the search was known

    def close(self) -> list[Event]:
        """The stream is over: the rest of its events, or a fault."""
        events: list[Event] = []
        self.settle()
        for name, data in self._frames.close():
            self._frame(name, data, events)
        if not self._over:
            # [DONE] is missing, but every answer has its finish_reason.
            if self._answers and all(answer.word for answer in self._answers.values()):
                self._finish(events)
            else:
                self._over = True
                events.extend(self._whole_answer() or [broken_off(self._frames.stray, self._fault)])
        return events

    def _whole_answer(self) -> list[Event]:
        """The events of a whole answer in place of the stream. Related dialects get no field without an event."""
        if self._started:
            return []
        found = events_of_whole_answer(self._frames.stray, self._read_response, self._context)
        if found and self._context.target in wire.KIN:
            self._context.settle(wire.NOISE)
        return found

    def _read_response(self, body: bytes, context: Context) -> Response:
        return read_response(body, context)

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        if self._over:
            if self._ended and not data.startswith(b"[DONE]"):
                self._context.lose("event.dropped", (), "a chunk after the end of the answer")
            return False
        if data.startswith(b"[DONE]"):  # a space may follow (recorded 2025-01)
            self._finish(events)
            return False
        unknown: Unknown | None = None
        with_images = False
        try:
            chunk = self._decode(data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as refusal:
            sound = decodable_frame(data, self._context)
            door = self._door
            try:
                chunk, unknown, _ = door.admit_refused(data, refusal) if sound is data else door.admit(sound)
            except WireError as error:
                self._over = True
                events.append(Fault("upstream_bad", f"the upstream sent a broken frame: {error}", 502))
                return False
        if type(chunk) is wire.HostChunk and (chunk.usage is not None or wire.has_additions(chunk)):
            unknown = wire.additions(chunk)
        # A chunk with `error` ends the stream, without [DONE]; the HTTP status is already 200 (openai SDK 3.49.0).
        if chunk.error:
            self._over = True
            error_value = chunk.error
            events.append(self._fault(error_value if isinstance(error_value, dict) else {"message": str(error_value)}))
            return False
        if unknown and not chunk.choices and (chunk.object == "error" or name == b"error"):
            # An error object like sglang's ErrorResponse (sglang sources, 2026-11), without `error` around it.
            self._over = True
            events.append(self._fault({key: json_text.plain(value) for key, value in unknown.get((), {}).items()}))
            return False
        choices = chunk.choices or ()
        if not self._started and (choices or chunk.id or chunk.usage is not None):
            self._start(chunk, events)
        elif not self._started or self._root_fields(chunk) != self._roots:
            # Azure's first chunk has only the filter results of the prompt; the next one has the id and the model.
            self._take_roots(chunk)
        if chunk.usage is None and choices and choices[-1].usage is not None:
            chunk.usage = choices[-1].usage
            if unknown:
                unknown[("usage",)] = unknown.pop(("choices", len(choices) - 1, "usage"), {})
        # Usage comes in a chunk of its own with empty choices (openai 3.49.0, 2026-11); some hosts send it earlier.
        if chunk.usage is not None:
            figures = self._figures(chunk, unknown or {})
            self._usage = figures if self._usage is None else with_earlier_counts(figures, self._usage)
        if unknown:
            if () in unknown:
                self._find_search(unknown[()], events)
            before = len(events)
            self._find_images(chunk, unknown, events)
            with_images = len(events) > before
            for at, fields in unknown.items():
                self._note(at, fields)
        is_more_text = False
        for choice in choices:
            is_more_text = self._choice(choice, events) and len(choices) == 1
        if not is_more_text or chunk.usage is not None or chunk.timings is not None or chunk.x_groq is not None:
            return False
        return not unknown or (not with_images and self._is_noted(unknown))

    def _is_noted(self, unknown: Unknown) -> bool:
        """Whether the same unknown fields in a later chunk would change nothing."""
        return self._search is None and all(
            (at, name) in self._noted for at, fields in unknown.items() for name in fields
        )

    def _start(self, chunk: Any, events: list[Event]) -> None:
        self._started = True
        self._id, self._model = chunk.id or "", chunk.model or ""
        events.append(Start(self._id, self._model, chunk.created))
        self._take_roots(chunk)

    def _take_roots(self, chunk: Any) -> None:
        """Take the fields outside the choices. Most chunks repeat them; a field may also come late."""
        if self._started:
            self._roots = self._root_fields(chunk)
            if chunk.id != self._id or chunk.model != self._model:
                report_id(self._context, ("id",), self._id, chunk.id)
                report_model(self._context, ("model",), self._model, chunk.model)
            if self._context.target not in wire.KIN:
                self._tier = answer_service_tiers.read(chunk.service_tier) or self._tier
                if self._tier is not None:
                    self._noted.add(((), "service_tier"))
        self._note_sent((), chunk, _CHUNK_EXTRAS)

    def _find_images(self, chunk: Any, unknown: Unknown, events: list[Event]) -> None:
        """Find the images of a delta, and the uses of tools that the host ran."""
        if self._context.target == wire.NAME:
            return
        executed = self._executed = self._executed or ExecutedTools(self._context)
        for i, choice in enumerate(chunk.choices or ()):
            at: Path = ("choices", i, "delta")
            pieces: list[Media | Opaque] = [*executed.take(unknown, at, self._id, streamed=choice.index)]
            for piece in (*pieces, *take_images(unknown, at)):
                self._whole_piece(self._answer(choice.index), piece, events)

    def _find_search(self, fields: dict[str, Raw], events: list[Event]) -> None:
        """Read a search in a chunk; Perplexity repeats it (recorded 2025-08). Its parts come before the first text."""
        search = take_search(fields, self._context, self._search)
        if search is None:
            return
        if self._search is None:
            answer = self._answer(0)
            if answer.kind or answer.waiting:
                self._late = search  # a part is already open
                self._skips_numbers = answer.kind == "text"
            else:
                self._add_search(answer, search, events)
        self._search = search

    def _add_search(self, answer: StreamedAnswer, search: Search, events: list[Event]) -> None:
        for part in search.parts(self._id):
            self._begin(answer, "whole", part, events)
            self._end(answer, events)

    def _figures(self, chunk: Any, unknown: Unknown) -> Usage:
        return read_usage(chunk.usage, self._context, unknown)

    def _fault(self, error: dict[str, Any]) -> Fault:
        return fault_from(error, 0, {})

    def _catch_up(self, texts: list[str], last: bytes) -> None:
        for answer in self._answers.values():
            if answer.call is not None and answer.index == self.going_on:
                answer.call.pieces.extend(texts)
            elif answer.kind == "text" and answer.index == self.going_on:
                answer.length += sum(map(len, texts))
                if self._search is not None:
                    self._words_cited += texts

    def _choice(self, choice: wire.ChunkChoice, events: list[Event]) -> bool:
        """Read one choice. True: it was more text of the open part, and nothing else."""
        answer = self._first
        if answer is None or answer.number != choice.index:
            answer = self._answer(choice.index)
        # Each choice has one chunk with a finish_reason (openai 3.49.0, 2026-11).
        if choice.finish_reason:
            answer.word = choice.finish_reason
        scores = choice.logprobs
        filtered = choice.content_filter_results is not None or choice.content_filter_offsets is not None
        noted = filtered or scores is not None
        if noted or choice.stop_reason is not None:
            choice.logprobs = None
            self._note_sent(("choices", choice.index), choice, _CHOICE_EXTRAS)
        delta = choice.delta
        if choice.message is not None:
            delta = self._repeated(choice)
        if delta is None:
            if scores:
                self._score(answer, scores, events)
            return False
        kind, before = answer.kind, len(events)
        calls = delta.tool_calls
        going_on = False
        if not calls or _has_more_than_calls(delta):
            self._read_delta(answer, delta, events)
            going_on = answer.kind in ("text", "reasoning") and not delta.annotations
        if calls:
            for piece in calls:
                # The usual case: more arguments of the open call.
                call, function = answer.call, piece.function
                if (
                    call is None
                    or function is None
                    or type(function.arguments) is not str
                    or function.name
                    or piece.id
                    or piece.index != call.key
                    or answer.waiting
                    or (function.arguments[:1] == "{" and call.pieces)
                    or piece.extra_content
                ):
                    self._piece(answer, piece, events)
                    going_on = False
                elif function.arguments:
                    call.pieces.append(function.arguments)
                    events.append(PartDelta(call.index, function.arguments))
                    going_on = True
        if scores:
            self._score(answer, scores, events)
        more = len(events) == before + 1 if answer.kind == kind else starts_part(events, before)
        is_more_text = going_on and more and not answer.waiting
        return is_more_text and not (noted or choice.finish_reason or choice.stop_reason)

    def _score(self, answer: StreamedAnswer, scores: dict[str, Raw], events: list[Event]) -> None:
        """Log probabilities of the text in this chunk."""
        from ...codec import logprobs  # late: few streams have them

        name = "refusal" if answer.kind == "refusal" else "content"
        found = logprobs.read(scores.get(name), "tokens") if self._context.scored else None
        rest = {key: value for key, value in scores.items() if key != name or found is None}
        if found and answer.kind in ("text", "refusal"):
            events.append(PartDelta(answer.index, "", None, (), tuple(found)))
        elif found:
            rest = scores
        if any(bytes(value) not in (b"null", b"[]") for value in rest.values()):
            self._note(("choices", answer.number), {"logprobs": json_text.raw(rest)})

    def _repeated(self, choice: wire.ChunkChoice) -> wire.Message | None:
        """The whole message of a choice, or its delta if it has both."""
        # Some hosts stream `message` instead of `delta`.
        if choice.delta is None:
            return choice.message
        self._context.lose("field.dropped", ("choices", choice.index, "message"), "it repeats the deltas", "info")
        return choice.delta

    def _answer(self, number: int) -> StreamedAnswer:
        answer = self._answers.get(number)
        if answer is None:
            answer = self._answers[number] = StreamedAnswer(number)
            self._first = self._first or answer
        return answer

    def _read_delta(self, answer: StreamedAnswer, delta: wire.Message, events: list[Event]) -> None:
        """Read everything in a delta but its calls."""
        if delta.reasoning_details:
            self._take_details(answer, delta, events)
        thought = delta.reasoning_content or delta.reasoning
        if thought:
            if not self._field:
                self._field = "reasoning_content" if delta.reasoning_content else "reasoning"
            if delta.reasoning and delta.reasoning != thought:
                self._note(("choices", answer.number, "delta"), {"reasoning": json_text.raw(delta.reasoning)})
            self._words(answer, "reasoning", thought, events)
        content = delta.content
        if content:
            if isinstance(content, str):
                self._words(answer, "text", content, events)
            else:
                self._parts(answer, content, events)
        if delta.refusal:
            self._words(answer, "refusal", delta.refusal, events)
        # A legacy call has no index and no id (openai 3.49.0, 2026-11).
        if delta.function_call is not None and (delta.function_call.name or delta.function_call.arguments):
            self._piece(answer, wire.Call(function=delta.function_call, index=-1), events)
        if delta.audio and self._context.target != self._dialect:
            audio, delta.audio = delta.audio, wire.NONE
            self._read_audio(answer, audio, events)
        if delta.name or delta.tool_call_id:
            # MiniMax sends the name of the model with every delta.
            self._note_sent(("choices", answer.number, "delta"), delta, _NAMES)
        if delta.annotations or delta.audio or delta.reasoning_details:
            self._note(("choices", answer.number, "delta"), sent_fields(delta, ("audio", "reasoning_details")) or {})
            self._cite(answer, delta, events)

    def _take_details(self, answer: StreamedAnswer, delta: wire.Message, events: list[Event]) -> None:
        """Read the list `reasoning_details`, if it has a meaning for the target. Then it is taken out of the delta."""

    def _read_audio(self, answer: StreamedAnswer, audio: Raw, events: list[Event]) -> None:
        """Read a piece of sound: its transcript, and a part for targets that can hold sound."""
        if not json_text.is_object(audio):
            self._note(("choices", answer.number, "delta"), {"audio": audio})
            return
        answer.sound = answer.sound or StreamedSound()
        words, piece = answer.sound.read(audio, ("choices", answer.number, "delta"), self._context)
        if words:
            self._words(answer, "text", words, events)
        if piece is not None:
            self._whole_piece(answer, piece, events)

    def _whole_piece(self, answer: StreamedAnswer, piece: Media | Opaque, events: list[Event]) -> None:
        """Write media that come whole, after the parts that have begun."""
        if answer.waiting or (answer.call is not None and not answer.call.whole()):
            answer.waiting.append(piece)
            self._release(answer, events)
        else:
            self._end(answer, events)
            self._one_piece(answer, piece, events)

    def _one_piece(self, answer: StreamedAnswer, part: Media | Opaque, events: list[Event]) -> None:
        """A part that comes whole. It is not kept in `seen`: an answer may hold many pieces of sound."""
        events += (PartStart(self._next, part, answer.number), PartEnd(self._next))
        self._next += 1

    def _words(self, answer: StreamedAnswer, kind: str, text: str, events: list[Event]) -> None:
        if self._search is not None and kind == "text" and not answer.number:
            self._words_cited.append(text)
        if answer.kind == kind:
            self._more(answer, text, events)
            return
        if answer.waiting or (answer.call is not None and not answer.call.whole()):
            answer.waiting.append((kind, text))
            self._release(answer, events)
            return
        self._end(answer, events)
        self._begin(answer, kind, self._blank(answer, kind), events)
        self._more(answer, text, events)

    def _more(self, answer: StreamedAnswer, text: str, events: list[Event]) -> None:
        if answer.kind == "text":
            answer.length += len(text)
        events.append(PartDelta(answer.index, text))

    def _parts(self, answer: StreamedAnswer, content: list[wire.ContentPart], events: list[Event]) -> None:
        """Mistral's answers: content as a list, with thinking in it (recorded traffic, 2026-11)."""
        at: Path = ("choices", answer.number, "delta", "content")
        for part in content:
            thought = part.thinking and thinking_text(part.thinking, at, self._context)
            if thought:
                self._field = "thinking"
            for kind, text in (("text", part.text), ("refusal", part.refusal), ("reasoning", thought)):
                if text:
                    self._words(answer, kind, text, events)
            if part.type not in ("text", "refusal", "thinking"):
                kind = json_text.kind(part.strange) if part.strange else part.type
                self._context.lose("part.dropped", at, kind)

    def _piece(self, answer: StreamedAnswer, piece: wire.Call, events: list[Event]) -> None:
        function, custom = piece.function, piece.custom
        if function is not None:
            name, text = function.name or "", text_value(function.arguments)
        elif custom is not None:
            name, text = custom.name or "", custom.input or ""
        else:
            name = text = ""
        # Pieces of two calls may interleave; `index` identifies the call (openai 3.49.0, 2026-11). Some hosts send no
        # index.
        if piece.index is not None:
            call = answer.by_index.get(piece.index)
        else:
            call = answer.by_id.get(piece.id) if piece.id else answer.latest
        at: Path = ("choices", answer.number, "delta", "tool_calls")
        going = call is not None and (call.index < 0 or call is answer.call or bool(name or piece.id))
        if call is not None and going and call.over(text):
            if call.repeated(piece, name, text):
                self._context.lose("event.dropped", at, "the same arguments once more")
                return
            # A call may begin with empty arguments `{}`, before its real arguments. Two objects are never one text.
            if call.index < 0 and call.empty() and not name:
                call.restart()
            else:
                name, call = name or call.part.name, None
        if call is None or begins(piece, name, text, call):
            call = self._new_call(answer, piece, name)
            if not answer.waiting and (answer.call is None or answer.call.whole()):
                self._end(answer, events)
            answer.waiting.append(call)
        else:
            if call.index < 0 and name and name != call.part.name and (call.has_no_arguments() or not call.part.name):
                # Gemini models behind Chat hosts send the name in pieces (continuedev/continue pull 5849, 2025-05).
                call.part = msgspec.structs.replace(call.part, name=call.part.name + name)
            if piece.extra_content and not call.take_seal(piece.extra_content, self._context):
                self._note(call.part.at, {"extra_content": piece.extra_content})
        if piece.id and piece.id != call.part.id and call.take_id(piece.id, self._context):
            answer.by_id[piece.id] = call
        if text:
            call.pieces.append(text)
        if answer.call is call:
            if text:
                events.append(PartDelta(call.index, text))
            if answer.waiting:
                self._release(answer, events)
        elif call.index < 0:
            if text:
                call.unsent.append(text)
            self._release(answer, events)
        elif text.strip():  # the call has ended: text after a whole JSON object is not part of the call
            self._context.lose("event.dropped", at, "arguments after a whole JSON object")

    def _new_call(self, answer: StreamedAnswer, piece: wire.Call, name: str) -> StreamedCall:
        call_id = piece.id
        at: Path = ("choices", answer.number, "delta", "tool_calls", answer.calls)
        # The first delta of a call has its id (openai 3.49.0, 2026-11); some hosts omit it.
        if not call_id:
            call_id = hashed_id(f"{self._id}:{answer.number}:{answer.calls}:{name}")
            self._context.lose("call.id.invented", at)
        seal = read_seal(piece.extra_content, at, self._context) if piece.extra_content else None
        if seal is None and piece.extra_content:
            self._note(at, {"extra_content": piece.extra_content})
        custom = piece.custom is not None and (piece.type == "custom" or piece.function is None)
        call = StreamedCall(ToolCall(call_id, name, "", custom, seal=seal, at=at), piece.index, bool(piece.id))
        answer.calls += 1
        answer.latest = call
        if piece.index is not None:
            answer.by_index[piece.index] = call
        if piece.id:
            answer.by_id[piece.id] = call
        return call

    def _release(self, answer: StreamedAnswer, events: list[Event], *, all_of_them: bool = False) -> None:
        """Begin held parts, as far as the open call is whole and the next call has its name."""
        while answer.waiting and (all_of_them or answer.call is None or answer.call.whole()):
            item = answer.waiting[0]
            if isinstance(item, StreamedCall) and not (self._ready(answer, item, events) or all_of_them):
                return
            del answer.waiting[0]
            self._end(answer, events)
            if isinstance(item, StreamedCall):
                self._begin_call(answer, item, events)
                for text in item.unsent:
                    events.append(PartDelta(item.index, text))
                item.unsent.clear()
            elif isinstance(item, Media | Opaque):
                self._one_piece(answer, item, events)
            elif type(item) is Reasoning:
                self._begin(answer, "whole", msgspec.structs.replace(item, text=""), events)
                if item.text:
                    events.append(PartDelta(answer.index, item.text))
            else:
                kind, text = item
                self._begin(answer, kind, self._blank(answer, kind), events)
                self._more(answer, text, events)
                while answer.waiting and isinstance(answer.waiting[0], tuple) and answer.waiting[0][0] == kind:
                    self._more(answer, answer.waiting.pop(0)[1], events)  # type: ignore[index]

    # The name must be known before the part begins.
    def _ready(self, answer: StreamedAnswer, call: StreamedCall, events: list[Event]) -> bool:
        """Whether a call can begin: it has a name, and its own arguments."""
        if not call.part.name or not call.pieces:
            return False
        if call.empty() and len(answer.waiting) == 1:
            self._end(answer, events)
            return False
        return call.once(self._context)

    def _begin(self, answer: StreamedAnswer, kind: str, part: Part, events: list[Event]) -> None:
        answer.kind = kind
        answer.before = answer.length
        answer.index = self._next
        answer.seen.append(part)
        self._next += 1
        events.append(PartStart(answer.index, part, answer.number))

    def _begin_call(self, answer: StreamedAnswer, call: StreamedCall, events: list[Event]) -> None:
        self._begin(answer, "call", call.part, events)
        call.index = answer.index
        answer.call = call

    def _blank(self, answer: StreamedAnswer, kind: str) -> Part:
        """The empty text or thought that begins."""
        at: Path = ("choices", answer.number, "delta", _FIELDS[kind])
        if kind == "reasoning":
            return Reasoning(seal=self._thought_origin(), at=at)
        return Text("", kind == "refusal", at=at)

    def _thought_origin(self) -> Seal | None:
        return thought_origin(self._field, self._context)

    def _end(self, answer: StreamedAnswer, events: list[Event]) -> None:
        if answer.kind:
            if answer.kind == "text" and not answer.number:
                if self._words_cited and self._search is not None and not self._skips_numbers:
                    cited = self._search.citations("".join(self._words_cited))
                    if cited:
                        events.append(PartDelta(answer.index, "", None, cited))
                self._words_cited = []
                self._skips_numbers = False
            events.append(PartEnd(answer.index))
            answer.kind = ""
            answer.call = None

    def _cite(self, answer: StreamedAnswer, delta: wire.Message, events: list[Event]) -> None:
        at: Path = ("choices", answer.number, "delta", "annotations")
        unknown: Unknown = {}
        citations = read_annotations(delta.annotations or [], at, self._context, unknown)
        for place, fields in unknown.items():
            self._note(place, fields)
        if citations and answer.kind == "text":
            self._skips_numbers = self._skips_numbers or not answer.number
            if answer.before:
                citations = tuple([answer.placed(cited, at, self._context) for cited in citations])
            events.append(PartDelta(answer.index, "", None, citations))
        elif citations:
            self._context.lose("citation.dropped", at)

    def _finish(self, events: list[Event]) -> None:
        self._over = self._ended = True
        answers = list(self._answers.values())
        if not self._started or not answers:
            events.append(Fault("upstream_bad", "the upstream's stream ended without an answer", 502))
            return
        if self._frames.stray and not all(answer.word for answer in answers):
            events.append(broken_off(self._frames.stray, self._fault))
            return
        if any(not answer.word and answer.breaks_off() for answer in answers):
            # Snowflake ends texts without a finish reason (recorded), but half a call is not a call.
            events.append(Fault("upstream_bad", "the upstream's stream ended in the middle of a call", 502))
            return
        if any(isinstance(item, StreamedCall) and not item.part.name for answer in answers for item in answer.waiting):
            events.append(Fault("upstream_bad", "the upstream's stream has a call without a name", 502))
            return
        if self._tier is not None and self._usage is not None:
            self._usage = answer_service_tiers.with_tier(self._usage, self._tier, TIER_AT)
        elif self._tier is not None:
            self._context.lose("tier.dropped", TIER_AT, self._tier)
        for answer in answers:
            self._release(answer, events, all_of_them=True)
        for answer in answers:
            self._end(answer, events)
            if self._late is not None and not answer.number:
                self._add_search(answer, self._late, events)
            for part in self._executed.rest() if self._executed is not None else ():
                self._one_piece(answer, part, events)
            stop = read_stop(answer.word, answer.seen, ("choices", answer.number), self._context)
            last = answer is answers[-1]
            events.append(Finish(stop, self._usage if last else None, answer.number, last))

    def _note_sent(self, at: Path, value: Any, names: Fields) -> None:
        """Keep each field of `names` that was sent and is not null."""
        noted = self._noted
        fresh = {
            name: json_text.raw(sent)
            for name, sent in zip(names, names.values(value), strict=True)
            if sent is not None and (at, name) not in noted
        }
        if fresh:
            self._note(at, fresh)

    def _note(self, at: Path, fields: dict[str, Any]) -> None:
        """Keep each field once: a stream repeats fields in every chunk. A field may be empty at first."""
        noted = self._noted
        fresh = {name: value for name, value in fields.items() if (at, name) not in noted and bytes(value) not in EMPTY}
        if fresh:
            noted.update([(at, name) for name in fresh])
            self._put_aside(at, fresh)

    def _put_aside(self, at: Path, fields: dict[str, Raw]) -> None:
        """Keep fields without an event. No stream writer restores them, not even that of a related dialect."""
        if self._context.target not in wire.KIN or self._context.target == wire.NAME:
            self._context.keep(at, fields)
            return
        for name, value in fields.items():
            self._context.lose_field(at, name, value, wire.NOISE)


_FIELDS = {"text": "content", "refusal": "refusal", "reasoning": "reasoning_content"}
EMPTY = frozenset({b"null", b"{}", b"[]", b'""'})
"""Empty values. A later value of the same field replaces them."""
