"""Owns call ids: an id that is legal in the target is kept, any other is replaced by a hash; a missing id is computed
from its position.

Ids for Chat clients begin with `call_`. This prefix is added to the upstream's id and removed again. The same original
always gives the same id, so call and result agree in every turn and every process. `with_unique_ids` separates calls
that share an id or have none, before anything is written.
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
from .open_call_lookup import OpenCalls
from .packed_seals import unpack_id

# The smallest documented limit: OpenAI's Chat takes ids of at most 40 characters on older models, 64 on newer ones (400
# string_above_max_length, reported by users, 2026).
_SHORT = 40
"""Every dialect accepts an id of letters, digits, _ and - up to this length."""

_CHAT, _CHAT_MARK = "call_", "call__"
"""The prefix of ids for Chat clients, and the prefix of ids that were made from another id. Some clients replace any id
without the first prefix (agno, 2026-11), and lose the seals that are kept under the id.
"""

_CHAT_ROOM = _SHORT - len(_CHAT_MARK)

SAFE = re.compile(rf"[a-zA-Z0-9_-]{{1,{_CHAT_ROOM}}}\Z")
"""Legal in every dialect, so clients of every dialect return such an id unchanged."""


def hashed_id(original: str, prefix: str = "call_") -> str:
    """A safe id for `original`."""
    # Twenty hexadecimal digits are 80 bits: two equal ids in one conversation are practically impossible.
    return prefix + hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def id_from_path(at: Path, context: Context, salt: str = "") -> str:
    """An id for a call without one, computed from its path: the same in every later turn.

    In an answer the path is always the same, so `salt` distinguishes the answers.
    """
    context.lose("call.id.invented", at)
    return hashed_id("\x1f".join([*[str(step) for step in at], salt] if salt else [str(step) for step in at]))


def plain_id(call_id: str) -> bool:
    """Whether an id has the usual form, which every dialect accepts."""
    # This check is faster than the pattern, and nearly all ids pass it.
    return (call_id.isidentifier() or call_id.isalnum()) and call_id.isascii() and len(call_id) <= _SHORT


def send(call_id: str, pattern: re.Pattern[str], context: Context, at: Path) -> str:
    """A call id as the target accepts it. It is used for calls and results alike."""
    if plain_id(call_id) or pattern.match(call_id):
        return call_id
    if unpack_id(from_chat_client(call_id)) is not None:
        return call_id  # the id carries packed seals, which a hash would lose
    context.lose("call.id.rewritten", at)
    return hashed_id(call_id)


def to_chat_client(call_id: str, pattern: re.Pattern[str], context: Context, at: Path) -> str:
    """A call id for a client of Chat, from an upstream of another dialect. It begins with `call_` and has at most 40
    characters, unless it carries packed seals. `from_chat_client` restores the upstream's id, except for a long id,
    which is hashed.
    """
    if context.source == context.target or (call_id.startswith(_CHAT) and not call_id.startswith(_CHAT_MARK)):
        return send(call_id, pattern, context, at)
    if (len(call_id) <= _CHAT_ROOM and pattern.match(call_id)) or unpack_id(call_id) is not None:
        return _CHAT_MARK + call_id
    context.lose("call.id.rewritten", at)
    return hashed_id(call_id)


def short_for_chat_client(call_id: str) -> str | None:
    """`to_chat_client` for plain answers, whose ids have only letters, digits, _ and -. None: the id would become a
    hash."""
    if call_id[:5] == _CHAT and call_id[5:6] != "_":  # slices are quicker than startswith
        return call_id
    return _CHAT_MARK + call_id if len(call_id) <= _CHAT_ROOM else None


def from_chat_client(call_id: str) -> str:
    """The upstream's id in an id that a Chat client returned."""
    return call_id[len(_CHAT_MARK) :] if call_id.startswith(_CHAT_MARK) else call_id


def with_unique_ids(turns: tuple[Turn, ...], context: Context) -> tuple[Turn, ...]:
    """The turns with a unique id for every call, and every result under the id of its call.

    Some hosts number the calls of each step anew, give parallel calls one id, or give none. The replacement of a
    repeated id depends on how often the id occurred before, so it is the same in every later turn. Returns `turns`
    itself if nothing has to change.
    """
    context.called = calls = facts_of(turns, context).calls
    return turns if calls is not None else _Renumbering(context).turns(turns)


def ids_of_earlier_turns(context: Context) -> set[str]:
    """The ids of all calls in the conversation before the answer."""
    turns = context.answers.turns if context.answers is not None else ()
    return {part.id for turn in turns if turn.role == "assistant" for part in turn.parts if type(part) is ToolCall}


