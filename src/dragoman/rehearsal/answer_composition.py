"""Owns the composition of an answer from parts: token limit, stop sequences, usage; as a response and as events."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from ..canon.events import Event, Finish, PartDelta, PartEnd, PartStart, Start
from ..canon.parts import Part, Reasoning, Text, ToolCall
from ..canon.request import Request, Settings
from ..canon.response import Alternative, Response, Stop, Usage
from . import thinking, token_estimate

_PIECE = 3
"""Tokens in one delta. A long text has more, so that it has at most `_DELTAS` deltas."""
_DELTAS = 300


class ComposedAnswer(Struct):
    """The parts of one answer, and its stop."""

    parts: tuple[Part, ...]
    stop: Stop


def cut_at_limits(parts: list[Part], settings: Settings, limit: int | None = None) -> ComposedAnswer:
    """The parts up to the token limit and the first stop sequence. A call is kept whole or dropped."""
    left = limit if limit is not None else settings.max_tokens
    # Ollama's clients write -1 for no limit.
    left = None if left is None or left < 0 else left
    out: list[Part] = []
    for part in parts:
        sequence = None
        if isinstance(part, Text):
            part, sequence = _cut_at_stop(part, settings.stop)
        piece, used, whole = _cut_at_tokens(part, left)
        left = None if left is None else left - used
        if piece is not None:
            out.append(piece)
        if not whole:
            return ComposedAnswer(tuple(out), Stop("length"))
        if sequence is not None:
            return ComposedAnswer(tuple(out), Stop("stop_sequence", sequence))
    return ComposedAnswer(tuple(out), _stop(out))


def _stop(parts: list[Part]) -> Stop:
    if any(isinstance(part, ToolCall) for part in parts):
        return Stop("tool_calls")
    return Stop("refusal" if any(isinstance(part, Text) and part.refusal for part in parts) else "stop")


def _cut_at_stop(text: Text, stops: tuple[str, ...]) -> tuple[Text, str | None]:
    """The text up to its first stop sequence, and that sequence."""
    found = [(at, stop) for stop in stops if stop and (at := text.text.find(stop)) >= 0]
    if not found:
        return text, None
    at, stop = min(found)
    return msgspec.structs.replace(text, text=text.text[:at]), stop


def _cut_at_tokens(part: Part, left: int | None) -> tuple[Part | None, int, bool]:
    """The part within so many tokens, the number of its tokens, and whether the part is complete."""
    if isinstance(part, Text):
        pieces = token_estimate.split(part.text)
        if left is None or len(pieces) <= left:
            return (part if part.text else None), len(pieces), True
        short = "".join(pieces[:left])
        return (msgspec.structs.replace(part, text=short) if short else None), left, False
    if isinstance(part, Reasoning):
        return _thought_within(part, left)
    used = token_estimate.of_parts((part,))
    fits = left is None or used <= left
    return (part if fits else None), used, fits


def _thought_within(part: Reasoning, left: int | None) -> tuple[Part | None, int, bool]:
    pieces = token_estimate.split(thought_of(part))
    if left is None or len(pieces) <= left:
        return part, len(pieces), True
    if left == 0:
        return None, 0, False
    short = "".join(pieces[:left])
    if part.seal is None:
        return msgspec.structs.replace(part, text=short), left, False
    return thinking.sealed_thought(short, part.seal.model, shown=bool(part.text)), left, False


def thought_of(part: Reasoning) -> str:
    """The words of a thought, also if only its seal holds them."""
    if part.text or part.seal is None:
        return part.text
    return thinking.open_seal(part.seal.data) or ""


def usage_of(request: Request, answers: list[ComposedAnswer]) -> Usage:
    """The usage of a request and its answers, by the token estimate. No token counts as cached."""
    parts = [part for answer in answers for part in answer.parts]
    thought = sum([token_estimate.count(thought_of(part)) for part in parts if isinstance(part, Reasoning)])
    spoken = token_estimate.of_parts(tuple([part for part in parts if not isinstance(part, Reasoning)]))
    return Usage(token_estimate.estimate(request), spoken + thought, 0, None, thought)


def response_of(answers: list[ComposedAnswer], id: str, model: str, usage: Usage | None) -> Response:
    """The response with all answers; all but the first are alternatives."""
    first = answers[0]
    others = tuple([Alternative(answer.parts, answer.stop) for answer in answers[1:]])
    return Response(first.parts, first.stop, id, model, None, usage, others)


def events_of(response: Response) -> Iterator[Event]:
    """The events of a response, with texts and arguments in small pieces."""
    usage = response.usage or Usage()
    begin = Usage(usage.input, 0, usage.cache_read, usage.cache_write)
    yield Start(response.id, response.model, response.created, begin)
    answers = [Alternative(response.parts, response.stop), *response.alternatives]
    index = 0
    for number, answer in enumerate(answers):
        for part in answer.parts:
            yield from _part_events(part, index, number)
            index += 1
    for number, answer in enumerate(answers):
        last = number == len(answers) - 1
        yield Finish(answer.stop, response.usage if last else None, number, last)


def _part_events(part: Part, index: int, answer: int) -> Iterator[Event]:
    text = ""
    seal = part.seal if isinstance(part, Reasoning) else None
    begin = part
    if isinstance(part, Text):
        text, begin = part.text, msgspec.structs.replace(part, text="")
    elif isinstance(part, Reasoning):
        text, begin = part.text, msgspec.structs.replace(part, text="", seal=None)
    elif isinstance(part, ToolCall):
        text, begin = part.arguments, msgspec.structs.replace(part, arguments="")
    yield PartStart(index, begin, answer)
    for piece in pieces_of(text):
        yield PartDelta(index, piece)
    if seal is not None:
        yield PartDelta(index, "", seal)
    yield PartEnd(index)


def pieces_of(text: str) -> list[str]:
    """A text in pieces for deltas."""
    found = token_estimate.split(text)
    size = max(_PIECE, -(-len(found) // _DELTAS))
    return ["".join(found[start : start + size]) for start in range(0, len(found), size)]
