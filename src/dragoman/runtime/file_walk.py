"""Owns the walk through a workspace without ignored files: .gitignore as git reads it, .geminiignore, .dragomanignore.

Patterns of a deeper ignore file win, and nothing below an ignored folder is included again. The walk does not enter
links to folders. A link to a file counts if the file is in the workspace.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from . import gitignore, workspace_file_access
from .tool_interface import ToolError
from .workspace_file_access import WorkspacePath

Reason = Literal["", "git", "own"]
"""Why a path is ignored: not ignored, by git's patterns, by our own patterns."""

GIT = ".gitignore"
OWN = (".geminiignore", ".dragomanignore")
# The walk is recursive, and Python's stack is not deep.
MAX_DEPTH = 200
MAX_IGNORE = 1_000_000


class IgnoreFile(NamedTuple):
    """The patterns of one ignore file, and the folder of the file."""

    base: Path
    lines: tuple[gitignore.Pattern, ...]
    by: Literal["git", "own", "caller"]


class IgnoreRules(Struct, frozen=True):
    """The ignore rules for one folder. On the way down each folder adds its ignore files."""

    git: bool = True
    own: bool = True
    patterns: tuple[IgnoreFile, ...] = ()

    def reason(self, path: Path, is_folder: bool) -> Reason:
        """Why a path is ignored, if no folder above it is ignored."""
        if self.git and path.name == ".git":
            return "git"
        # Each kind has its own verdict: a "!" in .gitignore must not show a file that .dragomanignore hides.
        verdict: dict[str, bool] = {}
        for base, lines, by in self.patterns:
            if base not in path.parents:
                continue
            ignored = gitignore.is_ignored(lines, path.relative_to(base).as_posix(), is_folder)
            if ignored is not None:
                verdict[by] = ignored
        return "git" if verdict.get("git") else "own" if verdict.get("own") or verdict.get("caller") else ""

    def with_folder(self, folder: Path, handle: int | None = None) -> IgnoreRules:
        """The rules with the ignore files of one more folder."""
        names = ([GIT] if self.git else []) + (list(OWN) if self.own else [])
        new = [
            IgnoreFile(folder, lines, "git" if name == GIT else "own")
            for name in names
            if (lines := _read(folder, name, handle))
        ]
        return IgnoreRules(self.git, self.own, self.patterns + tuple(new)) if new else self

    def with_patterns(self, base: Path, lines: Sequence[str]) -> IgnoreRules:
        """The rules with a caller's own patterns for a folder. No ignore file can undo these patterns."""
        return IgnoreRules(self.git, self.own, (*self.patterns, IgnoreFile(base, gitignore.read(lines), "caller")))


def ignore_rules(where: WorkspacePath, git: bool = True, own: bool = True) -> IgnoreRules:
    """The rules for the folder at a place, without the folder's own ignore files."""
    found = IgnoreRules(git, own)
    root = where.root
    # As in git, the ignore files above the workspace apply too, up to the top of the repository.
    top = next((above for above in (root, *root.parents) if (above / ".git").exists()), root)
    if git:
        lines = _read(top / ".git", "info/exclude", None)
        found = IgnoreRules(git, own, (IgnoreFile(top, lines, "git"),)) if lines else found
    way = [top, *reversed([above for above in where.path.parents if top in above.parents])]
    for folder in way if where.path != top else []:
        found = found.with_folder(folder)
    return found


def ignore_reason(where: WorkspacePath, known: IgnoreRules, depth: int = 0) -> Reason:
    """Why the file at a place, or a folder above it, is ignored. `known` holds the rules for the folder `depth` steps
    below the root. That folder itself is not checked."""
    path = where.root.joinpath(*where.steps[:depth])
    for i, step in enumerate(where.steps[depth:], depth + 1):
        known = known.with_folder(path)
        path = path / step
        found = known.reason(path, i < len(where.steps) or os.path.isdir(path))
        if found:
            return found
    return ""


