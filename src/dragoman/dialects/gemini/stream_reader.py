"""Reads Gemini streams: chunks to events. (`stream_writer.py` writes them.)

Chunks come as server-sent events, or without `alt=sse` as one JSON array; the first byte decides. Texts are increments
and end when another part begins. A signed part is never joined with another part, because its seal belongs to exactly
that part. Calls come whole, or in pieces from Vertex. There is no terminator, and a finishReason may come before the
last chunk: the end of the bytes ends the answer.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from ...canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ...canon.parts import Citation, Extra, Part, Path, Reasoning, Text, ToolCall
from ...canon.response import Stop, Usage
from ...codec import json_array_splitter, json_text, sse_splitter
from ...codec.dialect_extras import Fields, sent_fields
from ...codec.failure_sentence_in_answer import cut_short
from ...codec.fault_kinds_statuses_and_error_object import broken_off, is_empty_field
from ...codec.late_id_and_model_losses import report_id, report_model
from ...codec.sse_stream_reader_base import FrameReader, starts_part
from ...codec.surrogates.documents import decodable_frame
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .call_pairing import Ids
from .faults import fault_from
from .grounding import METADATA, CharacterOffsets, read_citations, report
from .hosted_calls import FETCHED, GROUNDING, read_metadata
from .message_content import read_arguments, read_part, read_seal
from .original_values import peek, with_field
from .response import absent_counts, add_earlier_counts, read_block, read_stop, read_time, read_usage, seed, version
from .stream_writer import StreamWriter
from .streamed_calls import Pieces
from .streamed_metadata import joined, report_replaced

__all__ = ["StreamReader", "StreamWriter"]

_strict = msgspec.json.Decoder(wire.Answer).decode
_ROOT_EXTRAS = Fields("promptFeedback", "modelStatus")
_BOM = b"\xef\xbb\xbf"


class _Answer(Struct):
    """The open parts of one answer."""

    number: int
    index: int = -1
    kind: str = ""
    """text or thought; "": no part is open."""
    count: int = 0
    """The number of wire parts so far."""
    words: list[str] = []
    """All text so far."""
    texts: CharacterOffsets | None = None
    """The places in the text. Few answers need them."""
    before: int = 0
    """Characters of text before the open text."""
    seen: list[Part] = []
    candidate: wire.Candidate = field(default_factory=wire.Candidate)
    """The latest fields beside the content."""
    extras: dict[str, Raw] = {}
    searched: bool = False
    """The searches of the metadata became hosted calls."""
    fetched: bool = False
    """The fetches of the metadata became hosted calls."""
    pieces: Pieces | None = None
    cited: set[Citation] = set()
    grounding: Raw | None = None
    """Metadata whose citations are all written."""
    uncited: bool = False
    metadata: dict[str, list[Raw]] = {}
    """Field -> its values in all chunks."""

    def places(self) -> CharacterOffsets:
        """The places in the text so far."""
        if self.texts is None:
            self.texts = CharacterOffsets(self.words)
        return self.texts

    def keep_metadata(self, candidate: wire.Candidate) -> None:
        """Keep the metadata of a chunk: the newest for citations, all of it for the end."""
        for name in METADATA:
            value = getattr(candidate, name)
            if value:
                setattr(self.candidate, name, value)
                self.metadata.setdefault(name, []).append(value)

    def join_metadata(self) -> None:
        """Join the metadata of all chunks."""
        for name, pieces in self.metadata.items():
            if len(pieces) > 1 and name == FETCHED:
                self.extras[name] = joined(pieces)
            elif len(pieces) > 1:
                setattr(self.candidate, name, joined(pieces))


def _no_frame(chunk: bytes) -> None:
    """Used in place of `one` for a stream that is a JSON array, or may be one."""


class StreamReader(FrameReader):
    """Takes chunks and returns events."""

    def __init__(self, context: Context) -> None:
        super().__init__(sse_splitter.SseSplitter(wire.NAME))
        self._context = context
        self._head = b""
        self._odd = b""  # a body that is not a chunk, in place of the first one
        self._sse = False
        self._array: json_array_splitter.JsonArraySplitter | None = None
        self._answers: dict[int, _Answer] = {}
        self._first: _Answer | None = None
        self._next = 0
        self._call_ids: Ids | None = None
        self._id = self._model = ""
        self._started = False
        self._over = False
        self._continued = False  # the last chunk was only more of the open text
        self._usage: wire.UsageMetadata | None = None
        self._earlier_counts: dict[str, Any] = {}  # counts that a later chunk does not have
        self._unknown: Unknown = {}
        self._last = wire.Answer()  # the latest fields outside the candidates
        self._scratch_candidate = wire.Candidate()  # scratch, to test whether a candidate or a part has only text
        self._words_only = wire.Part()

    def feed(self, chunk: bytes) -> list[Event]:
        """The events of a chunk of bytes."""
        events: list[Event] = []
        try:
            if self._sse:
                return super().feed(chunk)
            if self._over:
                return events
            if self._array is not None:
                for data in self._array.feed(chunk):
                    self._take(data, events)
                if self._array.broken is not None:
                    raise self._array.broken
            else:
                self._begin(chunk, events)
        except WireError as error:
            self._broken(error, events)
        return events

    def _broken(self, error: WireError, events: list[Event]) -> None:
        self._fault(Fault("upstream_bad", f"the upstream sent a broken frame: {error}", 502), events)

    def _begin(self, chunk: bytes, events: list[Event]) -> None:
        """Decide the framing by the first byte that is not white space."""
        self.one = _no_frame
        self._head += chunk
        if _BOM.startswith(self._head):
            return
        head = self._head.removeprefix(_BOM).lstrip()
        self._head = b""
        if not head:
            return
        # Without alt=sse the stream is one JSON array.
        if head[:1] in b"[{":
            self._array = json_array_splitter.JsonArraySplitter(wire.NAME)
        else:
            self._sse = True
            self.one = self._frames.one
        events.extend(self.feed(head))

    def close(self) -> list[Event]:
        """The stream is over: the rest of its events, or a fault."""
        events: list[Event] = []
        self.settle()
        if self._sse:
            for name, data in self._frames.close():
                self._frame(name, data, events)
        if not self._over:
            self._finish(events)
        return events

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        if self._over:
            return False
        before = len(events)
        self._sse = True
        self._continued = False
        try:
            self._take(data, events)
        except WireError as error:
            self._broken(error, events)
        return self._continued and (len(events) == before + 1 or starts_part(events, before))

    def _catch_up(self, texts: list[str], last: bytes) -> None:
        answer = self._first
        if answer is not None:
            answer.count += len(texts)
            if answer.kind == "text":
                answer.words.extend(texts)
        self._take_figures(last.partition(b"data: ")[2])

    def _take_figures(self, data: bytes) -> None:
        """Take the usage of a chunk whose text was already read."""
        usage = _strict(data).usageMetadata
        if usage is not None:
            self._take_usage(usage)

    def _take_usage(self, usage: wire.UsageMetadata) -> None:
        """Take the latest counts. Each chunk has the counts so far, so the last ones are valid."""
        if self._usage is not None:
            self._earlier_counts.update(absent_counts(self._usage, usage))
        self._usage = usage

    def _fault(self, fault: Fault, events: list[Event]) -> None:
        if not self._over:
            self._over = True
            events.append(fault)

    def _take(self, data: bytes, events: list[Event]) -> None:
        if self._over:
            return
        unknown: Unknown = {}
        wire.check_text(data)
        try:
            chunk = _strict(data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            if data == b"[DONE]":  # the end of a Chat stream, from a server that has both protocols; no meaning here
                return
            chunk, unknown, _ = wire.admit_answer(decodable_frame(data, self._context))
        if not self._started:
            if is_empty_field(chunk.error):
                chunk.error = wire.NONE
            if chunk == type(chunk)():
                self._odd = data
                return
        self._chunk(chunk, unknown, events)

    def _chunk(self, chunk: wire.Answer, unknown: Unknown, events: list[Event]) -> None:
        """Read one decoded chunk, of a frame or of an envelope."""
        # An error in a stream is an object with `error` (Google RPC error model).
        if chunk.error and not is_empty_field(chunk.error):
            error = peek(chunk.error)
            self._fault(fault_from(error if isinstance(error, dict) else {"message": str(error)}, 0, {}), events)
            return
        if not self._started:
            self._start(chunk, events)
        elif chunk.modelVersion != self._model or chunk.responseId != self._id:
            report_id(self._context, ("responseId",), self._id, chunk.responseId)
            report_model(self._context, ("modelVersion",), self._model, chunk.modelVersion)
        for place, candidate in enumerate(chunk.candidates or ()):
            self._continued = not unknown and self._has_only_words(candidate)
            self._candidate(candidate, place, unknown, events)
        if chunk.candidates and len(chunk.candidates) > 1:
            self._continued = False
        if chunk.usageMetadata is not None:
            self._take_usage(chunk.usageMetadata)
        if unknown and chunk.usageMetadata is not None:
            self._unknown = {at: unknown.pop(at) for at in list(unknown) if at[:1] == ("usageMetadata",)}
        if unknown or chunk.promptFeedback or chunk.modelStatus:
            self._continued = False
            self._keep(chunk, unknown)

    def _has_only_words(self, candidate: wire.Candidate) -> bool:
        """Whether a candidate is only more text of the first answer."""
        answer, content = self._first, candidate.content
        if answer is None or content is None or (candidate.index or 0) != answer.number:
            return False
        scratch = self._scratch_candidate
        scratch.content, scratch.index = content, candidate.index
        parts = content.parts
        if candidate != scratch or not isinstance(parts, list) or len(parts) != 1:
            return False
        part = parts[0]
        words = self._words_only
        words.text, words.thought = part.text, part.thought
        return bool(part.text) and part == words

    def _start(self, chunk: wire.Answer, events: list[Event]) -> None:
        self._started = True
        self._id, self._model = chunk.responseId or "", chunk.modelVersion or ""
        created = None
        extra: Extra | None = None
        if chunk.createTime is not None:
            created = read_time(chunk.createTime)
            extra = with_field(None, "createTime", json_text.raw(chunk.createTime))
        events.append(Start(chunk.responseId or "", version(chunk.modelVersion, self._context), created, None, extra))

    def _ids(self) -> Ids:
        """The ids of the calls. The id of the first chunk distinguishes them from the calls of other answers."""
        if self._call_ids is None:
            self._call_ids = Ids(self._context, seed(self._id, self._context))
        return self._call_ids

    def _keep(self, chunk: wire.Answer, unknown: Unknown) -> None:
        last = self._last
        earlier = sent_fields(last, _ROOT_EXTRAS)
        if earlier and self._context.target in wire.KIN:
            report_replaced(earlier, sent_fields(chunk, _ROOT_EXTRAS) or {}, (), self._context)
        last.promptFeedback = chunk.promptFeedback or last.promptFeedback
        last.modelStatus = chunk.modelStatus or last.modelStatus
        for at, fields in unknown.items():
            self._keep_fields(at, fields)

    def _keep_fields(self, at: Path, fields: dict[str, Raw]) -> None:
        """Keep fields of a chunk without an event. They are lost for related dialects too, where kept fields are
        not reported as losses.
        """
        context = self._context
        no_envelope = context.within == ()
        if context.target not in wire.KIN or no_envelope == (context.target == wire.NAME):
            context.keep(at, fields)
            return
        for name, value in fields.items():
            if bytes(value) != b"null":
                context.lose("field.dropped", (*at, name))

    def _candidate(self, candidate: wire.Candidate, place: int, unknown: Unknown, events: list[Event]) -> None:
        answer = self._first
        number = candidate.index or 0
        if answer is None or answer.number != number:
            answer = self._answers.get(number)
            if answer is None:
                answer = self._answers[number] = _Answer(number)
                self._first = self._first or answer
        if candidate.groundingMetadata or candidate.citationMetadata:
            answer.uncited = True
            answer.keep_metadata(candidate)
        content = candidate.content
        if content is not None and content.parts is not None:
            parts = content.parts if isinstance(content.parts, list) else [content.parts]
            for j, part in enumerate(parts):
                text = part.text
                if text is not None and not unknown and part.thoughtSignature is None and type(part) is wire.Part:
                    if (
                        part.functionCall is None
                        and part.functionResponse is None
                        and part.inlineData is None
                        and part.fileData is None
                    ):
                        answer.count += 1
                        if text:
                            self._words(answer, "thought" if part.thought else "text", text, events)
                        continue
                at: Path = ("candidates", place, "content", "parts", j)
                self._part(answer, part, at, unknown, events)
        if answer.uncited:
            self._cite(answer, events)
            answer.uncited = False
        # finishReason comes once per candidate, in its last chunk (lint rule GEM-S01).
        if candidate.finishReason is not None:
            answer.candidate.finishReason = candidate.finishReason
            answer.candidate.finishMessage = candidate.finishMessage
        if candidate.logprobsResult:
            self._score(answer, candidate, place, events)
        extras = sent_fields(candidate, wire.CANDIDATE_EXTRAS)
        if extras is not None:
            if answer.extras and self._context.target in wire.KIN:
                report_replaced(answer.extras, extras, ("candidates", answer.number), self._context)
            answer.extras.update(extras)
            if FETCHED in extras:
                answer.metadata.setdefault(FETCHED, []).append(extras[FETCHED])
        if unknown:
            for at in [at for at in unknown if at[:2] == ("candidates", place)]:
                self._keep_fields(at, unknown.pop(at))

    def _score(self, answer: _Answer, candidate: wire.Candidate, place: int, events: list[Event]) -> None:
        """Log probabilities of the text in this chunk. Related dialects get all of them unchanged, with the
        last chunk.
        """
        from ...codec import logprobs  # late: few streams have them

        found = logprobs.read(candidate.logprobsResult, "chosen")
        if found and self._context.scored and answer.kind == "text" and self._context.target not in wire.KIN:
            at = ("candidates", place, "logprobsResult")
            self._context.lose("field.dropped", at, "the numbers of the tokens", "info")
            events.append(PartDelta(answer.index, "", None, (), tuple(found)))
            candidate.logprobsResult = wire.NONE
        elif "logprobsResult" in answer.extras:
            candidate.logprobsResult = logprobs.joined(answer.extras["logprobsResult"], candidate.logprobsResult)

    def _words(self, answer: _Answer, kind: str, text: str, events: list[Event]) -> None:
        if answer.kind != kind:
            self._end(answer, events)
            self._open(answer, kind, Reasoning() if kind == "thought" else Text(""), events)
        events.append(PartDelta(answer.index, text))
        if kind == "text":
            answer.words.append(text)

    def _open(self, answer: _Answer, kind: str, part: Part, events: list[Event]) -> None:
        answer.kind = kind
        answer.index = self._next
        if kind == "text" and answer.words:
            answer.before = answer.places().length()
        answer.seen.append(part)
        self._next += 1
        events.append(PartStart(answer.index, part, answer.number))

    def _end(self, answer: _Answer, events: list[Event]) -> None:
        if answer.kind:
            if answer.uncited and answer.kind == "text":
                self._cite(answer, events, more_to_come=True)
            events.append(PartEnd(answer.index))
            answer.kind = ""

    def _part(self, answer: _Answer, part: wire.Part, at: Path, unknown: Unknown, events: list[Event]) -> None:
        # Ids are computed from the place in the answer, not in the chunk: two chunks have the same places.
        whole_at: Path = ("candidates", answer.number, "content", "parts", answer.count)
        answer.count += 1
        call = part.functionCall
        # Vertex may stream arguments in pieces, on request (google-genai 3.1.0, 2026-11).
        if call is not None and (answer.pieces is not None or call.willContinue or call.partialArgs is not None):
            self._piece(answer, part, call, whole_at, events)
            return
        made: list[Part] = []
        fields = {whole_at + path[5:]: unknown.pop(path) for path in list(unknown) if path[:5] == at}
        read_part(part, whole_at, self._ids(), fields, made)
        for one in made:
            self._whole(answer, one, events)

    def _whole(self, answer: _Answer, part: Part, events: list[Event]) -> None:
        """A part that is complete at once."""
        if isinstance(part, Text | Reasoning):
            kind = "text" if type(part) is Text else "thought"
            # A signed part is never merged with another (docs "Thought signatures", 2026-10).
            if part.seal is None and part.extra is None:
                if part.text:
                    self._words(answer, kind, part.text, events)
                return
            self._end(answer, events)
            self._open(answer, kind, msgspec.structs.replace(part, text=""), events)
            if part.text:
                events.append(PartDelta(answer.index, part.text))
                if kind == "text":
                    answer.words.append(part.text)
        else:
            self._end(answer, events)
            empty = msgspec.structs.replace(part, arguments="") if type(part) is ToolCall else part
            self._open(answer, "whole", empty, events)
            if type(part) is ToolCall and part.arguments:
                events.append(PartDelta(answer.index, part.arguments))
        self._end(answer, events)

    def _piece(self, answer: _Answer, part: wire.Part, call: wire.Call, at: Path, events: list[Event]) -> None:
        """A piece of a call that Vertex streams. A piece without `willContinue` is the last (google-genai 3.1.0,
        2026-11).
        """
        pieces = answer.pieces
        if pieces is not None and call.name:
            self._close_call(answer, pieces, events)
            pieces = None
        seal = read_seal(part.thoughtSignature) if part.thoughtSignature is not None else None
        if pieces is None:
            call_id = call.id or self._ids().mint(at)
            pieces = answer.pieces = Pieces(ToolCall(call_id, call.name or "", seal=seal, at=at))
            if call.args and json_text.is_object(call.args):
                pieces.root = json_text.fields(call.args)
            elif call.args:
                self._context.lose("arguments.invalid", at, "the arguments are not an object")
        elif seal is not None:
            pieces.call = msgspec.structs.replace(pieces.call, seal=seal)
        for piece in call.partialArgs or ():
            pieces.take(piece)
        # A part without willContinue closes the call (google-genai 3.1.0, 2026-11).
        if not call.willContinue:
            self._close_call(answer, pieces, events)

    def _close_call(self, answer: _Answer, pieces: Pieces, events: list[Event]) -> None:
        answer.pieces = None
        whole = msgspec.structs.replace(pieces.call, arguments=read_arguments(pieces.arguments()))
        self._whole(answer, whole, events)

    def _cite(self, answer: _Answer, events: list[Event], *, more_to_come: bool = False) -> None:
        """Citations on the open text. A citation of an ended text keeps only its source."""
        candidate = answer.candidate
        grounding = candidate.groundingMetadata
        # Chunks repeat only metadata that they change: citations that are all written are not read again.
        found = read_citations(
            Raw() if grounding is answer.grounding else grounding, candidate.citationMetadata, answer.places()
        )
        fresh = [cited for cited in found if cited not in answer.cited]
        if answer.kind != "text":
            if fresh and not more_to_come:
                self._context.lose("citation.dropped", ("candidates", answer.number), "no text is open")
            return
        answer.grounding = grounding
        mine: list[Citation] = []
        for cited in fresh:
            if cited.start is None or cited.end is None or cited.start < answer.before:
                if more_to_come:
                    answer.grounding = None
                    continue
                if cited.start is not None:
                    self._context.lose("citation.approximated", ("candidates", answer.number), "its text has ended")
                mine.append(Citation(cited.url, cited.title, cited.quote))
            else:
                start, end = cited.start - answer.before, cited.end - answer.before
                mine.append(Citation(cited.url, cited.title, cited.quote, start, end))
            answer.cited.add(cited)
        if mine:
            events.append(PartDelta(answer.index, "", None, tuple(mine)))

    def _finish(self, events: list[Event]) -> None:
        self._over = True
        answers = [self._answers[number] for number in sorted(self._answers)]
        blocked = read_block(self._last.promptFeedback, self._context) if not answers else None
        broken = self._array is not None and self._array.open
        if broken or not (answers or blocked) or None in [answer.candidate.finishReason for answer in answers]:
            events.append(broken_off(self._frames.stray or self._odd, lambda error: fault_from(error, 0, {})))
            return
        usage = self._read_usage()
        if blocked is not None:
            events.append(Finish(blocked, usage, extra=self._root_extra(None)))
        for answer in answers:
            stop = self._stop(answer, events)
            extra = self._answer_extra(answer)
            last = answer is answers[-1]
            if answer is answers[0]:
                extra = self._root_extra(extra)
            events.append(Finish(stop, usage if last else None, answer.number, last, extra))

    def _read_usage(self) -> Usage | None:
        if self._usage is None:
            return None
        add_earlier_counts(self._usage, self._earlier_counts, self._context)
        return read_usage(self._usage, self._context, self._unknown)

    def _uses(self, answer: _Answer, at: Path, events: list[Event]) -> None:
        """The searches and fetches in the metadata, which is complete now."""
        if not (answer.candidate.groundingMetadata or FETCHED in answer.extras):
            return
        fetched = answer.extras.get(FETCHED, wire.NONE)
        found = read_metadata(answer.candidate.groundingMetadata, fetched, answer.seen, at, self._ids())
        for part in found:
            answer.searched = answer.searched or part.kind == GROUNDING
            answer.fetched = answer.fetched or part.kind == FETCHED
            self._whole(answer, part, events)

    def _stop(self, answer: _Answer, events: list[Event]) -> Stop:
        self._end(answer, events)
        candidate = answer.candidate
        at = ("candidates", answer.number)
        answer.join_metadata()
        self._uses(answer, at, events)
        stop = read_stop(candidate.finishReason, candidate.finishMessage, answer.seen, at, self._context)
        if answer.pieces is None:
            return stop
        # The limit fell inside a call: half a call is not a call.
        call = answer.pieces.call
        self._context.lose("call.truncated", call.at, f"the call of {call.name}")
        return cut_short(stop, self._context, answer.number)

    def _answer_extra(self, answer: _Answer) -> Extra | None:
        at = ("candidates", answer.number)
        candidate = answer.candidate
        if not (answer.extras or candidate.groundingMetadata or candidate.citationMetadata):
            return None
        fields = dict(answer.extras)
        remaining = {name: value for name, value in fields.items() if name != FETCHED or not answer.fetched}
        if remaining:
            self._context.keep(at, remaining)
        if candidate.groundingMetadata or candidate.citationMetadata:
            report(candidate, answer.places(), at, self._context, searched=answer.searched)
            fields |= sent_fields(candidate, METADATA) or {}
        return {wire.NAME: fields} if fields else None

    def _root_extra(self, extra: Extra | None) -> Extra | None:
        """Extras of the first answer and of the whole, with the names of `read_response`."""
        extras = sent_fields(self._last, _ROOT_EXTRAS if self._answers else ("modelStatus",))
        if extra is None and extras is None:
            return None
        fields = {f"candidates/0/{name}": value for name, value in (extra or {}).get(wire.NAME, {}).items()}
        if extras:
            self._context.keep((), extras)
            fields |= extras
        return {wire.NAME: fields} if fields else None
