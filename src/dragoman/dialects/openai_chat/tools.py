"""Tool declarations and tool choice of Chat Completions, and the names and schemas it takes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from ...canon.parts import Path
from ...canon.request import Request
from ...canon.tools import Choice, Grammar, HostedTool, Tool
from ...codec import jsontext
from ...codec.extras import carried, gather, restore
from ...codec.memo import ToolMemo
from ...codec.names import Names
from ...crossing import Crossing
from . import wire

NAMES = Names(r"[a-zA-Z0-9_-]{1,64}")

IDS = re.compile(r"[!-~]{1,40}\Z")
"""Hosts make ids of many forms; older OpenAI models take 40 characters."""

_SCHEMA_AT = ("function", "parameters")


def read_tools(body: bytes, crossing: Crossing) -> tuple[Tool | HostedTool, ...]:
    tools, unknown, _ = wire.TOOLS.admit(body, ("tools",))
    out: list[Tool | HostedTool] = []
    for i, tool in enumerate(tools or ()):
        at: Path = ("tools", i)
        function = tool.function
        extra = None
        if unknown or tool.cache_control:
            extra = gather(crossing, at, unknown, carried(tool, ("cache_control",)))
        if function is not None and tool.type == "function":
            schema = jsontext.text(function.parameters) if function.parameters else None
            out.append(
                Tool(
                    function.name,
                    function.description or "",
                    None if schema == "null" else schema,
                    function.strict,
                    extra=extra,
                    at=at,
                    schema_at=_SCHEMA_AT,
                )
            )
        elif tool.custom is not None and tool.type == "custom":
            grammar = None
            if tool.custom.format is not None and tool.custom.format.grammar is not None:
                grammar = Grammar(tool.custom.format.grammar.syntax, tool.custom.format.grammar.definition)
            description = tool.custom.description or ""
            out.append(Tool(tool.custom.name, description, custom=True, grammar=grammar, extra=extra, at=at))
        else:
            value = tool.strange or jsontext.raw(tool)
            out.append(HostedTool(wire.NAME, jsontext.kind(value), value, at=at))
    return tuple(out)


def functions_from(functions: list[wire.FunctionDef]) -> tuple[Tool, ...]:
    """The legacy `functions` field: read, never written."""
    return tuple(
        [
            Tool(
                f.name,
                f.description or "",
                jsontext.text(f.parameters) if f.parameters else None,
                at=("functions", i),
                schema_at=("parameters",),
            )
            for i, f in enumerate(functions)
        ]
    )


def write_tools(tools: Iterable[Tool | HostedTool], crossing: Crossing) -> bytes:
    return jsontext.encode(tools_to(tools, crossing))


def tools_to(tools: Iterable[Tool | HostedTool], crossing: Crossing) -> list[Any]:
    out: list[Any] = []
    for tool in tools:
        if isinstance(tool, HostedTool):
            if tool.dialect == wire.NAME:
                out.append(tool.value)
            else:
                crossing.lose("tool.hosted.dropped", tool.at, tool.kind)
            continue
        if tool.deferred:
            crossing.lose("tool.deferred.expanded", tool.at)
        if tool.output_schema is not None:
            crossing.lose("tool.output_schema.dropped", tool.at)
        if tool.cache is not None:
            crossing.lose("cache.dropped", tool.at, "on a tool")
        inner: dict[str, Any] = {"name": NAMES.send(tool.name, tool.namespace, crossing, tool.at)}
        if tool.description:
            inner["description"] = tool.description
        if tool.custom:
            if tool.grammar is not None:
                grammar = {"syntax": tool.grammar.syntax, "definition": tool.grammar.definition}
                inner["format"] = {"type": "grammar", "grammar": grammar}
            out.append(restore({"type": "custom", "custom": inner}, tool.extra, wire.NAME))
            continue
        if tool.schema is not None:
            inner["parameters"] = Raw(tool.schema)
        if tool.strict is not None:
            inner["strict"] = tool.strict
        written = {"type": "function", "function": inner}
        out.append(written if tool.extra is None else restore(written, tool.extra, wire.NAME))
    return out


MEMO = ToolMemo(wire.NAME, read_tools, tools_to)


def read_choice(choice: str | wire.ToolChoice, crossing: Crossing) -> Choice | None:
    at = ("tool_choice",)
    if isinstance(choice, str):
        if choice in ("auto", "none", "required"):
            return Choice(choice, at=at)  # type: ignore[arg-type]
        if choice == "any":  # Mistral's word for required
            return Choice("required", at=at)
        return Choice("auto", extra=crossing.keep((), {"tool_choice": jsontext.raw(choice)}), at=at)
    named = choice.function or choice.custom
    if named is not None:
        return Choice("one", (named.name,), at=at)
    if choice.allowed_tools is not None:
        allowed = choice.allowed_tools
        names = [t.name for t in (tool.function or tool.custom for tool in allowed.tools) if t is not None]
        return Choice("required" if allowed.mode == "required" else "auto", tuple(names), at=at)
    value = choice.strange or jsontext.raw(choice)
    return Choice("auto", extra=crossing.keep((), {"tool_choice": value}), at=at)


def write_choice(request: Request, crossing: Crossing) -> Any:
    """The `tool_choice` value, or None when there is nothing to say."""
    choice = request.choice
    if choice is None:
        return None
    if choice.extra is not None and wire.NAME in choice.extra:
        return choice.extra[wire.NAME]["tool_choice"]
    customs = {tool.name for tool in request.tools if isinstance(tool, Tool) and tool.custom}
    named = []
    for name in choice.names:
        kind = "custom" if name in customs else "function"
        named.append({"type": kind, kind: {"name": NAMES.send(name, "", crossing, choice.at)}})
    if choice.mode == "one":
        return named[0]
    if named:
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": named}}
    return choice.mode
