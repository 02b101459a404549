"""Turns as contents: alternating roles, the results of a step in one content right after it, seals in the open turn."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

from msgspec import Raw

from ...canon.parts import Opaque, Path, Text, ToolCall, ToolResult
from ...canon.turns import Run, Turn
from ...codec import jsontext
from ...codec.recall import Begun, Written
from ...crossing import Crossing
from . import wire
from .marks import put_back
from .message import DUMMY, write_call, write_part
from .results import write_missing, write_orphan, write_result
from .tools import NAMES

SYSTEM_MARK = "[system]\n"
"""Stands before system words that the user has to say, since there is no such role in mid-conversation."""


def write_contents(turns: tuple[Turn, ...], crossing: Crossing) -> list[Any]:
    """What comes from this dialect keeps its shape; anything else is brought into the shape the API demands."""
    writer = _Writer(crossing)
    seals = crossing.profile.seals
    open_from = 0
    if writer.mine:
        if crossing.target == wire.NAME and not crossing.within:
            open_from = _open_from(turns)
        turns = _as_sent(turns)
    recalled = crossing.recalled and not writer.mine
    run = crossing.run if recalled else None
    known = _WRITTEN.begun(crossing, turns, 0) if run is not None else None
    begin = len(known.turns) if known is not None and writer.go_on(known, seals) else 0
    plain = run is not None and not begin and turns[0].role != "assistant"
    for index in range(begin, len(turns)):
        turn = turns[index]
        # Only calls of the open turn must have seals. A history from elsewhere gets its dummies in all turns, so that
        # its bytes stay the same, and cached, when the turn is over.
        sealed = seals and index >= open_from and turn.role == "assistant" and _has_calls(turn)
        if recalled and writer.as_before(turn, sealed):
            plain = plain and writer.plain
            if plain and run is not None and turn is run.turns[-1]:
                writer.keep_begun(run, turns[: index + 1], seals)
            continue
        plain = False
        if turn.name:
            crossing.lose("name.dropped", turn.at)
        if turn.role == "assistant":
            writer.model(turn, sealed=sealed)
        elif turn.role == "tool":
            writer.results(turn)
        else:
            writer.user(turn)
    writer.settle()
    return writer.contents


def _only_texts(turn: Turn) -> bool:
    return all(type(part) is ToolResult and all(type(inner) is Text for inner in part.parts) for part in turn.parts)


def _has_calls(turn: Turn) -> bool:
    return any(type(part) is ToolCall for part in turn.parts)


def _as_sent(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Results of one step that this dialect's client had sent in several contents go back in as many."""
    out: list[Turn] = []
    for turn in turns:
        if turn.role == "tool" and len({part.at[:2] for part in turn.parts}) > 1:
            for at, parts in groupby(turn.parts, lambda part: part.at[:2]):
                out.append(Turn("tool", tuple(parts), "", turn.extra if at == turn.at else None, at))
        else:
            out.append(turn)
    return tuple(out)


