"""Owns tool declarations and tool choice of Responses: flat tools, namespaces, strict schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw

from ...canon.parts import Extra, Path
from ...canon.request import Request
from ...canon.tools import Choice, Grammar, HostedTool, Tool
from ...codec import json_text
from ...codec.dialect_extras import gather, restore, sent_fields
from ...codec.hosted_tools import HostedToolRow, is_hosted_choice
from ...codec.schema.openai_subsets import LOOSE
from ...codec.schema_for_target import fit, fit_openai_schema
from ...codec.tool_declaration_cache import ToolMemo
from ...codec.tool_names import Names, by_name
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import ANSWER, Context
from . import wire

# Names match ^[a-zA-Z0-9_-]{1,64}$ (openai 3.49.0, 2026-11).
NAMES = Names(r"[a-zA-Z0-9_-]{1,64}")

IDS = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
"""Call ids: at most 64 characters (400 string_above_max_length, reported by users, 2026)."""

_KIN = "openai-chat"
_SCHEMA_AT = ("parameters",)
# A form that is valid with strict mode and without it (docs "Structured outputs", 2026-11).
_NO_PARAMETERS = Raw(b'{"type":"object","properties":{},"required":[],"additionalProperties":false}')
_GROUP = "namespace/"
_NULL = Raw(b"null")


def own_fields(extra: Extra | None) -> dict[str, Raw]:
    """The fields of this dialect in an extra."""
    return extra.get(wire.NAME, {}) if extra is not None else {}


def with_fields(extra: Extra | None, fields: dict[str, Raw]) -> Extra | None:
    """`extra` with fields that the canon holds in another form: they are restored, and no loss elsewhere."""
    return {**(extra or {}), wire.NAME: {**fields, **own_fields(extra)}} if fields else extra


def read_tools(body: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
    """Read the value of `tools`."""
    tools, unknown, _ = wire.TOOLS.admit(body, ("tools",))
    return tools_from(tools or [], context, unknown, ("tools",))


def tools_from(
    tools: list[wire.ToolDef], context: Context, unknown: Unknown, base: Path
) -> tuple[Tool | HostedTool, ...]:
    """The tools of a list at `base`."""
    out: list[Tool | HostedTool] = []
    for i, tool in enumerate(tools):
        at = base + (i,)
        kind = tool.type
        if kind == "function" and tool.name is not None:
            out.append(_read_function(tool, at, context, unknown, ""))
        elif kind == "custom" and tool.name is not None:
            out.append(_read_custom(tool, at, context, unknown, ""))
        # A namespace may hold other kinds of tools later; one that is not understood stays whole.
        elif kind == "namespace" and _is_plain(tool):
            out.extend(_read_namespace(tool, at, context, unknown))
        elif kind == "function" and context.target != wire.NAME and _named(unknown.get(at, {}).get("function", _NULL)):
            out.append(_read_nested(unknown[at].pop("function"), at))
        else:
            value = tool.strange or json_text.raw(tool)
            out.append(HostedTool(wire.NAME, json_text.kind(value), value, at=at))
    return tuple(out)


def _read_function(tool: wire.ToolDef, at: Path, context: Context, unknown: Unknown, namespace: str) -> Tool:
    extra = None
    if unknown or tool.allowed_callers or tool.async_ or tool.format or tool.tools:
        more = sent_fields(tool, ("allowed_callers",)) or {}
        if tool.async_:
            more["async"] = tool.async_
        for name in ("format", "tools"):
            if getattr(tool, name):
                more[name] = json_text.raw(getattr(tool, name))
        extra = gather(context, at, unknown, more or None)
    schema = str(tool.parameters, "utf-8") if tool.parameters else None
    strict: Any = tool.strict
    silent: dict[str, Raw] = {}
    # `parameters` may be null for no arguments (openai 3.49.0, 2026-11).
    if schema == "null":
        schema = None
        silent["parameters"] = _NULL
    if strict is None:
        # Null differs from an absent field: without the field the server tries strict mode (openai 3.49.0, 2026-11).
        silent["strict"] = _NULL
    if tool.defer_loading is False:
        silent["defer_loading"] = Raw(b"false")
    return Tool(
        tool.name or "",
        tool.description or "",
        schema,
        None if strict is UNSET else strict,
        namespace=namespace,
        deferred=bool(tool.defer_loading),
        output_schema=_output_schema(tool),
        extra=with_fields(extra, silent),
        at=at,
        schema_at=_SCHEMA_AT,
    )


def _read_nested(function: Raw, at: Path) -> Tool:
    """A function in Chat's form, of a client that knows both protocols."""
    fields, value = json_text.fields(function), json_text.plain(function)
    schema = json_text.text(fields["parameters"]) if "parameters" in fields else "null"
    strict = value.get("strict")
    return Tool(
        _named(function),
        str(value.get("description") or ""),
        None if schema == "null" else schema,
        strict if isinstance(strict, bool) else None,
        at=at,
        schema_at=("function", "parameters"),
    )


