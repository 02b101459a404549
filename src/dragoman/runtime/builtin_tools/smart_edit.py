"""Owns the tool smart_edit: a text in a file is replaced, also if whitespace differs. A model helps if the text is not
found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ...canon.parts import Text
from ...errors import DragomanError
from .. import edit_matching, file_edit, text_file_and_diff, workspace_file_access
from ..file_edit import PlannedEdit
from ..text_file_and_diff import TextFile
from ..tool_interface import Confirmation, Kind, Outcome, Tool, ToolEnvironment, ToolError
from ..workspace_file_access import WorkspacePath

REMEMBERED = 32
MAX_ASKED = 200_000
"""Most characters of a file in a question to the model."""


class Correction(Struct, frozen=True):
    """The model's correction of an edit."""

    search: str
    replace: str
    explanation: str = ""


class SmartEdit(Tool):
    """The tool `smart_edit`. Replaces a text in a file, also with other whitespace."""

    name = "smart_edit"
    description = (
        "Replaces text in a file of the workspace. 'old_string' is searched for exactly first, then with other "
        "whitespace. It must match at one place only. 'instruction' describes the change and its reason. With an empty "
        "'old_string' a new file is made."
    )
    kind: Kind = "edit"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file's absolute path."},
            "instruction": {"type": "string", "description": "What is to be changed, where, and why."},
            "old_string": {"type": "string", "description": "The text to replace; empty to make a new file."},
            "new_string": {"type": "string", "description": "The text to put in its place."},
        },
        "required": ["file_path", "instruction", "old_string", "new_string"],
    }

    def __init__(self) -> None:
        self._corrections: dict[tuple[str, str, str, str], Correction] = {}

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return file_edit.check_path(arguments, around)

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        return file_edit.confirmation(await self._plan_edit(arguments, around))

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        edit = await self._plan_edit(arguments, around)
        path = arguments["file_path"]
        if edit.creates:
            return file_edit.apply_edit(edit, around, f"Created new file: {path} with provided content.")
        return file_edit.apply_edit(edit, around, f"Successfully modified file: {path} ({edit.count} replacements).")

    async def _plan_edit(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> PlannedEdit:
        where = workspace_file_access.path_in_workspace(arguments["file_path"], around.workspace)
        old, new = arguments["old_string"], arguments["new_string"]
        was = text_file_and_diff.read(where)
        if was.was is None:
            if old:
                message = f"File not found: {where.path}. Use an empty old_string to create a new file."
                raise ToolError("file_not_found", message)
            return PlannedEdit(where, was, new)
        if not old:
            raise ToolError("attempt_to_create_existing_file", f"File already exists, cannot create: {where.path}")
        try:
            return _find_edit(where, was, old, new)
        except ToolError:
            shown = around.shown
            if shown is not None and shown.original == was.text:
                return PlannedEdit(where, was, shown.new)  # the person approved the model's correction
            correction = await self._correct_edit(arguments, was, around)
            if correction is None:
                raise
        return _find_edit(where, was, correction.search, correction.replace)

    async def _correct_edit(
        self, arguments: Mapping[str, Any], was: TextFile, around: ToolEnvironment
    ) -> Correction | None:
        """A model's correction of an edit that finds nothing. The correction is kept, so that the run makes the edit
        that was shown."""
        if around.ask is None or len(was.text) > MAX_ASKED:
            return None
        key = (was.text, arguments["instruction"], arguments["old_string"], arguments["new_string"])
        known = self._corrections.get(key)
        if known is not None:
            return known
        try:
            answer = await around.ask(_question(arguments, was))
        except DragomanError:
            return None  # then the original failure is reported
        text = "".join([part.text for part in answer.parts if isinstance(part, Text)])
        # Models put words or a code fence around the JSON.
        try:
            found = msgspec.json.decode(text[text.find("{") : text.rfind("}") + 1], type=Correction)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
        while len(self._corrections) >= REMEMBERED:
            del self._corrections[next(iter(self._corrections))]
        self._corrections[key] = found
        return found


def _find_edit(where: WorkspacePath, was: TextFile, old: str, new: str) -> PlannedEdit:
    changed, count = edit_matching.replace_first_match(was.text, old, new, was.end) if old else (was.text, 0)
    path = where.path
    if count == 0:
        message = f"Failed to edit, 0 occurrences found for old_string in {path}. The file does not contain the text,"
        raise ToolError("edit_no_occurrence_found", f"{message} also not with other whitespace. Read the file again.")
    if count != 1:
        message = f"Failed to edit, expected 1 occurrence but found {count} for old_string in file: {path}"
        raise ToolError("edit_expected_occurrence_mismatch", message)
    if changed == was.text:
        raise ToolError("edit_no_change", f"No changes to apply: the new content is the same in {path}")
    return PlannedEdit(where, was, changed, count)


def _question(arguments: Mapping[str, Any], was: TextFile) -> str:
    return (
        "An edit of a file failed, because the text to be replaced was not found in it exactly once. Say what should "
        "be replaced instead: `search`, which must be an exact excerpt of the file that occurs in it exactly once, and "
        "`replace`, the text to put there, so that the instruction is followed.\n"
        'Answer with one JSON object and nothing else: {"search": "...", "replace": "...", "explanation": "..."}\n\n'
        f"<instruction>\n{arguments['instruction']}\n</instruction>\n"
        f"<search>\n{arguments['old_string']}\n</search>\n"
        f"<replace>\n{arguments['new_string']}\n</replace>\n"
        f"<file>\n{text_file_and_diff.without_invalid_bytes(was.text)}\n</file>\n"
    )
