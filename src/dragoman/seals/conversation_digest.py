"""Identifies the conversation of an answer, by a running digest of the content that clients return unchanged.

The vault keeps the seals of an answer under this digest. So an invented history does not get the seals of another
conversation, even if the call ids of an upstream begin anew in every answer (`functions.get_weather:0`).

The digest covers, in order: the texts of the user, the texts of the assistant, the names and arguments of calls. It
leaves out everything that agents change between two requests of one conversation: system and developer turns, cache
marks, thoughts, results, media, call ids, and the blocks that `ADDED_BY_AGENTS` names.

Clients also group the same content differently: they join texts, keep texts apart from calls, or send each parallel
call with its result. So white space does not count, and neighbouring texts of one role count as one text. Between two
user texts, the assistant's texts form one sequence and its calls another.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, Protocol

import msgspec

from ..canon.parts import Text, ToolCall
from ..canon.turns import Turn

ADDED_BY_AGENTS = ("system-reminder", "environment_details")
"""Tags of blocks that agents put into a user's text and take out again in later requests.

`system-reminder`: Claude Code, opencode and Qwen Code (read 2026-11). `environment_details`: Cline and Kilo Code, whose
block moves to the newest user message (Kilo-Org/kilocode pull request 7778, 2026-03-27)."""

_TAGS = tuple([(f"<{name}>", f"</{name}>") for name in ADDED_BY_AGENTS])
# 128 bits: two conversations of one client never collide by chance.
_SIZE = 16
_NOTHING = bytes(_SIZE)
_EXACT = 2**53
"""The largest number below which a double holds every whole number. Clients in JavaScript round larger numbers."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="sorted").encode


class _Hash(Protocol):
    """A digest to which more bytes can be added."""

    def update(self, words: bytes, /) -> None: ...
    def digest(self) -> bytes: ...
    def copy(self) -> _Hash: ...


class ConversationState(NamedTuple):
    """The state of a RunningDigest for another process. A text that may still grow is stored as bytes."""

    past: bytes
    user: bytes | None
    texts: bytes | None
    calls: bytes
    step: bytes
    between: bool


class RunningDigest:
    """The running digest of the added turns."""

    __slots__ = ("_between", "_calls", "_past", "_step", "_texts", "_user")

    def __init__(self) -> None:
        self._past = _NOTHING  # everything before the last text of the user
        self._user: _Hash | None = None  # the last text of the user,
        self._texts: _Hash | None = None  # the texts of the assistant after that text,
        self._calls = _NOTHING  # and the calls after it
        self._step = _NOTHING  # the texts of the assistant before the current answer
        self._between = True  # the next turn of the assistant begins an answer

    @classmethod
    def of(cls, state: ConversationState) -> RunningDigest:
        """A digest with this state. Further turns can be added."""
        made = cls()
        made._past, user, texts, made._calls, made._step, made._between = state
        made._user = _new_hash(user) if user is not None else None
        made._texts = _new_hash(texts) if texts is not None else None
        return made

    def copy(self) -> RunningDigest:
        """An independent copy of this digest."""
        # `__new__` without `__init__`: the copy is made for each answer.
        made = RunningDigest.__new__(RunningDigest)
        made._past, made._calls, made._step, made._between = self._past, self._calls, self._step, self._between
        made._user = self._user.copy() if self._user is not None else None
        made._texts = self._texts.copy() if self._texts is not None else None
        return made

    def add(self, turn: Turn) -> None:
        """Add a turn."""
        role = turn.role
        if role == "assistant":
            self.begin_answer()
            for part in turn.parts:
                if type(part) is Text:
                    # A refusal is not text that clients return as text.
                    if not part.refusal:
                        self.add_text(part.text)
                elif type(part) is ToolCall:
                    self.add_call(part.name, part.arguments)
        elif role == "user":
            self._between = True
            for part in turn.parts:
                if type(part) is Text:
                    self._add_user_text(part.text)
        elif role == "tool":
            self._between = True

    def begin_answer(self) -> None:
        """Begin a turn of the assistant: the next texts and calls belong to it. Neighbouring turns of the assistant are
        one answer.
        """
        if self._between:
            self._between = False
            self._step = _digest(self._texts)

    def add_text(self, text: str) -> None:
        """Add a text of the assistant."""
        words = _squeezed(text)
        if words:
            if self._texts is None:
                self._texts = self._new_hash(words)
            else:
                self._texts.update(words)

    def add_call(self, name: str, arguments: str) -> None:
        """Add a call of the assistant."""
        called = b"%b\x1f%b" % (name.encode("utf-8", "surrogatepass"), plain_arguments(arguments))
        self._calls = hashlib.blake2b(self._calls + called, digest_size=_SIZE).digest()

    def _add_user_text(self, text: str) -> None:
        # A block always begins with this character, so most texts need no search.
        words = _squeezed(without_added_blocks(text) if "<" in text else text)
        if not words:
            return
        # A new text of the user ends the step: everything before becomes one digest.
        if self._texts is not None or self._calls != _NOTHING:
            self._past = self._joined(_digest(self._texts))
            self._user, self._texts, self._calls = None, None, _NOTHING
        if self._user is None:
            self._user = self._new_hash(words)
        else:
            self._user.update(words)

    @staticmethod
    def _new_hash(words: bytes) -> _Hash:
        return _new_hash(words)

    def before_call(self) -> str:
        """The digest of everything before the next call, without the texts of the answer that holds the call: clients
        keep texts and calls apart.
        """
        return self._joined(self._step).hex()

    def with_texts(self) -> str:
        """The digest of all added content."""
        return self._joined(_digest(self._texts)).hex()

    def _joined(self, texts: bytes) -> bytes:
        user = _digest(self._user)
        return hashlib.blake2b(self._past + user + texts + self._calls, digest_size=_SIZE).digest()


