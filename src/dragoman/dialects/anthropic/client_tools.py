"""Owns the tools that Anthropic defines and the client runs (bash, text editor, memory). They become functions for
other dialects.

Claude knows their arguments from training, so a client declares only their type. Their calls and results are ordinary
blocks. With the arguments written out, another model can call them. Source: Anthropic's documentation of these tools
(2026-11).
"""

from __future__ import annotations

import re
from typing import Any

from ...canon.tools import Tool
from ...codec.hosted_tools import Row
from ...codec.json_text import encode
from .wire import NAME

_TEXT = {"type": "string"}
_LINES = {"type": "array", "items": {"type": "integer"}, "description": "First and last line, from 1; -1: to the end."}
_EDITS: dict[str, Any] = {
    "path": _TEXT,
    "file_text": {"type": "string", "description": "For create: the whole text."},
    "old_str": {"type": "string", "description": "For str_replace: the text to replace, which occurs once."},
    "new_str": {"type": "string", "description": "For str_replace: the text in its place."},
    "insert_line": {"type": "integer", "description": "For insert: the line after which the text goes; 0: the start."},
    "insert_text": {"type": "string", "description": "For insert: the text."},
    "view_range": {**_LINES, "description": "For view: " + _LINES["description"].lower()},  # type: ignore[attr-defined]
}


def _commands(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _row(family: str, kinds: str, description: str, properties: dict[str, Any], required: list[str]) -> Row:
    schema = encode({"type": "object", "properties": properties, "required": required}).decode()

    def function(value: Any) -> Tool | None:
        name = value.get("name") if isinstance(value, dict) else None
        return Tool(name, description, schema) if isinstance(name, str) and name else None

    quiet = frozenset({"type", "name", "cache_control"})
    return Row(NAME, family, family, re.compile(f"{family}|{kinds}"), quiet=quiet, function=function)


STANDARD = (
    _row(
        "bash",
        r"bash_\d{8}",
        "Runs a command in a bash session that stays open between calls.",
        {"command": _TEXT, "restart": {"type": "boolean", "description": "Starts a new session instead."}},
        [],
    ),
    _row(
        "text_editor",
        r"text_editor_\d{8}",
        "Views, creates and edits text files.",
        {"command": _commands("view", "create", "str_replace", "insert"), **_EDITS},
        ["command", "path"],
    ),
    _row(
        "memory",
        r"memory_\d{8}",
        "Keeps notes in files below /memories, which stay from one conversation to the next. Look there first.",
        {
            "command": _commands("view", "create", "str_replace", "insert", "delete", "rename"),
            **_EDITS,
            "old_path": {"type": "string", "description": "For rename."},
            "new_path": {"type": "string", "description": "For rename."},
        },
        ["command"],
    ),
)
