"""The vault in memory: seals that wait for the next request of their client. The oldest are dropped when the vault is
full.

Each worker has its own vault, which ends with the process. Every client has its own part of the vault
(`vault_of_client`): only the client that received a seal finds it.
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
        """The value that this client's vault keeps under a key."""
        return self._all.get(self._owner, key)

    def put(self, key: str, value: str) -> None:
        """Keep a value for this client."""
        self._all.put(self._owner, key, value)

    def if_filled(self) -> ClientVault | None:
        """This vault, or None where nothing is kept for the client. Then its requests need no search for seals."""
        return self if self._owner in self._all.owners else None


class BoundedVault:
    """The vaults of all clients, with one limit in bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.owners: dict[str, int] = {}
        """Number of keys of each client."""
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def vault_of_client(self, owner: str) -> ClientVault:
        """The vault of one client. `owner` is the digest that identifies the client (`client_ownership.py`)."""
        return ClientVault(self, owner)

    def get(self, owner: str, key: str) -> str | None:
        """The value that is kept for an owner under a key."""
        name = f"{owner}/{key}"  # Owner and key are hexadecimal, so neither contains a slash.
        found = self._kept.get(name)
        if found is not None:
            # A continued conversation keeps its seals. The seals that were unused for the longest time are dropped
            # first.
            self._kept.move_to_end(name)
        return found

    def put(self, owner: str, key: str, value: str) -> None:
        """Keep a value, and drop the oldest values beyond the limit."""
        name = f"{owner}/{key}"
        before = self._kept.pop(name, None)
        if before is not None:
            self._size -= len(name) + len(before)
        else:
            self.owners[owner] = self.owners.get(owner, 0) + 1
        self._kept[name] = value
        # Characters are counted in place of bytes: seals are base64, so both are equal.
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
