"""Owns the edit of one file, for all tools that change files: plan, confirmation, write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ..store import trusted_files
from . import file_walk, ignore_options, text_file_and_diff, workspace_file_access
from .text_file_and_diff import TextFile
from .tool_interface import Confirmation, FileEdit, Outcome, ToolEnvironment, ToolError
from .workspace_file_access import WorkspacePath

_OWN_FILES = frozenset({trusted_files.NAME, "mcp.json", "store.sqlite3", "secret"})
"""Dragoman's own files. A workspace may contain them, for example if it is the home folder."""


class PlannedEdit(Struct, frozen=True):
    """A file, and its new text."""

    where: WorkspacePath
    was: TextFile
    new: str
    count: int = 1
    """Number of places that change."""

    @property
    def creates(self) -> bool:
        """Whether the edit creates the file."""
        return self.was.was is None


def check_path(arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
    """The error in the path of an edit. None: the path is good."""
    path = arguments["file_path"]
    if not path.startswith("/"):
        return f"File path must be absolute: {path}"
    where = workspace_file_access.path_in_workspace(path, around.workspace)
    # A new file may have a name that the ignore files hide.
    return None if workspace_file_access.file_status(where) is None else ignore_options.hidden_file_error(where)


def confirmation(edit: PlannedEdit) -> Confirmation:
    """The question to the user before the edit."""
    word = "Create" if edit.creates else "Change"
    diff = text_file_and_diff.file_diff(edit.where, edit.was, edit.new)
    return Confirmation(f"{word} {diff.file_path}", "edit", diff, hidden=_decides_execution(edit.where))


def _decides_execution(where: WorkspacePath) -> bool:
    """Whether a file decides which programs run, or which files a model may read. git runs programs that its
    configuration names, and hooks are programs. A changed ignore file makes hidden files readable. Dragoman's own files
    list the commands and hosts that the user trusts."""
    own = where.path.parent.name == "dragoman" and where.path.name in _OWN_FILES
    return own or where.path.name in file_walk.OWN or any(step.lower() == ".git" for step in where.steps)


def apply_edit(edit: PlannedEdit, around: ToolEnvironment, message: str) -> Outcome:
    """Write the edit. If the edit differs from the edit that the policy or the user saw, nothing is written."""
    shown = around.shown
    if shown is not None and (shown.file_path, shown.original, shown.new) != _compared_values(edit):
        raise ToolError("file_changed", f"{edit.where.path} has changed since the edit was shown; nothing was written.")
    new = edit.new
    if around.wanted is not None:
        new = around.wanted
        message += f" The user changed the new text before it was written; the file now reads:\n{around.wanted}"
    try:
        data = edit.was.encode(new)
    except UnicodeEncodeError as error:
        raise ToolError("file_write_failure", f"The text cannot be written as {edit.was.encoding}: {error}") from error
    workspace_file_access.write(edit.where, data, edit.was.was)
    before = None if edit.creates else edit.was.encode(edit.was.text)
    around.edited(FileEdit(str(edit.where.path), before, data))
    proposed = edit.new if around.wanted is not None else None
    return Outcome(message, text_file_and_diff.file_diff(edit.where, edit.was, new, proposed))


def _compared_values(edit: PlannedEdit) -> tuple[str, str | None, str]:
    original = None if edit.creates else text_file_and_diff.without_invalid_bytes(edit.was.text)
    return (
        text_file_and_diff.without_invalid_bytes(str(edit.where.path)),
        original,
        text_file_and_diff.without_invalid_bytes(edit.new),
    )
