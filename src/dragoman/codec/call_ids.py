"""Call ids: kept when legal in the target, else replaced by a hash of the original; made from the position when absent.
Those of Chat clients begin with `call_`, which is put in front of the upstream's id and taken off again.

The same original always gives the same id, so call and result agree, from turn to turn and from process to process.
Calls that share an id, or have none, are told apart before anything is written (`distinct`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Set

import msgspec

from ..canon.parts import Part, Path, ToolCall, ToolResult
from ..canon.turns import Turn
from ..context import Context
from .history_facts import facts_of
from .open_calls import OpenCalls
from .packed_seals import unpack_id

_SHORT = 40
"""Up to this length every dialect takes an id made of letters, digits, _ and -."""

_CHAT, _CHAT_MARK = "call_", "call__"
"""How ids of Chat clients begin, and how those begin that were made of another id by putting this in front. There are
clients that replace any id which begins otherwise (agno, 2026-11), and with the id the seals that wait for it."""

_CHAT_ROOM = _SHORT - len(_CHAT_MARK)

SAFE = re.compile(rf"[a-zA-Z0-9_-]{{1,{_CHAT_ROOM}}}\Z")
"""Legal in every dialect: clients of every dialect bring such an id back."""


def hashed(original: str, prefix: str = "call_") -> str:
    """A safe id that stands for `original`."""
    return prefix + hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def minted(at: Path, context: Context, salt: str = "") -> str:
    """An id for a call that came without one, from where it stands: the same in every later turn.

    In an answer the place says little, since it is the same in all of them: `salt` is what tells them apart.
    """
    context.lose("call.id.invented", at)
    return hashed("\x1f".join([*[str(step) for step in at], salt] if salt else [str(step) for step in at]))


def plain_id(call_id: str) -> bool:
    """Whether an id is of the kind that every dialect takes, and nearly all are."""
    return (call_id.isidentifier() or call_id.isalnum()) and call_id.isascii() and len(call_id) <= _SHORT


def send(call_id: str, pattern: re.Pattern[str], context: Context, at: Path) -> str:
    """A call id as the target takes it. Use it for calls and results alike."""
    if plain_id(call_id) or pattern.match(call_id):
        return call_id
    if unpack_id(from_chat_client(call_id)) is not None:
        return call_id  # seals travel in it, and a hash would lose them
    context.lose("call.id.rewritten", at)
    return hashed(call_id)


def to_chat_client(call_id: str, pattern: re.Pattern[str], context: Context, at: Path) -> str:
    """A call id as clients of Chat get it from an upstream of another dialect: it begins with `call_`, and has 40
    characters at most, unless seals travel in it. `from_chat_client` gives the upstream's id again, but for long ones,
    of which the client gets a hash."""
    if context.source == context.target or (call_id.startswith(_CHAT) and not call_id.startswith(_CHAT_MARK)):
        return send(call_id, pattern, context, at)
    if (len(call_id) <= _CHAT_ROOM and pattern.match(call_id)) or unpack_id(call_id) is not None:
        return _CHAT_MARK + call_id
    context.lose("call.id.rewritten", at)
    return hashed(call_id)


def short_for_chat_client(call_id: str) -> str | None:
    """The same for the short way, where ids are of letters, digits, _ and -; None for one that becomes a hash."""
    if call_id.startswith(_CHAT) and not call_id.startswith(_CHAT_MARK):
        return call_id
    return _CHAT_MARK + call_id if len(call_id) <= _CHAT_ROOM else None


def from_chat_client(call_id: str) -> str:
    """The upstream's id in one that a client of Chat brings back."""
    return call_id[len(_CHAT_MARK) :] if call_id.startswith(_CHAT_MARK) else call_id


def distinct(turns: tuple[Turn, ...], context: Context) -> tuple[Turn, ...]:
    """The turns with an id for every call that no other call has, and every result under the id of the call it answers.

    Hosts number the calls of each step anew, give parallel calls one id, or none. What a repeated id becomes says how
    often it stood before, so it is the same in every later turn. Returns `turns` itself when nothing has to change.
    """
    context.called = calls = facts_of(turns, context).calls
    return turns if calls is not None else _Renumbering(context).turns(turns)


def earlier(context: Context) -> set[str]:
    """The ids of the calls in the conversation that an answer goes on with."""
    turns = context.answers.turns if context.answers is not None else ()
    return {part.id for turn in turns if turn.role == "assistant" for part in turn.parts if type(part) is ToolCall}


def _stands(call_id: str, given: Set[str]) -> bool:
    """Whether an id is among those given, where one that the target does not take stands as its hash."""
    return call_id in given or (not SAFE.match(call_id) and hashed(call_id) in given)


