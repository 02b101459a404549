"""A turn: who speaks, and what."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

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
