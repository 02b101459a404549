"""The secret of the installation: 32 random bytes in the user's data folder, made once and read by every process.

Restarts and workers read the same file, so they agree on everything that is derived from the secret. The secret itself
is never printed, logged or sent.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import ConfigError
from .user_files import data_folder

SIZE = 32


def installation_secret(environment: Mapping[str, str], warn: Callable[[str], None]) -> bytes:
    """The secret of this installation; made now when there is none yet.

    Where the file can neither be read nor made, `warn` gets one line, and the secret lasts as long as the process.
    ConfigError when the file exists and cannot be trusted.
    """
    file = data_folder(environment) / "secret"
    try:
        try:
            return _read(file)
        except FileNotFoundError:
            _create(file)
            # Read again, because another process may have made the file first.
            return _read(file)
    except OSError as error:
        why = error.strerror or type(error).__name__
        warn(f"{file} cannot be used ({why}): the secret of the installation lasts only until this process ends")
        return os.urandom(SIZE)


def _read(file: Path) -> bytes:
    # O_NONBLOCK: a named pipe in place of the file must not delay the start.
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise _untrusted_file_error(file, "the file is not a regular file")
        if found.st_uid != os.geteuid():
            raise _untrusted_file_error(file, "the file belongs to another user")
        if found.st_mode & 0o077:
            raise _untrusted_file_error(
                file, f"the file has mode {stat.S_IMODE(found.st_mode):o}, so other users may know the secret"
            )
        # One byte more shows that the file is too long.
        secret = os.read(handle, SIZE + 1)
    finally:
        os.close(handle)
    if len(secret) != SIZE:
        raise _untrusted_file_error(file, f"the file does not hold {SIZE} bytes")
    return secret


def _create(file: Path) -> None:
    """Make the file in one step: another process sees the whole file or none, and the first process wins."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_name(f".secret-{os.urandom(8).hex()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, os.urandom(SIZE))
            os.fsync(handle)
        finally:
            os.close(handle)
        with suppress(FileExistsError):  # Another process was first, and its secret counts.
            os.link(draft, file)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def _untrusted_file_error(file: Path, why: str) -> ConfigError:
    return ConfigError("secret", str(file), problem=f"{why}. Delete the file; the next start makes a new one")
