"""Remembers requests within one dialect that another model takes unchanged.

Whether a model takes a request is a fact of the request's bytes, the dialect and the model. A request is remembered at
its second sight, because most documents of a bulk conversion come only once.
"""

from __future__ import annotations

from ..codec.cache_memory_budget import Memory

_TAIL = 64
"""The number of last bytes by which a repeated request is recognised. Requests of one client begin alike, and Python
computes a hash over all bytes of a key: a comparison with the remembered document costs less."""
_SIZE = 400
"""The approximate size of an entry without its document."""

_Key = tuple[str, str, int, bytes]


class UnchangedRequests:
    """The requests that their models take unchanged."""

    def __init__(self) -> None:
        self._documents: Memory[_Key, bytes] = Memory()

    def has(self, document: bytes, dialect: str, model: str) -> bool:
        """Whether the model is known to take this request unchanged."""
        return self._documents.get((dialect, model, len(document), document[-_TAIL:])) == document

    def add(self, document: bytes, dialect: str, model: str) -> None:
        """Remember that the model takes this request unchanged."""
        key = (dialect, model, len(document), document[-_TAIL:])
        if self._documents.get(key) is None:
            self._documents.put(key, b"", _SIZE)  # the first sight
        else:
            self._documents.put(key, document, len(document) + _SIZE)
