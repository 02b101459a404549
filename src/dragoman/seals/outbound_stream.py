"""Seals on their way to the client in a stream: what `outbound.py` does with whole answers, done with their events.

Deltas on which nothing hangs pass as they come (`passes`). Only a sealed text is held until it is whole, which its
reader has at once anyway, and the end of a thought until the next part says whether it can use the free slot.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ..canon.parts import Citation, Part, Reasoning, Seal, Text, Token, ToolCall
from ..codec import packed_seals
from ..codec.packed_seals import Record
from ..context import Context
from .outbound import AnswerSeals, Plan

_FIRST = 1 << 30
"""Parts that are put in are numbered from here on: no reader comes so far."""


class _Open:
    """A text or a thought under way."""

    __slots__ = ("answer", "calls", "chars", "citations", "held", "part", "pieces", "seal", "tokens")

    def __init__(self, part: Part, answer: int, told: AnswerSeals, held: bool) -> None:
        self.part = part
        self.answer = answer
        self.held = held
        self.pieces: list[str] = []
        self.citations: list[Citation] = []
        self.tokens: list[Token] = []
        self.seal: Seal | None = part.seal
        self.calls, self.chars = told.calls, told.chars


class SealStream:
    """Events in, events out."""

    def __init__(self, plan: Plan, context: Context) -> None:
        self._plan = plan
        self._context = context
        self._told: dict[int, AnswerSeals] = {}
        self._open: dict[int, _Open] = {}
        # By answer: the end of a thought whose slot is still free, and the empty seal that names its kind.
        self._ended: dict[int, tuple[PartEnd, Seal | None]] = {}
        self._model = ""
        self._added = 0

    def passes(self, event: PartDelta) -> bool:
        """Whether a delta without a seal goes on as it is; what has to be known of it is noted."""
        opened = self._open.get(event.index)
        if opened is None:
            return True
        if opened.held:
            return False
        opened.pieces.append(event.text)
        return True

    def holds(self, index: int) -> bool:
        """Whether deltas of that part do not go on as they are."""
        opened = self._open.get(index)
        return opened is not None and opened.held

    def told(self, index: int, texts: list[str]) -> None:
        """Deltas of that part that went on as they were."""
        opened = self._open.get(index)
        if opened is not None:
            opened.pieces += texts

    def feed(self, events: Iterable[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            if isinstance(event, PartDelta):
                self._delta(event, out)
            elif isinstance(event, PartStart):
                self._start(event, out)
            elif isinstance(event, PartEnd):
                self._end(event, out)
            elif isinstance(event, Finish):
                self._release(event.answer, out)
                for last in self._of(event.answer).finish():
                    self._put_in(last, event.answer, out)
                out.append(event)
            else:
                if isinstance(event, Start):
                    self._model = event.model
                elif isinstance(event, Fault):
                    for answer in list(self._ended):
                        self._release(answer, out)
                out.append(event)
        return out

    def _of(self, answer: int) -> AnswerSeals:
        told = self._told.get(answer)
        if told is None:
            told = self._told[answer] = AnswerSeals(self._plan, self._context, self._model)
        return told

    def _put_in(self, part: Part, answer: int, out: list[Event]) -> None:
        """A part of our own, which has nothing but a seal."""
        index = _FIRST + self._added
        self._added += 1
        out += (PartStart(index, part, answer), PartEnd(index))

    def _release(self, answer: int, out: list[Event], records: list[Record] | None = None) -> None:
        """The end of the last thought; records go into its slot, or into a thought of their own."""
        ended = self._ended.pop(answer, None)
        if ended is not None:
            end, kind = ended
            seal = packed_seals.bundle(records) if records else self._of(answer).shown(kind, 0, 0)
            out += (PartDelta(end.index, "", seal), end)
        elif records:
            self._put_in(Reasoning(seal=packed_seals.bundle(records)), answer, out)

    def _start(self, event: PartStart, out: list[Event]) -> None:
        part, answer, plan = event.part, event.answer, self._plan
        told = self._of(answer)
        if type(part) is ToolCall:
            records, call = told.call(part)
            self._release(answer, out, records)
            if plan.vault is not None:  # it knows calls by their arguments, too
                self._open[event.index] = opened = _Open(part, answer, told, False)
                opened.pieces = told.pieces()
            out.append(event if call is part else PartStart(event.index, call, answer))
            return
        if type(part) is Text:
            held = part.seal is not None and plan.way != "left"
            if held or (plan.counts and not part.refusal):
                self._open[event.index] = _Open(part, answer, told, held)
            if held:
                return
        elif part.seal is not None and type(part) is not Reasoning and plan.way != "left":
            event = PartStart(event.index, told.without_seal(part), answer)
        elif type(part) is Reasoning and plan.way != "left":
            self._open[event.index] = _Open(part, answer, told, False)
            if part.seal is not None:
                event = PartStart(event.index, msgspec.structs.replace(part, seal=None), answer)
        self._release(answer, out)
        out.append(event)

    def _delta(self, event: PartDelta, out: list[Event]) -> None:
        opened = self._open.get(event.index)
        if opened is None:
            out.append(event)
            return
        if event.text:
            opened.pieces.append(event.text)
        if opened.held:
            opened.citations += event.citations
            opened.tokens += event.tokens
            opened.seal = event.seal or opened.seal
            return
        if event.seal is not None and type(opened.part) is Reasoning:
            opened.seal = event.seal
            if not event.text:
                return
            event = PartDelta(event.index, event.text)
        out.append(event)

    def _end(self, event: PartEnd, out: list[Event]) -> None:
        opened = self._open.pop(event.index, None)
        if opened is None:
            out.append(event)
            return
        told = self._of(opened.answer)
        part = opened.part
        text = "".join(opened.pieces)
        if opened.held and type(part) is Text:
            self._text(event, opened, msgspec.structs.replace(part, text=part.text + text, seal=opened.seal), out)
        elif type(part) is ToolCall:
            out.append(event)
        elif type(part) is not Reasoning:
            told.said(text)
            out.append(event)
        elif self._plan.strips:
            told.wait(part, opened.seal, text)
            out.append(event)
        elif opened.seal is not None and opened.seal.data:
            out += (PartDelta(event.index, "", told.shown(opened.seal, opened.calls, opened.chars)), event)
        elif text:
            self._ended[opened.answer] = event, opened.seal
        else:
            out.append(event)

    def _text(self, event: PartEnd, opened: _Open, text: Text, out: list[Event]) -> None:
        """A text that was held, and before it what its seal became."""
        records, shown = self._of(opened.answer).text(text)
        self._release(opened.answer, out, records)
        if shown is None:
            return
        out.append(PartStart(event.index, msgspec.structs.replace(shown, text="", citations=()), opened.answer))
        if shown.text:
            out.append(PartDelta(event.index, shown.text))
        citations = (*shown.citations, *opened.citations)
        if citations:
            out.append(PartDelta(event.index, "", None, citations))
        if opened.tokens:
            out.append(PartDelta(event.index, "", None, (), tuple(opened.tokens)))
        out.append(event)
