"""What the gateway keeps for clients of the Responses dialect: responses and conversations, under their ids.

`Stored` is the interface; `MemoryStored` keeps the latest, bounded by number and by bytes, while the process lives.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from msgspec import Raw, Struct


class Kept(Struct, frozen=True):
    """A response, as the client got it, and what it had asked."""

    id: str
    response: bytes
    input: tuple[Raw, ...]
    """The items of this request alone; those before it are behind `previous` or in the conversation."""
    previous: str = ""
    """The id of the response that this one went on from."""
    upstream: str = ""
    """Who answered: it may hold the response too, under the same id."""

    @property
    def size(self) -> int:
        return len(self.response) + sum([len(item) for item in self.input]) + 200


class Conversation(Struct, frozen=True):
    """A conversation that clients add to."""

    id: str
    created: int
    metadata: Raw
    items: tuple[Raw, ...] = ()
    """Each with an id."""

    @property
    def size(self) -> int:
        return len(self.metadata) + sum([len(item) for item in self.items]) + 200


class Stored(Protocol):
    """Keeps responses and conversations. What was put is found from the moment `put` has returned."""

    async def put(self, one: Kept | Conversation) -> None: ...

    async def get(self, name: str) -> Kept | Conversation | None: ...

    async def drop(self, name: str) -> bool:
        """Forget one; False when it was not there."""
        ...


class MemoryStored:
    """The latest, in memory."""

    def __init__(self, most_bytes: int = 16 * 1024 * 1024, most: int = 10_000) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, Kept | Conversation] = OrderedDict()

    async def put(self, one: Kept | Conversation) -> None:
        await self.drop(one.id)
        self._kept[one.id] = one
        self._bytes += one.size
        while self._kept and (len(self._kept) > self._most or self._bytes > self._most_bytes):
            self._bytes -= self._kept.popitem(last=False)[1].size

    async def get(self, name: str) -> Kept | Conversation | None:
        found = self._kept.get(name)
        if found is not None:
            self._kept.move_to_end(name)
        return found

    async def drop(self, name: str) -> bool:
        found = self._kept.pop(name, None)
        if found is not None:
            self._bytes -= found.size
        return found is not None
