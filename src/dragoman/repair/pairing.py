"""Owns the pairs of calls and results in a broken history: one result for each call, in its place, with an id of its
own.

This is a part of `history.py`, which decides whether a history is broken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

import msgspec
from msgspec import Struct

from ..canon.history_requirements import HistoryRequirements
from ..canon.parts import Opaque, Part, Path, Text, ToolCall, ToolResult, pointer
from ..canon.repair_codes import REPAIRS, Repair
from ..canon.turns import Turn
from ..codec import json_text
from ..codec.call_ids import hashed_id
from ..context import Context

# The model must know that there is no result. Otherwise it waits for one, or invents one.
NO_RESULT = "No result was recorded for this call."

Turns = tuple[Turn, ...]


class RepairLog:
    """The repairs so far."""

    __slots__ = ("_context", "_losing", "_seen", "repairs")

    def __init__(self, context: Context | None, losing: bool) -> None:
        self.repairs: list[Repair] = []
        self._seen: set[Repair] = set()
        self._context = context
        self._losing = losing

    def note(self, name: str, at: Path, detail: str = "") -> None:
        """Add one repair."""
        context, place = self._context, at
        if context is not None:
            if context.spelled:
                # Losses name keys as the client spelled them, for example in snake_case.
                place = tuple([context.spelled.get(at[: i + 1], step) for i, step in enumerate(at)])
            place = context.within + place
        found = Repair(name, pointer(place), detail)
        if found in self._seen:
            return  # one turn may be between a call and several results
        self._seen.add(found)
        self.repairs.append(found)
        code = REPAIRS[name].loss
        if code and self._losing and context is not None:
            context.lose(code, at, detail)


def with_parts(turn: Turn, parts: list[Part]) -> Turn:
    """The turn with other parts."""
    return Turn(turn.role, tuple(parts), turn.name, turn.extra, turn.at)


Slot = tuple[int, int]
"""The number of a turn and of a part in it."""


class _Call(Struct, eq=False):
    """A call, its place, and its result."""

    part: ToolCall
    turn: int
    id: str
    """The id that will be sent."""
    result: ToolResult | None = None
    found: Slot = (-1, -1)
    """The place of the result."""
    put: bool = False
    """The result must be written after the call: it is elsewhere, or it is missing."""


class Pairing:
    """Pairs each call with one result, and puts the results in their places."""

    def __init__(self, turns: Turns, requirements: HistoryRequirements, held: bool, log: RepairLog) -> None:
        self._turns = turns
        self._demands = requirements
        self._held = held
        self._log = log
        self._steps: dict[int, list[_Call]] = {}
        self._by_id: dict[str, list[_Call]] = {}
        self._owner: dict[Slot, _Call] = {}  # place of a paired result -> its call
        self._gone: set[Slot] = set()  # results that are dropped or become text
        self._orphans: dict[int, list[ToolResult]] = {}
        self._others: set[str] | None = None
        self._following: dict[str, Iterator[_Call]] = {}  # calls whose results came too early

    def repair(self) -> Turns:
        """The turns with all pairs in order."""
        for result, slot in self._pair_results():
            # Strays are handled last: a result that came too early belongs to a call that was not seen yet.
            self._handle_stray_result(result, slot)
        fitted = self._give_ids() + self._check_kinds()
        moved, missing = self._misplaced_calls(), self._calls_without_result()
        if not (moved or missing or fitted or self._gone):
            return self._turns
        for call in [*moved, *missing]:
            call.put = True
        return self._write_turns(self._gone.union([call.found for call in moved]))

    def _pair_results(self) -> list[tuple[ToolResult, Slot]]:
        """Pair each result with the first open call of its id, in the last earlier step with such a call. Gives the
        results without a call."""
        waiting: dict[str, list[deque[_Call]]] = {}  # call id -> its open calls, by step
        strays: list[tuple[ToolResult, Slot]] = []
        for i, turn in enumerate(self._turns):
            for j, part in enumerate(turn.parts):
                if type(part) is ToolCall and turn.role == "assistant":
                    call = _Call(part, i, part.id)
                    self._steps.setdefault(i, []).append(call)
                    self._by_id.setdefault(part.id, []).append(call)
                    steps = waiting.setdefault(part.id, [])
                    # Calls of one id in one step are answered in their order; a later step hides an earlier one.
                    if not steps or steps[-1][0].turn != i:
                        steps.append(deque())
                    steps[-1].append(call)
                elif type(part) is ToolResult and turn.role == "tool":
                    steps = waiting.get(part.call_id, [])
                    if not steps:
                        strays.append((part, (i, j)))
                        continue
                    self._take(steps[-1].popleft(), part, (i, j))
                    if not steps[-1]:
                        steps.pop()
        return strays

    def _take(self, call: _Call, result: ToolResult, slot: Slot) -> None:
        call.result, call.found = result, slot
        self._owner[slot] = call

    def _handle_stray_result(self, result: ToolResult, slot: Slot) -> None:
        """Handle a result without an open call before it: it came too early or twice, or its call does not exist."""
        calls = self._by_id.get(result.call_id, [])
        if calls and calls[0].turn > slot[0]:
            # The iterator continues where it stopped. A new search for each result would cost the square of their
            # number.
            following = self._following.setdefault(result.call_id, iter(calls))
            call = next((call for call in following if call.result is None), None)
            if call is not None:
                self._take(call, result, slot)
                return
        if calls:
            self._gone.add(slot)
            self._log.note("duplicate-result", result.at, f"call {result.call_id} has one already")
        # With `previous_response_id` the server has the call (openai 3.49.0, 2026-11).
        elif not self._held and result.call_id not in self._asked_otherwise():
            self._gone.add(slot)
            self._orphans.setdefault(slot[0], []).append(result)
            self._log.note("orphan-result", result.at, f"call {result.call_id or '(unnamed)'} is not in the history")

    def _asked_otherwise(self) -> set[str]:
        """The ids of opaque calls, such as tool searches that the client runs. Only their dialect has such calls."""
        if self._others is None:
            parts = [part for turn in self._turns for part in turn.parts if isinstance(part, Opaque)]
            self._others = {_own_call_id(part) for part in parts if b'"call_id"' in bytes(part.value)} - {""}
        return self._others

    def _give_ids(self) -> int:
        """Give every call an id that is unique in the conversation, or at least in its step. Returns the number of new
        ids."""
        made = 0
        # The used ids include all originals, so that a new id never equals one that comes later.
        used = set(self._by_id)
        for original, calls in self._by_id.items():
            seen: set[int] = set()
            for count, call in enumerate(calls):
                # Messages needs ids that are unique in the whole request; Chat only within one message.
                scope = 0 if self._demands.unique_ids else call.turn
                if scope in seen:
                    call.id = hashed_id(f"{original}\x1f{count}")
                    while call.id in used:
                        call.id = hashed_id(call.id)
                    used.add(call.id)
                    made += 1
                    self._log.note("duplicate-id", call.part.at, f"{original} is {call.id} now")
                seen.add(scope)
        return made

    def _check_kinds(self) -> int:
        """Count the results with another kind than their calls, function or custom."""
        found = 0
        for call in self._owner.values() if self._demands.kinds else ():
            if call.result is not None and call.result.custom != call.part.custom:
                found += 1
                kind = "a custom tool" if call.part.custom else "a function"
                self._log.note("result-kind", call.result.at, f"call {call.id} is one of {kind}")
        return found

    def _misplaced_calls(self) -> list[_Call]:
        """The calls whose results are in a wrong place. The parts in between are noted."""
        out: list[_Call] = []
        steps = [*self._steps, len(self._turns)]
        for i, following in pairwise(steps):
            end = noted = self._run(i)
            for call in self._steps[i]:
                place = call.found[0]
                # Responses allows an output anywhere after its call (openai 3.49.0, 2026-11).
                if call.result is None or (i < place and (place < end or not self._demands.adjacent)):
                    continue
                out.append(call)
                if not i < place < following:
                    self._log.note("result-out-of-order", call.result.at, f"moved to its call {call.id}")
                    continue
                for turn in self._turns[noted:place]:
                    if turn.role != "tool":
                        self._log.note("interleaved-text", turn.at, "moved behind the results")
                noted = max(noted, place)
        return out

    def _run(self, step: int) -> int:
        """The end of the turns of results that follow a step directly."""
        end = step + 1
        while end < len(self._turns) and self._turns[end].role == "tool":
            end += 1
        return end

    def _calls_without_result(self) -> list[_Call]:
        """The calls without a result although the conversation continues after them."""
        out: list[_Call] = []
        last = len(self._turns) - 1
        for i, calls in self._steps.items():
            # Calls of the last turn are still open: the client may be about to answer them.
            for call in calls if i < last else ():
                if call.result is None and not self._answered_later(call.part):
                    self._log.note("orphan-call", call.part.at, f"call {call.id} of {call.part.name} was not answered")
                    out.append(call)
        return out

    def _answered_later(self, call: ToolCall) -> bool:
        # Responses has `async` calls whose outputs may come later (openai 3.49.0, 2026-11).
        mark = self._demands.later
        holders = [fields for fields in (call.extra or {}).values() if mark in fields] if mark else []
        return any(bytes(fields[mark]) == b"true" for fields in holders)

    def _write_turns(self, left: set[Slot]) -> Turns:
        """The turns, without the results in `left`."""
        out: list[Turn] = []
        added: list[_Call] = []  # results for the next turn of results, or for a new turn
        between: list[Turn] = []  # parts that were between the results; they are written after the results
        for i, turn in enumerate(self._turns):
            if turn.role == "tool":
                kept = [j for j in range(len(turn.parts)) if (i, j) not in left]
                if kept:
                    out.append(self._results(i, kept, added))
                    added = []
                if i in self._orphans:
                    words = [part for result in self._orphans[i] for part in _as_words(result)]
                    # If only orphaned results were in a turn, its unknown fields are dropped with them.
                    between.append(Turn("user", tuple(words), "", None if kept else turn.extra, turn.at))
                continue
            self._close(out, added, between, left)
            if i in self._steps:
                added = [call for call in self._steps[i] if call.put]
                turn = self._rename_calls(turn, self._steps[i])
            out.append(turn)
        self._close(out, added, between, left)
        return tuple(out)

    def _close(self, out: list[Turn], added: list[_Call], between: list[Turn], left: set[Slot]) -> None:
        """Finish the results of a step."""
        if added:
            first = added[0]
            extra, at = None, first.part.at
            if first.result is not None:
                i = first.found[0]
                turn = self._turns[i]
                at = turn.at
                if turn.extra is not None and all((i, j) in left for j in range(len(turn.parts))):
                    extra = turn.extra  # the turn itself is not written, so its fields would be lost
            out.append(Turn("tool", tuple([self._result(call) for call in added]), "", extra, at))
            added.clear()
        out.extend(between)
        between.clear()

    def _results(self, i: int, kept: list[int], added: list[_Call]) -> Turn:
        """A turn of results, together with results from elsewhere, in the order of the calls."""
        turn = self._turns[i]
        parts: list[Part] = []
        for j in kept:
            call = self._owner.get((i, j))
            parts.append(turn.parts[j] if call is None else self._result(call))
        if added:
            order = {call.id: n for n, call in enumerate(self._steps[added[0].turn])}
            parts += [self._result(call) for call in added]
            # Results of other calls come first, because they were in this turn before.
            parts.sort(key=lambda part: order.get(part.call_id, -1) if type(part) is ToolResult else -1)
        elif len(parts) == len(turn.parts) and all(a is b for a, b in zip(parts, turn.parts, strict=True)):
            return turn
        return with_parts(turn, parts)

    def _result(self, call: _Call) -> ToolResult:
        """The result of a call, with the call's id and kind. A missing result is made."""
        part, result = call.part, call.result
        if result is None:
            words = (Text(NO_RESULT, at=part.at),)
            # An error result, so that the model does not take the sentence for the tool's output.
            return ToolResult(call.id, words, part.name, True, custom=part.custom, at=part.at)
        custom = part.custom if self._demands.kinds else result.custom
        if result.call_id == call.id and result.custom == custom:
            return result
        return msgspec.structs.replace(result, call_id=call.id, custom=custom)

    def _rename_calls(self, turn: Turn, calls: list[_Call]) -> Turn:
        if all(call.id == call.part.id for call in calls):
            return turn
        ids = iter([call.id for call in calls])
        parts = [msgspec.structs.replace(p, id=next(ids)) if type(p) is ToolCall else p for p in turn.parts]
        return with_parts(turn, parts)


def _own_call_id(part: Opaque) -> str:
    try:
        value = json_text.fields(part.value).get("call_id")
    except (msgspec.DecodeError, RecursionError):
        return ""  # no JSON object, so it cannot be a call
    found = json_text.plain(value) if value is not None else ""
    return found if isinstance(found, str) else ""


def _as_words(result: ToolResult) -> list[Part]:
    """A result without its call, as text of the user."""
    of = f" of {result.name}" if result.name else ""
    call = f", call {result.call_id}" if result.call_id else ""
    head = f"[{'error' if result.is_error else 'result'}{of}{call}]"
    texts = [part.text for part in result.parts if isinstance(part, Text) and part.text]
    texts += [json_text.text(part.value) for part in result.parts if isinstance(part, Opaque)]
    rest = [part for part in result.parts if not isinstance(part, Text | Opaque)]
    return [Text("\n".join([head, *texts]), cache=result.cache, at=result.at), *rest]