def _output_schema(tool: wire.ToolDef) -> str | None:
    schema = json_text.text(tool.output_schema) if tool.output_schema else "null"
    return None if schema == "null" else schema


def _read_custom(tool: wire.ToolDef, at: Path, context: Context, unknown: Unknown, namespace: str) -> Tool:
    shape = tool.format
    silent: dict[str, Raw] = {}
    more = sent_fields(tool, ("allowed_callers", "parameters", "output_schema")) or {}
    grammar = _read_grammar(shape, at, context, unknown) if shape is not None else None
    if shape is not None and grammar is None:
        # `text` is the default; another form has no place elsewhere.
        (silent if shape.type == "text" else more)["format"] = json_text.raw(shape)
    if tool.async_:
        more["async"] = tool.async_
    if tool.strict is not UNSET:
        more["strict"] = json_text.raw(tool.strict)
    if tool.tools:
        more["tools"] = json_text.raw(tool.tools)
    extra = gather(context, at, unknown, more or None)
    return Tool(
        tool.name or "",
        tool.description or "",
        custom=True,
        grammar=grammar,
        namespace=namespace,
        deferred=bool(tool.defer_loading),
        extra=with_fields(extra, silent),
        at=at,
    )


def _read_grammar(shape: wire.CustomFormat, at: Path, context: Context, unknown: Unknown) -> Grammar | None:
    """The grammar of a free-text tool. For other dialects, Chat's nested form is read too."""
    if shape.type != "grammar":
        return None
    if not shape.definition and context.target != wire.NAME:
        fields = unknown.get((*at, "format"), {})
        # Chat nests the grammar one level deeper (openai 3.49.0, 2026-11); some clients send that form.
        nested = json_text.plain(fields["grammar"]) if "grammar" in fields else None
        if isinstance(nested, dict) and isinstance(nested.get("definition"), str):
            del fields["grammar"]
            return Grammar(str(nested.get("syntax") or ""), nested["definition"])
    return Grammar(shape.syntax, shape.definition)


def _is_plain(namespace: wire.ToolDef) -> bool:
    inner = namespace.tools or ()
    return bool(inner and namespace.name) and all(
        tool.type in ("function", "custom") and tool.name is not None for tool in inner
    )