def _open_from(turns: tuple[Turn, ...]) -> int:
    """Where the open turn begins: after the last words of the user that are no result."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.role not in ("assistant", "tool") and any(isinstance(part, Text) for part in turn.parts):
            return index + 1
    return 0


class _Known(NamedTuple):
    """How a turn was written after the calls `asked`, and the calls that wait for results after it. `sealed`: its calls
    must have seals; `dummies` is the place of the one that got a dummy."""

    parts: list[Raw]
    waiting: list[tuple[str, Any, Path]]
    asked: list[tuple[str, str]]
    sealed: bool
    dummies: tuple[Path, ...]


_WRITTEN = Written()


class _Writer:
    """The contents so far, and the calls that wait for their results."""

    def __init__(self, crossing: Crossing) -> None:
        self.contents: list[Any] = []
        self.mine = crossing.source == wire.NAME
        self._crossing = crossing
        self._role = ""
        self._at: Path = ()
        self._waiting: list[tuple[str, Any, Path]] = []  # id, the call as sent, its place
        self._answered: set[str] = set()
        self._given: list[Path] = []  # the call of this turn that was given a dummy
        self._dummies: list[Path] = []  # all of them in plain turns
        self.plain = True  # the last turn will be written the same way next time

    def as_before(self, turn: Turn, sealed: bool) -> bool:
        """Write a turn as it was written before, or write and remember it. Only what begins a content of its own is
        remembered, follows the same calls, and loses nothing but for the dummy."""
        role = "model" if turn.role == "assistant" else "user"
        if turn.role == "tool" and not _only_texts(turn):
            return False  # where media stand depends on the model
        asked = [(call_id, call["name"]) for call_id, call, _ in self._waiting]
        if role == self._role or bool(asked) != (turn.role == "tool"):
            return False
        known = _WRITTEN.get(turn)
        if known is not None and known.asked == asked and known.sealed is sealed:
            for dummy in known.dummies:
                self._crossing.lose("seal.dummy", dummy)
            self._dummies += known.dummies
            self.plain = True
            self.contents.append({"role": role, "parts": list(known.parts)})
            self._waiting = list(known.waiting)
            self._answered.update([call_id for call_id, _ in asked])
            self._role, self._at = role, turn.at
            return True
        if turn.name or turn.extra is not None or turn.role in ("system", "developer"):
            return False
        crossing = self._crossing
        before, lost, renamed = len(self.contents), len(crossing.losses), len(crossing.renamed) + len(crossing.custom)
        self._given.clear()
        if turn.role == "assistant":
            self.model(turn, sealed=sealed)
        elif turn.role == "tool":
            self.results(turn)
        else:
            self.user(turn)
        lost += len(self._given)
        clean = len(crossing.losses) == lost and len(crossing.renamed) + len(crossing.custom) == renamed
        own_names = all(call["name"] in NAMES.legal_names for _, call, _ in self._waiting)
        self.plain = clean and own_names and len(self.contents) == before + 1
        if self.plain:
            self._dummies += self._given
            parts = [jsontext.raw(part) for part in self.contents[-1]["parts"]]
            _WRITTEN.keep(
                turn, _Known(parts, list(self._waiting), asked, sealed, tuple(self._given)), sum(map(len, parts))
            )
        return True

    def keep_begun(self, run: Run, turns: tuple[Turn, ...], seals: bool) -> None:
        """Remember how the conversation was written so far. To its last content, more may still be added."""
        *done, last = self.contents
        state = (self._role, self._at, list(self._waiting), frozenset(self._answered), list(self._dummies), seals)
        _WRITTEN.keep_begun(run, turns, done, (*state, last["role"], list(last["parts"])))

    def go_on(self, known: Begun, seals: bool) -> bool:
        """Write the beginning of a conversation as before; False where the model wants seals otherwise."""
        at, place, waiting, answered, dummies, sealed, role, parts = known.state
        if sealed is not seals:
            return False
        self._role, self._at, self._waiting, self._answered = at, place, list(waiting), set(answered)
        for dummy in dummies:
            self._crossing.lose("seal.dummy", dummy)
        last = {"role": role, "parts": list(parts)}
        self.contents = [known.text, last] if len(known.text) else [last]
        return True

    def model(self, turn: Turn, *, sealed: bool) -> None:
        waiting = self._waiting
        if waiting and self._role != "model":
            self.settle()
        crossing = self._crossing
        out: list[Any] = []
        for part in turn.parts:
            if type(part) is ToolCall:
                written = write_call(part, crossing, request=True)
                if sealed and not waiting and "thoughtSignature" not in written:
                    written["thoughtSignature"] = DUMMY
                    crossing.lose("seal.dummy", part.at)
                    self._given.append(part.at)
                waiting.append((part.id, written["functionCall"], part.at))
                out.append(written)
                continue
            written = write_part(part, crossing, request=True)
            if written is not None:
                out.append(written)
        self._place("model", out, turn)

    def user(self, turn: Turn) -> None:
        if self._waiting:
            self.settle()
        parts = turn.parts
        crossing = self._crossing
        if self.mine and parts and type(parts[0]) is Opaque and parts[0].at == turn.at:
            self.contents.append(parts[0].value)  # a whole content of a role nobody knows
            self._role = ""
            return
        system = turn.role != "user"
        if system:
            crossing.lose("system.demoted", turn.at)
        out: list[Any] = []
        for part in parts:
            if type(part) is Opaque and part.dialect != wire.NAME:  # what a user sends is no hosted tool's
                crossing.lose("part.dropped", part.at, part.kind)
                continue
            written = write_part(part, crossing, request=True)
            if written is not None:
                if system and isinstance(part, Text):
                    written["text"] = SYSTEM_MARK + part.text
                out.append(written)
        self._place("user", out, turn)

    def results(self, turn: Turn) -> None:
        """All results of a step in call order; then what cannot stand inside them, and results without a call."""
        waiting, answered, crossing = self._waiting, self._answered, self._crossing
        siblings: list[Any] = []
        found: list[Any] = []
        if len(turn.parts) == len(waiting):
            for part, (call_id, asked, _) in zip(turn.parts, waiting, strict=True):
                if type(part) is not ToolResult or part.call_id != call_id:
                    break
                answered.add(call_id)
                found.append(write_result(part, asked, siblings, crossing))
            else:
                waiting.clear()
                self._place("user", found + siblings if siblings else found, turn)
                return
        siblings = []
        found = self._sorted(turn, siblings)
        self._place("user", found + siblings, turn)

    def _sorted(self, turn: Turn, siblings: list[Any]) -> list[Any]:
        """One result for each call, whatever order and number they came in."""
        crossing = self._crossing
        order = {call_id: place for place, (call_id, _, _) in enumerate(self._waiting)}
        found: list[tuple[int, Any]] = []
        for part in turn.parts:
            if type(part) is not ToolResult:
                crossing.lose("part.dropped", part.at, type(part).__name__)
                continue
            asked = self._take(part.call_id)
            if asked is not None or self.mine:
                found.append((order.get(part.call_id, 0), write_result(part, asked, siblings, crossing)))
            elif part.call_id in self._answered:
                crossing.lose("result.duplicate", part.at, part.call_id)
            else:
                crossing.lose("result.orphaned", part.at)
                siblings.append(write_orphan(part, siblings, crossing))
        if not self.mine:
            found.extend([(order[call_id], written) for call_id, written in self._missing()])
            found.sort(key=lambda pair: pair[0])
        return [written for _, written in found]

    def _take(self, call_id: str) -> Any:
        """The waiting call with this id, as sent; None when there is none."""
        for place, waiting in enumerate(self._waiting):
            if waiting[0] == call_id:
                self._answered.add(call_id)
                return self._waiting.pop(place)[1]
        return None

    def _missing(self) -> list[tuple[str, Any]]:
        """Results for the calls that have none."""
        out = []
        for call_id, asked, at in self._waiting:
            self._crossing.lose("result.invented", at, call_id)
            out.append((call_id, write_missing(asked)))
        self._waiting.clear()
        return out

    def settle(self) -> None:
        """Something other than results follows, or nothing: the step is over."""
        if self.mine:
            self._waiting.clear()
        elif self._waiting:
            self._place("user", [written for _, written in self._missing()], Turn("tool", ()))

    def _place(self, role: str, parts: list[Any], turn: Turn) -> None:
        """A content of its own, or more of the last one: roles alternate, unless this dialect's client had it so."""
        if not parts and not (self.mine and not turn.parts):
            self._crossing.lose("turn.dropped", turn.at)
            return
        contents = self.contents
        if self._role == role and (not self.mine or turn.at == self._at):
            contents[-1]["parts"].extend(parts)
        else:
            contents.append({"role": role, "parts": parts})
        if turn.extra is not None:
            put_back(contents[-1], turn.extra)
        self._role, self._at = role, turn.at
