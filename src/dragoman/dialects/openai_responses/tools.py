"""Tool declarations and tool choice of Responses: flat tools, namespaces, the schemas strict mode takes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, Raw

from ...canon.parts import Path
from ...canon.request import Request
from ...canon.tools import Choice, Grammar, HostedTool, Tool
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.extras import carried, gather, restore
from ...codec.fit import fit
from ...codec.names import send
from ...codec.schema import Subset
from ...crossing import Crossing
from . import wire
from .message import own_fields, with_fields

NAMES = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")

LOOSE = Subset(root_object=True)
"""Without strict the server looks at the root only."""

STRICT = Subset(
    keywords=frozenset(
        {
            "$defs",
            "$ref",
            "additionalProperties",
            "anyOf",
            "const",
            "description",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "format",
            "items",
            "maxItems",
            "maximum",
            "minItems",
            "minimum",
            "multipleOf",
            "pattern",
            "properties",
            "required",
            "title",
            "type",
        }
    ),
    one_of="any_of",
    all_of="merge",
    modern=True,
    formats=frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}),
    root_object=True,
    closed=True,
    all_required=True,
)

_SCHEMA_AT = ("parameters",)
_HOSTED_OPTIONS = ("search_context_size", "user_location", "filters", "external_web_access")
_OPTIONS = ("allowed_callers", *_HOSTED_OPTIONS)
_GROUP = "namespace/"


def read_tools(body: bytes, crossing: Crossing) -> tuple[Tool | HostedTool, ...]:
    admitted = wire.TOOLS.admit(body)
    return tools_from(admitted.value, crossing, admitted.unknown, ())


def tools_from(
    tools: list[wire.ToolDef], crossing: Crossing, unknown: Unknown, base: Path
) -> tuple[Tool | HostedTool, ...]:
    out: list[Tool | HostedTool] = []
    for i, tool in enumerate(tools):
        at = (*base, i)
        kind = tool.type
        if kind == "function" and tool.name is not None:
            out.append(_read_function(tool, at, crossing, unknown, ""))
        elif kind == "custom" and tool.name is not None:
            out.append(_read_custom(tool, at, crossing, unknown, ""))
        elif kind == "namespace" and _plain_namespace(tool):
            out.extend(_read_namespace(tool, at, crossing, unknown))
        else:
            value = tool.strange or jsontext.raw(tool)
            out.append(HostedTool(wire.NAME, jsontext.kind(value), value, at=at))
    return tuple(out)


def _read_function(tool: wire.ToolDef, at: Path, crossing: Crossing, unknown: Unknown, namespace: str) -> Tool:
    extra = None
    if (
        unknown
        or tool.strict is None
        or tool.allowed_callers
        or tool.async_
        or tool.format
        or tool.tools
        or tool.search_context_size
        or tool.user_location
        or tool.filters
        or tool.external_web_access
    ):
        extra = _tool_extra(tool, at, crossing, unknown)
    parameters = tool.parameters
    schema = str(parameters, "utf-8") if parameters else None
    if schema == "null":
        schema = None
        if crossing.target == wire.NAME:
            extra = with_fields(extra, {"parameters": parameters})
    strict = tool.strict
    return Tool(
        tool.name or "",
        tool.description or "",
        schema,
        strict if strict is not UNSET else None,
        False,
        None,
        namespace,
        bool(tool.defer_loading),
        jsontext.text(tool.output_schema) if tool.output_schema else None,
        None,
        extra,
        at,
        _SCHEMA_AT,
    )


def _read_custom(tool: wire.ToolDef, at: Path, crossing: Crossing, unknown: Unknown, namespace: str) -> Tool:
    grammar = None
    shape = tool.format
    if shape is not None and shape.type == "grammar":
        grammar = Grammar(shape.syntax, shape.definition)
    extra = _tool_extra(tool, at, crossing, unknown)
    if shape is not None and grammar is None and crossing.target == wire.NAME:
        extra = with_fields(extra, {"format": jsontext.raw(shape)})
    return Tool(
        tool.name or "",
        tool.description or "",
        custom=True,
        grammar=grammar,
        namespace=namespace,
        deferred=bool(tool.defer_loading),
        extra=extra,
        at=at,
    )


def _tool_extra(tool: wire.ToolDef, at: Path, crossing: Crossing, unknown: Unknown) -> Any:
    more = carried(tool, _OPTIONS) or {}
    if tool.async_:
        more["async"] = tool.async_
    if tool.tools:
        more["tools"] = jsontext.raw(tool.tools)
    if tool.type == "function" and tool.format:
        more["format"] = jsontext.raw(tool.format)
    if tool.type == "custom":
        more |= carried(tool, ("parameters", "output_schema")) or {}
        if tool.strict is not UNSET:
            more["strict"] = jsontext.raw(tool.strict)
    extra = gather(crossing, at, unknown, more or None)
    if tool.strict is None and tool.type == "function" and crossing.target == wire.NAME:
        # Null is not the same as nothing: without the field the server tries strict mode.
        extra = with_fields(extra, {"strict": Raw(b"null")})
    return extra


def _plain_namespace(tool: wire.ToolDef) -> bool:
    inner = tool.tools or ()
    return bool(inner and tool.name) and all([t.type in ("function", "custom") and t.name is not None for t in inner])


def _read_namespace(tool: wire.ToolDef, at: Path, crossing: Crossing, unknown: Unknown) -> list[Tool]:
    """The tools of a namespace, each under its name; what the namespace itself says hangs on the first of them."""
    out: list[Tool] = []
    for j, inner in enumerate(tool.tools or ()):
        read = _read_function if inner.type == "function" else _read_custom
        out.append(read(inner, (*at, "tools", j), crossing, unknown, tool.name or ""))
    more = {"description": jsontext.raw(tool.description)} if tool.description else {}
    more |= carried(tool, ("parameters", "output_schema", *_OPTIONS)) or {}
    fields = own_fields(gather(crossing, at, unknown, more or None))
    if fields:
        first = out[0]
        extra = with_fields(first.extra, {_GROUP + name: value for name, value in fields.items()})
        out[0] = _replace_extra(first, extra)
    return out


def _replace_extra(tool: Tool, extra: Any) -> Tool:
    fields = [getattr(tool, name) for name in tool.__struct_fields__]
    fields[tool.__struct_fields__.index("extra")] = extra
    return Tool(*fields)


def write_tools(tools: Iterable[Tool | HostedTool], crossing: Crossing) -> bytes:
    return jsontext.encode(tools_to(tools, crossing))


def tools_to(tools: Iterable[Tool | HostedTool], crossing: Crossing) -> list[Any]:
    out: list[Any] = []
    group: dict[str, Any] | None = None
    place: Path = ()
    for tool in tools:
        if isinstance(tool, HostedTool):
            group = None
            if tool.dialect == wire.NAME:
                out.append(tool.value)
            else:
                crossing.lose("tool.hosted.dropped", tool.at, tool.kind)
            continue
        written = _write_tool(tool, crossing)
        if not tool.namespace:
            group = None
            out.append(written)
            continue
        if group is None or group["name"] != tool.namespace or tool.at[:-2] != place:
            group, place = _open_namespace(tool), tool.at[:-2]
            out.append(group)
        group["tools"].append(written)
    return out


def _open_namespace(tool: Tool) -> dict[str, Any]:
    group: dict[str, Any] = {"type": "namespace", "name": tool.namespace, "description": "", "tools": []}
    for name, value in own_fields(tool.extra).items():
        if name.startswith(_GROUP):
            group[name[len(_GROUP) :]] = value
    return group


def _write_tool(tool: Tool, crossing: Crossing) -> dict[str, Any]:
    own = crossing.source == wire.NAME
    name = tool.name if own else send(tool.name, "", NAMES, crossing, tool.at)
    out: dict[str, Any] = {"type": "custom" if tool.custom else "function", "name": name}
    if tool.description:
        out["description"] = tool.description
    if tool.custom:
        if tool.grammar is not None:
            out["format"] = {
                "type": "grammar",
                "syntax": tool.grammar.syntax,
                "definition": tool.grammar.definition,
            }
    elif own:
        if tool.schema is not None:
            out["parameters"] = Raw(tool.schema)
        if tool.strict is not None:
            out["strict"] = tool.strict
    else:
        out["parameters"] = _write_schema(tool, crossing)
        # Left out, the server would try strict mode, which the source did not ask for.
        out["strict"] = bool(tool.strict)
    if tool.output_schema is not None:
        out["output_schema"] = Raw(tool.output_schema)
    if tool.deferred:
        if own:
            out["defer_loading"] = True
        else:
            crossing.lose("tool.deferred.expanded", tool.at)
    if tool.cache is not None:
        crossing.lose("cache.dropped", tool.at, "on a tool")
    return restore(out, tool.extra, wire.NAME) if tool.extra is not None else out


def _write_schema(tool: Tool, crossing: Crossing) -> Raw | dict[str, Any]:
    schema = tool.schema
    if schema is None:
        return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    if tool.strict:
        return fit(schema, STRICT, crossing, (*tool.at, *tool.schema_at))
    if schema.startswith('{"type":"object"'):
        return Raw(schema)
    return fit(schema, LOOSE, crossing, (*tool.at, *tool.schema_at))


def read_choice(choice: str | wire.ToolChoice, crossing: Crossing) -> Choice:
    at = ("tool_choice",)
    if isinstance(choice, str):
        if choice in ("auto", "none", "required"):
            return Choice(choice, at=at)  # type: ignore[arg-type]
        return Choice("auto", extra=crossing.keep((), {"tool_choice": jsontext.raw(choice)}), at=at)
    if choice.type in ("function", "custom") and choice.name is not None:
        return Choice("one", (choice.name,), at=at)
    if choice.type == "allowed_tools" and choice.tools is not None:
        plain = [t for t in choice.tools if t.type in ("function", "custom") and t.name is not None]
        extra = None
        if len(plain) != len(choice.tools):
            extra = crossing.keep((), {"tool_choice": jsontext.raw(choice)})
        mode = "required" if choice.mode == "required" else "auto"
        return Choice(mode, tuple([t.name for t in plain if t.name]), extra, at)  # type: ignore[arg-type]
    value = choice.strange or jsontext.raw(choice)
    return Choice("auto", extra=crossing.keep((), {"tool_choice": value}), at=at)


def write_choice(request: Request, crossing: Crossing) -> Any:
    """The `tool_choice` value, or None when there is nothing to say."""
    choice = request.choice
    if choice is None:
        return None
    own = own_fields(choice.extra)
    if "tool_choice" in own:
        return own["tool_choice"]
    if not choice.names:
        return choice.mode
    customs = {tool.name for tool in request.tools if isinstance(tool, Tool) and tool.custom}
    named = []
    for name in choice.names:
        sent = name if crossing.source == wire.NAME else send(name, "", NAMES, crossing, choice.at)
        named.append({"type": "custom" if name in customs else "function", "name": sent})
    if choice.mode == "one":
        return named[0]
    return {"type": "allowed_tools", "mode": choice.mode, "tools": named}
