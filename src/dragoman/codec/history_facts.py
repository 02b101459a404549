"""What every stage of a translation wants to know of a history, found in one look through its turns.

Most histories were seen before but for their last turns (Run): only those are looked at.
"""

from __future__ import annotations

from operator import is_

from ..canon.history_requirements import HistoryRequirements
from ..canon.parts import Media, Opaque, Part, Text, ToolCall, ToolResult
from ..canon.turns import Gist, Turn
from ..context import Context
from .packed_seals import MARK_BYTES

_LONG = 64
"""Ids of upstreams are shorter, ids with seals in them are longer."""
NOTHING = Gist(())
_NOBODY = Turn("", ())  # type: ignore[arg-type]
"""Who spoke before the first turn."""


def gist(turns: tuple[Turn, ...], context: Context) -> Gist:
    """What is known of these turns. They are looked at once, as long as no stage changes them."""
    found = context.gist
    if found is None or found.turns is not turns:
        found = context.gist = _found(turns, context)
    return found


def _found(turns: tuple[Turn, ...], context: Context) -> Gist:
    run = context.run
    past = run.past(turns) if run is not None else 0
    if run is not None and past and run.calls is not None:
        lead = past - len(run.turns)  # the system's turn may stand before them
        if all(map(is_, run.turns, turns[lead:past])) and (not lead or bare(turns[:lead])):
            return survey(turns, past, run)
    return survey(turns)


def sound(turns: tuple[Turn, ...], requirements: HistoryRequirements, context: Context) -> bool:
    """Whether nothing can be broken. Asked first, since nearly all histories are sound. False says nothing."""
    found = gist(turns, context)
    return found.waiting == () and (found.alternates or not requirements.alternate)


def bare(turns: tuple[Turn, ...]) -> bool:
    """Whether nothing in the turns can matter to those behind them."""
    found = survey(turns)
    return not (found.laden or found.strange or found.waiting is None or found.waiting or found.calls)


def survey(turns: tuple[Turn, ...], begin: int = 0, past: Gist = NOTHING) -> Gist:
    """What there is to know of turns, of which those before `begin` are known from `past`."""
    laden, strange, calls, shows_media = past.laden, past.strange, past.calls, past.shows_media
    arranged, alternates, fine = past.arranged, past.alternates, past.waiting is not None
    waiting = [*past.waiting] if past.waiting else []
    before = turns[begin - 1] if begin else _NOBODY
    if past.waiting is None and before.role == "assistant":
        waiting = [part.id for part in before.parts if type(part) is ToolCall]
    asked: list[str] = []
    answered: list[str] = []
    others: list[Part] = []
    for turn in turns[begin:] if begin else turns:
        role, last = turn.role, before.role
        if role == "tool":
            if last != "assistant":
                arranged = False
            told: list[str] = []
            for part in turn.parts:
                if type(part) is ToolResult:
                    told.append(part.call_id)
                    if part.custom or part.seal is not None:
                        others.append(part)
                else:
                    others.append(part)
            if not told or told != waiting:
                fine = False
            answered += told
            waiting = []
        else:
            if waiting or not turn.parts:
                fine = False
                if waiting and role == last == "assistant":
                    arranged = False  # neighbours that are one step
            if role == last or (role == "user" and last == "tool"):
                at = before.at[:2]
                if not at or turn.at[:2] != at:
                    alternates = False
            for part in turn.parts:
                if type(part) is Text:
                    if waiting or not part.text:
                        fine = False
                    if part.seal is not None:
                        laden = True
                elif type(part) is ToolCall:
                    waiting.append(part.id)
                    asked.append(part.id)
                    if part.seal is not None:
                        laden = True
                    if part.custom or role != "assistant" or part.extra is not None:
                        fine = False
                else:
                    others.append(part)
                    if role == "assistant" and type(part) is Media:
                        shows_media = True
        before = turn
    if others:
        fine = False
        asked += [part.id for part in others if type(part) is ToolCall]
        answered += [part.call_id for part in others if type(part) is ToolResult]
        strange = strange or any(isinstance(part, Opaque) for part in others)
        laden = laden or any(map(_sealed, others))
    if asked:
        found = frozenset(asked)
        if len(found) != len(asked) or calls is None or not all(map(found.isdisjoint, calls)):
            fine, calls = False, None
        else:
            calls = (*calls, found) if "" not in found else None
    if answered and "" in answered:
        calls = None
    if not laden and (asked or answered):
        laden = max(map(len, asked + answered)) > _LONG
    usual = fine and not waiting and arranged and not laden and calls is not None
    return Gist(
        turns, laden, strange, calls, arranged, tuple(waiting) if fine else None, alternates, usual, shows_media
    )


def _sealed(part: Part) -> bool:
    return part.seal is not None or (isinstance(part, Opaque) and MARK_BYTES in bytes(part.value))