def _stands(call_id: str, given: Set[str]) -> bool:
    """Whether an id is among `given`. An id that the target refuses is there as its hash."""
    # The history holds ids as the target got them, so an unsafe id is there only as its hash.
    return call_id in given or (not SAFE.match(call_id) and hashed_id(call_id) in given)


class DistinctIds:
    """Gives every call of a conversation or an answer an id that no earlier call has."""

    __slots__ = ("_given", "_times")

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._given = set(given)
        self._times: dict[str, int] = {}  # id -> how often it was replaced

    def give(self, call: ToolCall, context: Context) -> str:
        """The call's own id, or one computed from it by counting. The same calls always get the same ids."""
        given = call.id
        if given and not _stands(given, self._given):
            self._given.add(given)
            return given
        if given:
            context.lose("call.id.rewritten", call.at, "the same id is in an earlier call")
        else:
            context.lose("call.id.invented", call.at)
        times = self._times.get(call.id, 0) + 1
        given = hashed_id(f"{call.id}\x1f{times}")
        # The id of another call may by chance be such a hash: a client may return ids that we made before.
        while given in self._given:
            times += 1
            given = hashed_id(f"{call.id}\x1f{times}")
        self._times[call.id] = times
        self._given.add(given)
        return given

    def call(self, call: ToolCall, context: Context) -> ToolCall:
        """The call with its new id."""
        given = self.give(call, context)
        return call if given == call.id else msgspec.structs.replace(call, id=given)


def with_distinct_ids(parts: tuple[Part, ...], context: Context) -> tuple[Part, ...]:
    """The parts of an answer, with call ids that are unique in the answer and in the conversation."""
    found = [part.id for part in parts if type(part) is ToolCall]
    stood = ids_of_earlier_turns(context) if found else set()
    if len(set(found)) == len(found) and (not stood or not any(_stands(call_id, stood) for call_id in found)):
        return parts
    given = DistinctIds(stood)
    return tuple([given.call(part, context) if type(part) is ToolCall else part for part in parts])


class _Renumbering:
    """The ids given so far, and the calls of the open step without a result."""

    __slots__ = ("_apart", "_context", "_last", "_open", "_over", "_step")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._apart = DistinctIds()
        self._open: OpenCalls[str] = OpenCalls()  # new ids, found by old id and by tool name
        self._step: list[tuple[ToolCall, str]] = []  # calls of the step with their new ids, until a result comes
        self._last: dict[str, str] = {}  # original id -> the last new id
        self._over = False  # the next call begins a step

    def turns(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """The turns with unique call ids."""
        out = []
        for i, turn in enumerate(turns):
            if turn.role == "assistant":
                out.append(self._assistant_turn(turn))
            elif turn.role == "tool":
                if self._step:
                    # Results name the calls that they answer. Only then is it known which calls must be found by name.
                    self._index(turns, i)
                out.append(self._tool_turn(turn))
            else:
                self._over = True
                out.append(turn)
        return tuple(out)

    def _assistant_turn(self, turn: Turn) -> Turn:
        parts: list[Part] = []
        for part in turn.parts:
            if type(part) is ToolCall:
                # Calls of neighbouring assistant turns belong to one step until a result or another turn comes.
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
        """Index the calls of the step by id. A call that no result of the step names is also indexed by its
        tool name.
        """
        named: set[str] = set()
        for turn in turns[begin : _step_end(turns, begin)]:
            if turn.role == "tool":
                named.update([part.call_id for part in turn.parts if type(part) is ToolResult])
        for call, given in self._step:
            keys = [("id", call.id)]
            if not call.id or call.id not in named:
                # Gemini and Ollama pair results by name (google-genai 3.1.0,
                # ollama 0.6.3, 2026-11). A result may lack the name, too.
                keys += [("name", call.name), ("name", "")]
            self._open.add(given, keys)
        self._step = []

    def _tool_turn(self, turn: Turn) -> Turn:
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
        """The id of the open call that a result answers: found by id, else by name and the order of the calls."""
        original = result.call_id
        found = self._open.take(("id", original) if original else ("name", result.name))
        # A result may come a second time, or late. Its call is then the last one with that id.
        return found if found is not None else self._last.get(original, original)


def _step_end(turns: tuple[Turn, ...], begin: int) -> int:
    """The index of the next step, which begins with the next call."""
    for i in range(begin, len(turns)):
        if turns[i].role == "assistant" and any(type(part) is ToolCall for part in turns[i].parts):
            return i
    return len(turns)


def _with_parts(turn: Turn, parts: list[Part]) -> Turn:
    if all(new is old for new, old in zip(parts, turn.parts, strict=True)):
        return turn
    return msgspec.structs.replace(turn, parts=tuple(parts))
