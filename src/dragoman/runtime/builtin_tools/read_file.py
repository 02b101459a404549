"""Owns the tool read_file: the text of a file, whole or in part, or the file as an image, audio, video or document."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ...canon.parts import Media
from .. import file_content, ignore_options, workspace_file_access
from ..tool_interface import Kind, Outcome, Tool, ToolEnvironment


class ReadFile(Tool):
    """The tool `read_file`. Reads one file."""

    name = "read_file"
    description = (
        "Reads a file of the workspace. Text is returned without a change. A long file is cut; the answer then "
        "names the shown lines and the 'offset' for the next lines. Images, PDF, audio and video are returned as media."
    )
    kind: Kind = "read"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "absolute_path": {"type": "string", "description": "The file's absolute path."},
            "offset": {"type": "number", "description": "For text: the number of lines to skip."},
            "limit": {"type": "number", "description": "For text: the largest number of lines to read."},
        },
        "required": ["absolute_path"],
    }

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        path, offset, limit = arguments["absolute_path"], arguments.get("offset", 0), arguments.get("limit", 1)
        if not path.startswith("/"):
            return f"File path must be absolute, but was relative: {path}. You must provide an absolute path."
        if offset < 0 or offset != int(offset):
            return "Offset must be a whole number, and not negative."
        if limit < 1 or limit != int(limit):
            return "Limit must be a whole number, and positive."
        return ignore_options.hidden_file_error(workspace_file_access.path_in_workspace(path, around.workspace))

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        where = workspace_file_access.path_in_workspace(arguments["absolute_path"], around.workspace)
        limit = arguments.get("limit")
        count = None if limit is None else int(limit)
        found = await asyncio.to_thread(file_content.read, where, int(arguments.get("offset", 0)), count)
        if isinstance(found, Media):
            return Outcome((found,), f"Read {found.kind} file: {where.path}")
        if found.whole:
            return Outcome(found.text, f"Read {where.path}")
        if found.start >= found.total:
            message = f"The file has {found.total} line(s); there is nothing from offset {found.start} on."
            return Outcome(f"[{message}]", message)
        return Outcome(_excerpt(found), f"Read lines {found.start + 1}-{found.end} of {found.total} from {where.path}")


def _excerpt(found: file_content.FileLines) -> str:
    """A piece of a file, with its line range and a hint for the next piece."""
    notice = f"The content is truncated: lines {found.start + 1}-{found.end} of {found.total} total lines are shown."
    if found.cut:
        notice += f" Lines of more than {file_content.MAX_LINE} characters are cut."
    if found.end < found.total:
        notice += f" To read on, call read_file with offset: {found.end}."
    return f"[{notice}]\n{found.text}"
