"""The vault in memory: seals that wait for their clients to come back, the oldest forgotten when it is full.

Each worker has its own, and it is gone with the process. Every client has a vault of its own in it (`of`): what one
client received is found by that client alone.
"""

from __future__ import annotations

from collections import OrderedDict


class ClientVault:
    """The vault (`seals/vault.py`) of one client."""

    __slots__ = ("_all", "_owner")

    def __init__(self, of_all: BoundedVault, owner: str) -> None:
        self._all = of_all
        self._owner = owner

    def get(self, key: str) -> str | None:
        return self._all.get(self._owner, key)

    def put(self, key: str, value: str) -> None:
        self._all.put(self._owner, key, value)

    def filled(self) -> ClientVault | None:
        """This vault, or None where nothing is kept for the client: then its requests need no search for seals."""
        return self if self._owner in self._all.owners else None


class BoundedVault:
    """The vaults of all clients, which together hold at most so many bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.owners: dict[str, int] = {}
        """How many keys each client has."""
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def of(self, owner: str) -> ClientVault:
        """The vault of one client. `owner` is the digest that says who the client is (`gateway/client_identity.py`)."""
        return ClientVault(self, owner)

    def get(self, owner: str, key: str) -> str | None:
        name = f"{owner}/{key}"  # neither has a slash: both are written in hexadecimal
        found = self._kept.get(name)
        if found is not None:
            self._kept.move_to_end(name)
        return found

    def put(self, owner: str, key: str, value: str) -> None:
        name = f"{owner}/{key}"
        before = self._kept.pop(name, None)
        if before is not None:
            self._size -= len(name) + len(before)
        else:
            self.owners[owner] = self.owners.get(owner, 0) + 1
        self._kept[name] = value
        self._size += len(name) + len(value)
        while self._size > self.most and self._kept:
            old, gone = self._kept.popitem(last=False)
            self._size -= len(old) + len(gone)
            self._forget_one(old.partition("/")[0])

    def _forget_one(self, owner: str) -> None:
        left = self.owners[owner] - 1
        if left:
            self.owners[owner] = left
        else:
            del self.owners[owner]

    def __len__(self) -> int:
        return len(self._kept)
