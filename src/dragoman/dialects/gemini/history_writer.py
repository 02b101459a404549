"""Writes turns as contents: alternating roles, the results of a step in one content directly after it, seals in the
open turn.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from msgspec import Struct

from ...canon.parts import Opaque, Path, Text, ToolCall, ToolResult, plain_text
from ...canon.turns import Turn
from ...codec.open_call_lookup import OpenCalls
from ...context import Context
from . import wire
from .message_content import DUMMY, write_call, write_part
from .original_values import put_back
from .tool_results import write_missing, write_orphan, write_result

SYSTEM_MARK = "[system]\n"
"""Before system text in a user content: Gemini has no system role in mid-conversation (roles user and model only,
google-genai 3.1.0).
"""


def write_contents(turns: tuple[Turn, ...], context: Context) -> list[Any]:
    """A history of this dialect keeps its shape; any other is brought into the shape that the API demands."""
    own = OwnTurns(turns, context) if context.source == wire.NAME else None
    history = History(context, mine=own is not None)
    for index, turn in enumerate(turns if own is None else own.turns):
        history.turn(turn, sealed=context.profile.seals if own is None else own.sealed(index))
    history.settle()
    return history.contents


class OwnTurns:
    """The turns of a history of this dialect, which keeps its shape."""

    __slots__ = ("_open_from", "_seals", "turns")

    def __init__(self, turns: tuple[Turn, ...], context: Context) -> None:
        self.turns = _as_sent(turns)
        self._seals = context.profile.seals
        self._open_from = 0
        if context.target == wire.NAME and not context.within:
            self._open_from = _open_from(turns)

    def sealed(self, index: int) -> bool:
        """Whether the calls of a turn must have seals: only in the open turn."""
        return self._seals and index >= self._open_from


def _as_sent(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Split results that the client had sent in several contents into the same contents again."""
    out: list[Turn] = []
    for turn in turns:
        if turn.role == "tool" and len({part.at[:2] for part in turn.parts}) > 1:
            for at, parts in groupby(turn.parts, lambda part: part.at[:2]):
                out.append(Turn("tool", tuple(parts), "", turn.extra if at == turn.at else None, at))
        else:
            out.append(turn)
    return tuple(out)


def _open_from(turns: tuple[Turn, ...]) -> int:
    """The index of the open turn: after the last user text that is not a result."""
    # The current turn is everything after the last user text that is not a functionResponse (docs "Thought signatures",
    # 2026-10).
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.role not in ("assistant", "tool") and any(isinstance(part, Text) for part in turn.parts):
            return index + 1
    return 0


def begins_with_model(contents: list[Any]) -> bool:
    """Whether the first content is the model's. Earlier contents that are one text now do not begin so."""
    first = contents[0]
    return type(first) is dict and first.get("role") == "model"


