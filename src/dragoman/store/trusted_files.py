"""The list of files that the user trusts, by real path and content.

A file in a working folder may have come with the folder from anywhere. Such a file is used only if this list has its
real path together with the digest of its bytes. A file that was changed or moved is unknown again. The list is
`trusted-files.json` in the user's data folder, with mode 600.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..errors import ConfigError
from .user_files import data_folder, read_own_file, write_own_file

NAME = "trusted-files.json"
MAX_ENTRIES = 1000
"""Number of entries. The oldest ones beyond it are dropped."""


class TrustedFile(NamedTuple):
    """One trusted file with one content."""

    path: str
    """The real path: absolute, without links."""
    sha256: str


def digest(data: bytes) -> str:
    """The digest that identifies a content."""
    return hashlib.sha256(data).hexdigest()


def real_path(path: str | Path) -> str:
    """The path that identifies a file."""
    return os.path.realpath(path)


class TrustedFiles:
    """The list in the user's data folder. Every call reads the file, so that processes see each other's entries."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._file = data_folder(environment) / NAME

    def entries(self) -> list[TrustedFile]:
        """All entries, the oldest first. ConfigError when the list cannot be read, or when other users can write it."""
        try:
            found = json.loads(read_own_file(self._file))
            return [TrustedFile(str(one["path"]), str(one["sha256"])) for one in found["files"]]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError("file", str(self._file), problem=f"cannot be read: {error.strerror or error}") from None
        except (ValueError, TypeError, KeyError):
            problem = "the file is not a list of trusted files. Delete it; dragoman then asks again for each file"
            raise ConfigError("file", str(self._file), problem=problem) from None

    def has(self, path: str, data: bytes) -> bool:
        """Whether the user trusts these bytes at this real path."""
        return TrustedFile(path, digest(data)) in self.entries()

    def knows(self, path: str) -> bool:
        """Whether the user trusts any content at this real path."""
        return any(one.path == path for one in self.entries())

    def add(self, path: str, data: bytes) -> None:
        """Add a file to the list. OSError when the list cannot be written."""
        new = TrustedFile(path, digest(data))
        self._write([*[one for one in self.entries() if one != new], new][-MAX_ENTRIES:])

    def remove(self, path: str) -> bool:
        """Remove every entry of a real path; False when there was none."""
        before = self.entries()
        after = [one for one in before if one.path != path]
        if len(after) < len(before):
            self._write(after)
        return len(after) < len(before)

    def _write(self, entries: list[TrustedFile]) -> None:
        # The standard encoder escapes bytes of a path that are not UTF-8.
        whole = {"files": [one._asdict() for one in entries]}
        write_own_file(self._file, json.dumps(whole, indent=1).encode())