class DistinctIds:
    """Gives every call of a conversation or of an answer an id that none before it has."""

    __slots__ = ("_given", "_times")

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given = set(given)
        self._times: dict[str, int] = {}  # how often an id was replaced

    def give(self, call: ToolCall, context: Context) -> str:
        """The call's own id, or one made of it: by counting, so the same calls get the same ids every time."""
        given = call.id
        if given and not _stands(given, self._given):
            self._given.add(given)
            return given
        if given:
            context.lose("call.id.rewritten", call.at, "the same id stands in an earlier call")
        else:
            context.lose("call.id.invented", call.at)
        times = self._times.get(call.id, 0) + 1
        given = hashed(f"{call.id}\x1f{times}")
        while given in self._given:
            times += 1
            given = hashed(f"{call.id}\x1f{times}")
        self._times[call.id] = times
        self._given.add(given)
        return given

    def call(self, call: ToolCall, context: Context) -> ToolCall:
        """The call under the id it gets."""
        given = self.give(call, context)
        return call if given == call.id else msgspec.structs.replace(call, id=given)


def with_distinct_ids(parts: tuple[Part, ...], context: Context) -> tuple[Part, ...]:
    """The parts of an answer, with an id for every call that no other of them has, and none in the conversation."""
    found = [part.id for part in parts if type(part) is ToolCall]
    stood = earlier(context) if found else set()
    if len(set(found)) == len(found) and (not stood or not any(_stands(call_id, stood) for call_id in found)):
        return parts
    given = DistinctIds(stood)
    return tuple([given.call(part, context) if type(part) is ToolCall else part for part in parts])


class _Renumbering:
    """The ids given so far, and the calls of the open step that have no result yet."""

    __slots__ = ("_apart", "_context", "_last", "_open", "_over", "_step")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._apart = DistinctIds()
        self._open: OpenCalls[str] = OpenCalls()  # the new ids of the calls, by the old ones and by their names
        self._step: list[tuple[ToolCall, str]] = []  # the calls of the step and their new ids, until a result comes
        self._last: dict[str, str] = {}  # the last id given for an original
        self._over = False  # the next call begins a step

    def turns(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        out = []
        for i, turn in enumerate(turns):
            if turn.role == "assistant":
                out.append(self._asked(turn))
            elif turn.role == "tool":
                if self._step:
                    self._index(turns, i)
                out.append(self._told(turn))
            else:
                self._over = True
                out.append(turn)
        return tuple(out)

    def _asked(self, turn: Turn) -> Turn:
        parts: list[Part] = []
        for part in turn.parts:
            if type(part) is ToolCall:
                if self._over:
                    self._open, self._step, self._over = OpenCalls(), [], False
                given = self._give(part)
                self._step.append((part, given))
                if given != part.id:
                    part = msgspec.structs.replace(part, id=given)
            parts.append(part)
        return _with_parts(turn, parts)

    def _give(self, call: ToolCall) -> str:
        given = self._apart.give(call, self._context)
        self._last[call.id] = given
        return given

    def _index(self, turns: tuple[Turn, ...], begin: int) -> None:
        """Find the calls of the step by their ids, and those that no result of the step names by their tools too."""
        named: set[str] = set()
        for turn in turns[begin : _step_end(turns, begin)]:
            if turn.role == "tool":
                named.update([part.call_id for part in turn.parts if type(part) is ToolResult])
        for call, given in self._step:
            keys = [("id", call.id)]
            if not call.id or call.id not in named:
                keys += [("name", call.name), ("name", "")]
            self._open.add(given, keys)
        self._step = []

    def _told(self, turn: Turn) -> Turn:
        parts: list[Part] = []
        for part in turn.parts:
            if type(part) is ToolResult:
                self._over = True
                given = self._take(part)
                if given != part.call_id:
                    self._context.lose("call.id.rewritten" if part.call_id else "call.id.invented", part.at)
                    part = msgspec.structs.replace(part, call_id=given)
            parts.append(part)
        return _with_parts(turn, parts)

    def _take(self, result: ToolResult) -> str:
        """The id of the open call that a result answers: by its id, else by its name and the order of the calls."""
        original = result.call_id
        found = self._open.take(("id", original) if original else ("name", result.name))
        return found if found is not None else self._last.get(original, original)


def _step_end(turns: tuple[Turn, ...], begin: int) -> int:
    """Where the next step begins: with the next call."""
    for i in range(begin, len(turns)):
        if turns[i].role == "assistant" and any(type(part) is ToolCall for part in turns[i].parts):
            return i
    return len(turns)


def _with_parts(turn: Turn, parts: list[Part]) -> Turn:
    if all(new is old for new, old in zip(parts, turn.parts, strict=True)):
        return turn
    return msgspec.structs.replace(turn, parts=tuple(parts))
