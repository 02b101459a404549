"""Moves the results of a step directly after the step, together, as every strict target demands.

A step may come in several neighbouring assistant turns: Gemini and Anthropic read neighbouring turns of one role as one
turn (Anthropic's API merges them, docs of 2026-10). If the results follow the last of these turns, the turns become
one.
"""

from __future__ import annotations

from ..canon.parts import Extra, Part, ToolCall, ToolResult
from ..canon.turns import Turn
from ..context import Context
from .history_facts import HistoryFacts, facts_of


def results_after_calls(turns: tuple[Turn, ...], context: Context) -> tuple[Turn, ...]:
    """The turns with every result next to its call. Returns `turns` itself if nothing has to move."""
    facts: HistoryFacts | None = context.facts
    if facts is None or facts.turns is not turns:
        facts = facts_of(turns, context)
    return turns if facts.arranged else _rearranged(turns, context)


def _rearranged(turns: tuple[Turn, ...], context: Context) -> tuple[Turn, ...]:
    out: list[Turn] = []
    results: dict[int, list[Part]] = {}  # index of a tool turn in `out` -> its results
    step = -1  # index in `out` of the results of the open step, or negative
    open_ids: set[str] = set()
    for turn in _joined_steps(turns):
        if turn.role == "assistant":
            open_ids = {part.id for part in turn.parts if isinstance(part, ToolCall)}
            out.append(turn)
            # -1: results may follow. -2: the turn has no calls, so results after it are strays.
            step = -1 if open_ids else -2
            continue
        if turn.role != "tool" or step == -2:
            out.append(turn)
            continue
        mine: list[Part] = []
        rest: list[Part] = []
        for part in turn.parts:
            # A result of an earlier step stays where it is. The repair stage reports it.
            mine.append(part) if isinstance(part, ToolResult) and part.call_id in open_ids else rest.append(part)
        if mine:
            step = _place(out, results, mine, turn, step, context)
        if rest:
            out.append(Turn("tool", tuple(rest), at=turn.at))
    for place, parts in results.items():
        out[place] = Turn("tool", tuple(parts), extra=out[place].extra, at=out[place].at)
    return tuple(out)


def _joined_steps(turns: tuple[Turn, ...]) -> list[Turn]:
    """The turns with neighbouring assistant turns joined, if results follow: from the first turn whose calls they
    answer.
    """
    answered = {
        part.call_id: number
        for number, turn in enumerate(turns)
        if turn.role == "tool"
        for part in turn.parts
        if isinstance(part, ToolResult)
    }
    out: list[Turn] = []
    begin = 0
    while begin < len(turns):
        end = begin + 1
        if turns[begin].role == "assistant":
            # Several assistant messages in a row are one step: its results follow all of its calls.
            while end < len(turns) and turns[end].role == "assistant":
                end += 1
        first = begin if end < len(turns) and turns[end].role == "tool" else end - 1
        while first < end - 1 and not any(
            isinstance(part, ToolCall) and answered.get(part.id, -1) >= end for part in turns[first].parts
        ):
            first += 1
        out += turns[begin:first]
        out.append(turns[first] if first == end - 1 else _joined(turns[first:end]))
        begin = end
    return out


def _joined(turns: tuple[Turn, ...]) -> Turn:
    """Assistant turns joined into one. For a field that several have, the first value counts."""
    extra: Extra | None = None
    # Backwards, so that the first turn's value is written last and stays.
    for turn in reversed(turns):
        for dialect, fields in (turn.extra or {}).items():
            extra = {} if extra is None else extra
            extra.setdefault(dialect, {}).update(fields)
    names = [turn.name for turn in turns if turn.name]
    parts = tuple([part for turn in turns for part in turn.parts])
    return Turn("assistant", parts, names[0] if names else "", extra, turns[0].at)


def _place(
    out: list[Turn], results: dict[int, list[Part]], mine: list[Part], turn: Turn, step: int, context: Context
) -> int:
    """Put results into the tool turn of the open step; add that turn if needed."""
    if step < 0:
        step = len(out)
        # Nothing may be between calls and their results (lint rules OAC-004 and ANT-005).
        while step and out[step - 1].role != "assistant":
            step -= 1
        if step != len(out):
            context.lose("result.moved", turn.at)
        out.insert(step, Turn("tool", (), extra=turn.extra, at=turn.at))
        results[step] = mine
        return step
    if step != len(out) - 1:
        context.lose("result.moved", turn.at)
    results[step] += mine
    return step
