"""Owns file access inside the workspace: a path is resolved once, then opened step by step without following links.

After a path is resolved, another process may replace a folder on the path by a link. An open by name would follow that
link out of the workspace. So every folder on the resolved path is opened from its parent folder, and a new link is
refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .tool_interface import ToolError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # O_NONBLOCK, because opening a pipe must not block
_EFFECTIVE = os.access in os.supports_effective_ids

_KINDS = {
    errno.ENOENT: "file_not_found",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.ENOSPC: "no_space_left",
    errno.EISDIR: "target_is_directory",
}


class WorkspacePath(NamedTuple):
    """A resolved path inside the workspace: its root, and the steps from the root."""

    root: Path
    steps: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The absolute path."""
        return self.root.joinpath(*self.steps)


def real_path(path: Path) -> Path:
    """The path with all links resolved."""
    return Path(os.path.realpath(path))


def path_in_workspace(given: str | Path, workspace: Sequence[Path]) -> WorkspacePath:
    """The resolved place of a path. A relative path starts at the first root that has it. ToolError: outside the
    workspace."""
    text = os.fspath(given)
    if not workspace:
        raise ToolError("path_not_in_workspace", "There is no workspace, so files cannot be used.")
    if not text or "\0" in text:
        raise ToolError("invalid_tool_params", "The path is empty, or contains a zero byte.")
    try:
        base = next((root for root in workspace if os.path.lexists(root / text)), workspace[0])
        found = real_path(base / text)
    except OSError as error:
        raise file_error(text, error) from error
    for folder in workspace:
        root = real_path(folder)
        if found == root or root in found.parents:
            return WorkspacePath(root, found.relative_to(root).parts)
    names = ", ".join(map(str, workspace))
    raise ToolError("path_not_in_workspace", f"Path is not within the workspace: {text} (the workspace is {names})")


def is_inside(given: str | Path, workspace: Sequence[Path]) -> bool:
    """Whether a path leads into the workspace."""
    try:
        path_in_workspace(given, workspace)
    except ToolError:
        return False
    return True


def file_error(path: object, error: OSError) -> ToolError:
    """An error of the operating system as a ToolError."""
    kind = _KINDS.get(error.errno or 0, "file_failed")
    # These two are the errors of O_NOFOLLOW and O_DIRECTORY.
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return ToolError(kind, f"{path}: a part of this path is not a folder, or was replaced by a link")
    return ToolError(kind, f"{path}: {error.strerror or error}")


@contextlib.contextmanager
def open_folder(where: WorkspacePath, *, make: bool = False, depth: int | None = None) -> Iterator[int]:
    """A descriptor of the folder at a place, or of its ancestor `depth` steps below the root. `make` creates missing
    folders."""
    steps = where.steps if depth is None else where.steps[:depth]
    here = -1
    try:
        # The user chose the root, so links to the root are followed.
        here = os.open(where.root, _FOLDER & ~os.O_NOFOLLOW)
        for step in steps:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(step, dir_fd=here)
            there = os.open(step, _FOLDER, dir_fd=here)
            os.close(here)
            here = there
        yield here
    except OSError as error:
        raise file_error(where.path, error) from error
    finally:
        if here >= 0:
            os.close(here)


def file_status(where: WorkspacePath) -> os.stat_result | None:
    """The status of the file at a place. None: there is no file."""
    try:
        if not where.steps:
            return os.stat(where.root)
        with open_folder(where, depth=-1) as above:
            return os.stat(where.steps[-1], dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except ToolError as error:
        if error.kind == "file_not_found":
            return None
        raise


def read(where: WorkspacePath, limit: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file with at most `limit` bytes, and its status at that time."""
    if not where.steps:
        raise ToolError("target_is_directory", f"{where.path} is a folder.")
    with open_folder(where, depth=-1) as above:
        handle = os.open(where.steps[-1], _FILE, dir_fd=above)
        try:
            was = os.fstat(handle)
            if stat.S_ISDIR(was.st_mode):
                raise ToolError("target_is_directory", f"{where.path} is a folder.")
            if not stat.S_ISREG(was.st_mode):
                raise ToolError("not_a_file", f"{where.path} is not a regular file.")
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(handle)
    if len(data) > limit:
        raise ToolError("file_too_large", f"{where.path} is larger than {limit} bytes.")
    return data, was


def write(where: WorkspacePath, data: bytes, was: os.stat_result | None) -> None:
    """Write a file atomically, with the mode of the file that it replaces. `was` is the status of the old file at the
    last read (None: no file). If the file has changed since, or is read-only, nothing is written."""
    if not where.steps:
        raise ToolError("target_is_directory", f"{where.path} is a folder.")
    name = where.steps[-1]
    with open_folder(where, make=True, depth=-1) as above:
        # A rename over a read-only file would succeed, so the permission of the old file is checked here.
        if was is not None and not os.access(name, os.W_OK, dir_fd=above, effective_ids=_EFFECTIVE):
            raise ToolError("permission_denied", f"{where.path} may not be written to.")
        passing = f".dragoman-{os.urandom(8).hex()}.part"
        # The umask of the process decides the mode of a new file.
        handle = os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=above)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if was is not None:
                    if (was.st_uid, was.st_gid) != (os.geteuid(), os.getegid()):
                        with contextlib.suppress(PermissionError):
                            os.fchown(handle, was.st_uid, was.st_gid)
                    os.fchmod(handle, stat.S_IMODE(was.st_mode))  # mode last: a change of the owner clears mode bits
                file.flush()
                # The bytes must reach the disk before the rename. Otherwise a crash could leave an empty file.
                os.fsync(handle)
            # The old file is compared last, so that little time is left for a change by others.
            if not _same(was, _look(name, above)):
                raise ToolError("file_changed", f"{where.path} has been changed meanwhile; nothing was written.")
            os.rename(passing, name, src_dir_fd=above, dst_dir_fd=above)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(passing, dir_fd=above)
            raise


def remove(where: WorkspacePath, was: os.stat_result) -> None:
    """Remove a file, if it is still the file that was read last."""
    with open_folder(where, depth=-1) as above:
        if not _same(was, _look(where.steps[-1], above)):
            raise ToolError("file_changed", f"{where.path} has been changed meanwhile; it was not removed.")
        os.unlink(where.steps[-1], dir_fd=above)


def _look(name: str, above: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.st_ino, one.st_size, one.st_mtime_ns) == (other.st_ino, other.st_size, other.st_mtime_ns)
