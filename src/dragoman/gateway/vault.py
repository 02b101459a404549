"""The vault in memory: seals that wait for their clients to come back, the oldest forgotten when it is full.

Each worker has its own, and it is gone with the process: a store that is shared and kept implements the same interface.
"""

from __future__ import annotations

from collections import OrderedDict


class BoundedVault:
    """A vault (`codec/vault.py`) that holds at most so many bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def get(self, key: str) -> str | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: str, value: str) -> None:
        before = self._kept.pop(key, None)
        if before is not None:
            self._size -= len(key) + len(before)
        self._kept[key] = value
        self._size += len(key) + len(value)
        while self._size > self.most and self._kept:
            old, gone = self._kept.popitem(last=False)
            self._size -= len(old) + len(gone)

    def __len__(self) -> int:
        return len(self._kept)
