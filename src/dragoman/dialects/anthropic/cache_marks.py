"""Owns the cache marks of one request: their places, their lifetimes, and their limit."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...canon.parts import Path
from ...codec.dialect_extras import NULL
from ...context import Context

MOST = 4
"""The largest number of marks in a request, including the automatic one (docs "Prompt caching", 2026-10)."""

# Messages has the lifetimes 5m and 1h (anthropic 2.8.0). OpenAI's 30m and 12h (openai 3.49.0) become the nearest of
# these.
_TTLS = {"": "", "5m": "5m", "1h": "1h", "30m": "5m", "12h": "1h", "24h": "1h"}


class Marks(Struct, eq=False):
    """The marks so far, in the order of the prompt: tools, system, messages."""

    _context: Context
    marked: list[tuple[dict[str, Any], Path]] = []
    """The marked blocks and tools, with their places."""

    def put(self, out: dict[str, Any], ttl: str, at: Path) -> None:
        """Mark a block or a tool."""
        out["cache_control"] = self.value(ttl, at)
        self.marked.append((out, at))

    def found(self, out: dict[str, Any], at: Path) -> None:
        """Count a mark that is already there. null is not a mark."""
        if out.get("cache_control", NULL) not in (None, NULL):
            self.marked.append((out, at))

    def value(self, ttl: str, at: Path) -> dict[str, str]:
        """A mark with a lifetime that this dialect has."""
        own = _TTLS.get(ttl, "5m")
        if own != ttl:
            self._context.lose("cache.approximated", at, f"ttl {ttl} is sent as {own}")
        return {"type": "ephemeral", "ttl": own} if own else {"type": "ephemeral"}

    def cap(self, automatic: bool) -> None:
        """Remove surplus marks, the first ones first: a later mark covers everything before it."""
        spare = len(self.marked) - MOST + automatic
        if spare > 0:
            # The earliest marks go: a later breakpoint covers everything before it (docs "Prompt caching", 2026-10).
            for out, at in self.marked[:spare]:
                del out["cache_control"]
                self._context.lose("cache.dropped", at, f"more than {MOST} marks")