class _HashWithBytes:
    """A digest that keeps the added bytes, because a digest of hashlib cannot be sent to another process."""

    __slots__ = ("_hash", "pieces")

    def __init__(self, words: bytes) -> None:
        self._hash = _new_hash(words)
        self.pieces = [words]

    def update(self, words: bytes, /) -> None:
        self._hash.update(words)
        self.pieces.append(words)

    def digest(self) -> bytes:
        return self._hash.digest()

    def copy(self) -> _Hash:
        return self._hash.copy()


class _PortableConversation(RunningDigest):
    __slots__ = ()

    @staticmethod
    def _new_hash(words: bytes) -> _Hash:
        return _HashWithBytes(words)

    def state(self) -> ConversationState:
        user, texts = (
            b"".join(one.pieces) if isinstance(one, _HashWithBytes) else None for one in (self._user, self._texts)
        )
        return ConversationState(self._past, user, texts, self._calls, self._step, self._between)


def conversation_state(turns: tuple[Turn, ...]) -> ConversationState:
    """The digest of turns, for another process."""
    found = _PortableConversation()
    for turn in turns:
        found.add(turn)
    return found.state()


class VaultSearch(NamedTuple):
    """The first turns of a conversation, after a search of the vault that found no seal for them."""

    stamp: tuple[object, ...]
    """Identifies the upstream of the search."""
    keys: tuple[str, ...] = ()
    """The keys that were searched."""
    turns: int = 0
    """The number of turns that the search covered."""
    conversation: RunningDigest = RunningDigest()
    """The digest of these turns. It never changes: a longer conversation takes a copy."""


class ConversationDigest(msgspec.Struct, eq=False):
    """The client's original turns of a request, and the digest of the first turns.

    The digest of all turns is computed only if an answer has seals to keep.
    """

    turns: tuple[Turn, ...]
    """All turns, unchanged. Later stages change the history, but the client will send the original again.
    """
    mark: int = -1
    """The number of turns that `vault_search` has to cover."""
    vault_search: VaultSearch | None = None
    """The earlier search for the first turns."""
    _done: int = 0
    _conversation: RunningDigest | None = None

    def reached(self, conversation: RunningDigest, done: int) -> None:
        """Store the digest of the first `done` turns. The caller no longer changes `conversation`."""
        self._conversation, self._done = conversation, done

    def conversation(self) -> RunningDigest:
        """The digest of all turns. The result is a copy, so an answer can be added."""
        found = RunningDigest() if self._conversation is None else self._conversation.copy()
        for turn in self.turns[self._done :]:
            found.add(turn)
        return found

    def __reduce__(self) -> tuple[type[ConversationDigest], tuple[tuple[Turn, ...]]]:
        """A copy computes its digest anew: a running hash cannot be pickled."""
        return ConversationDigest, (self.turns,)


def _new_hash(words: bytes) -> _Hash:
    return hashlib.blake2b(words, digest_size=_SIZE)


def _digest(under_way: _Hash | None) -> bytes:
    return _NOTHING if under_way is None else under_way.digest()


def _squeezed(text: str) -> bytes:
    # White space does not count, because clients trim and join texts.
    return "".join(text.split()).encode("utf-8", "surrogatepass")


def without_added_blocks(text: str) -> str:
    """A user text without the blocks that agents add and remove (`ADDED_BY_AGENTS`)."""
    for opening, closing in _TAGS:
        if opening not in text:
            continue
        pieces: list[str] = []
        at = 0
        # An opening without a closing tag is the user's own text.
        while (begin := text.find(opening, at)) >= 0 and (end := text.find(closing, begin)) >= 0:
            pieces.append(text[at:begin])
            at = end + len(closing)
        text = "".join(pieces) + text[at:]
    return text


def plain_arguments(arguments: str) -> bytes:
    """Arguments in one spelling. Clients decode arguments and encode them again with other spaces, escapes, numbers
    (1.0 for 1) and order, and some leave out null values. Text that is not JSON is used without its white space.
    """
    try:
        # `{}`, null and nothing are the same arguments for a client.
        return _encode(_evened(_decode(arguments)) or {}) if arguments else b"{}"
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return _squeezed(arguments)


def _evened(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        # Some clients leave out null values when they encode arguments again.
        return {name: _evened(one) for name, one in value.items() if one is not None}
    if kind is list:
        return [_evened(one) for one in value]
    if kind is int or kind is float:
        real = float(value)
        return int(real) if -_EXACT < real < _EXACT and real.is_integer() else repr(real)
    return value
