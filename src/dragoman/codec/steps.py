"""The order of calls and results that every strict target wants: a step's results directly after the step, together."""

from __future__ import annotations

from ..canon.parts import Part, ToolCall, ToolResult
from ..canon.turns import Turn
from ..crossing import Crossing
from .gist import gist


def arrange(turns: tuple[Turn, ...], crossing: Crossing) -> tuple[Turn, ...]:
    """The turns with every result next to the calls it answers. Returns `turns` itself when nothing has to move."""
    return turns if gist(turns, crossing).arranged else _rearranged(turns, crossing)


def _rearranged(turns: tuple[Turn, ...], crossing: Crossing) -> tuple[Turn, ...]:
    out: list[Turn] = []
    results: dict[int, list[Part]] = {}  # what comes into the tool turns of `out`, by their place
    step = -1  # where in `out` the results of the open step stand, once there are any
    open_ids: set[str] = set()
    for turn in turns:
        if turn.role == "assistant":
            open_ids = {part.id for part in turn.parts if isinstance(part, ToolCall)}
            out.append(turn)
            step = -1 if open_ids else -2
            continue
        if turn.role != "tool" or step == -2:
            out.append(turn)
            continue
        mine: list[Part] = []
        rest: list[Part] = []
        for part in turn.parts:
            mine.append(part) if isinstance(part, ToolResult) and part.call_id in open_ids else rest.append(part)
        if mine:
            step = _place(out, results, mine, turn, step, crossing)
        if rest:
            out.append(Turn("tool", tuple(rest), at=turn.at))
    for place, parts in results.items():
        out[place] = Turn("tool", tuple(parts), at=out[place].at)
    return tuple(out)


def _place(
    out: list[Turn], results: dict[int, list[Part]], mine: list[Part], turn: Turn, step: int, crossing: Crossing
) -> int:
    """Put results into the open step's tool turn, making it if there is none yet."""
    if step < 0:
        step = len(out)
        while step and out[step - 1].role != "assistant":
            step -= 1
        if step != len(out):
            crossing.lose("result.moved", turn.at)
        out.insert(step, Turn("tool", (), at=turn.at))
        results[step] = mine
        return step
    if step != len(out) - 1:
        crossing.lose("result.moved", turn.at)
    results[step] += mine
    return step
