"""Cache marks of one request: where they stand, with which lifetime, and no more of them than the upstream takes."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Path
from ...codec.dialect_extras import NULL
from ...context import Context

MOST = 4
"""Marks a request may have, the automatic one counted in (protocol page, section 10)."""

_TTLS = {"": "", "5m": "5m", "1h": "1h", "30m": "5m", "12h": "1h", "24h": "1h"}


class Marks:
    """The marks written so far, in the order of the prompt: tools, system, messages."""

    __slots__ = ("_context", "_held")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._held: list[tuple[dict[str, Any], Path]] = []

    @property
    def count(self) -> int:
        """How many marks there are so far."""
        return len(self._held)

    @property
    def none(self) -> bool:
        """Whether nothing is marked so far."""
        return not self._held

    def put(self, out: dict[str, Any], ttl: str, at: Path) -> None:
        """Mark a block or a tool."""
        out["cache_control"] = self.value(ttl, at)
        self._held.append((out, at))

    def found(self, out: dict[str, Any], at: Path) -> None:
        """Count a mark that stands there already; null is none."""
        if out.get("cache_control", NULL) not in (None, NULL):
            self._held.append((out, at))

    def value(self, ttl: str, at: Path) -> dict[str, str]:
        """A mark with a lifetime this dialect has."""
        own = _TTLS.get(ttl, "5m")
        if own != ttl:
            self._context.lose("cache.approximated", at, f"ttl {ttl} is sent as {own}")
        return {"type": "ephemeral", "ttl": own} if own else {"type": "ephemeral"}

    def cap(self, automatic: bool) -> None:
        """Take away what is too many. The first ones go: a later mark covers all that stands before it."""
        spare = len(self._held) - MOST + automatic
        if spare > 0:
            for out, at in self._held[:spare]:
                del out["cache_control"]
                self._context.lose("cache.dropped", at, f"more than {MOST} marks")
