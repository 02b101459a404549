"""What outlives a process: entries under a kind and an id, each with labels to find it by. One small interface.

`Store` is what others ask for; `sqlite.py` keeps it in a file. The store knows nothing of what an entry holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

__all__ = ["Entry", "Store"]


class Entry(Struct, frozen=True):
    """Something that is kept."""

    kind: str
    id: str
    body: bytes
    labels: dict[str, str] = {}
    created: float = 0.0
    """Seconds since 1970; 0 in what is put means now."""
    updated: float = 0.0


class Store(Protocol):
    """Keeps entries. What was put is found from the moment `put` has returned, also by other processes. Whatever it
    cannot do it refuses with a ConfigError that says why."""

    def put(self, entry: Entry) -> None:
        """Keep it in place of the one with that kind and id; when that was made is kept too."""
        ...

    def get(self, kind: str, id: str) -> Entry | None: ...

    def drop(self, kind: str, id: str) -> bool:
        """Forget one; False when it was not there."""
        ...

    def find(self, kind: str, labels: Mapping[str, str] | None = None, most: int = 100) -> list[Entry]:
        """The entries with these labels, those that were put last first, without their bodies."""
        ...

    def close(self) -> None: ...
