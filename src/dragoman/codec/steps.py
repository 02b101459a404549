"""The order of calls and results that every strict target wants: a step's results directly after the step, together."""

from __future__ import annotations

from collections.abc import Sequence

from ..canon.parts import Part, Text, ToolCall, ToolResult
from ..canon.turns import Standing, Turn
from ..crossing import Crossing

START = Standing()


def arrange(turns: tuple[Turn, ...], crossing: Crossing) -> tuple[Turn, ...]:
    """The turns with every result next to the calls it answers. Returns `turns` itself when nothing has to move."""
    run = crossing.run
    past = run.past(turns) if run is not None and run.arranged else 0
    left = turns[past:] if past else turns
    return turns if arranged(left, turns[past - 1].role if past else "") else _rearranged(turns, crossing)


def arranged(turns: Sequence[Turn], previous: str = "") -> bool:
    """Whether every result stands next to the calls it answers. `previous`: who spoke before."""
    for turn in turns:
        if turn.role == "tool" and previous != "assistant":
            return False
        previous = turn.role
    return True


def standing(turns: Sequence[Turn], past: Standing = START, called: frozenset[str] = frozenset()) -> Standing | None:
    """Where a history of texts and calls that say something stands, every step of it answered at once and in order;
    None for any other. `past` and `called`: where the turns before them stood, and their calls."""
    before, at, waiting, alternates = past.last, past.at, list(past.waiting), past.alternates
    seen: set[str] = set()
    for turn in turns:
        role = turn.role
        if role == "tool":
            if not waiting:
                return None
            answered = [part.call_id for part in turn.parts if type(part) is ToolResult and not part.custom]
            if answered != waiting:
                return None
            waiting = []
        elif waiting:
            return None
        else:
            if (role == before or (role == "user" and before == "tool")) and (not at or turn.at[:2] != at):
                alternates = False
            for part in turn.parts:
                if type(part) is ToolCall:
                    if part.custom or part.id in seen or part.id in called or part.extra is not None:
                        return None
                    if role != "assistant":
                        return None
                    seen.add(part.id)
                    waiting.append(part.id)
                elif type(part) is not Text or not part.text or waiting:
                    return None
        if not turn.parts:
            return None
        before, at = role, turn.at[:2]
    return Standing(before, at, tuple(waiting), alternates)


def _rearranged(turns: tuple[Turn, ...], crossing: Crossing) -> tuple[Turn, ...]:
    out: list[Turn] = []
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
            step = _place(out, mine, turn, step, crossing)
        if rest:
            out.append(Turn("tool", tuple(rest), at=turn.at))
    return tuple(out)


def _place(out: list[Turn], results: list[Part], turn: Turn, step: int, crossing: Crossing) -> int:
    """Put results into the open step's tool turn, making it if there is none yet."""
    if step < 0:
        step = len(out)
        while step and out[step - 1].role != "assistant":
            step -= 1
        if step != len(out):
            crossing.lose("result.moved", turn.at)
        out.insert(step, Turn("tool", tuple(results), at=turn.at))
        return step
    if step != len(out) - 1:
        crossing.lose("result.moved", turn.at)
    out[step] = Turn("tool", out[step].parts + tuple(results), at=out[step].at)
    return step


def call_names(turns: tuple[Turn, ...]) -> dict[str, str]:
    """Call id -> tool name, for targets that want the name in the result."""
    return {part.id: part.name for turn in turns for part in turn.parts if type(part) is ToolCall}
