"""Collects, in one pass over the turns, the facts that all stages of a translation need about a history."""

from __future__ import annotations

from msgspec import Struct

from ..canon.history_requirements import HistoryRequirements
from ..canon.parts import OPAQUES, Media, Part, Text, ToolCall, ToolResult
from ..canon.turns import Turn
from ..context import Context
from .packed_seals import MARK_BYTES


class HistoryFacts(Struct, frozen=True, gc=False, eq=False):
    """Facts about a history, so that no stage has to examine it again."""

    turns: tuple[Turn, ...]
    foreign_seals: bool = False
    """A seal may come from another upstream."""
    has_opaque: bool = False
    """A part is understood by its own dialect only."""
    calls: tuple[frozenset[str], ...] | None = ()
    """The ids of all calls. None: some calls have no id, or two calls share one."""
    arranged: bool = True
    """Every result is next to its calls."""
    open_calls: tuple[str, ...] | None = ()
    """The ids of calls without a result. None: the history may be broken; it has other parts than non-empty texts and
    calls, or a step whose results do not follow at once and in order.
    """
    alternates: bool = True
    """User and assistant alternate throughout."""
    shows_media: bool = False
    """An assistant turn holds media."""

    @property
    def ordinary(self) -> bool:
        """No preparation stage has work to do: no foreign seals, no open calls, results next to their calls, unique
        call ids. (Role alternation is a separate flag, `alternates`.)
        """
        return self.open_calls == () and self.arranged and not self.foreign_seals and self.calls is not None


_LONG = 64
"""Ids of upstreams are shorter; ids with packed seals are longer."""
NOTHING = HistoryFacts(())
_NO_TURN = Turn("", ())  # type: ignore[arg-type]
"""Used in place of a turn before the first one."""


def facts_of(turns: tuple[Turn, ...], context: Context) -> HistoryFacts:
    """The facts about these turns. They are collected once, as long as no stage changes the turns."""
    found: HistoryFacts | None = context.facts
    # The facts belong to one tuple of turns. A stage that changes the turns makes a new tuple, so identity is enough.
    if found is None or found.turns is not turns:
        context.facts = found = history_facts(turns)
    return found


def needs_no_repair(turns: tuple[Turn, ...], requirements: HistoryRequirements, context: Context) -> bool:
    """Whether the history certainly needs no repair. Nearly all histories are sound, so this is checked first. False
    does not mean broken.
    """
    found = facts_of(turns, context)
    return found.open_calls == () and (found.alternates or not requirements.alternate)


def affects_no_later_turn(turns: tuple[Turn, ...]) -> bool:
    """Whether the turns cannot affect later turns."""
    found = history_facts(turns)
    return not (found.foreign_seals or found.has_opaque or found.open_calls is None or found.open_calls or found.calls)


def history_facts(turns: tuple[Turn, ...], begin: int = 0, past: HistoryFacts = NOTHING) -> HistoryFacts:
    """The facts about `turns`. The facts about the turns before `begin` are in `past`."""
    # The first request of a conversation mostly has a system text and a user's text.
    if len(turns) < 3 and not begin and _are_texts(turns):
        return HistoryFacts(turns)
    foreign, shows_media, arranged, alternates = past.foreign_seals, past.shows_media, past.arranged, past.alternates
    waiting: list[str] = []
    before, last, new, fine = _NO_TURN, "", turns, True
    if begin:
        before, new = turns[begin - 1], turns[begin:]
        last = "user" if before.role == "tool" else before.role
        fine, waiting = past.open_calls is not None, [*(past.open_calls or ())]
        if not fine and last == "assistant":
            waiting = [part.id for part in before.parts if type(part) is ToolCall]
    call_ids: list[str] = []
    answered: list[str] = []
    others: list[Part] = []
    for turn in new:
        role, parts = turn.role, turn.parts
        if role == "tool":
            arranged = arranged and last == "assistant"
            result_ids = [part.call_id for part in parts if type(part) is ToolResult]
            others += [part for part in parts if type(part) is not ToolResult or part.custom or part.seal is not None]
            if not result_ids or result_ids != waiting:
                fine = False
            answered += result_ids
            waiting, role = [], "user"
        else:
            if waiting or not parts:
                fine = False
            if role == last:  # after results, `last` is "user": both are the same side of the conversation
                # Neighbouring turns of the assistant are one step.
                arranged = arranged and not (waiting and role == "assistant")
                alternates = alternates and before.at[:2] != () and turn.at[:2] == before.at[:2]
            for part in parts:
                if type(part) is Text:
                    if part.seal is not None:
                        foreign = True
                    if waiting or not part.text:
                        fine = False
                elif type(part) is ToolCall:
                    waiting.append(part.id)
                    call_ids.append(part.id)
                    if part.seal is not None:
                        foreign = True
                    if part.custom or role != "assistant" or part.extra is not None:
                        fine = False
                else:
                    others.append(part)
                    if role == "assistant" and type(part) is Media:
                        shows_media = True
        before, last = turn, role
    opaque, calls = past.has_opaque, past.calls
    if others:
        fine = False
        call_ids += [part.id for part in others if type(part) is ToolCall]
        answered += [part.call_id for part in others if type(part) is ToolResult]
        opaque = opaque or not OPAQUES.isdisjoint(map(type, others))
        foreign = foreign or any(map(_sealed, others))
    if call_ids:
        found = frozenset(call_ids)
        if len(found) != len(call_ids) or calls is None or not all(map(found.isdisjoint, calls)):
            fine, calls = False, None
        else:
            calls = (*calls, found)
    if call_ids or answered:
        if "" in call_ids or "" in answered:
            calls = None
        foreign = foreign or max(map(len, call_ids + answered)) > _LONG
    return HistoryFacts(
        turns, foreign, opaque, calls, arranged, tuple(waiting) if fine else None, alternates, shows_media
    )


def _are_texts(turns: tuple[Turn, ...]) -> bool:
    """Whether the turns are of different roles, and hold only texts without seals, none of them empty."""
    last = ""
    for turn in turns:
        if turn.role == last or turn.role == "tool" or not turn.parts:
            return False
        last = turn.role
        for part in turn.parts:
            if type(part) is not Text or part.seal is not None or not part.text:
                return False
    return True


def _sealed(part: Part) -> bool:
    return part.seal is not None or (type(part) in OPAQUES and MARK_BYTES in bytes(part.value))  # type: ignore[attr-defined]
