"""Places the seals in the events of a stream, as `answer_seals_to_client.py` does in whole answers.

A delta without effect on seals passes at once (`passes`). Only a sealed text is held until the text is whole. Its
reader delivers such a text whole anyway. The end of a thought is held until the next part has used or left its free
slot.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from ..canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from ..canon.parts import Citation, Opaque, Part, Reasoning, Seal, Text, Token, ToolCall
from ..codec import packed_seals
from ..codec.packed_seals import PackedSeal
from ..context import Context
from .answer_seals_to_client import AnswerSeals, SealPlan

_FIRST = 1 << 30
"""The index of the first added part, higher than the indices of all readers."""


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
    citations: tuple[Citation, ...] = ()
    tokens: tuple[Token, ...] = ()


def _opened(part: Part, answer: int, seals: AnswerSeals, withheld: bool = False) -> _Open:
    return _Open(part, answer, withheld, part.seal, seals.calls, seals.chars)


class SealStream:
    """Takes events and returns events, with seals placed for the client."""

    def __init__(self, plan: SealPlan, context: Context) -> None:
        self._plan = plan
        self._context = context
        self._answers: dict[int, AnswerSeals] = {}
        self._open: dict[int, _Open] = {}
        # For each answer: the end of a thought whose slot is still free, and the empty seal that names the seal's kind.
        self._ended: dict[int, tuple[PartEnd, Seal | None]] = {}
        self._model = ""
        self._added = 0

    def take(self, event: Event) -> list[Event] | None:
        """The events for the client, in place of an event. None: the event stays unchanged."""
        if type(event) is PartDelta:
            # Few parts are open here: only parts whose text or seal is needed later.
            opened = self._open.get(event.index)
            return None if opened is None else self._delta(event, opened)
        if type(event) is PartStart:
            return self._call(event, event.part) if type(event.part) is ToolCall else self._start(event)
        if type(event) is PartEnd:
            opened = self._open.pop(event.index, None)
            return None if opened is None else self._end(event, opened)
        if type(event) is Finish:
            return self._finish(event)
        if type(event) is Start:
            self._model = event.model
        elif type(event) is Fault and self._ended:
            # An answer that failed still ends its open thought, so that the client's stream stays well formed.
            return [*[one for answer in list(self._ended) for one in self._released(answer)], event]
        return None

    def holds(self, index: int) -> bool:
        """Whether deltas of that part are held back."""
        opened = self._open.get(index)
        return opened is not None and opened.withheld

    def add_texts(self, index: int, texts: list[str]) -> None:
        """Note text of that part that passed unchanged."""
        opened = self._open.get(index)
        if opened is not None:
            opened.pieces += texts

    def feed(self, events: Iterable[Event]) -> list[Event]:
        """The events for the client."""
        out: list[Event] = []
        for event in events:
            changed = self.take(event)
            if changed is None:
                out.append(event)
            else:
                out += changed
        return out

    def _of(self, answer: int) -> AnswerSeals:
        seals = self._answers.get(answer)
        if seals is None:
            seals = self._answers[answer] = AnswerSeals(self._plan, self._context, self._model)
        return seals

    def _added_part(self, part: Part, answer: int) -> list[Event]:
        """The events of a part that holds only a seal."""
        index = _FIRST + self._added
        self._added += 1
        return [PartStart(index, part, answer), PartEnd(index)]

    def _released(self, answer: int, records: list[PackedSeal] | None = None) -> list[Event]:
        """The held end of the last thought. Records go into its slot, or into a new thought."""
        ended = self._ended.pop(answer, None)
        if ended is not None:
            end, kind = ended
            seal = packed_seals.bundle(records) if records else self._of(answer).shown(kind, 0, 0)
            return [PartDelta(end.index, "", seal), end]
        return self._added_part(Reasoning(seal=packed_seals.bundle(records)), answer) if records else []

    def _finish(self, event: Finish) -> list[Event] | None:
        answer = event.answer
        out = self._released(answer) if self._ended else []
        seals = self._answers.get(answer)
        if seals is not None:
            for last in seals.finish():
                # Parts that only hold seals come after all content, before the end.
                out += self._added_part(last, answer)
        return [*out, event] if out else None

    def _call(self, event: PartStart, part: ToolCall) -> list[Event] | None:
        answer = event.answer
        seals = self._of(answer)
        records, call = seals.call(part)
        out = self._released(answer, records) if records or self._ended else []
        if self._plan.vault is not None:  # a vault key may need the arguments
            self._open[event.index] = opened = _opened(part, answer, seals)
            # The list is shared, so that later pieces of arguments reach the vault, too.
            opened.pieces = seals.pieces()
        if call is not part:
            return [*out, PartStart(event.index, call, answer)]
        return [*out, event] if out else None

    def _start(self, event: PartStart) -> list[Event] | None:
        """The beginning of any part but a call."""
        part, answer, plan = event.part, event.answer, self._plan
        shown = event
        if plan.way == "left":
            if type(part) is Text and plan.counts and not part.refusal:
                self._open[event.index] = _opened(part, answer, self._of(answer))
        elif type(part) is Text:
            withheld = part.seal is not None
            if withheld or (plan.counts and not part.refusal):
                self._open[event.index] = _opened(part, answer, self._of(answer), withheld)
            if withheld:
                return []
        elif type(part) is Reasoning:
            self._open[event.index] = _opened(part, answer, self._of(answer))
            if part.seal is not None:
                shown = PartStart(event.index, msgspec.structs.replace(part, seal=None), answer)
        elif part.seal is not None and isinstance(part, Opaque):
            records, unsealed = self._of(answer).use(part)
            # The open thought is the model's own, so it must end before a new thought carries the use.
            out = self._released(answer) + self._released(answer, records)  # in a thought of their own
            return [*out, PartStart(event.index, unsealed, answer)]
        elif part.seal is not None:
            shown = PartStart(event.index, self._of(answer).without_seal(part), answer)
        if self._ended:
            return [*self._released(answer), shown]
        return None if shown is event else [shown]

    def _delta(self, event: PartDelta, opened: _Open) -> list[Event] | None:
        if event.text:
            opened.pieces.append(event.text)
        if event.citations:
            opened.citations += event.citations
        if opened.withheld:
            opened.tokens += event.tokens
            # A later delta may have the seal; the last seal counts.
            opened.seal = event.seal or opened.seal
            return []
        if event.seal is not None and type(opened.part) is Reasoning:
            opened.seal = event.seal
            return [PartDelta(event.index, event.text)] if event.text else []
        return None

    def _end(self, event: PartEnd, opened: _Open) -> list[Event] | None:
        part = opened.part
        if type(part) is ToolCall:
            return None
        text = "".join(opened.pieces)
        if opened.withheld and type(part) is Text:
            return self._text(event, opened, msgspec.structs.replace(part, text=part.text + text, seal=opened.seal))
        seals = self._of(opened.answer)
        if type(part) is not Reasoning:
            if opened.citations:
                seals.cited(text, opened.citations)
            seals.add_text(text)
        elif self._plan.strips:
            seals.wait(part, opened.seal, text)
        elif opened.seal is not None and opened.seal.data:
            return [PartDelta(event.index, "", seals.shown(opened.seal, opened.calls, opened.chars)), event]
        elif text:
            # The next part may still use the slot of this thought.
            self._ended[opened.answer] = event, opened.seal
            return []
        return None

    def _text(self, event: PartEnd, opened: _Open, text: Text) -> list[Event]:
        """The events of a held text, after the events of its seal's records."""
        records, shown = self._of(opened.answer).text(text)
        out = self._released(opened.answer, records)
        if shown is None:
            return out
        out.append(PartStart(event.index, msgspec.structs.replace(shown, text="", citations=()), opened.answer))
        if shown.text:
            out.append(PartDelta(event.index, shown.text))
        citations = (*shown.citations, *opened.citations)
        if citations:
            out.append(PartDelta(event.index, "", None, citations))
        if opened.tokens:
            out.append(PartDelta(event.index, "", None, (), opened.tokens))
        out.append(event)
        return out
