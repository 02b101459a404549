"""Owns the store for clients of the Responses dialect: responses and conversations, by owner and id.

`ResponseStore` is the interface. `MemoryStored` keeps the latest entries, limited by number and by bytes, as long as
the process runs. `ClientStored` is one client's view of a store: entries of other clients are not in this view.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from msgspec import Raw, Struct


class StoredResponse(Struct, frozen=True):
    """A response with the bytes that the client got, and the input of its request."""

    id: str
    owner: str
    """Digest of the client that owns the entry (`client_ownership.py`)."""
    response: bytes
    input: tuple[Raw, ...]
    """The items of this request alone. Earlier items are found by `previous` or in the conversation."""
    previous: str = ""
    """The id of the response that this one continues."""
    upstream: str = ""
    """The upstream that answered. It may store the response too, under the same id."""
    item_ids: tuple[str, ...] = ()
    """The ids of the items in the response."""

    @property
    def size(self) -> int:
        """Bytes that the entry counts for."""
        # 200 bytes for the objects of Python around each entry and each id.
        return len(self.response) + sum([len(item) for item in self.input]) + 200 * (1 + len(self.item_ids))


class StoredConversation(Struct, frozen=True):
    """A conversation that clients add items to."""

    id: str
    owner: str
    """Digest of the client that owns the entry (`client_ownership.py`)."""
    created: int
    metadata: Raw
    items: tuple[Raw, ...] = ()
    """Each item has an id."""

    @property
    def size(self) -> int:
        """Bytes that the entry counts for."""
        return len(self.metadata) + sum([len(item) for item in self.items]) + 200


class ResponseStore(Protocol):
    """Stores responses and conversations. An entry can be read as soon as `put` has returned.

    Two owners may have entries with the same id, because upstreams may give an id twice.
    """

    async def put(self, one: StoredResponse | StoredConversation) -> None:
        """Store an entry, in place of an older one with the same owner and id."""
        ...

    async def get(self, owner: str, name: str) -> StoredResponse | StoredConversation | None:
        """The entry of an owner with this id, or None."""
        ...

    async def drop(self, owner: str, name: str) -> bool:
        """Remove an entry; False when there was none."""
        ...

    async def owners(self, name: str) -> list[str]:
        """All owners of an entry with this id."""
        ...

    async def holder(self, owner: str, item: str) -> str:
        """The upstream of the stored response that has this item and this owner; "" when there is none."""
        ...


class ClientStored:
    """One client's view of a store: its own entries; with `every`, also the entries of all other owners."""

    def __init__(self, stored: ResponseStore, owner: str, *, every: bool = False) -> None:
        self.owner = owner
        self._stored = stored
        self._every = every

    async def put(self, one: StoredResponse | StoredConversation) -> None:
        """Store a new entry of this client, or a changed entry of its owner."""
        await self._stored.put(one)

    async def get(self, name: str) -> StoredResponse | StoredConversation | None:
        """The entry with this id that the client may see, or None."""
        found = await self._stored.get(self.owner, name)
        # An admin key sees the entries of all clients.
        if found is None and self._every:
            for owner in await self._stored.owners(name):
                found = found or await self._stored.get(owner, name)
        return found

    async def drop(self, one: StoredResponse | StoredConversation) -> None:
        """Remove an entry."""
        await self._stored.drop(one.owner, one.id)

    async def holder(self, item: str) -> str:
        """The upstream that gave this client an item; "" when none is known."""
        return await self._stored.holder(self.owner, item)


class MemoryStored:
    """Keeps the latest entries in memory."""

    def __init__(self, most_bytes: int = 16 * 1024 * 1024, most: int = 10_000) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, str], StoredResponse | StoredConversation] = OrderedDict()
        self._items: dict[tuple[str, str], StoredResponse] = {}
        """The response that contains an owner's item, by owner and item id."""

    async def put(self, one: StoredResponse | StoredConversation) -> None:
        """Store an entry, and drop the oldest beyond the limits."""
        # The older entry is removed first, so that its bytes and items are counted once.
        await self.drop(one.owner, one.id)
        self._kept[one.owner, one.id] = one
        self._bytes += one.size
        if isinstance(one, StoredResponse):
            for item in one.item_ids:
                self._items[one.owner, item] = one
        while self._kept and (len(self._kept) > self._most or self._bytes > self._most_bytes):
            self._forget(self._kept.popitem(last=False)[1])

    def _forget(self, one: StoredResponse | StoredConversation) -> None:
        self._bytes -= one.size
        if isinstance(one, StoredResponse):
            for item in one.item_ids:
                # A later response may contain the same item. Its entry must stay.
                if self._items.get((one.owner, item)) is one:
                    del self._items[one.owner, item]

    async def get(self, owner: str, name: str) -> StoredResponse | StoredConversation | None:
        """The entry of an owner with this id, or None."""
        found = self._kept.get((owner, name))
        if found is not None:
            # A conversation in use must not lose its beginning.
            self._kept.move_to_end((owner, name))
        return found

    async def drop(self, owner: str, name: str) -> bool:
        """Remove an entry; False when there was none."""
        found = self._kept.pop((owner, name), None)
        if found is not None:
            self._forget(found)
        return found is not None

    async def owners(self, name: str) -> list[str]:
        """All owners of an entry with this id."""
        return [owner for owner, known in self._kept if known == name]

    async def holder(self, owner: str, item: str) -> str:
        """The upstream that gave an owner this item; "" when none is known."""
        found = self._items.get((owner, item))
        return found.upstream if found is not None else ""
