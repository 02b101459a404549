"""Turns a stream into its answer and back: `fold` makes a Response of events, `unfold` makes events of a Response."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from .events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from .parts import Citation, Extra, Part, Reasoning, Seal, Text, ToolCall
from .response import Alternative, Response, Stop, Usage


class _GrowingPart:
    """A part whose deltas are still being gathered."""

    __slots__ = ("answer", "citations", "extra", "part", "pieces", "seal")

    def __init__(self, part: Part, answer: int) -> None:
        self.part = part
        self.answer = answer
        self.pieces: list[str] = []
        self.seal: Seal | None = part.seal
        self.citations: list[Citation] = []
        self.extra: Extra | None = part.extra

    def whole(self) -> Part:
        part = self.part
        changes: dict[str, object] = {}
        if self.seal is not part.seal:
            changes["seal"] = self.seal
        if self.extra is not part.extra:
            changes["extra"] = self.extra
        text = "".join(self.pieces)
        if type(part) is Text:
            changes["text"] = part.text + text
            if self.citations:
                changes["citations"] = (*part.citations, *self.citations)
        elif type(part) is Reasoning:
            changes["text"] = part.text + text
        elif type(part) is ToolCall:
            changes["arguments"] = part.arguments + text
        return msgspec.structs.replace(part, **changes)


def fold(events: Iterable[Event]) -> Response | Fault:
    """The whole answer with the content of a stream's events. A stream that ended with a Fault gives that Fault."""
    start = Start()
    growing: dict[int, _GrowingPart] = {}
    finishes: dict[int, Finish] = {}
    usage: Usage | None = None
    for event in events:
        if type(event) is PartDelta:
            part = growing[event.index]
            if event.text:
                part.pieces.append(event.text)
            if event.seal is not None:
                part.seal = event.seal
            part.citations.extend(event.citations)
        elif type(event) is PartStart:
            growing[event.index] = _GrowingPart(event.part, event.answer)
        elif type(event) is PartEnd:
            if event.extra is not None:
                growing[event.index].extra = _joined(growing[event.index].extra, event.extra)
        elif type(event) is Start:
            start = event
        elif type(event) is Finish:
            finishes[event.answer] = event
            usage = event.usage or usage
        else:
            return event
    # A stream that breaks off has no Finish, and still holds the first answer.
    answers: dict[int, list[Part]] = {number: [] for number in sorted(finishes)} or {0: []}
    for part in growing.values():
        answers.setdefault(part.answer, []).append(part.whole())
    numbers = list(answers)
    first = numbers[0]
    stops = {number: finishes[number] if number in finishes else Finish(Stop("unknown")) for number in numbers}
    return Response(
        tuple(answers[first]),
        stops[first].stop,
        start.id,
        start.model,
        start.created,
        # A stream that breaks off has only the usage of its beginning.
        usage or start.usage,
        tuple([Alternative(tuple(answers[n]), stops[n].stop, stops[n].extra) for n in numbers[1:]]),
        _joined(start.extra, stops[first].extra),
    )


def unfold(response: Response) -> list[Event]:
    """A stream of `response`, with each text and each call in one piece."""
    events: list[Event] = [
        Start(response.id, response.model, response.created, None, response.extra),
    ]
    index = 0
    answers = [Alternative(response.parts, response.stop), *response.alternatives]
    for number, answer in enumerate(answers):
        for part in answer.parts:
            index = _unfold_part(part, index, number, events)
    for number, answer in enumerate(answers):
        # The usage counts all answers together, so only the last Finish has it.
        last = number == len(answers) - 1
        events.append(Finish(answer.stop, response.usage if last else None, number, last, answer.extra))
    return events


def _unfold_part(part: Part, index: int, answer: int, events: list[Event]) -> int:
    text = ""
    citations: tuple[Citation, ...] = ()
    empty: Part = part
    if type(part) is Text:
        text, citations, empty = part.text, part.citations, msgspec.structs.replace(part, text="", citations=())
    elif type(part) is Reasoning:
        text, empty = part.text, msgspec.structs.replace(part, text="")
    elif type(part) is ToolCall:
        text, empty = part.arguments, msgspec.structs.replace(part, arguments="")
    events.append(PartStart(index, empty, answer))
    if text:
        events.append(PartDelta(index, text))
    if citations:
        events.append(PartDelta(index, "", None, citations))
    events.append(PartEnd(index))
    return index + 1


def _joined(first: Extra | None, second: Extra | None) -> Extra | None:
    if first is None or second is None:
        return second if first is None else first
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in {**first, **second}}
