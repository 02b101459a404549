"""Tokens of logins, in one file of mode 600 in the user's data folder: for MCP servers, by their address.

The file is never printed. Every value is the JSON of the login's owner, which this module does not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..errors import ConfigError
from .user_files import data_folder, read_private_file, write_own_file


class Logins:
    """The stored logins. ConfigError where the file cannot be trusted, read or written."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.file: Path = data_folder(environment) / "logins.json"

    def get(self, key: str) -> bytes | None:
        """The JSON of a login; None where there is none."""
        found = self._read().get(key)
        return None if found is None else bytes(found)

    def put(self, key: str, data: bytes) -> None:
        """Store the JSON of a login, in place of an earlier one."""
        self._write({**self._read(), key: msgspec.Raw(data)})

    def drop(self, key: str) -> bool:
        """Forget a login; False where there is none."""
        stored = self._read()
        if stored.pop(key, None) is None:
            return False
        self._write(stored)
        return True

    def _read(self) -> dict[str, msgspec.Raw]:
        data = read_private_file(self.file, "logins")
        if data is None:
            return {}
        try:
            return msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        except msgspec.DecodeError:  # the message of the error could repeat a part of a token
            raise ConfigError("logins", str(self.file), problem="the file is not a valid list of logins") from None

    def _write(self, stored: Mapping[str, msgspec.Raw]) -> None:
        try:
            if stored:
                write_own_file(self.file, msgspec.json.encode(dict(stored)))
            else:
                self.file.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError("logins", str(self.file), problem=error.strerror or str(error)) from None
