"""Vault: where seals wait that no slot of the client's dialect can carry. The library asks; its user brings the store.

A key is a hash of the origin (dialect and model) and of the call's id, or of the turn's text where there is no call: it
tells nothing. A value is text that holds seals, thoughts among them: keep it as you keep conversations.
"""

from __future__ import annotations

import hashlib
from typing import Protocol


class Vault(Protocol):
    """A store of texts under keys. What it forgets is lost: the upstream's dummy, or nothing, is sent instead."""

    def get(self, key: str) -> str | None:
        """What was put under the key; None if it is not there, or no longer."""
        ...

    def put(self, key: str, value: str) -> None:
        """Keep the text under the key, in place of what was there."""
        ...


class MemoryVault(dict[str, str]):
    """A vault in memory: for tests, and for programs that hold their conversations themselves."""

    def put(self, key: str, value: str) -> None:
        """Keep the text under the key until the vault itself is gone."""
        self[key] = value


def vault_key(*words: str) -> str:
    """The key for what is known by these words."""
    return hashlib.sha256("\x1f".join(words).encode("utf-8", "surrogatepass")).hexdigest()
