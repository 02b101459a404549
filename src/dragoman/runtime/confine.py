"""The workspace's walls: a path is resolved once, and then opened step by step without following any link.

Resolving says where a path leads now; opening it by its name would follow whatever it has become since. So every folder
on the resolved way is opened from the one before, and a link that was put there meanwhile is refused, not followed.
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
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe must not make us wait
_EFFECTIVE = os.access in os.supports_effective_ids

_KINDS = {
    errno.ENOENT: "file_not_found",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.ENOSPC: "no_space_left",
    errno.EISDIR: "target_is_directory",
}


class Place(NamedTuple):
    """A path inside of the workspace, as resolved: the root it lies in, and the steps from there."""

    root: Path
    steps: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.root.joinpath(*self.steps)


def real(path: Path) -> Path:
    """Where a path leads, without any link."""
    return Path(os.path.realpath(path))


def place(given: str | Path, workspace: Sequence[Path]) -> Place:
    """Where a path leads; a relative one counts from the first root that has it. Raises ToolError if outside."""
    text = os.fspath(given)
    if not workspace:
        raise ToolError("path_not_in_workspace", "There is no workspace, so no file can be touched.")
    if not text or "\0" in text:
        raise ToolError("invalid_tool_params", "The path is empty, or holds a zero byte.")
    try:
        base = next((root for root in workspace if os.path.lexists(root / text)), workspace[0])
        found = real(base / text)
    except OSError as error:
        raise failed(text, error) from error
    for folder in workspace:
        root = real(folder)
        if found == root or root in found.parents:
            return Place(root, found.relative_to(root).parts)
    names = ", ".join(map(str, workspace))
    raise ToolError("path_not_in_workspace", f"Path is not within the workspace: {text} (the workspace is {names})")


def inside(given: str | Path, workspace: Sequence[Path]) -> bool:
    try:
        place(given, workspace)
    except ToolError:
        return False
    return True


def failed(path: object, error: OSError) -> ToolError:
    """An error of the operating system as one of a tool."""
    kind = _KINDS.get(error.errno or 0, "file_failed")
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return ToolError(kind, f"{path}: something on the way is no folder, or became a link meanwhile")
    return ToolError(kind, f"{path}: {error.strerror or error}")


@contextlib.contextmanager
def folder(where: Place, *, make: bool = False, depth: int | None = None) -> Iterator[int]:
    """A descriptor of the folder at a place (or of the one that is `depth` steps deep), made if it is not there."""
    steps = where.steps if depth is None else where.steps[:depth]
    here = -1
    try:
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
        raise failed(where.path, error) from error
    finally:
        if here >= 0:
            os.close(here)


def status(where: Place) -> os.stat_result | None:
    """What lies at a place; None if nothing does."""
    try:
        if not where.steps:
            return os.stat(where.root)
        with folder(where, depth=-1) as above:
            return os.stat(where.steps[-1], dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except ToolError as error:
        if error.kind == "file_not_found":
            return None
        raise


def read(where: Place, limit: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file of at most `limit`, and what it was when they were read."""
    if not where.steps:
        raise ToolError("target_is_directory", f"{where.path} is a folder.")
    with folder(where, depth=-1) as above:
        handle = os.open(where.steps[-1], _FILE, dir_fd=above)
        try:
            was = os.fstat(handle)
            if stat.S_ISDIR(was.st_mode):
                raise ToolError("target_is_directory", f"{where.path} is a folder.")
            if not stat.S_ISREG(was.st_mode):
                raise ToolError("not_a_file", f"{where.path} is no regular file.")
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(handle)
    if len(data) > limit:
        raise ToolError("file_too_large", f"{where.path} is larger than {limit} bytes.")
    return data, was


def write(where: Place, data: bytes, was: os.stat_result | None) -> None:
    """Put a file there at once and whole, with the mode of the one it replaces. `was` is what was there when it was
    last looked at (None: nothing): if that has changed, or may not be written to, nothing is written."""
    if not where.steps:
        raise ToolError("target_is_directory", f"{where.path} is a folder.")
    name = where.steps[-1]
    with folder(where, make=True, depth=-1) as above:
        # A new file takes the old one's place, which needs no leave from the old one: so it is asked here.
        if was is not None and not os.access(name, os.W_OK, dir_fd=above, effective_ids=_EFFECTIVE):
            raise ToolError("permission_denied", f"{where.path} may not be written to.")
        passing = f".dragoman-{os.urandom(8).hex()}.part"
        handle = os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=above)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if was is not None:
                    if (was.st_uid, was.st_gid) != (os.geteuid(), os.getegid()):
                        with contextlib.suppress(PermissionError):
                            os.fchown(handle, was.st_uid, was.st_gid)
                    os.fchmod(handle, stat.S_IMODE(was.st_mode))  # last: a new owner takes bits away
                file.flush()
                os.fsync(handle)
            if not _same(was, _look(name, above)):
                raise ToolError("file_changed", f"{where.path} has been changed meanwhile; nothing was written.")
            os.rename(passing, name, src_dir_fd=above, dst_dir_fd=above)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(passing, dir_fd=above)
            raise


def remove(where: Place, was: os.stat_result) -> None:
    """Remove a file, if it is still the one that was last looked at."""
    with folder(where, depth=-1) as above:
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
