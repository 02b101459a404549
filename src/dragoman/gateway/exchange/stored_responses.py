"""What the gateway keeps for clients of the Responses dialect: responses and conversations, under owner and id.

`Stored` is the interface; `MemoryStored` keeps the latest, bounded by number and by bytes, while the process lives.
`ClientStored` is what one client sees of a store. For everybody else an entry does not exist.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from msgspec import Raw, Struct


class Kept(Struct, frozen=True):
    """A response, as the client got it, and what it had asked."""

    id: str
    owner: str
    """Digest of the client that it is kept for (`gateway/client_identity.py`)."""
    response: bytes
    input: tuple[Raw, ...]
    """The items of this request alone; those before it are behind `previous` or in the conversation."""
    previous: str = ""
    """The id of the response that this one went on from."""
    upstream: str = ""
    """Who answered: it may hold the response too, under the same id."""
    item_ids: tuple[str, ...] = ()
    """The ids of the items in the response."""

    @property
    def size(self) -> int:
        return len(self.response) + sum([len(item) for item in self.input]) + 200 * (1 + len(self.item_ids))


class Conversation(Struct, frozen=True):
    """A conversation that clients add to."""

    id: str
    owner: str
    """Digest of the client that it is kept for (`gateway/client_identity.py`)."""
    created: int
    metadata: Raw
    items: tuple[Raw, ...] = ()
    """Each with an id."""

    @property
    def size(self) -> int:
        return len(self.metadata) + sum([len(item) for item in self.items]) + 200


class Stored(Protocol):
    """Keeps responses and conversations. What was put is found from the moment `put` has returned.

    Two owners may have entries with one id: upstreams are free to give an id twice.
    """

    async def put(self, one: Kept | Conversation) -> None: ...

    async def get(self, owner: str, name: str) -> Kept | Conversation | None: ...

    async def drop(self, owner: str, name: str) -> bool:
        """Forget one; False when it was not there."""
        ...

    async def owners(self, name: str) -> list[str]:
        """All who have an entry with this id."""
        ...

    async def holder(self, owner: str, item: str) -> str:
        """The upstream that gave this owner a kept response with this item; "" when there is none."""
        ...


class ClientStored:
    """What one client sees of a store: its own entries; with `every`, those of all owners behind its own."""

    def __init__(self, stored: Stored, owner: str, *, every: bool = False) -> None:
        self.owner = owner
        self._stored = stored
        self._every = every

    async def put(self, one: Kept | Conversation) -> None:
        """Keep a new entry of this client, or a changed one of its owner."""
        await self._stored.put(one)

    async def get(self, name: str) -> Kept | Conversation | None:
        found = await self._stored.get(self.owner, name)
        if found is None and self._every:
            for owner in await self._stored.owners(name):
                found = found or await self._stored.get(owner, name)
        return found

    async def drop(self, one: Kept | Conversation) -> None:
        await self._stored.drop(one.owner, one.id)

    async def holder(self, item: str) -> str:
        """The upstream that gave this client an item; "" when none is known."""
        return await self._stored.holder(self.owner, item)


class MemoryStored:
    """The latest, in memory."""

    def __init__(self, most_bytes: int = 16 * 1024 * 1024, most: int = 10_000) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, str], Kept | Conversation] = OrderedDict()
        self._items: dict[tuple[str, str], Kept] = {}
        """The response in which an owner's item stands, by owner and item id."""

    async def put(self, one: Kept | Conversation) -> None:
        await self.drop(one.owner, one.id)
        self._kept[one.owner, one.id] = one
        self._bytes += one.size
        if isinstance(one, Kept):
            for item in one.item_ids:
                self._items[one.owner, item] = one
        while self._kept and (len(self._kept) > self._most or self._bytes > self._most_bytes):
            self._forget(self._kept.popitem(last=False)[1])

    def _forget(self, one: Kept | Conversation) -> None:
        self._bytes -= one.size
        if isinstance(one, Kept):
            for item in one.item_ids:
                if self._items.get((one.owner, item)) is one:
                    del self._items[one.owner, item]

    async def get(self, owner: str, name: str) -> Kept | Conversation | None:
        found = self._kept.get((owner, name))
        if found is not None:
            self._kept.move_to_end((owner, name))
        return found

    async def drop(self, owner: str, name: str) -> bool:
        found = self._kept.pop((owner, name), None)
        if found is not None:
            self._forget(found)
        return found is not None

    async def owners(self, name: str) -> list[str]:
        return [owner for owner, known in self._kept if known == name]

    async def holder(self, owner: str, item: str) -> str:
        found = self._items.get((owner, item))
        return found.upstream if found is not None else ""
