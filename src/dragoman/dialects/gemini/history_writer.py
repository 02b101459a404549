"""Turns as contents: alternating roles, the results of a step in one content right after it, seals in the open turn."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from ...canon.parts import Opaque, Part, Path, Text, ToolCall, ToolResult, plain_text
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.open_calls import OpenCalls
from ...context import Context
from ...fast.prefix import Begun, Written
from . import wire
from .message import DUMMY, write_call, write_part
from .original_values import put_back
from .tool_results import write_missing, write_orphan, write_result
from .tools import NAMES

SYSTEM_MARK = "[system]\n"
"""Stands before system words that the user has to say, since there is no such role in mid-conversation."""


def write_contents(turns: tuple[Turn, ...], context: Context) -> list[Any]:
    """What comes from this dialect keeps its shape; anything else is brought into the shape the API demands."""
    return write_own(turns, context) if context.source == wire.NAME else History(context).write(turns, 0)


def write_own(turns: tuple[Turn, ...], context: Context) -> list[Any]:
    """What comes from this dialect keeps its shape."""
    history = History(context)
    seals, open_from = context.profile.seals, 0
    if context.target == wire.NAME and not context.within:
        open_from = _open_from(turns)
    for index, turn in enumerate(_as_sent(turns)):
        # Only calls of the open turn must have seals.
        history.turn(turn, sealed=seals and index >= open_from)
    history.settle()
    return history.contents


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


_WRITTEN = Written()


class History:
    """The contents so far, and the calls that wait for their results."""

    __slots__ = ("_answered", "_at", "_context", "_given", "_open", "_role", "_seals", "_waiting", "contents", "mine")

    def __init__(self, context: Context) -> None:
        self.contents: list[Any] = []
        self.mine = context.source == wire.NAME
        self._context = context
        # A history from elsewhere gets its dummies in all turns, so that its bytes stay the same, and cached, when the
        # turn is over.
        self._seals = context.profile.seals
        self._role = ""
        self._at: Path = ()
        self._waiting: list[tuple[str, Any, Path]] = []  # id, the call as sent, its place
        self._open: OpenCalls[Any] | None = None  # those of them without a result yet, once one came out of order
        self._answered: set[str] = set()
        self._given: list[Path] = []  # calls of plain turns that were given a dummy

    def write(self, turns: tuple[Turn, ...], begin: int) -> list[Any]:
        """All turns of a request from `begin` on, behind the system's."""
        run = self._context.run
        if run is not None:
            begin = _WRITTEN.begin(self, run, turns, begin)
        for turn in turns[begin:]:
            if not self.plain(turn):
                self.turn(turn, sealed=self._seals)
        self.settle()
        return self.contents

    def plain(self, turn: Turn) -> bool:
        """What nearly all turns are: texts, texts and calls, or the results of the calls before, and nothing hangs on
        them. Written here in one go; False, with nothing written, for any other."""
        if turn.name or turn.extra is not None:
            return False
        role, out = "user", []
        if turn.role == "user":
            if self._waiting:
                return False
            for part in turn.parts:
                if type(part) is not Text or not part.text or part.refusal or part.citations:
                    return False
                if part.seal is not None or part.extra is not None or part.cache is not None:
                    return False
                out.append({"text": part.text})
        elif turn.role == "tool":
            out = self._plain_results(turn.parts)
        elif turn.role == "assistant":
            role, out = "model", self._plain_calls(turn.parts)
        if not out:
            return False
        if self._role == role:
            self.contents[-1]["parts"] += out
        else:
            self.contents.append({"role": role, "parts": out})
        self._role, self._at = role, turn.at
        return True

    def _plain_calls(self, parts: tuple[Part, ...]) -> list[Any]:
        """Texts and calls, or one of them, where no call is open; nothing for any others."""
        out: list[Any] = []
        calls: list[tuple[str, Any, Path]] = []
        if self._waiting:
            return []
        for part in parts:
            if part.seal is not None or part.extra is not None or part.cache is not None:
                return []
            if type(part) is ToolCall:
                given = json_text.object_raw(part.arguments)
                if part.custom or part.namespace or given is None or not part.id or part.name not in NAMES.legal_names:
                    return []
                call = {"id": part.id, "name": part.name, "args": given}
                written: dict[str, Any] = {"functionCall": call}
                if self._seals and not calls:
                    written["thoughtSignature"] = DUMMY
                calls.append((part.id, call, part.at))
                out.append(written)
            elif type(part) is Text and part.text and not part.refusal and not part.citations:
                out.append({"text": part.text})
            else:
                return []
        if self._seals and calls:
            self._dummy([calls[0][2]])
        self._waiting = calls
        return out

    def _plain_results(self, parts: tuple[Part, ...]) -> list[Any]:
        """One text for each open call, in their order; nothing for any others."""
        out: list[Any] = []
        waiting = self._waiting
        if len(parts) != len(waiting):
            return []
        for part, (call_id, asked, _) in zip(parts, waiting, strict=True):
            if type(part) is not ToolResult or part.call_id != call_id or asked.get("id") != call_id or part.structured:
                return []
            text = plain_text(part.parts)
            if text is None or part.seal is not None or part.cache is not None:
                return []
            if part.extra is not None and wire.NAME in part.extra:
                return []
            response = {"error" if part.is_error else "output": text}
            out.append({"functionResponse": {"id": call_id, "name": asked["name"], "response": response}})
        self._answered.update([call_id for call_id, _, _ in waiting])
        self._waiting = []
        return out

    def stands(self) -> tuple[list[Any], Any, Any]:
        *done, last = self.contents
        state = (self._role, self._at, [*self._waiting], frozenset(self._answered), [*self._given], self._seals)
        return done, {"role": last["role"], "parts": [*last["parts"]]}, state

    def resume(self, known: Begun) -> bool:
        last, role, at, waiting, answered, given, seals = known.state
        if seals is not self._seals:
            return False
        self._role, self._at, self._waiting, self._answered = role, at, [*waiting], {*answered}
        if given:
            self._dummy(given)
        last = {"role": last["role"], "parts": [*last["parts"]]}
        self.contents = [known.text, last] if len(known.text) else [last]
        return True

    def _dummy(self, given: list[Path]) -> None:
        for at in given:
            self._context.lose("seal.dummy", at)
        self._given += given

    def turn(self, turn: Turn, *, sealed: bool) -> None:
        """Any turn. `sealed`: its calls must have seals."""
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
        waiting, context = self._waiting, self._context
        out: list[Any] = []
        for part in turn.parts:
            if type(part) is ToolCall:
                written = write_call(part, context, request=True)
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
            self.contents.append(parts[0].value)  # a whole content of a role nobody knows
            self._role = ""
            return
        system = turn.role != "user"
        if system:
            context.lose("system.demoted", turn.at)
        out: list[Any] = []
        for part in parts:
            if type(part) is Opaque and part.dialect != wire.NAME:  # what a user sends is no hosted tool's
                context.lose("part.dropped", part.at, part.kind)
                continue
            written = write_part(part, context, request=True)
            if written is not None:
                if system and isinstance(part, Text):
                    written["text"] = SYSTEM_MARK + part.text
                out.append(written)
        self._place("user", out, turn)

    def _results(self, turn: Turn) -> None:
        """All results of a step in call order; then what cannot stand inside them, and results without a call."""
        waiting, answered, context = self._waiting, self._answered, self._context
        siblings: list[Any] = []
        found: list[Any] = []
        if len(turn.parts) == len(waiting) and self._open is None:
            for part, (call_id, asked, _) in zip(turn.parts, waiting, strict=True):
                if type(part) is not ToolResult or part.call_id != call_id:
                    break
                answered.add(call_id)
                found.append(write_result(part, asked, siblings, context))
            else:
                waiting.clear()
                self._place("user", found + siblings if siblings else found, turn)
                return
        siblings = []
        found = self._sorted(turn, siblings)
        self._place("user", found + siblings, turn)

    def _sorted(self, turn: Turn, siblings: list[Any]) -> list[Any]:
        """One result for each call, whatever order and number they came in."""
        context = self._context
        order = {} if self.mine else {call_id: place for place, (call_id, _, _) in enumerate(self._waiting)}
        found: list[tuple[int, Any]] = []
        for part in turn.parts:
            if type(part) is not ToolResult:
                context.lose("part.dropped", part.at, type(part).__name__)
                continue
            asked = self._take(part.call_id)
            if asked is not None or self.mine:
                found.append((order.get(part.call_id, 0), write_result(part, asked, siblings, context)))
            elif part.call_id in self._answered:
                context.lose("result.duplicate", part.at, part.call_id)
            else:
                context.lose("result.orphaned", part.at)
                siblings.append(write_orphan(part, siblings, context))
        if not self.mine:
            found.extend([(order[call_id], written) for call_id, written in self._missing()])
            found.sort(key=lambda pair: pair[0])
        return [written for _, written in found]

    def _take(self, call_id: str) -> Any:
        """The waiting call with this id, as sent; None when there is none."""
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
        """No call waits any longer."""
        self._waiting, self._open = [], None

    def _missing(self) -> list[tuple[str, Any]]:
        """Results for the calls that have none."""
        out = []
        for call_id, asked, at in self._waiting if self._open is None else self._open.left():
            self._context.lose("result.invented", at, call_id)
            out.append((call_id, write_missing(asked)))
        self._done()
        return out

    def settle(self) -> None:
        """Something other than results follows, or nothing: the step is over."""
        if self.mine:
            self._done()
        elif self._waiting:
            self._place("user", [written for _, written in self._missing()], Turn("tool", ()))

    def _place(self, role: str, parts: list[Any], turn: Turn) -> None:
        """A content of its own, or more of the last one: roles alternate, unless this dialect's client had it so."""
        if not parts and not (self.mine and not turn.parts):
            self._context.lose("turn.dropped", turn.at)
            return
        contents = self.contents
        if self._role == role and (not self.mine or turn.at == self._at):
            contents[-1]["parts"].extend(parts)
        else:
            contents.append({"role": role, "parts": parts})
        if turn.extra is not None:
            put_back(contents[-1], turn.extra)
        self._role, self._at = role, turn.at
