"""Owns tool declarations and tool choice of Chat Completions, with the names and schemas that it accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, Path
from ...canon.request import Request
from ...canon.tools import Choice, Grammar, HostedTool, Tool
from ...codec import json_text
from ...codec.dialect_extras import gather, restore, with_misplaced_fields
from ...codec.schema.openai_subsets import LOOSE
from ...codec.schema_for_target import fit, fit_openai_schema
from ...codec.tool_declaration_cache import ToolMemo
from ...codec.tool_names import Names, by_name
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import ANSWER, Context
from . import wire

# Names match ^[a-zA-Z0-9_-]{1,64}$ (openai 3.49.0, 2026-11).
NAMES = Names(r"[a-zA-Z0-9_-]{1,64}")

IDS = re.compile(r"[!-~]{1,40}\Z")
"""Hosts make ids of many forms; older OpenAI models accept 40 characters (reported by users, 2026)."""

_KIN = "openai-responses"
CACHE_CONTROL = "cache_control"
_SCHEMA_AT = ("function", "parameters")


def read_tools(body: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
    """Read the value of `tools`."""
    tools, unknown, _ = wire.TOOLS.admit(body, ("tools",))
    out: list[Tool | HostedTool] = []
    for i, tool in enumerate(tools or ()):
        at: Path = ("tools", i)
        function = tool.function
        grammar = _read_grammar(tool.custom, at, context, unknown) if tool.custom is not None else None
        extra = gather(context, at, unknown) if unknown else None
        cache = None
        # cache_control on a tool is a field of compatible hosts.
        if tool.cache_control:
            cache = lifetime(tool.cache_control)
            extra = with_own(extra, CACHE_CONTROL, tool.cache_control)
        if function is not None and tool.type == "function":
            extra = with_misplaced_fields(context, at, tool, ("custom",), extra)
            out.append(
                Tool(
                    function.name,
                    function.description or "",
                    _schema(function),
                    function.strict,
                    cache=cache,
                    extra=extra,
                    at=at,
                    schema_at=_SCHEMA_AT,
                )
            )
        # A custom tool takes free text, perhaps with a grammar (openai 3.49.0, 2026-11).
        elif tool.custom is not None and tool.type == "custom":
            extra = with_misplaced_fields(context, at, tool, ("function",), extra)
            description = tool.custom.description or ""
            out.append(
                Tool(tool.custom.name, description, custom=True, grammar=grammar, cache=cache, extra=extra, at=at)
            )
        else:
            value = tool.strange or json_text.raw(
                restore(dict(json_text.fields(json_text.raw(tool))), extra, wire.NAME)
            )
            out.append(HostedTool(wire.NAME, json_text.kind(value), value, at=at))
    return tuple(out)


def _read_grammar(custom: wire.CustomDef, at: Path, context: Context, unknown: Unknown) -> Grammar | None:
    """The grammar of a free-text tool. For other dialects, Responses' flat form is read too."""
    if custom.format is None:
        return None
    if custom.format.grammar is not None:
        return Grammar(custom.format.grammar.syntax, custom.format.grammar.definition)
    # Responses has the grammar without the object `grammar` around it (openai 3.49.0, 2026-11). A client that knows
    # both protocols may send that form.
    fields = unknown.get((*at, "custom", "format"), {}) if context.target != wire.NAME else {}
    definition = json_text.plain(fields["definition"]) if "definition" in fields else None
    syntax = json_text.plain(fields["syntax"]) if "syntax" in fields else None
    if not isinstance(definition, str) or not isinstance(syntax, str):
        return None
    del fields["definition"], fields["syntax"]
    return Grammar(syntax, definition)


def lifetime(mark: Raw) -> str:
    """The time to live in a cache mark of OpenAI's or Anthropic's form (recorded traffic, 2026-11)."""
    value = json_text.plain(mark)
    return str(value.get("ttl") or "") if isinstance(value, dict) else ""


def with_own(extra: Extra | None, name: str, value: Raw) -> Extra:
    """`extra` with a field of this dialect that the canon holds in another form: it is restored, and no loss
    elsewhere.
    """
    return {wire.NAME: {**(extra or {}).get(wire.NAME, {}), name: value}}


def _schema(function: wire.FunctionDef) -> str | None:
    # Absent parameters mean no arguments (openai 3.49.0, 2026-11).
    schema = json_text.text(function.parameters) if function.parameters else "null"
    return None if schema == "null" else schema


def functions_from(functions: list[wire.FunctionDef], context: Context, unknown: Unknown) -> tuple[Tool, ...]:
    """The tools of the legacy field `functions`, which is read but never written."""
    out = []
    for i, function in enumerate(functions):
        at: Path = ("functions", i)
        found = gather(context, at, unknown) if unknown else None
        extra = found and {wire.NAME: {f"function/{name}": value for name, value in found[wire.NAME].items()}}
        description = function.description or ""
        out.append(Tool(function.name, description, _schema(function), extra=extra, at=at, schema_at=("parameters",)))
    return tuple(out)


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """Write the value of `tools`."""
    return json_text.encode(tools_to(tools, context))