def _read_namespace(namespace: wire.ToolDef, at: Path, context: Context, unknown: Unknown) -> list[Tool]:
    """The tools of a namespace, each with its name. The namespace's own fields are kept on the first of them."""
    out: list[Tool] = []
    for j, tool in enumerate(namespace.tools or ()):
        read = _read_function if tool.type == "function" else _read_custom
        out.append(read(tool, at + ("tools", j), context, unknown, namespace.name or ""))
    more = sent_fields(namespace, ("parameters", "output_schema", "allowed_callers")) or {}
    if namespace.async_:
        more["async"] = namespace.async_
    if namespace.format is not None:
        more["format"] = json_text.raw(namespace.format)
    if namespace.strict is not UNSET:
        more["strict"] = json_text.raw(namespace.strict)
    if namespace.defer_loading is not None:
        more["defer_loading"] = json_text.raw(namespace.defer_loading)
    if context.target in ("", wire.NAME):
        if namespace.description is not None:
            more["description"] = json_text.raw(namespace.description)
    elif namespace.description:
        # No other dialect has a field for the text, so it is added to the description of the first tool.
        words = f"(About all tools of {namespace.name}: {namespace.description})"
        before = out[0].description
        out[0] = msgspec.structs.replace(out[0], description=f"{before}\n\n{words}" if before else words)
        context.lose("tool.namespace.prefixed", (*at, "description"), "moved to the description of its first tool")
    fields = own_fields(gather(context, at, unknown, more or None))
    if fields:
        extra = with_fields(out[0].extra, {_GROUP + name: value for name, value in fields.items()})
        out[0] = msgspec.structs.replace(out[0], extra=extra)
    return out


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """Write the value of `tools`."""
    return json_text.encode(tools_to(tools, context))


def tools_to(tools: Iterable[Tool | HostedTool], context: Context) -> list[Any]:
    """The entries of `tools`, with namespaces restored."""
    out: list[Any] = []
    group: dict[str, Any] | None = None
    place: Path = ()
    for tool in tools:
        if type(tool) is HostedTool:
            group = None
            if tool.dialect == wire.NAME:
                out.append(tool.value)
            else:
                context.lose("tool.hosted.dropped", tool.at, tool.kind)
            continue
        written = _write_tool(tool, context)
        if not tool.namespace:
            group = None
            out.append(written)
            continue
        # Two groups of one name stay apart, because each has its own description.
        if group is None or group["name"] != tool.namespace or tool.at[:-2] != place:
            group, place = _open_namespace(tool), tool.at[:-2]
            out.append(group)
        group["tools"].append(written)
    return out


def _open_namespace(tool: Tool) -> dict[str, Any]:
    # A namespace requires a description (openai 3.49.0, 2026-11).
    group: dict[str, Any] = {"type": "namespace", "name": tool.namespace, "description": "", "tools": []}
    for name, value in own_fields(tool.extra).items():
        if name.startswith(_GROUP):
            group[name[len(_GROUP) :]] = value
    return group


def _write_tool(tool: Tool, context: Context) -> dict[str, Any]:
    own = context.source == wire.NAME
    name = tool.name if own else NAMES.send(tool.name, "", context, tool.at)
    out: dict[str, Any] = {"type": "custom" if tool.custom else "function", "name": name}
    if tool.description:
        out["description"] = tool.description
    if tool.custom:
        if tool.grammar is not None:
            grammar = tool.grammar
            # The grammar is flat here (openai 3.49.0, 2026-11).
            out["format"] = {"type": "grammar", "syntax": grammar.syntax, "definition": grammar.definition}
    elif own:
        if tool.schema is not None:
            out["parameters"] = Raw(tool.schema)
        if tool.strict is not None:
            out["strict"] = tool.strict
    else:
        strict = tool.strict
        out["parameters"] = _NO_PARAMETERS
        if tool.schema is not None:
            at, lost = tool.at + tool.schema_at, ("tool.strict.dropped", tool.at)
            out["parameters"], strict = fit_schema(tool.schema, strict, at, context, lost, name)
        # Without the field the server would try strict mode (openai 3.49.0, 2026-11), which the source did not ask for.
        out["strict"] = bool(strict)
    if tool.output_schema is not None:
        # output_schema describes the result (openai 3.49.0, 2026-11).
        out["output_schema"] = Raw(tool.output_schema)
    if tool.deferred:
        # Tool search exists from gpt-5.4 on (OpenAI's documentation, 2026).
        if not context.gates(wire.NAME) or context.profile.tool_search:
            out["defer_loading"] = True
        else:
            context.lose("tool.deferred.expanded", tool.at)
    if tool.cache is not None:
        # Tools take no cache mark (openai 3.49.0, 2026-11).
        context.lose("cache.dropped", tool.at, "on a tool")
    return restore(out, tool.extra, wire.NAME) if tool.extra is not None else out


