"""Owns tool declarations and tool choice of Gemini, with the names and schemas that it accepts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Raw

from ...canon.parts import Extra, Path
from ...canon.request import Request
from ...canon.tools import Choice, HostedTool, Tool
from ...codec import json_text
from ...codec.custom_tools import wrap_tool
from ...codec.dialect_extras import gather, sent_fields
from ...codec.schema import Subset, from_openapi
from ...codec.schema_for_target import fit
from ...codec.tool_declaration_cache import ToolMemo
from ...codec.tool_names import Names, by_name
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .original_values import own, put_back, with_field
from .validated_mode import lose_strict

NAMES = Names(r"[a-zA-Z_][a-zA-Z0-9_-]{0,62}")
"""Narrower than the API of 2026-11 (128 characters, dots and colons: google-genai 3.1.0), so that older servers and
clients accept them too.
"""
ANY_NAMES = Names(r"(?s).+")
"""For names that clients of this dialect chose."""

_KEYWORDS = frozenset(
    {
        "type",
        "format",
        "title",
        "description",
        "default",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "additionalProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "oneOf",
        "$ref",
        "$defs",
    }
)
PARAMETERS = Subset(keywords=_KEYWORDS, const="enum", all_of="merge", root_object=True, ref_siblings=False)
"""The keywords of `parametersJsonSchema` (google-genai 3.1.0, type JSONSchema). Google documents that nothing may be
beside a reference.
"""
OUTPUT = Subset(keywords=_KEYWORDS, const="enum", all_of="merge", ref_siblings=False)
"""The keywords of `responseJsonSchema`."""

_HOSTED = tuple(
    name for name in wire.ToolDef.__struct_fields__ if name not in ("functionDeclarations", "function_declarations")
)
_CAMEL = wire.ToolDef.__alias__
_EMPTY_KEYWORDS = frozenset({"type", "properties", "required", "additionalProperties"})

_EMPTY = Raw(b'""')

VALIDATED = "VALIDATED"
CHOICE_AT: Path = ("toolConfig", "functionCallingConfig")


def read_tools(body: bytes, context: Context) -> tuple[Tool | HostedTool, ...]:
    """Read the value of `tools`."""
    wire.check_text(body)
    tools, unknown, spelled = wire.TOOLS.admit(body, ("tools",))
    context.spelled.update(spelled)
    out: list[Tool | HostedTool] = []
    for i, tool in enumerate(tools or ()):
        at: Path = ("tools", i)
        for key, declared in (
            ("functionDeclarations", tool.functionDeclarations),
            ("function_declarations", tool.function_declarations),
        ):
            if isinstance(declared, wire.Declaration):  # one without a list, which protobuf's JSON form accepts
                out.append(_read_declaration(declared, at + (key,), context, unknown))
                continue
            for j, declaration in enumerate(declared or ()):
                out.append(_read_declaration(declaration, at + (key, j), context, unknown))
        for name in _HOSTED:
            value = getattr(tool, name)
            if value and bytes(value) != b"null":
                out.append(_hosted(_CAMEL.get(name, name), value, at + (name,)))
        if unknown:
            # An unknown key is a hosted tool that is newer than this code.
            for name, value in unknown.pop(at, {}).items():
                out.append(_hosted(name, value, at + (name,)))
    return tuple(out)


def _hosted(kind: str, value: Raw, at: Path) -> HostedTool:
    return HostedTool(wire.NAME, kind, Raw(json_text.encode({kind: value})), at)


def _read_declaration(declared: wire.Declaration, at: Path, context: Context, unknown: Unknown) -> Tool:
    extra = None
    if unknown or declared.behavior:
        extra = gather(context, at, unknown, sent_fields(declared, ("behavior",)))
    for twin, taken in (
        ("parameters_json_schema", declared.parametersJsonSchema),
        ("response_json_schema", declared.responseJsonSchema),
    ):
        if taken and getattr(declared, twin):
            context.keep(at, {twin: getattr(declared, twin)})
            extra = with_field(extra, twin, getattr(declared, twin))
    if declared.description == "" and context.target in wire.KIN:
        extra = with_field(extra, "description", _EMPTY)
    schema, schema_at, extra = _read_schema(
        declared.parametersJsonSchema or declared.parameters_json_schema,
        declared.parameters,
        "parametersJsonSchema" if declared.parametersJsonSchema else "parameters_json_schema",
        "parameters",
        (at, context, extra),
    )
    output = None
    if declared.response or declared.responseJsonSchema or declared.response_json_schema:
        output, _, extra = _read_schema(
            declared.responseJsonSchema or declared.response_json_schema,
            declared.response,
            "responseJsonSchema",
            "response",
            (at, context, extra),
        )
    return Tool(
        declared.name,
        declared.description or "",
        schema,
        output_schema=output,
        extra=extra,
        at=at,
        schema_at=schema_at,
    )


def _read_schema(
    standard: Raw, openapi: Raw, standard_key: str, openapi_key: str, where: tuple[Path, Context, Extra | None]
) -> tuple[str | None, Path, Extra | None]:
    """A schema in either notation as standard JSON Schema. The older notation is kept, and restored."""
    at, context, extra = where
    # parameters and parametersJsonSchema exclude each other (google-genai 3.1.0, 2026-11).
    if standard:
        text = str(standard, "utf-8")
        if text != "null":
            if openapi:
                context.keep(at, {openapi_key: openapi})
                extra = with_field(extra, openapi_key, openapi)
            return text, (standard_key,), extra
    if not openapi or bytes(openapi) == b"null":
        return None, (), extra
    source = bytes(openapi)
    read, changes = from_openapi(source)
    for change in changes:
        context.lose(change.code, (*at, openapi_key, *change.path), change.detail)
    if context.target in wire.KIN:
        extra = with_field(extra, openapi_key, openapi)
    return read.decode(), (openapi_key,), extra


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """Write the value of `tools`."""
    tools = tuple(tools)
    if context.source != wire.NAME:
        # Gemini has no `strict` on single tools (google-genai 3.1.0, 2026-11).
        lose_strict(tools, context, "it is a mode of the request here")
    return json_text.encode(tools_to(tools, context))


def tools_to(tools: Iterable[Tool | HostedTool], context: Context) -> list[Any]:
    """All functions in one Tool object at the place of the first, every hosted tool in its own."""
    out: list[Any] = []
    functions: list[Any] = []
    for tool in tools:
        if type(tool) is HostedTool:
            if tool.dialect == wire.NAME:
                out.append(tool.value)
            else:
                context.lose("tool.hosted.dropped", tool.at, tool.kind)
            continue
        if not functions:
            out.append({"functionDeclarations": functions})
        functions.append(_write_declaration(tool, context))
    return out


MEMO = ToolMemo(wire.NAME, read_tools, tools_to)


def _write_declaration(tool: Tool, context: Context) -> dict[str, Any]:
    mine = context.source == wire.NAME
    if tool.deferred:
        # Gemini has no tool search and no deferred tools (google-genai 3.1.0, 2026-11).
        context.lose("tool.deferred.expanded", tool.at)
    if tool.cache is not None:
        context.lose("cache.dropped", tool.at, "on a tool")
    name = (ANY_NAMES if mine else NAMES).send(tool.name, tool.namespace, context, tool.at)
    if tool.custom:
        tool = wrap_tool(tool, name, context)
    out: dict[str, Any] = {"name": name}
    if tool.description:
        out["description"] = tool.description
    schema, extra = tool.schema, tool.extra
    if mine:
        if schema is not None and (own(extra, "parameters") is None or tool.schema_at != ("parameters",)):
            out["parametersJsonSchema"] = Raw(schema)
        if tool.output_schema is not None and own(extra, "response") is None:
            out["responseJsonSchema"] = Raw(tool.output_schema)
        return out if extra is None else put_back(out, extra)
    if schema is not None:
        if not _takes_no_arguments(schema):
            # parametersJsonSchema takes JSON Schema; `parameters` is the older notation (google-genai 3.1.0, 2026-11).
            out["parametersJsonSchema"] = fit(schema, PARAMETERS, context, tool.at + tool.schema_at)
        elif json_text.plain(Raw(schema)).get("required"):
            at = (*tool.at, *tool.schema_at, "required")
            context.lose("schema.keyword.dropped", at, "of a tool without properties")
    if tool.output_schema is not None:
        out["responseJsonSchema"] = fit(tool.output_schema, OUTPUT, context, (*tool.at, "output_schema"))
    return out


def _takes_no_arguments(schema: str) -> bool:
    """Whether a tool takes no arguments at all. The field is then left out: servers refused an object without
    properties with 400, "should be non-empty for OBJECT type" (agno-agi/agno issue 2112, 2025-02).
    """
    if len(schema) > 200 or '"properties":{"' in schema:
        return False
    if not json_text.is_object(schema):
        return False
    value = json_text.plain(Raw(schema))
    return (
        not value.get("properties")
        and value.get("type", "object") in ("object", "OBJECT")
        and _EMPTY_KEYWORDS.issuperset(value)
        and value.get("additionalProperties", False) is False
    )


def read_choice(config: wire.CallingConfig, context: Context) -> Choice | None:
    """Read `functionCallingConfig`."""
    names = tuple(config.allowedFunctionNames or config.allowed_function_names or ())
    mode = config.mode
    word = wire.mode_word(mode)
    extra: Extra | None = None if mode == word else {wire.NAME: {"mode": json_text.raw(mode)}}
    if word == "ANY":
        # ANY demands a call, of the allowed functions if any are named (google-genai 3.1.0, 2026-11).
        return Choice("one" if len(names) == 1 else "required", names, extra, CHOICE_AT)
    if word == "AUTO" and not names:
        return Choice("auto", (), extra, CHOICE_AT)
    if word == "NONE":
        return Choice("none", names, extra, CHOICE_AT)
    if word == VALIDATED and names:
        return Choice("auto", names, extra, CHOICE_AT)
    if mode is None and not names:
        return None
    # VALIDATED alone (`validated_mode.py`), an unknown mode, or names with a mode that takes none.
    extra = {wire.NAME: {"mode": json_text.raw(mode)}}
    if word not in ("AUTO", VALIDATED) and mode is not None:
        context.keep(CHOICE_AT, extra[wire.NAME])
    return Choice("auto", names, extra, CHOICE_AT)


# Modes are AUTO, ANY, NONE and VALIDATED (google-genai 3.3.0, 2026-11). ANY with one allowed name forces that function.
_MODES: dict[str, Literal["AUTO", "NONE", "ANY"]] = {"auto": "AUTO", "none": "NONE", "required": "ANY", "one": "ANY"}


def write_choice(choice: Choice, request: Request, context: Context) -> dict[str, Any]:
    """The `functionCallingConfig`. allowedFunctionNames works with ANY and VALIDATED only (google-genai 3.1.0,
    2026-11).
    """
    names = choice.names
    # AUTO takes no names, so a subset becomes VALIDATED (google-genai 3.1.0, 2026-11).
    out: dict[str, Any] = {"mode": "VALIDATED" if names and choice.mode == "auto" else _MODES[choice.mode]}
    mode = own(choice.extra, "mode")
    if mode is not None:
        out["mode"] = mode
    if names:
        table = ANY_NAMES if context.source == wire.NAME else NAMES
        declared = by_name(request.tools)
        allowed = []
        for name in names:
            tool = declared.get(name)
            if tool is None and context.source != wire.NAME:
                # Allowed functions must be declared (lint rule GEM-011).
                context.lose("choice.dropped", choice.at, f"{name} is not among the tools")
                continue
            allowed.append(table.send(name, tool.namespace if tool is not None else "", context, choice.at))
        if allowed:
            out["allowedFunctionNames"] = allowed
        else:
            out["mode"] = "AUTO" if choice.mode != "none" else "NONE"
    return out