class History(Struct, eq=False):
    """The contents so far, and the calls that wait for results."""

    _context: Context
    mine: bool
    """The history is of this dialect."""
    contents: list[Any] = []
    _role: str = ""
    _at: Path = ()
    _waiting: list[tuple[str, Any, Path]] = []  # id, the call as sent, its path
    _open: OpenCalls[Any] | None = None  # open calls, after a result out of order
    _answered: set[str] = set()

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The finished contents, and the state of the writer. The state holds the last content, which may still
        grow."""
        if self._waiting or not self.contents or begins_with_model(self.contents):
            return None
        *done, last = self.contents
        if type(last) is not dict or len(last) != 2:
            return None
        return done, (self._role, self._at, frozenset(self._answered), tuple(last["parts"]))

    def restore(self, contents: list[Any], state: Any) -> None:
        """Continue after earlier contents: `contents`, and the last one in the state."""
        self.contents = contents
        if state is not None:
            self._role, self._at, answered, parts = state
            self._answered = {*answered}
            contents.append({"role": self._role, "parts": [*parts]})

    def turn(self, turn: Turn, *, sealed: bool) -> None:
        """Write one turn. `sealed`: its calls must have seals."""
        # Contents have no participant name (google-genai 3.1.0, 2026-11).
        if turn.name:
            self._context.lose("name.dropped", turn.at)
        if turn.role == "assistant":
            self._model(turn, sealed=sealed)
        elif turn.role == "tool":
            self._results(turn)
        else:
            self._user(turn)

    def _model(self, turn: Turn, *, sealed: bool) -> None:
        if self._waiting and self._role != "model":
            self.settle()
        text = plain_text(turn.parts)
        if text:
            self._place("model", [{"text": text}], turn)
            return
        waiting, context = self._waiting, self._context
        out: list[Any] = []
        for part in turn.parts:
            if type(part) is ToolCall:
                written = write_call(part, context, request=True)
                # Gemini 3 answers 400 "Function call is missing a thought_signature" if the first call of a step in the
                # current turn has none (docs "Thought signatures", 2026-10). Google documents this dummy for calls from
                # another model.
                if sealed and not waiting and "thoughtSignature" not in written:
                    written["thoughtSignature"] = DUMMY
                    context.lose("seal.dummy", part.at)
                waiting.append((part.id, written["functionCall"], part.at))
                out.append(written)
                continue
            written = write_part(part, context, request=True)
            if written is not None:
                out.append(written)
        self._place("model", out, turn)

    def _user(self, turn: Turn) -> None:
        if self._waiting:
            self.settle()
        parts = turn.parts
        context = self._context
        if self.mine and parts and type(parts[0]) is Opaque and parts[0].at == turn.at:
            self.contents.append(parts[0].value)  # a whole content of an unknown role
            self._role = ""
            return
        system = turn.role != "user"
        text = None if system else plain_text(parts)
        if text:
            self._place("user", [{"text": text}], turn)
            return
        if system:
            # Only systemInstruction holds system text (google-genai 3.1.0, 2026-11).
            context.lose("system.demoted", turn.at)
        out: list[Any] = []
        for part in parts:
            if type(part) is Opaque and part.dialect != wire.NAME:  # user content is not a hosted tool's part
                context.lose("part.dropped", part.at, part.kind)
                continue
            written = write_part(part, context, request=True)
            if written is not None:
                if system and isinstance(part, Text):
                    written["text"] = SYSTEM_MARK + part.text
                out.append(written)
        self._place("user", out, turn)

    def _results(self, turn: Turn) -> None:
        """Write all results of a step in call order; then media that cannot be inside them, and results without a
        call.
        """
        waiting, answered, context = self._waiting, self._answered, self._context
        siblings: list[Any] = []
        found: list[Any] = []
        if len(turn.parts) == len(waiting) and self._open is None:
            for part, (call_id, call, _) in zip(turn.parts, waiting, strict=True):
                if type(part) is not ToolResult or part.call_id != call_id:
                    break
                answered.add(call_id)
                found.append(write_result(part, call, siblings, context))
            else:
                waiting.clear()
                # All functionResponses of a step are in one user content, as many as calls (gemini-cli 0.56 sources,
                # 2026-08).
                self._place("user", found + siblings if siblings else found, turn)
                return
        siblings = []
        found = self._sorted(turn, siblings)
        self._place("user", found + siblings, turn)

    def _sorted(self, turn: Turn, siblings: list[Any]) -> list[Any]:
        """One result for each call. The source may have them in any order and number."""
        context = self._context
        order = {} if self.mine else {call_id: place for place, (call_id, _, _) in enumerate(self._waiting)}
        found: list[tuple[int, Any]] = []
        for part in turn.parts:
            if type(part) is not ToolResult:
                context.lose("part.dropped", part.at, type(part).__name__)
                continue
            call = self._take(part.call_id)
            if call is not None or self.mine:
                found.append((order.get(part.call_id, 0), write_result(part, call, siblings, context)))
            # Each call takes exactly one functionResponse (lint rule GEM-006).
            elif part.call_id in self._answered:
                context.lose("result.duplicate", part.at, part.call_id)
            else:
                # A functionResponse must match a call by id and name (lint rule GEM-007).
                context.lose("result.orphaned", part.at)
                siblings.append(write_orphan(part, siblings, context))
        if not self.mine:
            found.extend([(order[call_id], written) for call_id, written in self._missing()])
            found.sort(key=lambda pair: pair[0])
        return [written for _, written in found]

    def _take(self, call_id: str) -> Any:
        """The open call with this id, as sent; None if there is none."""
        if self._open is None:
            self._open = OpenCalls()
            for waiting in self._waiting:
                self._open.add(waiting, (waiting[0],))
        found = self._open.take(call_id)
        if found is None:
            return None
        self._answered.add(call_id)
        if not self._open:
            self._done()
        return found[1]

    def _done(self) -> None:
        """No call is open any more."""
        self._waiting, self._open = [], None

    def _missing(self) -> list[tuple[str, Any]]:
        """Error results for the calls without one."""
        out = []
        for call_id, call, at in self._waiting if self._open is None else self._open.left():
            self._context.lose("result.invented", at, call_id)
            out.append((call_id, write_missing(call)))
        self._done()
        return out

    def settle(self) -> None:
        """The step is over: add error results for its open calls."""
        if self.mine:
            self._done()
        elif self._waiting:
            self._place("user", [written for _, written in self._missing()], Turn("tool", ()))

    def _place(self, role: str, parts: list[Any], turn: Turn) -> None:
        """Add a content, or extend the last one: roles alternate, except in a history of this dialect."""
        if not parts and not (self.mine and not turn.parts):
            self._context.lose("turn.dropped", turn.at)
            return
        contents = self.contents
        # Contents should alternate between user and model (lint rule GEM-010).
        if self._role == role and (not self.mine or turn.at == self._at):
            contents[-1]["parts"].extend(parts)
        else:
            contents.append({"role": role, "parts": parts})
        if turn.extra is not None:
            put_back(contents[-1], turn.extra)
        self._role, self._at = role, turn.at
