"""Reads and writes tools. Ollama has no tool_choice (server sources, 2026-08), so a choice becomes a shorter list of
tools.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import Raw

from ...canon.parts import Path
from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...codec import json_text
from ...codec.cache_memory_budget import remembered
from ...codec.custom_tools import wrap_tool
from ...codec.dialect_extras import gather
from ...codec.schema import Subset, adapt
from ...codec.tool_declaration_cache import ToolMemo
from ...codec.tool_names import Names
from ...context import Context
from . import wire
from .original_values import put_back

NAMES = Names(r"[a-zA-Z0-9_-]{1,64}")
"""Names that the template and the parser of every model take. The server checks no names (server sources, 2026-08)."""
ANY_NAMES = Names(r"(?s).+")
"""Names that clients of this dialect chose."""

IDS = re.compile(r"(?s).+\Z")
"""The server checks no ids."""

_KEYWORDS = frozenset({"anyOf", "type", "items", "description", "enum", "properties", "required"})
PARAMETERS = Subset(
    keywords=_KEYWORDS,
    refs="inline",
    const="enum",
    one_of="any_of",
    all_of="merge",
    root_object=True,
)
"""The keywords of a property's schema that the server keeps before it renders the template. It drops all others
silently (server sources, 2026-08). At the root it also drops the description, so `_fit` moves that.
"""

_NOTHING = Raw(b'{"type":"object","properties":{}}')
_SCHEMA_AT = ("function", "parameters")
_IDLE = " dropped"
_MAX_REMEMBERED = 65_536


def read_tools(body: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
    """Read the value of `tools`."""
    tools, unknown, _ = wire.TOOLS.admit(body, ("tools",))
    out: list[Tool | HostedTool] = []
    for i, tool in enumerate(tools or ()):
        at: Path = ("tools", i)
        function = tool.function
        extra = gather(context, at, unknown) if unknown else None
        if function is None:
            value = tool.strange or json_text.raw(put_back(dict(json_text.fields(json_text.raw(tool))), extra))
            out.append(HostedTool(wire.NAME, json_text.kind(value), value, at=at))
            continue
        schema = json_text.text(function.parameters) if function.parameters else "null"
        out.append(
            Tool(
                function.name,
                function.description or "",
                None if schema == "null" else schema,
                extra=extra,
                at=at,
                schema_at=_SCHEMA_AT,
            )
        )
    return tuple(out)


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """Write the value of `tools`."""
    return json_text.encode(tools_to(tools, context))


def tools_to(tools: Iterable[Tool | HostedTool], context: Context) -> list[Any]:
    """The declarations of all tools. Ollama runs no hosted tools."""
    out: list[Any] = []
    for tool in tools:
        if not isinstance(tool, HostedTool):
            out.append(_write_tool(tool, context))
        elif tool.dialect == wire.NAME:
            out.append(tool.value)
        else:
            context.lose("tool.hosted.dropped", tool.at, tool.kind)
    return out


MEMO = ToolMemo(wire.NAME, read_tools, tools_to)


def _write_tool(tool: Tool, context: Context) -> dict[str, Any]:
    mine = context.source == wire.NAME
    if tool.deferred:
        context.lose("tool.deferred.expanded", tool.at)
    if tool.output_schema is not None:
        context.lose("tool.output_schema.dropped", tool.at)
    if tool.cache is not None:
        context.lose("cache.dropped", tool.at, "on a tool")
    # No field holds the model to a tool's schema; only `format` is compiled to a grammar (server sources, 2026-08).
    if tool.strict:
        context.lose("tool.strict.dropped", tool.at)
    name = (ANY_NAMES if mine else NAMES).send(tool.name, tool.namespace, context, tool.at)
    if tool.custom:
        tool = wrap_tool(tool, name, context)
    inner: dict[str, Any] = {"name": name}
    if tool.description:
        inner["description"] = tool.description
    if mine:
        if tool.schema is not None:
            inner["parameters"] = Raw(tool.schema)
        return put_back({"type": "function", "function": inner}, tool.extra)
    if tool.schema is not None:
        _write_schema(tool, tool.schema, inner, context)
    else:
        # `type` and `properties` are required members of `parameters` (server sources, 2026-08).
        inner["parameters"] = _NOTHING
    return {"type": "function", "function": inner}


class _Fitted(NamedTuple):
    """A schema in the server's subset."""

    schema: Raw
    words: str
    """The root's description, which the server drops."""
    changes: tuple[tuple[str, Path, str], ...]


