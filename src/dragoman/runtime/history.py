"""The history of a conversation as it is kept: answers curated, every call with one result, places that can be named.

An answer is kept as what the model said: empty texts and calls that break off are left out, thoughts too (as nobody
sends them back), unless an upstream sealed them or wants them back as they are. Fields of one dialect alone stay with
the answer; the reader of the answer reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from ..canon.parts import Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult
from ..canon.turns import Turn

Turns = tuple[Turn, ...]

INTERRUPTED = "The tool was interrupted before it was done; it may have done a part of it."
NOT_RUN = "The tool was not run: the run was stopped here."


def curated(parts: Iterable[Part], keeps: Callable[[Reasoning], bool]) -> tuple[Part, ...]:
    """What is kept of an answer's parts. `keeps`: whether an upstream wants a thought back."""
    out: list[Part] = []
    for part in parts:
        if isinstance(part, Text) and not part.text and part.seal is None:
            continue
        if isinstance(part, Reasoning) and not keeps(part):
            continue
        out.append(part if isinstance(part, Opaque) else msgspec.structs.replace(part, extra=None))
    return tuple(out)


def sealed(thought: Reasoning) -> bool:
    """Whether a thought has a seal, or the mark of an upstream that wants it back."""
    return thought.seal is not None


def says_something(parts: Iterable[Part]) -> bool:
    """Whether an answer has a word or a call in it: one without is no turn of a conversation."""
    return any(not isinstance(part, Reasoning) and not (isinstance(part, Text) and not part.text) for part in parts)


def placed(turns: Iterable[Turn]) -> Turns:
    """The turns, each part with its place in this history, by which a loss can name it."""
    return tuple([_placed(turn, ("turns", number)) for number, turn in enumerate(turns)])


def _placed(turn: Turn, at: Path) -> Turn:
    if turn.at == at:
        return turn
    parts = [_part_at(part, (*at, "parts", number)) for number, part in enumerate(turn.parts)]
    return msgspec.structs.replace(turn, at=at, parts=tuple(parts))


def _part_at(part: Part, at: Path) -> Part:
    if isinstance(part, ToolResult):
        inner = [_part_at(one, (*at, "parts", number)) for number, one in enumerate(part.parts)]
        return msgspec.structs.replace(part, at=at, parts=tuple(inner))
    return msgspec.structs.replace(part, at=at)


def appended(turns: Turns, *more: Turn) -> Turns:
    """The history with turns at its end."""
    return turns + tuple([_placed(turn, ("turns", len(turns) + number)) for number, turn in enumerate(more)])


def open_calls(turns: Turns) -> tuple[ToolCall, ...]:
    """The calls of the last turn, which wait for their results."""
    if not turns or turns[-1].role != "assistant":
        return ()
    return tuple([part for part in turns[-1].parts if isinstance(part, ToolCall)])


def answered(turns: Turns, results: Mapping[str, ToolResult], otherwise: Callable[[ToolCall], str]) -> Turns:
    """The history with a result for each open call, in the order of the calls; where there is none, one with the error
    flag that says what `otherwise` says."""
    calls = open_calls(turns)
    if not calls:
        return turns
    found = [results.get(call.id) or failed(call, otherwise(call)) for call in calls]
    return appended(turns, Turn("tool", tuple(found)))


def failed(call: ToolCall, why: str) -> ToolResult:
    return ToolResult(call.id, (Text(why),), call.name, True, custom=call.custom)


def text_of(parts: Iterable[Part]) -> str:
    """The words of a turn."""
    return "".join([part.text for part in parts if isinstance(part, Text)])
