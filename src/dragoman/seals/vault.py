"""Vault: where seals wait that no slot of the client's dialect can carry. The library asks; its user brings the store.

A key is a hash of the client's dialect, of the upstream (dialect and model), of the conversation before the answer
(`conversation_digest.py`), and of the call: its id, or its name and arguments for clients that lose ids; of the
answer's text where there is no call. A value holds seals and thoughts as text: keep it as you keep conversations. A
store that serves several clients keeps the keys of each client apart, since the conversations of two clients may be
equal."""

from __future__ import annotations

import hashlib
from typing import Protocol

from ..codec.packed_seals import alike


class Vault(Protocol):
    """A store of texts under keys. What it forgets is lost: the upstream's dummy, or nothing, is sent instead."""

    def get(self, key: str, /) -> str | None:
        """What was put under the key; None if it is not there, or no longer."""
        ...

    def put(self, key: str, value: str) -> None:
        """Keep the text under the key, in place of what was there."""
        ...


AMBIGUOUS = "ambiguous"
"""What is kept under a key that two answers have claimed with different seals: from then on neither gets its seals
back, because nobody can tell which of the two conversations comes back."""


class MemoryVault(dict[str, str]):
    """A vault in memory: for tests, and for programs that hold their conversations themselves."""

    def put(self, key: str, value: str) -> None:
        """Keep the text under the key until the vault itself is gone."""
        self[key] = value


def vault_key(*words: str) -> str:
    """The key for what is known by these words."""
    return hashlib.sha256("\x1f".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def keep(vault: Vault, key: str, value: str) -> None:
    """Put a value under a key that no other answer has. A key with other seals becomes ambiguous.

    Two processes that share a store and put at the same moment may miss that: the later value stays.
    """
    before = vault.get(key)
    if before is None:
        vault.put(key, value)
    elif before not in (value, AMBIGUOUS) and not alike(before, value):
        vault.put(key, AMBIGUOUS)
