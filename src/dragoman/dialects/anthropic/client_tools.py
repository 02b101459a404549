"""Owns the tools that Anthropic defines and the client runs (bash, text editor, memory, computer). They become
functions for other dialects.

Claude was trained on their arguments, so a client declares only their type. Their calls and results are ordinary
blocks. With the arguments written out, another model can call them. Source: Anthropic's documentation of these tools
(2026-11).
"""

from __future__ import annotations

import re
from typing import Any

from ...canon.tools import Tool
from ...codec.hosted_tools import HostedToolRow
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


def _row(family: str, kinds: str, description: str, properties: dict[str, Any], required: list[str]) -> HostedToolRow:
    schema = encode({"type": "object", "properties": properties, "required": required}).decode()

    def function(value: Any) -> Tool | None:
        name = value.get("name") if isinstance(value, dict) else None
        return Tool(name, description, schema) if isinstance(name, str) and name else None

    quiet = frozenset({"type", "name", "cache_control"})
    # The type word has the date of its version, such as bash_20250124 (anthropic 2.8.0, 2026-11).
    return HostedToolRow(NAME, family, family, re.compile(f"{family}|{kinds}"), quiet=quiet, function=function)


_POINT = {"type": "array", "items": {"type": "integer"}, "description": "x and y in pixels, from the upper left."}
_SCREEN = ("display_width_px", "display_height_px", "display_number", "enable_zoom")
_FIRST_ACTIONS = (
    *("screenshot", "cursor_position", "mouse_move", "left_click", "right_click", "middle_click", "double_click"),
    *("left_click_drag", "type", "key"),
)
_LATER_ACTIONS = ("triple_click", "left_mouse_down", "left_mouse_up", "scroll", "hold_key", "wait")
_LATER = ("scroll_direction", "scroll_amount", "duration")
"""Not known to clients of the first version, computer_20241022."""
_COMPUTER: dict[str, Any] = {
    "coordinate": {**_POINT, "description": "For clicks, moves, drags and scrolls: " + _POINT["description"]},  # type: ignore[operator]
    "start_coordinate": {**_POINT, "description": "For left_click_drag: where it begins."},
    "text": {"type": "string", "description": "For type: the text. For key and hold_key: the keys, as in ctrl+s."},
    "scroll_direction": {"type": "string", "enum": ["up", "down", "left", "right"]},
    "scroll_amount": {"type": "integer", "description": "For scroll: how many steps."},
    "duration": {"type": "number", "description": "For hold_key and wait: seconds."},
}


def _computer(value: Any) -> Tool | None:
    """Computer use as a function, with its actions written out for models without training on this tool. The
    description has the size of the screen."""
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name:
        return None
    actions, properties = list(_FIRST_ACTIONS), dict(_COMPUTER)
    if value.get("type") == "computer_20241022":
        properties = {word: field for word, field in _COMPUTER.items() if word not in _LATER}
    else:
        actions += _LATER_ACTIONS
    # `zoom` exists only if the client switched it on (Anthropic's documentation of the tool, 2026-11).
    if value.get("enable_zoom") is True:
        actions.append("zoom")
        region = {"type": "array", "items": {"type": "integer"}, "description": "For zoom: left, top, right, bottom."}
        properties["region"] = region
    width, height = value.get("display_width_px"), value.get("display_height_px")
    # Coordinates are pixels of this screen, and only the declaration names its size.
    size = f" of {width} by {height} pixels" if isinstance(width, int) and isinstance(height, int) else ""
    description = f"Uses mouse and keyboard on a screen{size}, and takes screenshots of it. Take one before you click."
    whole = {"action": {"type": "string", "enum": actions}, **properties}
    schema = encode({"type": "object", "properties": whole, "required": ["action"]}).decode()
    return Tool(name, description, schema)


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
    HostedToolRow(
        NAME,
        "computer",
        "computer",
        re.compile(r"computer|computer_\d{8}"),
        quiet=frozenset({"type", "name", "cache_control", *_SCREEN}),
        function=_computer,
    ),
)
