"""Files in the user's own folders: where the folders are, and how their files are read and written safely.

A file of the configuration folder is trusted without a question, so no other user may be able to change it.
`read_own_file` refuses a file that another user owns or can write. `write_own_file` writes a file with mode 600.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import ConfigError

MAX_BYTES = 1024 * 1024
"""Bytes of the largest configuration file that is read."""


def config_folder(environment: Mapping[str, str]) -> Path:
    """The folder for the user's settings."""
    return _folder(environment, "XDG_CONFIG_HOME", ".config")


def data_folder(environment: Mapping[str, str]) -> Path:
    """The folder for data that outlives a program."""
    return _folder(environment, "XDG_DATA_HOME", ".local/share")


def _folder(environment: Mapping[str, str], variable: str, usual: str) -> Path:
    # The XDG Base Directory Specification 0.8 (May 2021) demands that relative paths are ignored: they would point into
    # any folder.
    base = environment.get(variable) or ""
    if not os.path.isabs(base):
        base = os.path.join(environment.get("HOME") or "~", usual)
    return Path(base).expanduser() / "dragoman"


def google_login_file(environment: Mapping[str, str], upstream: str) -> Path:
    """The file with the login at Google of an upstream, in the data folder. google-auth reads it."""
    # The name is in a configuration file, and must not lead out of the folder.
    name = re.sub(r"[^\w-]", lambda found: f"%{ord(found[0]):02x}", upstream)
    return data_folder(environment) / "google" / f"{name}.json"


def read_regular_file(path: str | Path) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file, and the state of the same open file. OSError where it cannot be read."""
    # O_NONBLOCK: a named pipe in place of the file must not block the program.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a regular file")
        return _bounded(file, path), found


def read_named_file(path: str | Path) -> bytes:
    """The bytes of a file that the user named; it may be a pipe (`--config <(...)`). OSError where it cannot be read or
    is too large."""
    with open(path, "rb") as file:
        return _bounded(file, path)


def _bounded(file: BinaryIO, path: str | Path) -> bytes:
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(f"{path} is larger than {MAX_BYTES} bytes")
    return data


def read_own_file(file: Path) -> bytes:
    """The bytes of a file in a folder of the user. ConfigError where other users can write the file; OSError where it
    cannot be read."""
    data, found = read_regular_file(file)
    require_only_owner_writes(file, found)
    return data


def read_private_file(file: Path, what: str) -> bytes | None:
    """The bytes of a file with secrets; None where there is no such file. ConfigError where other users can read the
    file, or where it cannot be read. `what` names the content in the message."""
    try:
        data, found = read_regular_file(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(what, str(file), problem=error.strerror or str(error)) from None
    if hasattr(os, "geteuid"):  # Windows has no such modes.
        mode = stat.S_IMODE(found.st_mode)
        if found.st_uid != os.geteuid() or mode & 0o077:
            problem = f"other users can read it (mode {mode:o}). Run chmod 600 {file}, and renew the {what}"
            raise ConfigError(what, str(file), problem=problem)
    return data


def require_only_owner_writes(file: Path, found: os.stat_result, *, folder: bool = True) -> None:
    """ConfigError when another user owns or can write an open file, or (`folder`) can put another file into its
    place."""
    if not hasattr(os, "geteuid"):  # Windows has no such modes.
        return
    above = Path(os.path.realpath(file)).parent
    for path, state in ((file, found), (above, os.stat(above)))[: 2 if folder else 1]:
        mode = stat.S_IMODE(state.st_mode)
        # Root can change every file anyway.
        if state.st_uid not in (os.geteuid(), 0):
            raise _refused(path, "the file or folder belongs to another user", f"chown {os.geteuid()} {path}")
        # In a folder with the sticky bit other users cannot replace a file that is not theirs.
        if mode & 0o022 and not (stat.S_ISDIR(state.st_mode) and mode & stat.S_ISVTX):
            raise _refused(path, f"other users can write it (mode {mode:o})", f"chmod go-w {path}")


def _refused(path: Path, why: str, mend: str) -> ConfigError:
    return ConfigError(
        "file", str(path), problem=f"{why}, so it cannot be trusted. Check its content, then run: {mend}"
    )


def write_own_file(file: Path, data: bytes) -> None:
    """Write a file that only the user can read and write. Other processes see the old file or the new one, never a
    part."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # In the same folder, because a rename works within one file system only.
    draft = file.with_name(f".{file.name}-{os.urandom(8).hex()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            # The bytes must reach the disk before the rename: a crash would leave an empty file.
            os.fsync(handle)
        os.replace(draft, file)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
