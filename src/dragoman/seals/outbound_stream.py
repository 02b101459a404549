"""Does for the events of a stream what `outbound.py` does for whole answers.

A delta without effect on seals passes at once (`passes`). Only a sealed text is held until it is whole; its reader
delivers it whole anyway. The end of a thought is held until the next part has used or left its free slot.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from ..canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ..canon.parts import Citation, Opaque, Part, Reasoning, Seal, Text, Token, ToolCall
from ..codec import packed_seals
from ..codec.packed_seals import Record
from ..context import Context
from .outbound import AnswerSeals, Plan

_FIRST = 1 << 30
"""The index of the first added part. No reader counts so far."""


class _Open(Struct):
    """A text or a thought under way."""

    part: Part
    answer: int
    withheld: bool
    seal: Seal | None
    calls: int
    """The calls and the characters of the answer before the part."""
    chars: int
    pieces: list[str] = []
    citations: list[Citation] = []
    tokens: list[Token] = []


def _opened(part: Part, answer: int, seals: AnswerSeals, withheld: bool = False) -> _Open:
    return _Open(part, answer, withheld, part.seal, seals.calls, seals.chars)


class SealStream:
    """Takes events and returns events, with seals placed for the client."""

    def __init__(self, plan: Plan, context: Context) -> None:
        self._plan = plan
        self._context = context
        self._answers: dict[int, AnswerSeals] = {}
        self._open: dict[int, _Open] = {}
        # For each answer: the end of a thought whose slot is still free, and the empty seal that names the seal's kind.
        self._ended: dict[int, tuple[PartEnd, Seal | None]] = {}
        self._model = ""
        self._added = 0

    def passes(self, event: Event) -> bool:
        """Whether an event passes unchanged, and alone. The parts of it that are needed later are noted. `put` takes
        the other events.
        """
        if type(event) is PartDelta:
            if event.seal is not None:
                return False
            opened = self._open.get(event.index)
            if opened is None:
                return True
            if opened.withheld:
                return False
            # The text is needed later: for its length, and for the digest of the vault.
            opened.pieces.append(event.text)
            if event.citations:
                opened.citations += event.citations
            return True
        if type(event) is PartEnd:
            return event.index not in self._open
        if type(event) is Start:
            self._model = event.model
            return True
        return False

    def holds(self, index: int) -> bool:
        """Whether deltas of that part are held back."""
        opened = self._open.get(index)
        return opened is not None and opened.withheld

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Take note of text of that part that passed unchanged."""
        opened = self._open.get(index)
        if opened is not None:
            opened.pieces += texts

    def feed(self, events: Iterable[Event]) -> list[Event]:
        """The events as the client gets them."""
        out: list[Event] = []
        for event in events:
            self.put(event, out)
        return out

    def put(self, event: Event, out: list[Event]) -> None:
        """Append to `out` what the client gets for an event."""
        if type(event) is PartDelta:
            self._delta(event, out)
        elif type(event) is PartStart:
            self._start(event, out)
        elif type(event) is PartEnd:
            self._end(event, out)
        elif type(event) is Finish:
            self._release(event.answer, out)
            for last in self._of(event.answer).finish():
                # Parts that only hold seals come after all content, before the end.
                self._put_in(last, event.answer, out)
            out.append(event)
        else:
            if type(event) is Start:
                self._model = event.model
            elif type(event) is Fault:
                # An answer that failed still ends its open thought, so that the client's stream stays well formed.
                for answer in list(self._ended):
                    self._release(answer, out)
            out.append(event)

    def _of(self, answer: int) -> AnswerSeals:
        seals = self._answers.get(answer)
        if seals is None:
            seals = self._answers[answer] = AnswerSeals(self._plan, self._context, self._model)
        return seals

    def _put_in(self, part: Part, answer: int, out: list[Event]) -> None:
        """Add a part that holds only a seal."""
        index = _FIRST + self._added
        self._added += 1
        out += (PartStart(index, part, answer), PartEnd(index))

    def _release(self, answer: int, out: list[Event], records: list[Record] | None = None) -> None:
        """Write the held end of the last thought. Records go into its slot, or into a new thought."""
        ended = self._ended.pop(answer, None)
        if ended is not None:
            end, kind = ended
            seal = packed_seals.bundle(records) if records else self._of(answer).shown(kind, 0, 0)
            out += (PartDelta(end.index, "", seal), end)
        elif records:
            self._put_in(Reasoning(seal=packed_seals.bundle(records)), answer, out)

    def _start(self, event: PartStart, out: list[Event]) -> None:
        part, answer, plan = event.part, event.answer, self._plan
        seals = self._of(answer)
        if type(part) is ToolCall:
            records, call = seals.call(part)
            self._release(answer, out, records)
            if plan.vault is not None:  # a vault key may need the arguments
                self._open[event.index] = opened = _opened(part, answer, seals)
                # The list is shared: pieces of arguments that come later reach the vault, too.
                opened.pieces = seals.pieces()
            out.append(event if call is part else PartStart(event.index, call, answer))
            return
        if type(part) is Text:
            withheld = part.seal is not None and plan.way != "left"
            if withheld or (plan.counts and not part.refusal):
                self._open[event.index] = _opened(part, answer, seals, withheld)
            if withheld:
                return
        elif part.seal is not None and isinstance(part, Opaque) and plan.way != "left":
            records, unsealed = seals.use(part)
            # The thought before belongs to the model, so it must end before a new one carries the use.
            self._release(answer, out)
            self._release(answer, out, records)  # in a thought of their own
            out.append(PartStart(event.index, unsealed, answer))
            return
        elif part.seal is not None and type(part) is not Reasoning and plan.way != "left":
            event = PartStart(event.index, seals.without_seal(part), answer)
        elif type(part) is Reasoning and plan.way != "left":
            self._open[event.index] = _opened(part, answer, seals)
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
        if opened.withheld:
            opened.citations += event.citations
            opened.tokens += event.tokens
            # A later delta may bring the seal; the last one counts.
            opened.seal = event.seal or opened.seal
            return
        if event.citations:
            opened.citations += event.citations
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
        seals = self._of(opened.answer)
        part = opened.part
        text = "".join(opened.pieces)
        if opened.withheld and type(part) is Text:
            self._text(event, opened, msgspec.structs.replace(part, text=part.text + text, seal=opened.seal), out)
        elif type(part) is ToolCall:
            out.append(event)
        elif type(part) is not Reasoning:
            if opened.citations:
                seals.cited(text, tuple(opened.citations))
            seals.add_text(text)
            out.append(event)
        elif self._plan.strips:
            seals.wait(part, opened.seal, text)
            out.append(event)
        elif opened.seal is not None and opened.seal.data:
            out += (PartDelta(event.index, "", seals.shown(opened.seal, opened.calls, opened.chars)), event)
        elif text:
            # The next part may still use the slot of this thought.
            self._ended[opened.answer] = event, opened.seal
        else:
            out.append(event)

    def _text(self, event: PartEnd, opened: _Open, text: Text, out: list[Event]) -> None:
        """Write a text that was held, and before it the records that its seal became."""
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
