"""Keys of upstreams that the user has stored: in the keyring of the system, or else in a file of mode 600.

The file in the data folder names each variable whose key is stored, and holds the keys that are not in the keyring. The
environment always wins over a stored key. A stored key is never printed, and is not passed on to commands of tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..errors import ConfigError
from .user_files import data_folder, read_private_file, write_own_file

Where = Literal["keyring", "file"]

_SERVICE = "dragoman"


class StoredKey(Struct, frozen=True, omit_defaults=True):
    """A stored key: in the file, or (where the file has no key) in the keyring."""

    key: str = ""

    def __repr__(self) -> str:
        return f"StoredKey({'in the file' if self.key else 'in the keyring'})"


class UpstreamKeys:
    """The stored keys, by the name of the variable that usually holds the key."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._file = data_folder(environment) / "keys.json"

    @property
    def file(self) -> Path:
        """The file of the keys."""
        return self._file

    def stored_at(self) -> dict[str, Where]:
        """Where the key of each variable is stored. ConfigError where the file cannot be trusted."""
        return {variable: "file" if one.key else "keyring" for variable, one in self._read().items()}

    def store(self, variable: str, key: str) -> Where:
        """Store a key, in place of an earlier one. ConfigError where that is not possible."""
        stored = self._read()
        keyring = usable_keyring()
        # First the keyring: if it fails, the file must not claim that the key is there.
        if keyring is not None:
            try:
                keyring.set_password(_SERVICE, variable, key)
            except _failures() as error:
                raise ConfigError("keyring", variable, problem=type(error).__name__) from None
        self._write({**stored, variable: StoredKey("" if keyring is not None else key)})
        return "keyring" if keyring is not None else "file"

    def drop(self, variable: str) -> bool:
        """Forget a key; False where none is stored."""
        stored = self._read()
        if variable not in stored:
            return False
        keyring = usable_keyring()
        if not stored[variable].key and keyring is not None:
            try:
                if keyring.get_password(_SERVICE, variable) is not None:
                    keyring.delete_password(_SERVICE, variable)
            except _failures() as error:
                raise ConfigError("keyring", variable, problem=type(error).__name__) from None
        self._write({name: one for name, one in stored.items() if name != variable})
        return True

    def environment_with_keys(self, alternatives: Iterable[tuple[str, ...]]) -> Mapping[str, str]:
        """The environment with the stored keys that it does not have. `alternatives`: variables that hold the same key;
        a stored key is not used where one of them is set."""
        stored = self._read()
        same = {name: names for names in alternatives for name in names}
        more: dict[str, str] = {}
        for variable, one in stored.items():
            if any(self._environment.get(name) for name in same.get(variable, (variable,))):
                continue
            key = one.key or self._from_keyring(variable)
            if key:
                more[variable] = key
        return {**self._environment, **more} if more else self._environment

    def _from_keyring(self, variable: str) -> str:
        keyring = usable_keyring()
        if keyring is None:
            problem = "the key is in the keyring of the system, which cannot be used now. Run `dragoman login` again"
            raise ConfigError("key", variable, problem=problem)
        try:
            return keyring.get_password(_SERVICE, variable) or ""
        except _failures() as error:
            problem = f"the key cannot be read from the keyring of the system ({type(error).__name__})"
            raise ConfigError("key", variable, problem=problem) from None

    def _read(self) -> dict[str, StoredKey]:
        data = read_private_file(self._file, "keys")
        if data is None:
            return {}
        try:
            return msgspec.json.decode(data, type=dict[str, StoredKey])
        except msgspec.DecodeError:  # the message of the error could repeat a part of a key
            raise ConfigError("keys", str(self._file), problem="the file is not a valid list of keys") from None

    def _write(self, stored: Mapping[str, StoredKey]) -> None:
        try:
            if stored:
                write_own_file(self._file, msgspec.json.encode(dict(stored)))
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError("keys", str(self._file), problem=error.strerror or str(error)) from None


def usable_keyring() -> Any:
    """The keyring of the system; None if the package is missing, or has no backend that can store a key."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    try:
        return keyring if keyring.get_keyring().priority >= 1 else None  # a backend that only fails has a lower one
    except _failures():
        return None


def _failures() -> tuple[type[Exception], ...]:
    """The exceptions of a keyring that cannot be used. Their messages are not shown: they may hold the key."""
    return (import_module("keyring.errors").KeyringError, OSError, RuntimeError)