def fit_schema(
    schema: str, strict: bool | None, at: Path, context: Context, lost: tuple[str, Path], name: str = ANSWER
) -> tuple[Raw, bool | None]:
    """A schema as OpenAI accepts it, and whether it is strict. A schema of this dialect stays unchanged. Chat has the
    same strict mode, so its strict schemas stay strict.
    """
    if context.source == wire.NAME:
        return Raw(schema), strict
    # A schema from Chat already fits OpenAI's rules.
    if context.source == _KIN:
        return fit(schema, LOOSE, context, at), strict
    return fit_openai_schema(schema, strict, context, at, lost, name)


MEMO = ToolMemo(wire.NAME, read_tools, tools_to)


def read_choice(
    choice: str | wire.ToolChoice,
    context: Context,
    rows: tuple[HostedToolRow, ...] = (),
    tools: tuple[Tool | HostedTool, ...] = (),
) -> Choice:
    """Read `tool_choice`. `rows`: the hosted tools, one of which may be chosen. `tools`: the tools of the request."""
    at = ("tool_choice",)
    if isinstance(choice, str):
        if choice in ("auto", "none", "required"):
            return Choice(choice, at=at)  # type: ignore[arg-type]
        return Choice("auto", (), _own_choice(json_text.raw(choice), choice, context), at)
    if choice.type in ("function", "custom") and choice.name is not None:
        return Choice("one", (choice.name,), at=at)
    if choice.function and context.target != wire.NAME and _named(choice.function):  # Chat's form
        _keep_but(json_text.plain(choice.function), ("name",), (*at, "function"), context)
        return Choice("one", (_named(choice.function),), at=at)
    value = choice.strange or json_text.raw(choice)
    if choice.type == "allowed_tools":
        subset = _read_subset(value, tools, rows, context)
        if subset is not None:
            return subset
    kind = json_text.kind(value)
    if context.target != wire.NAME and is_hosted_choice(kind, rows):
        _keep_but(json_text.plain(value), ("type", "server_label"), at, context)
        # A hosted tool is forced by its type (openai 3.49.0, 2026-11).
        return Choice("one", (kind,), {wire.NAME: {"tool_choice": value}}, at, hosted=True)
    return Choice("auto", (), _own_choice(value, kind, context), at)


def _own_choice(value: Raw, what: str, context: Context) -> Extra:
    """A choice that only this dialect has."""
    if context.target != wire.NAME:
        context.lose("choice.dropped", ("tool_choice",), what)
    return {wire.NAME: {"tool_choice": value}}


def _read_subset(
    value: Raw, tools: tuple[Tool | HostedTool, ...], rows: tuple[HostedToolRow, ...], context: Context
) -> Choice | None:
    """A choice of `allowed_tools`, also in Chat's form; None if there is no list of tools."""
    choice = json_text.plain(value)
    # Chat has an object `allowed_tools` around mode and tools (openai 3.49.0, 2026-11). A client that knows both
    # protocols may send that form.
    inner = choice.get("allowed_tools")
    inner = inner if isinstance(inner, dict) else choice
    entries = inner.get("tools")
    if not isinstance(entries, list):
        return None
    if context.target != wire.NAME:
        _keep_unread_fields(choice, inner, entries, context)
    names: list[str] = []
    hosted_at: list[Path] = []
    whole = inner is choice
    for entry in entries:
        name = _allowed_name(entry)
        whole &= bool(name) and entry.keys() == {"type", "name"}
        if name:
            names.append(name)
            continue
        places = [tool.at for tool in tools if type(tool) is HostedTool and _is_allowed(tool, entry, rows)]
        hosted_at += places
        if not places and context.target != wire.NAME:
            kind = entry.get("type") if isinstance(entry, dict) else None
            context.lose("choice.dropped", ("tool_choice",), f"{kind or 'an entry'} is not among the tools")
    extra = None if whole else {wire.NAME: {"tool_choice": value}}
    mode: Literal["required", "auto"] = "required" if inner.get("mode") == "required" else "auto"
    return Choice(mode, tuple(names), extra, ("tool_choice",), hosted_at=tuple(hosted_at))


