"""Owns the rules for Anthropic tools: names, schemas, strict schemas, tool choice, MCP servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...canon.parts import Path
from ...rules.helpers import declarations, items, listed, misnamed, quoted, schemas, sub, subschemas, twice, word
from ...rules.rule import Breach, Subject, rule, rules_of
from .lint_rules_helpers import betas, is_custom

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_WRITTEN, _MOST_NAME = 64, 128
_MOST = {"strict tools": 20, "optional parameters": 24, "parameters of several types": 16}
_REFUSED = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
    }
)
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
)


@rule("ANT-003", "error", "request", "tools")
def names(subject: Subject) -> Iterator[Breach]:
    """Tool names are letters, digits, `_` and `-`, at most 128, better 64, and each is there once.

    Why: 64 characters are documented, 128 are taken today; dots, spaces and colons are refused, repeated names too.

    Good: {"name": "read_file", "input_schema": {"type": "object"}}

    Bad: {"name": "fs.read file", "input_schema": {"type": "object"}}

    Source: Anthropic's documentation for limits (2026-10) for 64; error texts that users reported for 128 (2026-11).
    """
    for at, tool in declarations(subject):
        name = tool.get("name")
        if name is None and "function" in tool:
            yield Breach(at, "the function{} shape of Chat Completions", "write name, description and input_schema")
            continue
        if name is None and not is_custom(tool):
            continue
        yield from misnamed([((*at, "name"), name)], _NAME)
        if _WRITTEN < len(word(tool, "name")) <= _MOST_NAME:
            yield Breach((*at, "name"), f"the tool name has more than {_WRITTEN} characters", "shorten it", "warning")
    yield from twice([((*at, "name"), tool.get("name")) for at, tool in declarations(subject)], "tool name")


@rule("ANT-004", "error", "request", "tools")
def input_schema(subject: Subject) -> Iterator[Breach]:
    """The `input_schema` of a client's tool has `"type": "object"`, and its properties have plain names.

    Why: without the type the API answers "input_schema.type: Field required"; names outside [a-zA-Z0-9_.-]{1,64} were
    reported as refused once (warning).

    Good: {"name": "f", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}

    Bad: {"name": "f", "input_schema": {"properties": {"path": {"type": "string"}}}}

    Source: Types of the anthropic SDK 2.8.0 for tools (2026-11); one user's report (2026-11); recorded 400 for the
    missing type.
    """
    for at, tool in declarations(subject):
        if not is_custom(tool):
            continue
        schema = tool.get("input_schema")
        place = (*at, "input_schema")
        if not isinstance(schema, dict):
            yield Breach(at, "a tool has no input_schema object", 'write {"type": "object", "properties": {}}')
            continue
        if schema.get("type") != "object":
            yield Breach(
                place, f"the schema's type is {quoted(schema.get('type'))}, not object", 'add "type": "object"'
            )
        for key in sub(schema, "properties"):
            if not _KEY.fullmatch(key):
                message = f"property {quoted(key)} is not [a-zA-Z0-9_.-]{{1,64}}"
                yield Breach((*place, "properties", key), message, "rename it", "warning")


@rule("ANT-019", "error", "request", "tools")
def strict_schemas(subject: Subject) -> Iterator[Breach]:
    """Schemas the upstream enforces (`strict: true`, `output_config.format`) keep to its subset and its limits.

    Why: bounds, lengths, `maxItems`, a `minItems` over 1, open objects, foreign or recursive references and other
    formats are refused, and so are more than 20 strict tools, 24 optional or 16 union-typed parameters in a request.

    Good: {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": false}

    Bad: {"type": "object", "properties": {"x": {"type": "integer", "minimum": 0}}}

    Source: Anthropic's documentation for tools (2026-10); the anthropic SDK 2.8.0, source code for tools (2026-11).
    """
    enforced: list[tuple[Path, Any]] = []
    strict = [(at, tool) for at, tool in declarations(subject) if tool.get("strict") is True]
    enforced += [((*at, "input_schema"), tool.get("input_schema")) for at, tool in strict]
    if subject.kind == "request":
        form = sub(sub(subject.document, "output_config"), "format")
        enforced.append((("output_config", "format", "schema"), form.get("schema")))
    optional = several = 0
    for at, root in enforced:
        yield from _recursion(root, at)
        for place, schema in schemas(root, at):
            yield from _node(place, schema)
            demanded = listed(schema, "required")
            optional += len([name for name in sub(schema, "properties") if name not in demanded])
            several += len([one for one in sub(schema, "properties").values() if _is_union(one)])
    counts = {"strict tools": len(strict), "optional parameters": optional, "parameters of several types": several}
    for what, count in counts.items():
        if count > _MOST[what]:
            yield Breach((), f"{count} {what} in a request; {_MOST[what]} are taken", "be strict about fewer tools")


def _is_union(schema: Any) -> bool:
    return isinstance(schema, dict) and ("anyOf" in schema or isinstance(schema.get("type"), list))


def _node(at: Path, schema: dict[str, Any]) -> Iterator[Breach]:
    for key in schema:
        if key in _REFUSED:
            yield Breach((*at, key), f"{key} is not taken in an enforced schema", "write it into the description")
    least = schema.get("minItems")
    if least is not None and least not in (0, 1):
        yield Breach((*at, "minItems"), "minItems may be 0 or 1 in an enforced schema", "write it into the description")
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield Breach(at, "an object of an enforced schema is open", 'add "additionalProperties": false')
    form = schema.get("format")
    if isinstance(form, str) and form not in _FORMATS:
        yield Breach(
            (*at, "format"), f"format {quoted(form)} is not taken in an enforced schema", "write it into a text"
        )
    for key in ("enum", "const"):
        values = listed(schema, key) if key == "enum" else [schema.get(key)]
        if any(isinstance(value, dict | list) for value in values):
            yield Breach((*at, key), f"{key} holds objects or arrays", "only plain values are taken")
    ref = schema.get("$ref")
    if isinstance(ref, str) and not ref.startswith("#"):
        yield Breach((*at, "$ref"), "a reference names another document", "inline it")


def _recursion(root: Any, at: Path) -> Iterator[Breach]:
    """References to a schema that contains the reference. Each schema is visited once, so the cost is linear."""
    under: set[int] = set()
    known: set[int] = set()
    todo: list[tuple[Path, Any, bool]] = [(at, root, False)]
    while todo:
        place, schema, done = todo.pop()
        if done:
            under.discard(id(schema))
        elif isinstance(schema, dict) and id(schema) not in known:
            known.add(id(schema))
            under.add(id(schema))
            todo.append((place, schema, True))
            todo.extend([(below, inner, False) for below, inner in reversed(subschemas(place, schema))])
            ref = schema.get("$ref")
            steps = ref.split("/") if isinstance(ref, str) else []
            if steps[:1] == ["#"]:
                path, target = _resolved(steps[1:], root)
                if id(target) in under:
                    yield Breach((*place, "$ref"), f"{quoted(ref)} is recursive", "cut the recursion")
                todo.append(((*at, *path), target, False))


def _resolved(steps: list[str], root: Any) -> tuple[Path, Any]:
    path = tuple([step.replace("~1", "/").replace("~0", "~") for step in steps])
    for step in path:
        root = root.get(step) if isinstance(root, dict) else None
    return path, root


@rule("ANT-024", "error")
def choice(subject: Subject) -> Iterator[Breach]:
    """`tool_choice` comes with tools, and names one that is declared and may be called directly.

    Why: a choice without tools, of an unknown tool, or of one only code may call (`allowed_callers`) is a 400.

    Good: {"tools": [{"name": "f", ...}], "tool_choice": {"type": "tool", "name": "f"}}

    Bad: {"tools": [{"name": "f", ...}], "tool_choice": {"type": "tool", "name": "g"}}

    Source: Types of the anthropic SDK 2.8.0 for tools (2026-11).
    """
    document = subject.document
    chosen = sub(document, "tool_choice")
    if not chosen:
        return
    declared = declarations(subject)
    if not declared and chosen.get("type") != "none":
        yield Breach(("tool_choice",), "there is a tool choice, but no tool", "leave tool_choice out")
        return
    if chosen.get("type") not in ("auto", "any", "tool", "none"):
        yield Breach(("tool_choice", "type"), f"{quoted(chosen.get('type'))} is not auto, any, tool or none")
    if chosen.get("type") != "tool" or any(word(tool, "type").endswith("toolset") for _, tool in declared):
        return
    named = [tool for _, tool in declared if word(tool, "name") and tool.get("name") == chosen.get("name")]
    if not named:
        yield Breach(("tool_choice", "name"), f"tool {quoted(chosen.get('name'))} is not declared", "declare it")
    for tool in named:
        callers = listed(tool, "allowed_callers")
        if callers and "direct" not in callers:
            yield Breach(("tool_choice", "name"), f"tool {quoted(chosen.get('name'))} may be called by code only")


@rule("ANT-026", "error")
def mcp_servers(subject: Subject) -> Iterator[Breach]:
    """Every entry of `mcp_servers` is used by exactly one `mcp_toolset`, and the beta header is sent.

    Why: servers and toolsets pair one to one; without the beta both fields are unknown.

    Good: {"mcp_servers": [{"name": "a", ...}], "tools": [{"type": "mcp_toolset", "mcp_server_name": "a"}]}

    Bad: {"mcp_servers": [{"type": "url", "name": "a", ...}]} with beta mcp-client-2025-11-20

    Source: Anthropic's documentation for tools (2026-10). The older beta mcp-client-2025-04-04 had no toolsets.
    """
    document = subject.document
    servers = items(document, "mcp_servers")
    sets = [(at, tool) for at, tool in declarations(subject) if tool.get("type") == "mcp_toolset"]
    if not servers and not sets:
        return
    sent = betas(subject)
    if sent is not None and not any(name.startswith("mcp-client-") for name in sent):
        yield Breach(
            ("mcp_servers",) if servers else ("tools",), "the beta header for the MCP connector is missing", "add it"
        )
    if sent is not None and "mcp-client-2025-04-04" in sent:
        return
    known = {word(server, "name") for _, server in servers}
    used = [((*at, "mcp_server_name"), word(tool, "mcp_server_name")) for at, tool in sets]
    for at, server in servers:
        if word(server, "name") not in {name for _, name in used}:
            message = f"server {quoted(server.get('name'))} has no mcp_toolset"
            yield Breach(at, message, "add one to tools", None if sent else "warning")
    for at, name in used:
        if name not in known:
            yield Breach(at, f"server {quoted(name)} is not in mcp_servers", "declare it")
    yield from twice(used, "the toolset of server")


RULES = rules_of(globals())
