"""Owns the tool save_memory: it keeps a fact for later conversations in our section of the user's file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...store.user_files import require_only_owner_writes
from .. import file_edit, text_file_and_diff, workspace_file_access
from ..file_edit import PlannedEdit
from ..tool_interface import Confirmation, Kind, Outcome, Tool, ToolEnvironment, ToolError
from ..workspace_file_access import WorkspacePath

FILE = "memory.md"
SECTION = "## Added memories"
_SECTIONS = {"GEMINI.md": "## Gemini Added Memories"}
"""Headings in files that other agents read too."""


class SaveMemory(Tool):
    """The tool `save_memory`. Keeps a fact for later conversations."""

    name = "save_memory"
    description = (
        "Saves a fact for later conversations. Use it when the user asks for something to be remembered, or states a "
        "lasting preference; not for what only matters now."
    )
    kind: Kind = "remember"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {"fact": {"type": "string", "description": "The fact, as a sentence that stands by itself."}},
        "required": ["fact"],
    }

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return None if _line(arguments["fact"]) else 'Parameter "fact" must be a non-empty string.'

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        edit = _plan_edit(arguments["fact"], around)
        diff = text_file_and_diff.file_diff(edit.where, edit.was, edit.new)
        return Confirmation(f"Remember: {_line(arguments['fact'])}", "remember", diff)

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        fact = arguments["fact"]
        edit = _plan_edit(fact, around)
        try:
            edit.where.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            made = file_edit.apply_edit(edit, around, "")
            if edit.creates:  # `remembered` refuses a file that other users can write
                edit.where.path.chmod(0o600)
        except (ToolError, OSError) as error:
            raise _json_error(error) from error
        message = f'Okay, I\'ve remembered that: "{fact}"'
        if around.wanted is not None:
            message = "The memory file now has the text that the user wrote."
        return Outcome(f'{{ "success": true, "message": {_quoted(message)} }}', made.display)


def read_memories(config: Path, file: Path | None = None) -> str:
    """All remembered facts, for a new conversation. "": none. ConfigError: other users can write the file."""
    place = _memory_path(config, file)
    found = text_file_and_diff.read(place)
    if found.was is not None:
        require_only_owner_writes(place.path, found.was)
    return text_file_and_diff.without_invalid_bytes(found.text)


def _memory_path(config: Path, file: Path | None) -> WorkspacePath:
    """The place of the file. The user may have made it a link, so links are followed."""
    where = workspace_file_access.real_path(file or config / FILE)
    return WorkspacePath(where.parent, (where.name,))


def _plan_edit(fact: str, around: ToolEnvironment) -> PlannedEdit:
    if around.config is None and around.memory is None:
        raise _json_error("No folder for remembered facts is configured.")
    where = _memory_path(around.config or Path(), around.memory)
    section = _SECTIONS.get((around.memory or Path(FILE)).name, SECTION)
    try:
        was = text_file_and_diff.read(where)
    except ToolError as error:
        raise _json_error(error) from error
    return PlannedEdit(where, was, with_fact(was.text, fact, section))


def _json_error(why: object) -> ToolError:
    """A failure with a JSON text for the model."""
    return ToolError("memory_failed", f'{{ "success": false, "error": {_quoted(f"Failed to save memory. {why}")} }}')


def with_fact(text: str, fact: str, section: str = SECTION) -> str:
    """The text of a memory file with one more fact at the end of our section. A missing section is added."""
    # The file keeps its line ends.
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"- {_line(fact)}{end}"
    head = re.search(rf"^{re.escape(section)}[ \t]*\r?$\n?", text, re.MULTILINE)
    if head is None:
        gap = "" if not text else end if text.endswith("\n") else end * 2
        return f"{text}{gap}{section}{end}{line}"
    following = re.compile(r"^## ", re.MULTILINE).search(text, head.end())
    stop = following.start() if following else len(text)
    body = text[head.start() : stop].rstrip()
    rest = text[stop:]
    return text[: head.start()] + f"{body}{end}{line}" + (f"{end}{rest}" if rest else "")


def _line(fact: str) -> str:
    """A fact on one line, without a list marker."""
    return re.sub(r"\s+", " ", fact).strip().lstrip("-").strip()


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()
