"""How conversations begin: an agent sends its whole history with every turn.

A Prefix is the exact text of the first messages of a request: the turns that were read from them, and how targets wrote
these. A conversation that goes on from a prefix is read and written from there on. So a step costs the same late in a
conversation as early in it.
"""

from __future__ import annotations

from collections.abc import Set
from itertools import count as counting
from typing import Any

from msgspec import Raw, Struct

from ..canon.losses import Noted
from ..canon.parts import Media, Text, ToolCall, ToolResult
from ..canon.turns import Turn
from ..codec.cache_budget import Memory, grew, largest
from ..codec.history_facts import HistoryFacts
from ..facts.profile import Profile
from ..seals.conversation_digest import Asked
from .request_envelope_memory import Pair

MAX_TEXT = 2 * 1024 * 1024
"""Longer beginnings are not kept."""
MIN_TEXT = 256
"""Shorter ones are not worth it."""
PIECE = 128
"""By so many bytes prefixes are looked up, at the largest power of two that leaves room for them: agents begin all
their conversations with the same words, but do not go on so."""
MAX_ALIKE = 32
"""Prefixes that have the same bytes there."""
_MAX_WRITTEN = 4
_OBJECTS = 800
"""About how many bytes a turn takes besides its text: turn, parts, their places and the tables they stand in."""

_numbers = counting(1)
_NO_LOSSES: tuple[Noted, ...] = ()


class WrittenPrefix(Struct, frozen=True, gc=False, eq=False):
    """How one target wrote the turns of a prefix, but for those of the system's at the beginning."""

    profile: Profile
    skipped: int
    """How many those are."""
    messages: bytes
    """Those that stay as they are, with commas between."""
    state: Any
    """Where the writer stood behind them."""
    losses: tuple[Noted, ...]


class Prefix(Struct, frozen=True, gc=False, eq=False):
    """How a conversation begins."""

    text: bytes
    """From the bracket to the end of the last message."""
    count: int
    """How many messages that is."""
    turns: tuple[Turn, ...]
    facts: HistoryFacts
    losses: tuple[Noted, ...]
    """What was lost when the messages were read."""
    written: dict[str, WrittenPrefix]
    """By the name of the model."""
    asked: Asked | None
    """What is known of a vault that was asked for its turns."""
    number: int
    """Of all prefixes none has the same,"""
    before: int
    """and this one goes on from that; 0: from none."""

    def keep(self, model: str, written: WrittenPrefix) -> None:
        """Remember how a target wrote it."""
        if len(self.written) >= _MAX_WRITTEN:
            self.written.clear()
        self.written[model] = written
        grew(len(written.messages))


NOTHING = Prefix(b"[", 0, (), HistoryFacts(()), _NO_LOSSES, {}, None, 0, 0)
"""Before the first message."""


class PrefixMemory:
    """The prefixes of all pairs of dialects."""

    def __init__(self) -> None:
        self._kept: Memory[tuple[Pair, bytes], list[Prefix]] = Memory()

    def find(self, pair: Pair, text: bytes) -> Prefix:
        """The longest prefix of an array of messages that is known; NOTHING, if none is."""
        if len(text) <= MIN_TEXT:
            return NOTHING
        at, longest = _place(len(text)), NOTHING
        while at >= PIECE:
            for one in self._kept.get((pair, text[at : at + PIECE])) or ():
                if len(one.text) > len(longest.text) and text.startswith(one.text):
                    longest = one
            if longest is not NOTHING:
                return longest
            at >>= 1
        return NOTHING

    def put(
        self,
        pair: Pair,
        text: bytes,
        count: int,
        turns: tuple[Turn, ...],
        facts: HistoryFacts,
        losses: tuple[Noted, ...],
        written: dict[str, WrittenPrefix],
        asked: Asked | None,
        before: Prefix,
    ) -> None:
        """Remember a prefix, in place of the one that `before` goes on from: more than one may go on from `before`."""
        if not MIN_TEXT < len(text) <= min(MAX_TEXT, largest()):
            return
        at = _place(len(text))
        key = (pair, text[at : at + PIECE])
        known = self._kept.get(key) or []
        made = Prefix(text, count, turns, facts, losses, written, asked, next(_numbers), before.number)
        alike = [made]
        if before in known:
            alike.append(before)
        alike += [one for one in known if one is not before and one.number != before.before and one.text != text]
        del alike[MAX_ALIKE:]
        while (size := sum(map(_size, alike))) > largest() and alike:
            alike.pop()
        self._kept.put(key, alike, size)


def _size(prefix: Prefix) -> int:
    """About how many bytes a prefix holds: its text, the same in turns, and as targets wrote it."""
    written = sum([len(one.messages) for one in prefix.written.values()])
    return 2 * len(prefix.text) + _OBJECTS * len(prefix.turns) + written


def _place(size: int) -> int:
    """Where a text of that size is looked up."""
    return 1 << ((size - PIECE).bit_length() - 1)


# Where a prefix may end.


def boundary(turns: tuple[Turn, ...], past: int, own: Set[str]) -> int:
    """How many turns may be kept, of which `past` are kept already: those that are written in the same way whatever
    follows, up to the beginning of a message. `own`: the dialects whose extra fields the target understands."""
    end = past
    while end < len(turns) and is_simple(turns[end], own):
        end += 1
    while past < end < len(turns) and ends_at(turns[end - 1]) >= begins_at(turns[end]):
        end -= 1  # one message holds the end of this turn and the beginning of the next
    if past < end < len(turns) and any(type(part) is ToolCall for part in turns[end - 1].parts):
        end -= 1  # the results follow
    return end


def is_simple(turn: Turn, own: Set[str]) -> bool:
    """Whether a turn is texts, calls, results and media, on which nothing hangs that matters to the whole request."""
    if turn.name or not (turn.extra is None or own.isdisjoint(turn.extra)):
        return False
    for part in turn.parts:
        if part.cache is not None or part.seal is not None or not (part.extra is None or own.isdisjoint(part.extra)):
            return False
        kind = type(part)
        if kind is ToolResult:
            for inner in part.parts:  # type: ignore[attr-defined]
                if type(inner) is not Text and type(inner) is not Media:
                    return False
                if inner.cache is not None or inner.seal is not None:
                    return False
                if not (inner.extra is None or own.isdisjoint(inner.extra)):
                    return False
        elif kind is not Text and kind is not ToolCall and (kind is not Media or turn.role != "user"):
            return False
    return True


def begins_at(turn: Turn) -> int:
    """Which message a turn begins with."""
    place = turn.at[1] if len(turn.at) > 1 else 0
    return place if isinstance(place, int) else 0


def ends_at(turn: Turn) -> int:
    """Which message its last part stands in."""
    at = turn.parts[-1].at if turn.parts else turn.at
    place = at[1] if len(at) > 1 else None
    return place if isinstance(place, int) else MAX_TEXT  # not known: it may reach into any


def cut(text: bytes, messages: list[Raw], kept: int) -> bytes:
    """The text up to the end of the last message that is kept. `messages`: those at its end, of which so many are."""
    end = len(text) - 1  # the bracket
    for raw in reversed(messages[kept:]):
        end = text.rindex(bytes(raw), 0, end)
    found = text[:end].rstrip()
    return found[:-1].rstrip() if kept < len(messages) else found
