"""Owns the tool replace: an exact text in a file is replaced, if it occurs as often as expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import edit_matching, file_edit, text_file_and_diff, workspace_file_access
from ..file_edit import PlannedEdit
from ..tool_interface import Confirmation, Kind, Outcome, Tool, ToolEnvironment, ToolError


class Replace(Tool):
    """The tool `replace`. Replaces an exact text in a file."""

    name = "replace"
    description = (
        "Replaces text in a file of the workspace. 'old_string' must be the exact text, with its whitespace and enough "
        "lines around it to be unique; it must occur once, or 'expected_replacements' times. With an empty "
        "'old_string' a new file is made."
    )
    kind: Kind = "edit"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file's absolute path."},
            "old_string": {"type": "string", "description": "The exact text to replace; empty to make a new file."},
            "new_string": {"type": "string", "description": "The exact text to put in its place."},
            "expected_replacements": {
                "type": "number",
                "description": "How often the text occurs, if not once; all of them are replaced.",
                "minimum": 1,
            },
        },
        "required": ["file_path", "old_string", "new_string"],
    }

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        expected = arguments.get("expected_replacements", 1)
        if expected != int(expected):
            return "expected_replacements must be a whole number."
        return file_edit.check_path(arguments, around)

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        return file_edit.confirmation(_plan_edit(arguments, around))

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        # Planned again: the file may have changed since the person was asked.
        edit = _plan_edit(arguments, around)
        path = arguments["file_path"]
        if edit.creates:
            return file_edit.apply_edit(edit, around, f"Created new file: {path} with provided content.")
        return file_edit.apply_edit(edit, around, f"Successfully modified file: {path} ({edit.count} replacements).")


def _plan_edit(arguments: Mapping[str, Any], around: ToolEnvironment) -> PlannedEdit:
    where = workspace_file_access.path_in_workspace(arguments["file_path"], around.workspace)
    path, old, new = where.path, arguments["old_string"], arguments["new_string"]
    expected = int(arguments.get("expected_replacements", 1))
    was = text_file_and_diff.read(where)
    if was.was is None:
        if old:
            raise ToolError("file_not_found", f"File not found: {path}. Use an empty old_string to create a new file.")
        return PlannedEdit(where, was, new)
    if not old:
        raise ToolError("attempt_to_create_existing_file", f"File already exists, cannot create: {path}")
    changed, count = edit_matching.match_exactly(was.text, old, new, was.end)
    if count == 0:
        message = f"Failed to edit, 0 occurrences found for old_string in {path}. The exact text was not found."
        raise ToolError(
            "edit_no_occurrence_found", f"{message} Read the file again, and mind whitespace and indentation."
        )
    if count != expected:
        noun = "occurrence" if expected == 1 else "occurrences"
        message = f"Failed to edit, expected {expected} {noun} but found {count} for old_string in file: {path}"
        raise ToolError("edit_expected_occurrence_mismatch", message)
    if changed == was.text:
        raise ToolError("edit_no_change", f"No changes to apply: old_string and new_string are the same in {path}")
    return PlannedEdit(where, was, changed, count)
