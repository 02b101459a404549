"""Data that outlives a process: entries by kind and id, each with labels for searching.

`Store` is the interface; `sqlite_entry_store.py` implements it with a file. The store does not know the content of an
entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

__all__ = ["Store", "StoreEntry"]


class StoreEntry(Struct, frozen=True):
    """A stored entry."""

    kind: str
    id: str
    body: bytes
    labels: dict[str, str] = {}
    created: float = 0.0
    """Seconds since 1970; 0 in a new entry means now."""
    updated: float = 0.0


class Store(Protocol):
    """Stores entries. An entry can be read as soon as `put` has returned, also by other processes. An operation that
    fails raises a ConfigError with the reason."""

    def put(self, entry: StoreEntry) -> None:
        """Store an entry, in place of one with the same kind and id. The older entry's time of creation is kept."""
        ...

    def get(self, kind: str, id: str) -> StoreEntry | None:
        """The entry with this kind and id, or None."""
        ...

    def drop(self, kind: str, id: str) -> bool:
        """Remove an entry; False when there was none."""
        ...

    def find(self, kind: str, labels: Mapping[str, str] | None = None, most: int = 100) -> list[StoreEntry]:
        """The entries with these labels, the latest first, without their bodies."""
        ...

    def close(self) -> None:
        """Close the store. No other method may be called afterwards."""
        ...