def _fit(schema: str) -> _Fitted:
    """The schema in the server's subset. Keywords without a meaning for the model (titles, `$schema`, a closed object)
    are reported together, once per tool: the server drops nearly every keyword, and the important losses must stay
    visible.
    """
    fitted, changes = adapt(schema.encode(), PARAMETERS)
    idle = [change for change in changes if change.detail.endswith(_IDLE)]
    grouped = len(idle) > 1
    losses = [
        (change.code, change.path, change.detail)
        for change in changes
        if not (grouped and change.detail.endswith(_IDLE))
    ]
    if grouped:
        counted = Counter([change.detail.removesuffix(_IDLE) for change in idle])
        losses.append((idle[0].code, (), ", ".join([f"{word} ({count})" for word, count in counted.items()]) + _IDLE))
    if b'"description"' not in fitted:
        return _Fitted(Raw(fitted), "", tuple(losses))
    fields = json_text.fields(fitted)
    description = fields.pop("description", None)
    if description is None:
        return _Fitted(Raw(fitted), "", tuple(losses))
    if json_text.is_object(schema) and "description" in json_text.fields(schema):
        losses.append(("schema.rewritten", ("description",), "moved to the description of the tool"))
    return _Fitted(json_text.raw(fields), str(json_text.plain(description)), tuple(losses))


# A schema comes back with every turn of a conversation, and nearly every one changes here.
_remembered = remembered(_fit, lambda fitted, schema: 500 + 2 * len(schema) + 300 * len(fitted.changes))


def _write_schema(tool: Tool, schema: str, function: dict[str, Any], context: Context) -> None:
    fitted = _remembered(schema) if len(schema) <= _MAX_REMEMBERED else _fit(schema)
    if fitted.changes:
        at = tool.at + tool.schema_at
        for code, path, detail in fitted.changes:
            context.lose(code, at + path, detail)
    if fitted.words:
        before = function.get("description", "")
        function["description"] = f"{before}\n\n{fitted.words}" if before else fitted.words
    function["parameters"] = fitted.schema


def offered(request: Request, context: Context) -> tuple[Tool | HostedTool, ...]:
    """The tools to declare. The wire has no choice: `none` declares no tools, a named tool or a subset declares a
    shorter list, and no setting forces a call (server sources, 2026-08).
    """
    choice = request.choice
    if choice is None or not request.tools:
        if choice is not None and choice.mode in ("required", "one", "none"):
            reason = "there is no tool to choose"
            context.lose("choice.dropped", choice.at, reason, "info" if choice.mode == "none" else None)
        return request.tools
    if choice.mode == "none":
        for tool in request.tools:
            context.lose("choice.none.by_omission", tool.at, tool.kind if isinstance(tool, HostedTool) else tool.name)
        context.lose("choice.none.by_omission", choice.at)
        return ()
    tools = request.tools
    if choice.names and any(isinstance(tool, Tool) and tool.name in choice.names for tool in tools):
        # A shorter list is the only way to keep the model from the other tools.
        tools = _named(request.tools, choice.names, context)
        if len(tools) < len(request.tools):
            context.lose("choice.by_filter", choice.at)
    elif choice.names:
        context.lose("choice.dropped", choice.at, f"{', '.join(choice.names)} is not among the tools")
    if choice.mode in ("required", "one"):
        context.lose("choice.dropped", choice.at, "the model is free not to call")
    return tools


def _named(
    tools: tuple[Tool | HostedTool, ...], names: tuple[str, ...], context: Context
) -> tuple[Tool | HostedTool, ...]:
    chosen: list[Tool | HostedTool] = []
    for tool in tools:
        if isinstance(tool, HostedTool) or tool.name in names:
            chosen.append(tool)
        else:
            context.lose("choice.by_filter", tool.at, f"{tool.name} is not offered")
    return tuple(chosen)
