"""A turn: who speaks, and what."""

from __future__ import annotations

from typing import Literal

from msgspec import Raw, Struct

from .parts import Extra, Part, Path

Role = Literal["system", "developer", "user", "assistant", "tool"]
"""`developer` is a system turn in the dialects that tell the two apart, and plain `system` elsewhere.
`tool` turns hold ToolResults only: all results of one step stand in one turn, in the order they were sent."""

SYSTEM_ROLES: frozenset[str] = frozenset({"system", "developer"})
"""The roles of turns that a request may begin with, and that some targets have another place for."""


class Turn(Struct, frozen=True, gc=False):
    """Role and parts. System text is a turn too, also at the start: there is no second place for it."""

    role: Role
    parts: tuple[Part, ...]
    name: str = ""
    extra: Extra | None = None
    at: Path = ()


class Gist(Struct, frozen=True, gc=False, eq=False):
    """What is known of a history, so that nobody has to look through it again."""

    turns: tuple[Turn, ...]
    laden: bool = False
    """A seal that came from elsewhere may be among them."""
    strange: bool = False
    """Something that only its dialect understands is among them."""
    calls: tuple[frozenset[str], ...] | None = ()
    """The ids of their calls, each once; None if some have none, or the same."""
    arranged: bool = True
    """Every result stands next to the calls it answers."""
    waiting: tuple[str, ...] | None = ()
    """Which calls have no result yet, where all is texts and calls that say something, every step of them answered at
    once and in order; None: something may be broken."""
    alternates: bool = True
    """The sides have taken turns all along."""
    usual: bool = True
    """No stage has anything to do, but where the sides must take turns and do not: nothing came from elsewhere, nothing
    waits or stands elsewhere, and every call has its own id."""
    shows_media: bool = False
    """An assistant's turn among them holds media."""


class Run(Gist, frozen=True, gc=False, eq=False, kw_only=True):
    """How a conversation begins: the exact text of its first messages, how many they are, and what is known of them."""

    text: bytes
    count: int
    number: int
    """Of all beginnings none has the same,"""
    before: int = 0
    """and this one went on from that; 0: from none."""

    def past(self, turns: tuple[Turn, ...]) -> int:
        """Where in a history the new turns begin; 0 if the history does not begin with these turns any more. Before
        them there may be the system's."""
        count, last = len(self.turns), self.turns[-1]
        if len(turns) >= count and turns[count - 1] is last:
            return count
        return count + 1 if len(turns) > count and turns[count] is last else 0


class Looked(Struct, frozen=True, gc=False, eq=False):
    """The text of all messages of a conversation, how it begins if that is known, and the messages behind that."""

    text: bytes
    run: Run | None
    messages: list[Raw]
