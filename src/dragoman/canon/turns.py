"""Owns Turn: a role and its parts."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .parts import Extra, Part, Path

Role = Literal["system", "developer", "user", "assistant", "tool"]
"""`developer` is a system turn in dialects that distinguish the two roles; other dialects write this role as `system`.
`tool` turns hold ToolResults only. All results of one step are in one turn, in the order of the source.
"""

SYSTEM_ROLES: frozenset[str] = frozenset({"system", "developer"})
"""The roles of system text. Some targets have a separate field for such turns at the start of a request."""


class Turn(Struct, frozen=True, gc=False):
    """Role and parts. System text is always a turn, also at the start of a request."""

    role: Role
    parts: tuple[Part, ...]
    name: str = ""
    extra: Extra | None = None
    at: Path = ()
