"""Reads tools, calls, results and parts of Messages or Responses in a Chat request.

Some clients send the shapes of one provider to any address. For another dialect they are read by their meaning; within
this dialect they stay unchanged.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Media, Opaque, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import Choice, HostedTool, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.history_facts import facts_of
from ...codec.media import guess_mime, split_data_url
from ...context import Context
from . import wire
from .tools import CACHE_CONTROL, lifetime

_CALL, _RESULT = "tool_use", "tool_result"
_TOOL = frozenset({"type", "name", "description", "input_schema", "parameters", "strict"})
_TOOLS = ("", "custom", "function")
_NAMED = "tool_choice/name"
_KNOWN = {
    _CALL: frozenset({"type", "id", "name", "input"}),
    _RESULT: frozenset({"type", "tool_use_id", "content", "is_error"}),
    "text": frozenset({"type", "text"}),
    "image": frozenset({"type", "source"}),
    "input_text": frozenset({"type", "text"}),
    "output_text": frozenset({"type", "text", "annotations"}),
    "input_image": frozenset({"type", "image_url", "detail"}),
}
_CHOICES = {"auto": "auto", "none": "none", "any": "required", "tool": "one", "function": "one"}


def is_mixed(request: Request, context: Context) -> bool:
    """Whether the request holds shapes of another dialect."""
    if request.choice is not None and request.choice.extra is not None:
        return True
    for tool in request.tools:
        if type(tool) is HostedTool and tool.kind in _TOOLS:
            return True
    if not facts_of(request.turns, context).has_opaque:
        return False
    return any(type(part) is Opaque and part.kind in _KNOWN for turn in request.turns for part in turn.parts)


def sorted_out(request: Request, context: Context) -> Request:
    """The request with these tools, calls and results as canon values."""
    turns: list[Turn] = []
    for turn in request.turns:
        parts = [_read(part, context) for part in turn.parts]
        results = tuple([part for part in parts if type(part) is ToolResult])
        rest = tuple([part for part in parts if type(part) is not ToolResult])
        # In the canon a tool turn is separate, and results come before other content of their turn.
        if results:
            turns.append(Turn("tool", results, at=turn.at))
        if rest or not results:
            turns.append(msgspec.structs.replace(turn, parts=rest))
    tools = tuple([_tool(tool, context) for tool in request.tools])
    choice, extra = _choice(request.choice, context), request.extra
    if choice is not request.choice and extra is not None:
        extra = {**extra, wire.NAME: {name: extra[wire.NAME][name] for name in extra[wire.NAME] if name != _NAMED}}
    return msgspec.structs.replace(request, turns=tuple(turns), tools=tools, choice=choice, extra=extra)


def _read(part: Part, context: Context) -> Part:
    if type(part) is not Opaque or part.kind not in _KNOWN:
        return part
    if part.kind not in (_CALL, _RESULT):
        return _block(json_text.plain(part.value), part.at, context)
    fields = json_text.fields(part.value)
    name = _word(fields, "name")
    if part.kind == _CALL and not name:
        return part
    for more in fields.keys() - _KNOWN[part.kind]:
        context.lose("field.dropped", (*part.at, more))
    if part.kind == _CALL:
        arguments = json_text.text(fields["input"]) if "input" in fields else "{}"
        return ToolCall(_word(fields, "id"), name, arguments, at=part.at)
    failed = "is_error" in fields and bytes(fields["is_error"]) == b"true"
    content = _content(fields.get("content"), part.at, context)
    return ToolResult(_word(fields, "tool_use_id"), content, is_error=failed, at=part.at)


def _word(fields: dict[str, Raw], name: str) -> str:
    found = json_text.plain(fields[name]) if name in fields else ""
    return found if isinstance(found, str) else ""


def _content(content: Raw | None, at: Path, context: Context) -> tuple[Part, ...]:
    found: Any = json_text.plain(content) if content is not None else None
    if isinstance(found, str):
        return (Text(found, at=(*at, "content")),)
    blocks = found if isinstance(found, list) else []
    return tuple([_block(block, (*at, "content", i), context) for i, block in enumerate(blocks)])


def _block(block: Any, at: Path, context: Context) -> Part:
    kind = block.get("type") if isinstance(block, dict) else None
    for more in block.keys() - _KNOWN[kind] if kind in _KNOWN else ():
        context.lose("field.dropped", (*at, more))
    if kind in ("text", "input_text", "output_text") and isinstance(block.get("text"), str):
        return Text(block["text"], at=at)
    source = block.get("source") if kind == "image" else None
    if isinstance(source, dict) and source.get("type") == "base64":
        return Media("image", str(source.get("media_type", "")), str(source.get("data", "")), at=at)
    url = source.get("url") if isinstance(source, dict) else block.get("image_url") if kind == "input_image" else None
    if isinstance(url, str):
        inline, detail = split_data_url(url), str(block.get("detail") or "")
        if inline is not None:
            return Media("image", inline[0], inline[1], detail=detail, at=at)
        return Media("image", guess_mime(url), url=url, detail=detail, at=at)
    return Opaque(wire.NAME, str(kind or ""), json_text.raw(block), at=at)


def _tool(tool: Tool | HostedTool, context: Context) -> Tool | HostedTool:
    if not isinstance(tool, HostedTool) or tool.kind not in _TOOLS:
        return tool
    fields = json_text.fields(tool.value)
    name = _word(fields, "name")
    place = "input_schema" if "input_schema" in fields else "parameters"
    schema = json_text.text(fields[place]) if place in fields else "null"
    # Without a name or a schema the entry is a hosted tool of another provider, not a function in another shape.
    if not name or (schema == "null" and tool.kind != "function"):
        return tool
    _understood(tool.at, _TOOL, context)
    cache = lifetime(fields[CACHE_CONTROL]) if CACHE_CONTROL in fields else None
    strict = json_text.plain(fields["strict"]) if "strict" in fields else None
    return Tool(
        name,
        _word(fields, "description"),
        None if schema == "null" else schema,
        strict if isinstance(strict, bool) else None,
        cache=cache,
        at=tool.at,
        schema_at=(place,),
    )


def _choice(choice: Choice | None, context: Context) -> Choice | None:
    """Read `{"type": "any"}`, `{"type": "function", "name": ...}` and similar choices."""
    if choice is None or choice.extra is None or wire.NAME not in choice.extra:
        return choice
    value = next(iter(choice.extra[wire.NAME].values()))
    mode = _CHOICES.get(json_text.kind(value))
    fields = json_text.fields(value) if mode is not None else {}
    for place, more in context.kept:
        fields |= more if place == ("tool_choice",) else {}
    name = _word(fields, "name")
    if mode is None or (mode == "one" and not name):
        return choice
    _understood((), frozenset({"tool_choice"}), context)
    _understood(("tool_choice",), frozenset({"name"}), context)
    return Choice(mode, (name,) if mode == "one" else (), at=choice.at)  # type: ignore[arg-type]


def _understood(at: Path, names: frozenset[str], context: Context) -> None:
    """Remove the understood fields from the kept fields: understood fields are not losses."""
    remaining: list[tuple[Path, dict[str, Raw]]] = []
    for place, fields in context.kept:
        left = fields if place != at else {name: value for name, value in fields.items() if name not in names}
        if left:
            remaining.append((place, left))
    context.kept = remaining