def _read(folder: Path, name: str, handle: int | None) -> tuple[gitignore.Pattern, ...]:
    try:
        # O_NONBLOCK: a pipe with this name must not stop the walk.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(name if handle is not None else folder / name, flags, dir_fd=handle)
    except OSError:
        return ()  # git also ignores an ignore file that cannot be read
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return ()
        with os.fdopen(file, "rb", closefd=False) as opened:
            # git skips a byte order mark at the beginning of an ignore file.
            return gitignore.read(opened.read(MAX_IGNORE).decode("utf-8-sig", "replace").split("\n"))
    finally:
        os.close(file)


class FolderEntry(NamedTuple):
    """One entry of a folder."""

    path: Path
    is_folder: bool
    size: int
    modified: float
    ignored: Reason


def list_folder(where: WorkspacePath, found: IgnoreRules, workspace: Sequence[Path]) -> list[FolderEntry]:
    """All entries of the folder at a place, by name, with ignored entries and their reasons, and with special files."""
    with workspace_file_access.open_folder(where) as handle:
        return _entries(where.path, handle, found.with_folder(where.path, handle), workspace, every=True)


def walk_files(
    where: WorkspacePath, found: IgnoreRules, workspace: Sequence[Path], skipped: list[FolderEntry] | None = None
) -> Iterator[FolderEntry]:
    """All files below a place, by name, folder by folder. Ignored entries go to `skipped`, without the entries below
    them."""
    with workspace_file_access.open_folder(where) as handle:
        yield from _below(where.path, handle, found, workspace, skipped, 0)


async def collect_entries(entries: Iterator[FolderEntry]) -> list[FolderEntry]:
    """All entries of a walk. The walk yields to other tasks, so a cancellation ends it; a thread could not be ended."""
    out: list[FolderEntry] = []
    for entry in entries:
        out.append(entry)
        if len(out) % 200 == 0:
            await asyncio.sleep(0)
    return out


def _below(
    path: Path,
    handle: int,
    found: IgnoreRules,
    workspace: Sequence[Path],
    skipped: list[FolderEntry] | None,
    depth: int,
) -> Iterator[FolderEntry]:
    known = found.with_folder(path, handle)
    for entry in _entries(path, handle, known, workspace):
        if entry.ignored:
            if skipped is not None:
                skipped.append(entry)
        elif not entry.is_folder:
            yield entry
        elif depth < MAX_DEPTH:
            # O_NOFOLLOW: a link may have replaced the folder since the folder was listed.
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                below = os.open(entry.path.name, flags, dir_fd=handle)
            except OSError:  # deleted, not permitted, or replaced by a link
                continue
            try:
                yield from _below(entry.path, below, known, workspace, skipped, depth + 1)
            finally:
                os.close(below)


def _entries(
    path: Path, handle: int, found: IgnoreRules, workspace: Sequence[Path], every: bool = False
) -> list[FolderEntry]:
    """Files, links to files, and folders. With `every` also links to folders, broken links, links out of the workspace,
    and pipes."""
    out: list[FolderEntry] = []
    # The open descriptor is listed, because the path may now lead to another folder.
    with os.scandir(handle) as items:
        for item in sorted(items, key=lambda item: item.name):
            here = path / item.name
            with contextlib.suppress(FileNotFoundError, PermissionError):
                is_folder = item.is_dir(follow_symlinks=False)
                info = item.stat(follow_symlinks=False)
                ignored = found.reason(here, is_folder)
                if item.is_symlink():
                    info = _target(here, workspace) or info
                    is_folder = every and stat.S_ISDIR(info.st_mode)
                if every or is_folder or stat.S_ISREG(info.st_mode):
                    out.append(FolderEntry(here, is_folder, info.st_size, info.st_mtime, ignored))
    return out


def _target(link: Path, workspace: Sequence[Path]) -> os.stat_result | None:
    """The target of a link, if the target is in the workspace."""
    try:
        return workspace_file_access.file_status(workspace_file_access.path_in_workspace(link, workspace))
    except ToolError:
        return None
