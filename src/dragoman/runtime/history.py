"""Owns the stored history of a conversation: cleaned answers, one result for each call, and a place for each part.

Empty texts and calls that break off are not kept. Thoughts are kept only if an upstream sealed them or wants them back.
Fields of a single dialect are not kept either; the reader of the answer has reported them as losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from ..canon.parts import Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult
from ..canon.turns import Turn

Turns = tuple[Turn, ...]

INTERRUPTED = "The tool was interrupted before its end. A part of its work may be done."
NOT_RUN = "The tool did not run, because the run was stopped."


def kept_parts(parts: Iterable[Part], keeps: Callable[[Reasoning], bool]) -> tuple[Part, ...]:
    """The parts of an answer that are kept. `keeps` decides whether an upstream wants a thought back."""
    out: list[Part] = []
    for part in parts:
        if isinstance(part, Text) and not part.text and part.seal is None:
            continue
        if isinstance(part, Reasoning) and not keeps(part):
            continue
        out.append(part if isinstance(part, Opaque) else msgspec.structs.replace(part, extra=None))
    return tuple(out)


def is_sealed(thought: Reasoning) -> bool:
    """Whether a thought has a seal, or the mark of an upstream that wants the thought back."""
    return thought.seal is not None


def has_words(parts: Iterable[Part]) -> bool:
    """Whether an answer has a text or a call. An answer without both is not a turn of a conversation."""
    return any(not isinstance(part, Reasoning) and not (isinstance(part, Text) and not part.text) for part in parts)


def with_paths(turns: Iterable[Turn]) -> Turns:
    """The turns with the place of each part in this history. Losses use the places as paths."""
    return tuple([_turn_with_paths(turn, ("turns", number)) for number, turn in enumerate(turns)])


def _turn_with_paths(turn: Turn, at: Path) -> Turn:
    if turn.at == at:
        return turn
    parts = [_part_at(part, (*at, "parts", number)) for number, part in enumerate(turn.parts)]
    return msgspec.structs.replace(turn, at=at, parts=tuple(parts))


def _part_at(part: Part, at: Path) -> Part:
    if isinstance(part, ToolResult):
        inner = [_part_at(one, (*at, "parts", number)) for number, one in enumerate(part.parts)]
        return msgspec.structs.replace(part, at=at, parts=tuple(inner))
    return msgspec.structs.replace(part, at=at)


def append_turns(turns: Turns, *more: Turn) -> Turns:
    """The history with turns at its end."""
    return turns + tuple([_turn_with_paths(turn, ("turns", len(turns) + number)) for number, turn in enumerate(more)])


def open_calls(turns: Turns) -> tuple[ToolCall, ...]:
    """The calls of the last turn, if they have no results yet."""
    if not turns or turns[-1].role != "assistant":
        return ()
    return tuple([part for part in turns[-1].parts if isinstance(part, ToolCall)])


def with_results(turns: Turns, results: Mapping[str, ToolResult], otherwise: Callable[[ToolCall], str]) -> Turns:
    """The history with a result for each open call, in the order of the calls. A call without a result gets an error
    result with the text `otherwise`."""
    calls = open_calls(turns)
    if not calls:
        return turns
    found = [results.get(call.id) or failed_result(call, otherwise(call)) for call in calls]
    return append_turns(turns, Turn("tool", tuple(found)))


def failed_result(call: ToolCall, why: str) -> ToolResult:
    """A result with the error flag and this text."""
    return ToolResult(call.id, (Text(why),), call.name, True, custom=call.custom)


def text_of(parts: Iterable[Part]) -> str:
    """The text of a turn."""
    return "".join([part.text for part in parts if isinstance(part, Text)])