def _keep_unread_fields(choice: Any, inner: Any, entries: list[Any], context: Context) -> None:
    """Keep the fields of a subset that no other dialect has: fields of its entries and, in Chat's form, fields of the
    object around the entries.
    """
    at: Path = ("tool_choice",)
    if inner is not choice:
        at = (*at, "allowed_tools")
        _keep_but(inner, ("mode", "tools"), at, context)
    for i, entry in enumerate(entries):
        place = (*at, "tools", i)
        if not _allowed_name(entry):
            _keep_but(entry, ("type", "server_label"), place, context)
        elif isinstance(entry.get(entry["type"]), dict):
            _keep_but(entry, ("type", entry["type"]), place, context)
            _keep_but(entry[entry["type"]], ("name",), (*place, entry["type"]), context)
        else:
            _keep_but(entry, ("type", "name"), place, context)


def _keep_but(value: Any, known: tuple[str, ...], at: Path, context: Context) -> None:
    rest = {name: json_text.raw(one) for name, one in value.items() if name not in known} if type(value) is dict else {}
    if rest:
        context.keep(at, rest)


def _allowed_name(entry: Any) -> str:
    """The name in an entry of `allowed_tools`; "" if the entry names no tool of the client."""
    if not isinstance(entry, dict) or entry.get("type") not in ("function", "custom"):
        return ""
    nested = entry.get(entry["type"])
    name = nested.get("name") if isinstance(nested, dict) else entry.get("name")
    return name if isinstance(name, str) else ""


def _is_allowed(tool: HostedTool, entry: Any, rows: tuple[HostedToolRow, ...]) -> bool:
    """Whether an entry of `allowed_tools` means this hosted tool: by its type in any spelling, and by the label of an
    MCP server.
    """
    kind = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(kind, str):
        return False
    if kind != tool.kind and not any(row.kinds.fullmatch(kind) and row.kinds.fullmatch(tool.kind) for row in rows):
        return False
    label = entry.get("server_label")
    return label is None or label == json_text.plain(tool.value).get("server_label")


def _named(function: Raw) -> str:
    """The name of a function in Chat's form, or ""."""
    value = json_text.plain(function)
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else ""


def write_choice(request: Request, choice: Choice, context: Context) -> Any:
    """The `tool_choice` value, or None if it cannot be expressed."""
    own = own_fields(choice.extra)
    if "tool_choice" in own:
        return json_text.plain(own["tool_choice"])
    if not choice.names:
        return choice.mode
    declared = by_name(request.tools)
    named = []
    for name in choice.names:
        tool = declared.get(name)
        if tool is None and context.source != wire.NAME:
            # A choice must name declared tools (lint rule OAR-019).
            context.lose("choice.dropped", choice.at, f"{name} is not among the tools")
            continue
        sent = name if context.source == wire.NAME else NAMES.send(name, "", context, choice.at)
        named.append({"type": "custom" if tool is not None and tool.custom else "function", "name": sent})
    if not named:
        return None
    if choice.mode == "one":
        return named[0]
    if choice.hosted_at is None:
        # An allowed_tools list without hosted tools would forbid them.
        named += [_allowed_entry(tool) for tool in request.tools if type(tool) is HostedTool]
    return {"type": "allowed_tools", "mode": choice.mode, "tools": named}


def _allowed_entry(tool: HostedTool) -> dict[str, Any]:
    """The entry of a hosted tool in `allowed_tools`."""
    value = json_text.plain(tool.value)
    label = value.get("server_label") if isinstance(value, dict) else None
    return {"type": tool.kind, "server_label": label} if isinstance(label, str) else {"type": tool.kind}
