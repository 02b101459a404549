"""A turn: who speaks, and what."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from .parts import Extra, Part, Path

Role = Literal["system", "developer", "user", "assistant", "tool"]
"""`developer` is a system turn in the dialects that tell the two apart, and plain `system` elsewhere.
`tool` turns hold ToolResults only: all results of one step stand in one turn, in the order they were sent."""


class Turn(Struct, frozen=True, gc=False):
    """Role and parts. System text is a turn too, also at the start: there is no second place for it."""

    role: Role
    parts: tuple[Part, ...]
    name: str = ""
    extra: Extra | None = None
    at: Path = ()


class Standing(NamedTuple):
    """Where a history stands in which nothing is broken."""

    last: str = ""
    """Who spoke last,"""
    at: Path = ()
    """in which message,"""
    waiting: tuple[str, ...] = ()
    """which calls have no result yet,"""
    alternates: bool = True
    """and whether the sides have taken turns all along."""


class Run(Struct, frozen=True, gc=False, eq=False):
    """How a conversation begins: the exact text of its first messages, how many they are, and their turns; and what is
    known of these turns, so that nobody has to look through them again."""

    text: bytes
    count: int
    turns: tuple[Turn, ...]
    laden: bool
    """A seal that came from elsewhere may be among them."""
    strange: bool
    """Something that only its dialect understands is among them."""
    calls: frozenset[str] | None
    """The ids of their calls; None if some have none, or the same."""
    arranged: bool
    """Every result stands next to the calls it answers."""
    standing: Standing | None
    """None: something may be broken."""

    def past(self, turns: tuple[Turn, ...]) -> int:
        """Where in a history the new turns begin; 0 if the history does not begin with these turns any more. Before
        them there may be the system's."""
        count, last = len(self.turns), self.turns[-1]
        if len(turns) >= count and turns[count - 1] is last:
            return count
        return count + 1 if len(turns) > count and turns[count] is last else 0
