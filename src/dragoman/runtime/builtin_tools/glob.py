"""Owns the tool glob: the files whose paths match a pattern, newest first."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import file_walk, globs, ignore_options, workspace_file_access
from ..file_walk import FolderEntry
from ..tool_interface import Kind, Outcome, Tool, ToolEnvironment, ToolError
from ..workspace_file_access import WorkspacePath

ALWAYS_OUT = (".git/", "node_modules/")


class Glob(Tool):
    """The tool `glob`. Finds files by a pattern."""

    name = "glob"
    description = (
        "Finds the files of the workspace that match a glob pattern (such as **/*.py or src/*.{ts,tsx}). Returns their "
        "absolute paths, the newest first."
    )
    kind: Kind = "read"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The pattern, seen from the folder that is searched."},
            "path": {"type": "string", "description": "The folder to search; the whole workspace by default."},
            "case_sensitive": {"type": "boolean", "description": "Whether case counts. Default: false."},
            "respect_git_ignore": {
                "type": "boolean",
                "description": "Leave out files that .gitignore names. Default: true.",
            },
        },
        "required": ["pattern"],
    }

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        pattern = arguments["pattern"]
        if not pattern.strip():
            return "The pattern is empty."
        if ".." in pattern.split("/"):
            return "The pattern must not lead out of the folder that is searched."
        globs.compile_pattern(pattern, arguments.get("case_sensitive", False))
        workspace_file_access.path_in_workspace(arguments.get("path") or ".", around.workspace)
        return None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        pattern, given = arguments["pattern"], arguments.get("path")
        folders = [given] if given else [str(root) for root in around.workspace]
        places = [workspace_file_access.path_in_workspace(folder, around.workspace) for folder in folders]
        for where in places:
            status = workspace_file_access.file_status(where)
            if status is None:
                raise ToolError("file_not_found", f"Search path does not exist: {where.path}")
            if not stat.S_ISDIR(status.st_mode):
                raise ToolError("path_is_not_a_directory", f"Search path is not a directory: {where.path}")
        options = {"respect_git_ignore": arguments.get("respect_git_ignore", True)}
        matched: list[FolderEntry] = []
        skipped: list[FolderEntry] = []
        for where in places:
            found = ignore_options.ignore_rules_for_call(where, options).with_patterns(where.path, ALWAYS_OUT)
            base, wanted = _pattern_and_folder(pattern, where, arguments.get("case_sensitive", False))
            entries = await file_walk.collect_entries(file_walk.walk_files(where, found, around.workspace, skipped))
            matched += [entry for entry in entries if wanted.fullmatch(entry.path.relative_to(base).as_posix())]
        within = ", ".join([str(where.path) for where in places])
        left_out = ignore_options.count_skipped(skipped)
        if not matched:
            message = f"No files found matching pattern '{pattern}' within {within} {left_out}".rstrip()
            return Outcome(message, "No files found")
        # Newest first, because the model most likely needs a recently changed file.
        paths = [str(entry.path) for entry in sorted(matched, key=lambda entry: (-entry.modified, entry.path))]
        text = "\n".join([f"Found {len(paths)} file(s) matching '{pattern}' within {within}: ", *paths])
        return Outcome(f"{text}\n{left_out}" if left_out else text, f"Found {len(paths)} matching file(s)")


def _pattern_and_folder(pattern: str, where: WorkspacePath, case_sensitive: bool) -> tuple[Path, re.Pattern[str]]:
    """The expression for a pattern and the folder where the search starts. A file with exactly that name matches too,
    such as `[id].tsx`."""
    base = Path("/") if pattern.startswith("/") else where.path
    rest = pattern.removeprefix("/" if pattern.startswith("/") else "./")
    wanted = globs.compile_pattern(rest, case_sensitive)
    return base, re.compile(f"{wanted.pattern}|{re.escape(rest)}", wanted.flags)
