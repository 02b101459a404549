"""Owns the options by which a caller of a tool includes or excludes ignored files. Several tools share them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import file_walk
from .file_walk import FolderEntry, IgnoreRules
from .workspace_file_access import WorkspacePath

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "description": "Whether to leave out files that ignore files name. Both are true by default.",
    "properties": {
        "respect_git_ignore": {"type": "boolean", "description": "Leave out what .gitignore names."},
        "respect_gemini_ignore": {
            "type": "boolean",
            "description": "Leave out what .geminiignore and .dragomanignore name.",
        },
    },
}
"""The schema of `file_filtering_options`."""


def ignore_rules_for_call(where: WorkspacePath, options: Mapping[str, Any] | None) -> IgnoreRules:
    """The ignore rules for a call, by its options."""
    settings = options or {}
    return file_walk.ignore_rules(
        where, settings.get("respect_git_ignore", True), settings.get("respect_gemini_ignore", True)
    )


def hidden_file_error(where: WorkspacePath) -> str | None:
    """The error for a file that the user's own ignore files hide from models. None: the file is not hidden."""
    found = file_walk.ignore_reason(where, file_walk.ignore_rules(WorkspacePath(where.root, ()), git=False))
    return f"File path is ignored by the ignore files of the workspace: {where.path}" if found == "own" else None


def count_skipped(skipped: list[FolderEntry]) -> str:
    """The number of files that were left out, in words. "": none."""
    git = sum(entry.ignored == "git" and entry.path.name != ".git" for entry in skipped)
    own = sum(entry.ignored == "own" for entry in skipped)
    counts = ([f"{git} git-ignored"] if git else []) + ([f"{own} ignored"] if own else [])
    return f"({', '.join(counts)})" if counts else ""
