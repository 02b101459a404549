"""Owns the tool list_directory: the names in a folder, folders first."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from typing import Any

from .. import file_walk, globs, ignore_options, workspace_file_access
from ..tool_interface import Kind, Outcome, Tool, ToolEnvironment, ToolError


class ListDirectory(Tool):
    """The tool `list_directory`. Lists a folder."""

    name = "list_directory"
    description = "Lists the files and folders in a folder of the workspace, without those that ignore files leave out."
    kind: Kind = "read"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The folder's absolute path."},
            "ignore": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Glob patterns of names to leave out.",
            },
            "file_filtering_options": ignore_options.OPTIONS,
        },
        "required": ["path"],
    }

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        workspace_file_access.path_in_workspace(arguments["path"], around.workspace)
        for pattern in arguments.get("ignore", ()):
            globs.compile_pattern(pattern)
        return None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        where = workspace_file_access.path_in_workspace(arguments["path"], around.workspace)
        status = workspace_file_access.file_status(where)
        if status is None:
            raise ToolError("file_not_found", f"Directory not found or inaccessible: {where.path}")
        if not stat.S_ISDIR(status.st_mode):
            raise ToolError("path_is_not_a_directory", f"Path is not a directory: {where.path}")
        found = ignore_options.ignore_rules_for_call(where, arguments.get("file_filtering_options"))
        entries = file_walk.list_folder(where, found, around.workspace)
        patterns = [globs.compile_pattern(pattern) for pattern in arguments.get("ignore", ())]
        shown = [entry for entry in entries if not any(pattern.fullmatch(entry.path.name) for pattern in patterns)]
        skipped = [entry for entry in shown if entry.ignored]
        shown = sorted([entry for entry in shown if not entry.ignored], key=lambda entry: not entry.is_folder)
        left_out = ignore_options.count_skipped(skipped)
        if not shown:
            message = f"Directory {where.path} is empty."
            return Outcome(f"{message} {left_out}".rstrip(), "Directory is empty.")
        lines = [f"[DIR] {entry.path.name}" if entry.is_folder else entry.path.name for entry in shown]
        text = "\n".join([f"Directory listing for {where.path}: ", *lines])
        return Outcome(
            f"{text}\n\n{left_out}" if left_out else text, f"Listed {len(shown)} item(s). {left_out}".rstrip()
        )
