"""Owns the memory of conversation prefixes: an agent sends its whole history with every turn.

A Prefix is the exact text of the first messages of a request, with the turns that were read from them and the messages
that targets wrote. A conversation that continues a known prefix is read and written only from there. So a late step
costs as much as an early one.
"""

from __future__ import annotations

from collections.abc import Set
from itertools import count as counting
from typing import Any

from msgspec import Raw, Struct

from ..canon.losses import Noted
from ..canon.parts import Media, Text, ToolCall, ToolResult
from ..canon.turns import Turn
from ..codec.cache_memory_budget import Memory, grew, largest
from ..codec.history_facts import HistoryFacts
from ..facts.profile import Profile
from ..seals.conversation_digest import VaultSearch
from .request_envelope_memory import Pair

MAX_TEXT = 2 * 1024 * 1024
"""A longer prefix is not kept."""
MIN_TEXT = 256
"""A shorter prefix is not kept: it would save no time."""
PIECE = 128
"""The number of bytes that a prefix is looked up by. They are taken at the largest power of two that leaves room for
them. The first bytes would not do: all conversations of an agent begin with the same bytes.
"""
MAX_ALIKE = 32
"""The largest number of prefixes with the same `PIECE` bytes."""
_MAX_WRITTEN = 4
"""The largest number of models whose written messages a prefix keeps. A conversation seldom changes its model."""
_OBJECTS = 800
"""The approximate size of a turn besides its text: turn, parts, paths and tables."""

_numbers = counting(1)
_NO_LOSSES: tuple[Noted, ...] = ()


class WrittenPrefix(Struct, frozen=True, gc=False, eq=False):
    """The messages that one target wrote for a prefix, without the leading system turns."""

    profile: Profile
    skipped: int
    """The number of leading system turns."""
    messages: bytes
    """The messages that later turns do not change, with commas between."""
    state: Any
    """The state of the writer after these messages."""
    losses: tuple[Noted, ...]


class Prefix(Struct, frozen=True, gc=False, eq=False):
    """The known beginning of a conversation."""

    text: bytes
    """The bytes from the bracket to the end of the last message."""
    count: int
    """The number of messages."""
    turns: tuple[Turn, ...]
    facts: HistoryFacts
    losses: tuple[Noted, ...]
    """The losses of reading the messages."""
    written: dict[str, WrittenPrefix]
    """By model name."""
    vault_search: VaultSearch | None
    """The vault search for these turns, if there was one."""
    number: int
    """The unique number of this prefix."""
    before: int
    """The number of the prefix that this prefix extends; 0 for none."""
    size: int = 0
    """The approximate size: the text, the turns, and the messages that targets had written when the prefix was made."""

    def keep(self, model: str, written: WrittenPrefix) -> None:
        """Remember the messages that a target wrote."""
        if len(self.written) >= _MAX_WRITTEN:
            self.written.clear()
        self.written[model] = written
        grew(len(written.messages))


NOTHING = Prefix(b"[", 0, (), HistoryFacts(()), _NO_LOSSES, {}, None, 0, 0)
"""The prefix before the first message."""


class PrefixMemory:
    """The prefixes of all pairs of dialects."""

    def __init__(self) -> None:
        self._prefixes: Memory[tuple[Pair, bytes], list[Prefix]] = Memory()

    def find(self, pair: Pair, text: bytes) -> Prefix:
        """The longest known prefix of an array of messages; NOTHING if there is none."""
        if len(text) <= MIN_TEXT:
            return NOTHING
        at, longest = _place(len(text)), NOTHING
        while at >= PIECE:
            for one in self._prefixes.get((pair, text[at : at + PIECE])) or ():
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
        search: VaultSearch | None,
        before: Prefix,
    ) -> None:
        """Store a prefix. It replaces its grandparent. Its parent `before` stays, because another branch may continue
        from there.
        """
        if not MIN_TEXT < len(text) <= min(MAX_TEXT, largest()):
            return
        at = _place(len(text))
        key = (pair, text[at : at + PIECE])
        known = self._prefixes.get(key) or []
        size = 2 * len(text) + _OBJECTS * len(turns) + sum([len(one.messages) for one in written.values()])
        made = Prefix(text, count, turns, facts, losses, written, search, next(_numbers), before.number, size)
        alike = [made]
        if before in known:
            alike.append(before)
        alike += [one for one in known if one is not before and one.number != before.before and one.text != text]
        del alike[MAX_ALIKE:]
        most, total = largest(), sum([one.size for one in alike])
        while total > most:
            total -= alike.pop().size
        self._prefixes.put(key, alike, total)


def _place(size: int) -> int:
    """The position of the lookup bytes in a text of this size."""
    return 1 << ((size - PIECE).bit_length() - 1)


# Where a prefix may end.


def boundary(turns: tuple[Turn, ...], past: int, own: Set[str]) -> int:
    """The number of turns that may be kept; `past` of them are kept already. Their messages must not depend on later
    turns, and the next turn must begin with a new message. `own`: the dialects whose extra fields the target
    understands.
    """
    end = past
    while end < len(turns) and is_simple(turns[end], own):
        end += 1
    while past < end < len(turns) and ends_at(turns[end - 1]) >= begins_at(turns[end]):
        end -= 1  # one message holds the end of this turn and the beginning of the next
    if past < end < len(turns) and any(type(part) is ToolCall for part in turns[end - 1].parts):
        end -= 1  # the results of the calls follow
    return end


def is_simple(turn: Turn, own: Set[str]) -> bool:
    """Whether a turn holds only texts, calls, results and media, without fields that affect the whole request."""
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
    """The index of the message that a turn begins with."""
    place = turn.at[1] if len(turn.at) > 1 else 0
    return place if isinstance(place, int) else 0


def ends_at(turn: Turn) -> int:
    """The index of the message that holds the last part of the turn."""
    at = turn.parts[-1].at if turn.parts else turn.at
    place = at[1] if len(at) > 1 else None
    return place if isinstance(place, int) else MAX_TEXT  # unknown: the part may be in any message


def cut_after_kept_messages(text: bytes, messages: list[Raw], count: int) -> bytes:
    """The text up to the end of the last kept message. `messages`: the messages at its end; the first `count` of them
    are kept.
    """
    end = len(text) - 1  # the bracket
    for raw in reversed(messages[count:]):
        end = text.rindex(bytes(raw), 0, end)
    found = text[:end].rstrip()
    return found[:-1].rstrip() if count < len(messages) else found
