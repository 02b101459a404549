"""Owns the tool write_file: it writes a new file, or replaces a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import file_edit, text_file_and_diff, workspace_file_access
from ..file_edit import PlannedEdit
from ..tool_interface import Confirmation, Kind, Outcome, Tool, ToolEnvironment


class WriteFile(Tool):
    """The tool `write_file`. Writes a whole file."""

    name = "write_file"
    description = (
        "Writes a file of the workspace, and makes missing folders. The old content is replaced; the line ends and "
        "the mode of the file are kept. The user may change the content before it is written."
    )
    kind: Kind = "edit"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file's absolute path."},
            "content": {"type": "string", "description": "The whole new content of the file."},
        },
        "required": ["file_path", "content"],
    }

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return file_edit.check_path(arguments, around)

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        return file_edit.confirmation(_plan_edit(arguments, around))

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        edit = _plan_edit(arguments, around)
        path = arguments["file_path"]
        new = f"Successfully created and wrote to new file: {path}."
        return file_edit.apply_edit(edit, around, new if edit.creates else f"Successfully overwrote file: {path}.")


def _plan_edit(arguments: Mapping[str, Any], around: ToolEnvironment) -> PlannedEdit:
    where = workspace_file_access.path_in_workspace(arguments["file_path"], around.workspace)
    was = text_file_and_diff.read(where)
    content = arguments["content"]
    # The file keeps its line ends, unless the model wrote such ends itself.
    if was.end == "\r\n" and "\r" not in content:
        content = content.replace("\n", "\r\n")
    return PlannedEdit(where, was, content)
