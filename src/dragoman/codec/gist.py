"""What every stage of a translation wants to know of a history, found in one look through its turns.

Most histories were seen before but for their last turns (Run): only those are looked at.
"""

from __future__ import annotations

from operator import is_

from ..canon.demands import Demands
from ..canon.parts import Opaque, Text, ToolCall, ToolResult
from ..canon.turns import Gist, Turn
from ..crossing import Crossing
from .seals import MARK_BYTES

_LONG = 64
"""Ids of upstreams are shorter, ids with seals in them are longer."""
NOTHING = Gist(())
_NOBODY = Turn("", ())  # type: ignore[arg-type]
"""Who spoke before the first turn."""


def gist(turns: tuple[Turn, ...], crossing: Crossing) -> Gist:
    """What is known of these turns. They are looked at once, as long as no stage changes them."""
    found = crossing.gist
    if found is None or found.turns is not turns:
        found = crossing.gist = _found(turns, crossing)
    return found


def _found(turns: tuple[Turn, ...], crossing: Crossing) -> Gist:
    run = crossing.run
    past = run.past(turns) if run is not None else 0
    if run is not None and past and run.calls is not None:
        lead = past - len(run.turns)  # the system's turn may stand before them
        if all(map(is_, run.turns, turns[lead:past])) and (not lead or bare(turns[:lead])):
            return survey(turns, past, run)
    return survey(turns)


def sound(turns: tuple[Turn, ...], demands: Demands, crossing: Crossing) -> bool:
    """Whether nothing can be broken. Asked first, since nearly all histories are sound. False says nothing."""
    found = gist(turns, crossing)
    return found.waiting == () and (found.alternates or not demands.alternate)


def bare(turns: tuple[Turn, ...]) -> bool:
    """Whether nothing in the turns can matter to those behind them."""
    found = survey(turns)
    return not (found.laden or found.strange or found.waiting is None or found.waiting or found.calls)


def survey(turns: tuple[Turn, ...], begin: int = 0, past: Gist = NOTHING) -> Gist:
    """What there is to know of turns, of which those before `begin` are known from `past`."""
    laden, strange, arranged, alternates = past.laden, past.strange, past.arranged, past.alternates
    fine = past.waiting is not None
    waiting = list(past.waiting or ())
    before = turns[begin - 1] if begin else _NOBODY
    asked: list[str] = []
    told: list[str] = []
    for turn in turns[begin:] if begin else turns:
        role, last = turn.role, before.role
        first = len(told)
        if role == "tool":
            if last != "assistant":
                arranged = False
        else:
            if waiting or not turn.parts:
                fine = False
            if role == last or (role == "user" and last == "tool"):
                at = before.at[:2]
                if not at or turn.at[:2] != at:
                    alternates = False
        for part in turn.parts:
            if part.seal is not None:
                laden = True
            if type(part) is Text:
                if not part.text or waiting:
                    fine = False
            elif type(part) is ToolResult:
                told.append(part.call_id)
                if part.custom or role != "tool":
                    fine = False
            elif type(part) is ToolCall:
                waiting.append(part.id)
                asked.append(part.id)
                if part.custom or role != "assistant" or part.extra is not None:
                    fine = False
            else:
                fine = False
                if type(part) is Opaque:
                    strange = True
                    if MARK_BYTES in bytes(part.value):
                        laden = True
        if role == "tool":
            if not waiting or told[first:] != waiting:
                fine = False
            waiting = []
        before = turn
    if not laden and (asked or told) and max(map(len, asked + told)) > _LONG:
        laden = True
    calls = past.calls
    if asked:
        found = frozenset(asked)
        if len(found) != len(asked) or calls is None or not all(map(found.isdisjoint, calls)):
            fine, calls = False, None
        else:
            calls = (*calls, found) if "" not in found else None
    if "" in told:
        calls = None
    return Gist(turns, laden, strange, calls, arranged, tuple(waiting) if fine else None, alternates)
