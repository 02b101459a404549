"""Owns the translation of a stream: reads it with one dialect and writes it with another while it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, cast

import msgspec

from ..canon.events import Event, Fault, PartDelta, PartEnd, PartStart
from ..canon.losses import Loss
from ..canon.parts import OPAQUES, ToolCall
from ..codec.call_ids import DistinctIds, earlier
from ..codec.caller_document_to_bytes import stream_bytes
from ..codec.custom_tools import Unwrapper
from ..codec.fault_kinds_statuses_and_error_object import missing_fields
from ..codec.repeated_frame_interface import EscapeCleaning, FastPath, FrameMatcher, FrameTemplate
from ..codec.sse_splitter import Frame
from ..codec.sse_stream_reader_base import FrameReader
from ..codec.surrogates.streamed_arguments import EscapedHalves
from ..codec.surrogates.streams import HalfCharacters
from ..dialect import Dialect, TemplateWriter
from ..dialects import DialectName, get
from ..seals.strategy import Strategy
from ..seals.stream_seals_to_client import SealStream
from ..seals.vault import Vault
from .client_names_ids_and_seals import answer_context, call_with_client_name, report_stand_in, seal_plan, shape_of
from .result import Translation
from .stream_passthrough import PassThrough

if TYPE_CHECKING:
    from ..codec.hosted_calls import HostedEvents
    from ..codec.strict_null_removal import AbsentRemover

_LF, _CRLF = b"\n\n", b"\r\n\r\n"
_NOTHING = FrameTemplate(b"", b"")
"""The template for more text of a part that the reader holds back: nothing is written."""


class StreamTranslator:
    """Translates a stream: takes the upstream's bytes and returns the client's bytes."""

    fault: Fault | None = None
    """The fault that ended the stream, if any."""
    note = ""
    """How the upstream broke off after the answer was whole. The client has lost nothing."""
    _blank = _LF  # between frames
    _index: int  # index of the part whose text takes the fast path
    _last: bytes  # the frame of its last text

    def __init__(
        self,
        *,
        source: DialectName,
        target: DialectName,
        answers: Translation | None = None,
        created: int = 0,
        seals: Strategy = "auto",
        vault: Vault | None = None,
        host: str | None = None,
    ) -> None:
        self._from, self._to = get(source), get(target)
        self._context = answer_context(source, target, answers, created)
        self._same = PassThrough(source) if source == target and not (answers is not None and answers.wrapped) else None
        """Set within one dialect: the frames pass unchanged."""
        # Streams may cut a character in two. Whole answers cannot.
        self._halves = self._context.half_characters = HalfCharacters()
        self._escapes = EscapedHalves(self._context)
        self._calls = self._escapes.calls
        self._context.scored = self._from.logprobs is not None and self._to.logprobs is not None
        self._reader = self._from.reader(self._context)
        self._writer = self._to.writer(self._context)
        self._send = self._writer.send
        self._ids: dict[int, DistinctIds] = {}
        self._stand_ins = answers.stand_ins if answers is not None else {}
        plan = seal_plan(self._from, self._to, answers, seals, vault, host)
        self._seals = SealStream(plan, self._context) if plan is not None else None
        self._stage: SealStream | _Restorer | None = self._seals
        """Changes the events on their way to the writer."""
        restores = answers is not None and bool(answers.renamed or answers.wrapped or answers.absent)
        if answers is not None and restores:
            self._stage = _Restorer(answers, self._seals)
        self._hosted: HostedEvents | None = None
        """Set at the first use of a hosted tool."""
        self._framed: FrameReader | None = None  # only for readers and writers with a fast path
        # With renamed tools each event must be checked, so no frame can take the fast path.
        usual = self._same is None and not restores
        if usual and isinstance(self._reader, FrameReader) and hasattr(self._writer, "template"):
            self._framed = self._reader
            matcher = self._matcher(self._from)
            if matcher is not None:
                self._reader.match(matcher)
        self._fast_path: FastPath | None = None
        """The function for frames that are more of the same text."""
        self._texts: list[str] = []  # the original pieces of text that took the fast path
        self._changed: dict[int, str] = {}  # number of a changed piece -> its text for the client

    def _matcher(self, dialect: Dialect) -> FrameMatcher | None:
        """The matcher of repeated frames. None without `dragoman.fast`."""
        return None

    def feed(self, chunk: bytes) -> bytes:
        """The bytes to send for these bytes; b"" if nothing is ready."""
        if type(chunk) is not bytes:
            chunk = stream_bytes(chunk)
        fast_path = self._fast_path
        # Most frames are more of the same text. This is the shortest way for them.
        if fast_path is not None:
            out = fast_path(chunk)
            if out is not None:
                self._last = chunk
                return out
        framed = self._framed
        if framed is None:
            return self._unframed(chunk)
        frame = framed.one(chunk)
        if frame is not None:
            return self._through(chunk, frame, framed)
        # A network may deliver many frames in one chunk. Each frame can take the fast path separately.
        frames = chunk.split(self._blank)
        if len(frames) == 1:
            self._blank = _CRLF if self._blank == _LF else _LF
            frames = chunk.split(self._blank)
        # Two pieces are one frame and its rest, for which splitting gains nothing.
        if len(frames) < 3:
            return self._through(chunk, None, framed)
        blank = self._blank
        rest = frames.pop()
        whole = [frame + blank for frame in frames]
        return self._several([*whole, rest] if rest else whole, framed)

    def translate(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The client's bytes for a whole stream, as its chunks arrive. The end of the stream is written, too."""
        for chunk in chunks:
            if out := self.feed(chunk):
                yield out
        if out := self.close():
            yield out

    async def atranslate(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Like `translate`, for `async for`."""
        async for chunk in chunks:
            if out := self.feed(chunk):
                yield out
        if out := self.close():
            yield out

    def _several(self, frames: list[bytes], framed: FrameReader) -> bytes:
        """The client's bytes for frames that came together. The last frame may be incomplete."""
        out: list[bytes] = []
        fast_path = self._fast_path
        for frame in frames:
            words = fast_path(frame) if fast_path is not None else None
            if words is None:
                words = self._through(frame, framed.one(frame), framed)
                fast_path = self._fast_path
            else:
                self._last = frame
            out.append(words)
        return b"".join(out)

    def _unframed(self, chunk: bytes) -> bytes:
        """The client's bytes for bytes without a fast path."""
        if self._same is not None:
            out = self._same.feed(chunk)
            self.fault = self._same.fault
            return out
        events = self._reader.feed(chunk)
        if self._halves.active:
            events = self._halves.joined(events, self._context)
        return self._each_written(events)

    def _through(self, chunk: bytes, frame: Frame | None, framed: FrameReader) -> bytes:
        """The client's bytes for bytes that took no fast path. `frame`: the frame, if the bytes are one."""
        if self._fast_path is not None:
            self._leave_fast_path()
        if frame is None:
            events: list[Event] = framed.feed(chunk)
        else:
            events = []
            framed.take(chunk, frame, events)
        if self._halves.active:
            events = self._halves.joined(events, self._context)
        if len(events) == 1:
            out = self._written(events[0])
        else:
            out = self._each_written(events) if events else b""
        # A half character, or a cut escape, needs the events of the next frame.
        if framed.going_on >= 0 and not self._halves.active and not self._escapes.holding:
            self._enter_fast_path(framed)
        return out

    def _each_written(self, events: list[Event]) -> bytes:
        """The client's bytes for events of the reader."""
        out: list[bytes] = []
        for event in events:
            out.append(self._written(event))
        return b"".join(out)

    def _enter_fast_path(self, reader: FrameReader) -> None:
        index = reader.going_on
        template = cast(TemplateWriter, self._writer).template(index) if reader.held is None else _NOTHING
        if template is not None and (self._seals is None or not self._seals.holds(index)):
            self._index = index
            cleaning = EscapeCleaning(self._escapes, index, self._changed) if index in self._escapes.calls else None
            self._fast_path = reader.fast_path(template, self._texts, cleaning)

    def _leave_fast_path(self) -> None:
        """Leave the fast path for another frame, and report the text that came on this path."""
        self._fast_path = None
        texts = self._texts
        if texts:
            self._texts = []
            framed = self._framed
            if framed is not None:
                framed.add_texts(texts, self._last)
                if framed.held is not None:
                    # The reader's own copy is enough: nothing was written for the part.
                    return  # the reader holds the part, and neither writer nor seals have the part
            if self._changed:
                changed, self._changed = self._changed, {}
                texts = texts.copy()  # the reader keeps the original texts
                for i, sent in changed.items():
                    texts[i] = sent
                if "" in changed.values():
                    texts = [text for text in texts if text]
            if self._seals is not None:
                self._seals.add_texts(self._index, texts)
            cast(TemplateWriter, self._writer).add_texts(self._index, texts)

    def close(self, fault: Fault | None = None) -> bytes:
        """End the stream. Returns the last bytes, with a fault in the client's dialect if the stream was cut. `fault`:
        the reason, if the caller has one.
        """
        if self._same is not None:
            rest = self._same.close(fault)
            self.fault, self.note = self._same.fault, self._same.note
            return rest
        self._leave_fast_path()
        events = self._reader.close()
        if self._halves.active:
            events = self._halves.joined(events, self._context)
        if fault is not None:
            # The caller's reason is better than the reader's: the reader only found the end of the bytes.
            if events and type(events[-1]) is Fault:
                events[-1] = fault
            elif self.fault is None:
                # The answer was whole, so the client gets no fault.
                self.note = fault.message
        out = self._each_written(events) + self._writer.close()
        self.fault = self.fault or getattr(self._writer, "fault", None)  # set by writers that end a stream themselves
        return out

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far, sorted by path: their order of discovery depends on how the bytes were cut."""
        if self._same is None and self._from.name not in self._to.kin:
            self._context.settle(self._from.noise)
        return tuple(sorted(self._context.losses.all(), key=_place))

    def _hosted_events(self) -> HostedEvents | None:
        write = self._to.write_hosted
        if write is None:
            return None
        return _hosted_class()(write, frozenset((self._to.name, self._to.origin)), self._context)

    def _written(self, event: Event) -> bytes:
        """The client's bytes for an event. Nearly all events are more text of an open part and need no other step."""
        if type(event) is PartDelta:
            if event.index in self._calls:
                sound = self._escapes.mended(event)
                if sound is None:
                    return b""
                event = sound
        else:
            if type(event) is PartStart:
                event = self._part_start(event)
            elif type(event) is PartEnd:
                if event.index in self._calls:
                    rest = self._escapes.end(event.index)
                    if rest:
                        # The held text belongs to the part, so it is written before the end.
                        return self._written(PartDelta(event.index, rest)) + self._written(event)
            elif type(event) is Fault:
                return self._fault_written(event)
            made = self._hosted.take(event) if self._hosted is not None else None
            if made is not None:
                return b"".join([self._send(one) for one in (self._stage.feed(made) if self._stage else made)])
        placed = self._stage.take(event) if self._stage is not None else None
        return self._send(event) if placed is None else b"".join([self._send(one) for one in placed])

    def _fault_written(self, fault: Fault) -> bytes:
        events = [fault] if self._seals is None else self._seals.feed([fault])
        out = [self._send(event) for event in events]
        self.fault = fault
        # The path of a fault does not depend on the envelope of the frames before it.
        for at in missing_fields(fault, self._from.name, out[-1]):
            self._context.losses.add("field.dropped", at, "", "info")
        return b"".join(out)

    def _part_start(self, event: PartStart) -> PartStart:
        """The beginning of a part; a call gets an id that no other call has."""
        part = event.part
        self._halves.places[event.index] = part.at
        if type(part) is ToolCall:
            if not part.custom:
                self._escapes.begin(event.index, part.at)
            if self._stand_ins:
                report_stand_in(part, self._stand_ins, self._context)
            ids = self._ids.get(event.answer)
            if ids is None:
                # Ids must also differ from the ids of the conversation, because some hosts count anew in each answer.
                ids = self._ids[event.answer] = DistinctIds(earlier(self._context))
            call = ids.call(part, self._context)
            if call is not part:
                return PartStart(event.index, call, event.answer)
        elif self._hosted is None and type(part) in OPAQUES:
            # Few streams use hosted tools. The stage is made at the first use.
            self._hosted = self._hosted_events()
        return event


def _place(loss: Loss) -> tuple[str, str]:
    return loss.path, loss.code


@cache  # an import inside a function takes microseconds each time
def _hosted_class() -> type[HostedEvents]:
    from ..codec.hosted_calls import HostedEvents  # late: rarely needed

    return HostedEvents


class _Restorer:
    """Restores the client's tool names and the free text of custom calls in a stream, and removes absent properties."""

    def __init__(self, answers: Translation, seals: SealStream | None) -> None:
        self._answers = answers
        self._seals = seals
        self._open: dict[int, Unwrapper | AbsentRemover] = {}

    def take(self, event: Event) -> list[Event]:
        """The events for the client, in place of an event."""
        return self.feed([event])

    def feed(self, events: list[Event]) -> list[Event]:
        """The events for the client, with seals placed."""
        restored = self._restored(events)
        return restored if self._seals is None else self._seals.feed(restored)

    def _restored(self, events: list[Event]) -> list[Event]:
        """The events, with the client's own declarations of its tools."""
        out: list[Event] = []
        for event in events:
            if type(event) is PartStart:
                event = self._started(event)
            elif type(event) is PartDelta and event.index in self._open:
                text = self._open[event.index].feed(event.text)
                if not text and event.seal is None and not event.citations and not event.tokens:
                    continue
                event = msgspec.structs.replace(event, text=text)
            elif type(event) is PartEnd and event.index in self._open:
                changed = self._open.pop(event.index)
                rest = changed.close()
                if rest:
                    out.append(PartDelta(event.index, rest))
                if isinstance(changed, Unwrapper) and changed.cut:
                    # An incomplete call is marked, so that no client runs the call.
                    event = PartEnd(event.index, event.extra, True)
            out.append(event)
        return out

    def _started(self, event: PartStart) -> PartStart:
        part = event.part
        shape = shape_of(part, self._answers.absent) if self._answers.absent else None
        if shape is not None:
            from ..codec.strict_null_removal import AbsentRemover as Remover  # late: rarely needed

            self._open[event.index] = Remover(shape)
        if type(part) is not ToolCall:
            return event
        call = call_with_client_name(part, self._answers)
        if call.custom and not part.custom:
            self._open[event.index] = Unwrapper()
        return PartStart(event.index, call, event.answer)
