"""Owns tool declarations and tool choice of Messages, with the names, ids and schemas that it accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Path
from ...canon.request import Request
from ...canon.tools import Choice, HostedTool, Tool
from ...codec import json_text
from ...codec.custom_tools import wrap_tool
from ...codec.dialect_extras import gather, restore, sent_fields
from ...codec.schema import Subset
from ...codec.schema_for_target import fit
from ...codec.set_settings_and_clamped_values import report_parallel
from ...codec.tool_declaration_cache import ToolMemo
from ...codec.tool_names import Names, by_name
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .cache_marks import Marks
from .hosted_tools import TOOLSET, parted
from .message_content_reader import marked

NAMES = Names(r"[a-zA-Z0-9_-]{1,64}")
"""Names as documented (docs "Define tools", 2026-10)."""
OWN_NAMES = Names(r"[a-zA-Z0-9_-]{1,128}")
"""Names as accepted: an error message shows 128 characters (reported by users, 2026). A client of this dialect may use
them.
"""
# Ids from other dialects may hold dots, colons or spaces. Anthropic's specification allows letters, digits, _ and -
# (2026-08).
IDS = re.compile(r"[a-zA-Z0-9_-]+\Z")

_KEYS = r"[a-zA-Z0-9_.-]{1,64}"
"""Names of parameters. Any other name makes Anthropic refuse the whole request (error message, 2025 and 2026)."""
LOOSE = Subset(root_object=True, root_keys=_KEYS, modern=True)
_STRICT_WORDS = frozenset(
    {
        "type",
        "properties",
        "items",
        "required",
        "additionalProperties",
        "description",
        "title",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "format",
        "minItems",
        "$ref",
        "$defs",
    }
)
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
)
OUTPUT = Subset(
    keywords=_STRICT_WORDS,
    recursive=False,
    root_ref=False,
    one_of="any_of",
    typed=True,
    modern=True,
    formats=_FORMATS,
    closed=True,
    scalar_enum=True,
    min_items=1,
)
"""Schemas that Anthropic enforces for strict tools and structured output (docs "Structured outputs", 2026-10): closed
objects, no recursion, no numeric or length limits, minItems 0 or 1. As in the official SDK, each schema has a type, and
oneOf becomes anyOf.
"""
STRICT = msgspec.structs.replace(OUTPUT, root_object=True, root_keys=_KEYS)
MOST_STRICT = 20
"""The largest number of strict tools in a request (docs "Strict tool use", 2026-10)."""

# `input_schema` is required, with the type object at its root (anthropic 2.8.0, 2026-11).
NO_PARAMETERS = Raw(b'{"type":"object","properties":{}}')
NO_PARAMETERS_STRICT = Raw(b'{"type":"object","properties":{},"additionalProperties":false}')
_SCHEMA_AT = ("input_schema",)


def read_tools(body: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
    """Read the value of `tools`. A tool with another type than custom is a HostedTool."""
    tools, unknown, _ = wire.TOOLS.admit(body, ("tools",))
    out: list[Tool | HostedTool] = []
    for i, tool in enumerate(tools or ()):
        at: Path = ("tools", i)
        # A tool without `type`, or of the type custom, is the client's; all others are Anthropic's (anthropic 2.8.0).
        if (tool.type is None or tool.type == "custom") and tool.name is not None:
            mark = tool.cache_control
            description = tool.description or ""
            if tool.input_examples and context.target != wire.NAME:
                description = _with_examples(tool, at, context)
            out.append(
                Tool(
                    tool.name,
                    description,
                    json_text.text(tool.input_schema) if tool.input_schema else None,
                    tool.strict,
                    False,
                    None,
                    "",
                    bool(tool.defer_loading),
                    None,
                    None if mark is None else mark.ttl or "",
                    _tool_extra(tool, at, context, unknown),
                    at,
                    _SCHEMA_AT,
                )
            )
        else:
            value = tool.strange or json_text.raw(tool)
            extra = gather(context, at, unknown) if unknown else None
            if extra is not None:
                value = json_text.raw(restore(json_text.plain(value), extra, context.source))
            out.append(HostedTool(wire.NAME, json_text.kind(value), value, at))
    return tuple(out)


_LONGEST_DESCRIPTION = 1024
"""The largest length of a description with examples. Chat refuses a longer description on some models ("string too
long" [M])."""


def _with_examples(tool: wire.ToolDef, at: Path, context: Context) -> str:
    """The description with the examples of arguments, for which no other dialect has a field. Examples that are too
    long stay in their field, which is reported as a field of this dialect only."""
    description = tool.description or ""
    examples = json_text.plain(tool.input_examples)
    if not isinstance(examples, list) or not examples:
        return description
    lines = [json_text.encode(example).decode() for example in examples]
    whole = "\n".join([*([description, ""] if description else []), "Examples of arguments:", *lines])
    if len(whole) > _LONGEST_DESCRIPTION:
        return description
    tool.input_examples = wire.NONE
    context.lose("tool.examples.as_text", (*at, "input_examples"))
    return whole


def _tool_extra(tool: wire.ToolDef, at: Path, context: Context, unknown: Unknown) -> Extra | None:
    extra = gather(context, at, unknown, sent_fields(tool, wire.TOOL_EXTRAS))
    if tool.type is not None:
        extra = marked(extra, "type", Raw(b'"custom"'))
    if tool.description == "":
        extra = marked(extra, "description", Raw(b'""'))
    if tool.defer_loading is False:
        extra = marked(extra, "defer_loading", Raw(b"false"))
    return extra


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """Write the value of `tools`."""
    return json_text.encode(tools_to(tools, context))


def tools_to(tools: Iterable[Tool | HostedTool], context: Context, marks: Marks | None = None) -> list[Any]:
    """The entries of `tools`."""
    marks = marks or Marks(context)
    own = context.source == wire.NAME
    names = OWN_NAMES if own else NAMES
    out: list[Any] = []
    strict = 0
    for tool in tools:
        if type(tool) is HostedTool:
            written = _hosted(tool, context, marks)
            if written is not None:
                out.append(written)
            continue
        name = names.send(tool.name, tool.namespace, context, tool.at)
        if tool.custom:
            tool = wrap_tool(tool, name, context)
        # Messages has no schema for results (anthropic 2.8.0, 2026-11).
        if tool.output_schema is not None:
            context.lose("tool.output_schema.dropped", tool.at)
        entry: dict[str, Any] = {"name": name}
        if tool.description:
            entry["description"] = tool.description
        strict += tool.strict is True
        entry["input_schema"] = _schema(tool, context, own, strict <= MOST_STRICT)
        if tool.strict and strict > MOST_STRICT:
            context.lose("tool.strict.dropped", tool.at, f"more than {MOST_STRICT} strict tools")
        elif tool.strict or (own and tool.strict is not None):
            entry["strict"] = tool.strict
        # All deferred tools are still sent in full, with defer_loading (docs "Tool search", 2026-10).
        if tool.deferred and (not context.gates(wire.NAME) or context.profile.tool_search):
            entry["defer_loading"] = True
        elif tool.deferred:
            context.lose("tool.deferred.expanded", tool.at)
        # A deferred tool must not carry cache_control (docs "Tool search", 2026-10).
        if tool.cache is not None and "defer_loading" in entry:
            context.lose("cache.dropped", tool.at, "on a deferred tool")
        elif tool.cache is not None:
            marks.put(entry, tool.cache, tool.at)
        out.append(entry if tool.extra is None else restore(entry, tool.extra, wire.NAME))
    return out


def _schema(tool: Tool, context: Context, own: bool, strict: bool) -> Raw:
    if tool.schema is None:
        return NO_PARAMETERS_STRICT if tool.strict and strict else NO_PARAMETERS
    if own:
        return Raw(tool.schema)
    return fit(tool.schema, STRICT if tool.strict and strict else LOOSE, context, (*tool.at, *tool.schema_at))


def _hosted(tool: HostedTool, context: Context, marks: Marks) -> Any:
    if tool.dialect != wire.NAME:
        context.lose("tool.hosted.dropped", tool.at, tool.kind)
        return None
    # The address of the server is in `mcp_servers`, not in the toolset (docs "MCP connector", 2026-10).
    if tool.kind == TOOLSET and context.source != wire.NAME:
        return parted(tool)[0]
    if b'"cache_control"' not in bytes(tool.value):
        return tool.value
    fields: dict[str, Any] = dict(json_text.fields(tool.value))
    marks.found(fields, tool.at)
    return fields


MEMO = ToolMemo(wire.NAME, read_tools, tools_to)


def write_offered(tools: tuple[Tool | HostedTool, ...], context: Context, marks: Marks) -> Any:
    """The `tools` value of a request, cached if no cache mark has to be counted."""
    for tool in tools:
        if type(tool) is HostedTool or tool.cache is not None:
            return tools_to(tools, context, marks)
    return MEMO.write(tools, context)


_ORDER = "You must call the tool `{}` in your next answer."


def read_choice(choice: wire.ToolChoice, context: Context) -> Choice:
    """Read `tool_choice`."""
    at = ("tool_choice",)
    kind = choice.type
    if kind in ("auto", "none"):
        return Choice("auto" if kind == "auto" else "none", at=at)
    # `any` means at least one call (anthropic 2.8.0, 2026-11). The canon has OpenAI's word for this, `required`.
    if kind == "any":
        return Choice("required", at=at)
    if kind == "tool" and choice.name is not None:
        return Choice("one", (choice.name,), at=at)
    return Choice("auto", extra=context.keep((), {"tool_choice": json_text.raw(choice)}), at=at)


def offered(request: Request, context: Context) -> tuple[Tool | HostedTool, ...]:
    """The tools to declare. Messages has no subset choice (anthropic 2.8.0), so a subset becomes a shorter list."""
    choice = request.choice
    if choice is None or not choice.names or choice.mode == "one":
        return request.tools
    # There is no choice of a subset: tools outside of it are not declared (anthropic 2.8.0, 2026-11).
    context.lose("choice.by_filter", choice.at)
    names = frozenset(choice.names)
    wanted = {(tool.namespace, name) for name, tool in by_name(request.tools).items() if name in names}
    tools: list[Tool | HostedTool] = []
    for tool in request.tools:
        if type(tool) is HostedTool or (tool.namespace, tool.name) in wanted:
            tools.append(tool)
        else:
            context.lose("choice.by_filter", tool.at, f"{tool.name} is not offered")
    return tuple(tools)


def write_choice(request: Request, tools: Any, refused: bool, context: Context) -> tuple[Any, str]:
    """The `tool_choice` value or None, and a sentence for the system prompt if the model refuses a forced choice."""
    choice = request.choice
    single = request.settings.parallel is False
    if not tools and context.source != wire.NAME:
        if choice is not None and choice.mode in ("required", "one", "none"):
            context.lose("choice.dropped", choice.at, "no tools", "info" if choice.mode == "none" else None)
        report_parallel(request.settings, context, tools=False)
        return None, ""
    out: dict[str, Any] | None = None
    words = ""
    if choice is not None and choice.extra is not None and wire.NAME in choice.extra:
        out = json_text.plain(choice.extra[wire.NAME]["tool_choice"])
        if context.source == wire.NAME:
            return out, ""
        if refused:
            context.lose("choice.weakened", choice.at)
            out, words = {"type": "auto"}, _ORDER.format(out["name"] if out is not None else "")
    elif choice is not None:
        out, words = _written_choice(choice, request, refused, context)
    # `none` has no disable_parallel_tool_use (anthropic 2.8.0, 2026-11).
    if single and out is not None and out["type"] == "none" and context.source != wire.NAME:
        context.lose("parallel.unenforced", request.settings.at.get("parallel", ()), "no tool may be called", "info")
    elif single:
        out = out or {"type": "auto"}
        out["disable_parallel_tool_use"] = True
    elif request.settings.parallel and context.source == wire.NAME and out is not None:
        out["disable_parallel_tool_use"] = False
    return out, words


def _written_choice(
    choice: Choice, request: Request, refused: bool, context: Context
) -> tuple[dict[str, Any] | None, str]:
    if choice.mode == "auto" or choice.mode == "none":
        return {"type": choice.mode}, ""
    if choice.mode == "required":
        if not refused:
            return {"type": "any"}, ""
        context.lose("choice.weakened", choice.at)
        return {"type": "auto"}, "You must call at least one of the tools in your next answer."
    own = context.source == wire.NAME
    named = by_name(request.tools).get(choice.names[0])
    # tool_choice must name a declared tool (lint rule ANT-024).
    if named is None and not own:
        context.lose("choice.dropped", choice.at, f"{choice.names[0]} is not declared")
        return {"type": "auto"}, ""
    namespace = named.namespace if named is not None else ""
    name = (OWN_NAMES if own else NAMES).send(choice.names[0], namespace, context, choice.at)
    if not refused:
        return {"type": "tool", "name": name}, ""
    context.lose("choice.weakened", choice.at)
    return {"type": "auto"}, _ORDER.format(name)
