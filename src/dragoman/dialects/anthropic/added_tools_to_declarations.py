"""Declares tools that a Messages conversation adds later, for targets that declare all tools at the start."""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.parts import Opaque, Part
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...context import Context
from ...errors import WireError
from .tools import read_tools

Tools = tuple[Tool | HostedTool, ...]

ADDITION = "tool_addition"
_DEFINITION = "tool_definition"
_REFERENCE = "tool_reference"
_BLOCK = ("type", "tool")
_TOOL = ("type", "name", "tool_name", "definition")


def adds_tools(turns: tuple[Turn, ...]) -> bool:
    """Whether a turn adds a tool."""
    return any(type(part) is Opaque and part.kind == ADDITION for turn in turns for part in turn.parts)


def merged(turns: tuple[Turn, ...], tools: Tools, context: Context) -> tuple[tuple[Turn, ...], Tools]:
    """The turns without additions, and all tools. A removal stays an Opaque part, because no other dialect has it."""
    known = {tool.name for tool in tools if isinstance(tool, Tool)}
    added: list[Tool | HostedTool] = []
    out: list[Turn] = []
    for turn in turns:
        if any(type(part) is Opaque and part.kind == ADDITION for part in turn.parts):
            parts = tuple([part for part in turn.parts if not _takes(part, known, added, context)])
            if not parts:
                continue
            turn = msgspec.structs.replace(turn, parts=parts)
        out.append(turn)
    return tuple(out), tools + tuple(added)


def _takes(part: Part, known: set[str], added: list[Tool | HostedTool], context: Context) -> bool:
    """Whether a part adds a tool that is now declared."""
    if not isinstance(part, Opaque) or part.kind != ADDITION:
        return False
    fields = json_text.fields(part.value)
    what: Any = json_text.plain(fields["tool"]) if "tool" in fields else None
    if not isinstance(what, dict):
        return False
    if what.get("type") == _DEFINITION and isinstance(what.get("definition"), dict):
        found = _defined(part, what["definition"], context)
        if not found:
            return False
        for tool in found:
            # A tool that is declared at the start may be added again, and names are unique in a request (lint rule
            # ANT-003).
            if not isinstance(tool, Tool) or tool.name not in known:
                added.append(tool)
                known |= {tool.name} if isinstance(tool, Tool) else set()
    elif what.get("type") != _REFERENCE or str(what.get("name", what.get("tool_name"))) not in known:
        return False
    context.lose("tool.merged", part.at)
    for at, members, known_names in (
        (part.at, fields, _BLOCK),
        ((*part.at, "tool"), json_text.fields(fields["tool"]), _TOOL),
    ):
        rest = {name: value for name, value in members.items() if name not in known_names}
        if rest:
            context.keep(at, rest)
    return True


def _defined(part: Opaque, definition: dict[str, Any], context: Context) -> Tools:
    apart = Context(context.source, context.target)
    try:
        found = read_tools(json_text.encode([definition]), apart)
    except WireError:
        return ()  # the part stays Opaque and is reported
    at = (*part.at, "tool", "definition")
    for _, fields in apart.kept:
        context.keep(at, fields)
    return tuple([msgspec.structs.replace(tool, at=at) for tool in found])
