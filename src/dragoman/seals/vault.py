"""Owns Vault, the store for seals that no slot of the client's dialect can carry. The caller provides the store.

A key is a hash of the client's dialect, the upstream (dialect and model), the conversation before the answer
(`conversation_digest.py`), and the call: its id, or its name and arguments for clients that lose ids. Without a call,
the text of the answer is used. A value holds seals and thoughts as text: protect it like the conversations themselves.
A store for several clients must separate their keys, because two clients may have equal conversations.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

from ..codec.packed_seals import holds_same_records


class Vault(Protocol):
    """A store of texts under keys. If a text is gone, the upstream's dummy or no seal is sent instead."""

    def get(self, key: str, /) -> str | None:
        """The text under the key; None if there is none, or no longer."""
        ...

    def put(self, key: str, value: str) -> None:
        """Store the text under the key. It replaces the earlier text."""
        ...


AMBIGUOUS = "ambiguous"
"""The value of a key that two answers stored with different seals. Neither answer gets its seals back, because the two
conversations cannot be distinguished.
"""


class MemoryVault(dict[str, str]):
    """A vault in memory: for tests, and for programs that hold their conversations themselves."""

    def put(self, key: str, value: str) -> None:
        """Keep the text under the key as long as the vault exists."""
        self[key] = value


def vault_key(*words: str) -> str:
    """The key of these words."""
    # The separator cannot occur in the words, so two lists of words never give the same key.
    return hashlib.sha256("\x1f".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def keep(vault: Vault, key: str, value: str) -> None:
    """Store a value under the key of one answer. If the key already has other seals, it becomes ambiguous.

    Two processes that share a store and write at the same moment may miss this; the later value stays.
    """
    before = vault.get(key)
    if before is None:
        vault.put(key, value)
    # Two attempts of one turn may give different seals for the same text. A wrong guess would break the conversation.
    elif before not in (value, AMBIGUOUS) and not holds_same_records(before, value):
        vault.put(key, AMBIGUOUS)
