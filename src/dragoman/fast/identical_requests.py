"""Owns the memory of whole requests. A client that gets a fault, or no answer in time, sends the same bytes again.

An entry holds the exact bytes of a request, the fields by which it is routed, and its translations. It may serve all
clients, so its owner stores only values that follow from the bytes and the options of a translation. An entry is made
when a request comes for the second time.

Entries are stored in single steps, so threads need no lock.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from typing import Generic, TypeVar

from ..codec.cache_memory_budget import Memory

_TAIL = 64
"""The number of last bytes by which a request is looked up. The first bytes would not do, because requests of one
client begin alike. The whole document is not a key: its hash would cost more than one comparison with the kept
document."""
_ENTRY = 400
"""The approximate size of an entry without its document."""
_COPIES = 6
"""The approximate size of an entry in documents: the document, two translations, and the values in between."""
_MAX_TRANSLATIONS = 2

Head = TypeVar("Head")
Made = TypeVar("Made")


class IdenticalRequest(Generic[Head, Made]):
    """A request that came more than once."""

    __slots__ = ("_made", "document", "head")

    def __init__(self, document: bytes) -> None:
        self.document = document
        self.head: Head | None = None
        """The fields for routing; None as long as they are not known."""
        self._made: dict[Hashable, Made] = {}

    def get(self, options: Hashable) -> Made | None:
        """The translation with these options, as a copy that the caller may change; None if there is none."""
        found = self._made.get(options)
        return None if found is None else copy(found)

    def put(self, options: Hashable, made: Made) -> None:
        """Keep a translation. The caller may change it afterwards."""
        if len(self._made) >= _MAX_TRANSLATIONS:
            self._made.clear()
        self._made[options] = copy(made)


class IdenticalRequests(Generic[Head, Made]):
    """The most recent requests."""

    def __init__(self) -> None:
        self._seen: Memory[tuple[str, int, bytes], IdenticalRequest[Head, Made]] = Memory()

    def find(self, document: bytes, dialect: str) -> IdenticalRequest[Head, Made] | None:
        """The entry of a request; None if the request comes for the first time."""
        key = (dialect, len(document), document[-_TAIL:])
        found = self._seen.get(key)
        if found is not None and found.document == document:
            return found
        # For the first request with these last bytes, an entry without a document is stored. Each later request with
        # other bytes replaces the entry.
        kept = IdenticalRequest[Head, Made](b"" if found is None else document)
        self._seen.put(key, kept, _ENTRY + _COPIES * len(kept.document))
        return None if found is None else kept