def tools_to(tools: Iterable[Tool | HostedTool], context: Context) -> list[Any]:
    """The entries of `tools`."""
    out: list[Any] = []
    for tool in tools:
        if type(tool) is HostedTool:
            if tool.dialect == wire.NAME:
                out.append(tool.value)
            else:
                context.lose("tool.hosted.dropped", tool.at, tool.kind)
            continue
        # defer_loading exists in Responses only (openai 3.49.0, 2026-11).
        if tool.deferred:
            context.lose("tool.deferred.expanded", tool.at)
        if tool.output_schema is not None:
            context.lose("tool.output_schema.dropped", tool.at)
        if tool.cache is not None and context.source != wire.NAME:
            # Tools take no cache mark here (openai 3.49.0, 2026-11).
            context.lose("cache.dropped", tool.at, "on a tool")
        inner: dict[str, Any] = {"name": NAMES.send(tool.name, tool.namespace, context, tool.at)}
        if tool.description:
            inner["description"] = tool.description
        if tool.custom:
            if tool.grammar is not None:
                # Chat nests the grammar one level deeper than Responses (openai 3.49.0, 2026-11).
                grammar = {"syntax": tool.grammar.syntax, "definition": tool.grammar.definition}
                inner["format"] = {"type": "grammar", "grammar": grammar}
            out.append(restore({"type": "custom", "custom": inner}, tool.extra, wire.NAME))
            continue
        strict = tool.strict
        if tool.schema is not None:
            lost = ("tool.strict.dropped", tool.at)
            at = tool.at + tool.schema_at
            inner["parameters"], strict = fit_schema(tool.schema, strict, at, context, lost, inner["name"])
        if strict is not None:
            inner["strict"] = strict
        written = {"type": "function", "function": inner}
        out.append(written if tool.extra is None else restore(written, tool.extra, wire.NAME))
    return out


def fit_schema(
    schema: str, strict: bool | None, at: Path, context: Context, lost: tuple[str, Path], name: str = ANSWER
) -> tuple[Raw, bool | None]:
    """A schema as OpenAI accepts it, and whether it is strict. A schema of this dialect stays unchanged. Responses has
    the same strict mode, so its strict schemas stay strict.
    """
    if context.source == wire.NAME:
        return Raw(schema), strict
    # A schema from Responses already fits OpenAI's rules.
    if context.source == _KIN:
        return fit(schema, LOOSE, context, at), strict
    return fit_openai_schema(schema, strict, context, at, lost, name)


MEMO = ToolMemo(wire.NAME, read_tools, tools_to)


def read_choice(choice: str | wire.ToolChoice, context: Context, field: str = "tool_choice") -> Choice | None:
    """Read `tool_choice`, or the legacy `function_call`."""
    at = (field,)
    if isinstance(choice, str):
        if choice in ("auto", "none", "required"):
            return Choice(choice, at=at)  # type: ignore[arg-type]
        if choice == "any":  # Mistral's word for required (recorded 2026-01)
            return Choice("required", at=at)
        return Choice("auto", extra=context.keep((), {field: json_text.raw(choice)}), at=at)
    named = choice.function or choice.custom
    if named is not None:
        return Choice("one", (named.name,), at=at)
    allowed = choice.allowed_tools
    # Responses has mode and tools without the object `allowed_tools` (openai 3.49.0, 2026-11). A client that knows both
    # protocols may send that form.
    if allowed is None and choice.tools is not None:
        allowed = wire.AllowedTools(choice.mode or "auto", choice.tools)
    if allowed is not None:
        return _read_subset(choice, allowed, context, field)
    value = choice.strange or json_text.raw(choice)
    return Choice("auto", extra=context.keep((), {field: value}), at=at)


def _read_subset(choice: wire.ToolChoice, allowed: wire.AllowedTools, context: Context, field: str) -> Choice:
    """Read a choice of `allowed_tools`, also in the form of Responses."""
    names: list[str] = []
    is_standard = choice.allowed_tools is not None
    for tool in allowed.tools:
        named = tool.function or tool.custom
        is_standard &= named is not None
        if named is not None or tool.name is not None:
            names.append(named.name if named is not None else tool.name or "")
        elif context.target != wire.NAME:
            context.lose("choice.dropped", (field,), f"{tool.type} is not among the tools")
    extra = None if is_standard or context.target != wire.NAME else {wire.NAME: {field: json_text.raw(choice)}}
    return Choice("required" if allowed.mode == "required" else "auto", tuple(names), extra, at=(field,))


def write_choice(request: Request, choice: Choice, context: Context) -> Any:
    """The `tool_choice` value, or None if it cannot be expressed."""
    if choice.extra is not None and wire.NAME in choice.extra:
        return next(iter(choice.extra[wire.NAME].values()))
    if not choice.names:
        return choice.mode
    declared = by_name(request.tools)
    named = []
    for name in choice.names:
        tool = declared.get(name)
        if tool is None and context.source != wire.NAME:
            # A choice must name declared tools (lint rule OAC-010).
            context.lose("choice.dropped", choice.at, f"{name} is not among the tools")
            continue
        kind = "custom" if tool is not None and tool.custom else "function"
        sent = NAMES.send(name, tool.namespace if tool is not None else "", context, choice.at)
        named.append({"type": kind, kind: {"name": sent}})
    if not named:
        return None
    if choice.mode == "one":
        return named[0]
    # allowed_tools limits the choice to a subset (openai 3.49.0, 2026-11).
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": named}}
