"""Owns the rules for MCP: tool lists, calls and results of tool servers. MCP is linted, not translated: it is not
a dialect.

A request is one JSON-RPC request. A response is a JSON-RPC response, or its `result` alone. Tools are the list from
`tools/list`. The protocol version comes from the header or from the request's `_meta`. If neither is known, rules about
versions find nothing. `request` may have the server's `tools` beside the call. Then results are checked against the
tool's outputSchema.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from ..canon.parts import Path
from ..codec.json_text import JsonValue
from ..rules.helpers import Object, Place, declarations, items, kind_of, listed, quoted, schemas, sub, word
from ..rules.rule import Breach, Rule, Subject, rule, rules_of

NAME = "mcp"

_META = "io.modelcontextprotocol/"
_MODERN = "2026-07-28"
_MODERN_METHODS = ("server/discover", "subscriptions/listen")
_TOOL_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_SENT_LENGTH = 63
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_ENCODED = re.compile(r"=\?base64\?([A-Za-z0-9+/=]*)\?=")
_BLOCKS = {"text": "", "image": "", "resource": "", "audio": "2025-03-26", "resource_link": "2025-06-18"}
"""Block types of a result, each with the first protocol version that has the type."""
_TELLING = frozenset(
    {"type", "anyOf", "oneOf", "allOf", "$ref", "$dynamicRef", "enum", "const", "not", "if", "properties", "items"}
)
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}


def _result(subject: Subject) -> Place:
    """The result of a response, with its path."""
    document = subject.document
    return (("result",), document["result"]) if isinstance(document.get("result"), dict) else ((), document)


def _tools(subject: Subject) -> list[Place]:
    if subject.kind == "tools":
        return declarations(subject)
    at, result = _result(subject)
    return items(result, "tools", at)


def _blocks(subject: Subject) -> list[Place]:
    at, result = _result(subject)
    return items(result, "content", at)


def _version(subject: Subject) -> str:
    request = subject.document if subject.kind == "request" else subject.request
    meta = sub(sub(request, "params"), "_meta")
    return subject.headers.get("mcp-protocol-version", "") or word(meta, _META + "protocolVersion")


@rule("MCP-001", "error", "tools", "response")
def tool_names(subject: Subject) -> Iterator[Breach]:
    """MCP: a tool's name is 1 to 128 of A-Z, a-z, 0-9, dot, dash, underscore, and no other tool of the server has it.

    Why: clients refuse or rename other names, and a call to a name that two tools have reaches only one of them. A dash
    or dot at either end is allowed, but many clients fail on such names, so the finding is a warning.

    Good: `{"name": "files.read", "inputSchema": {"type": "object"}}`

    Bad: `{"name": "read file!", "inputSchema": {"type": "object"}}`

    Source: Types of the mcp SDK 2.3.0 for tools (2026-11) (SEP-986).
    """
    seen: set[str] = set()
    for at, tool in _tools(subject):
        name = word(tool, "name")
        if not _TOOL_NAME.fullmatch(name):
            yield Breach(
                (*at, "name"), f"{quoted(tool.get('name'))} is not a tool name", "use 1 to 128 of A-Za-z0-9._-"
            )
        elif name[0] in ".-" or name[-1] in ".-":
            yield Breach(
                (*at, "name"), f"{name!r} begins or ends with a dash or dot", "begin and end it otherwise", "warning"
            )
        if name and name in seen:
            yield Breach((*at, "name"), f"two tools are called {name!r}", "rename one of them")
        seen.add(name)


@rule("MCP-002", "error", "tools", "response")
def input_schemas(subject: Subject) -> Iterator[Breach]:
    """MCP: every tool has an inputSchema, and its root has type object.

    Why: arguments are always an object; clients refuse a tool without such a schema, often with the whole list.

    Good: `{"name": "now", "inputSchema": {"type": "object", "properties": {}}}`

    Bad: `{"name": "now", "inputSchema": {"type": "string"}}`

    Source: Types of the mcp SDK 2.3.0 for tools (2026-11).
    """
    for at, tool in _tools(subject):
        schema: JsonValue = tool.get("inputSchema")
        if not isinstance(schema, dict):
            what = kind_of(schema) if "inputSchema" in tool else "not there"
            yield Breach(
                (*at, "inputSchema"), f"a tool's inputSchema must be an object; this is {what}", "set type to object"
            )
        elif schema.get("type") != "object":
            yield Breach((*at, "inputSchema"), "the root of an inputSchema must have type object", "set type to object")


@rule("MCP-003", "warning", "tools", "response")
def names_collide_when_cleaned(subject: Subject) -> Iterator[Breach]:
    """MCP: names of two tools stay different when they are made legal for the models.

    Why: providers take fewer characters than MCP (no dot, 64 at most). Clients that only replace and cut then send two
    tools of one name, which is refused, or call the wrong one.

    Good: `files.read` and `files.write`

    Bad: `files.read` and `files_read`: both become `files_read`

    Source: Types of the mcp SDK 2.3.0 for tools (2026-11).
    """
    seen: dict[str, str] = {}
    for at, tool in _tools(subject):
        name = word(tool, "name")
        sent = _ILLEGAL.sub("_", name)[:_SENT_LENGTH]
        other = seen.setdefault(sent, name)
        if name and other != name:
            yield Breach(
                (*at, "name"), f"{quoted(name)} and {quoted(other)} both become {sent!r}", "rename one of them"
            )


@rule("MCP-004", "warning", "tools", "response")
def typed_properties(subject: Subject) -> Iterator[Breach]:
    """MCP: every property of an inputSchema is described: by type, enum, const, $ref, or a union.

    Why: some clients skip tools with untyped properties, Gemini guesses a type, and the model guesses the value.

    Good: `{"type": "object", "properties": {"path": {"type": "string"}}}`

    Bad: `{"type": "object", "properties": {"path": {"description": "where"}}}`

    Source: Types of the mcp SDK 2.3.0 for tools (2026-11) (schema gate).
    """
    for at, tool in _tools(subject):
        for here, schema in schemas(tool.get("inputSchema"), (*at, "inputSchema")):
            for name, inner in sub(schema, "properties").items():
                if isinstance(inner, dict) and not _TELLING & inner.keys():
                    yield Breach((*here, "properties", name), "a property has no type", "add a type")


@rule("MCP-005", "error", "response")
def known_blocks(subject: Subject) -> Iterator[Breach]:
    """MCP: blocks of a result are of a type that the version in use knows.

    Why: a client that validates refuses the whole result. audio came with 2025-03-26, resource_link and
    structuredContent with 2025-06-18.

    Good: `{"content": [{"type": "text", "text": "ok"}]}`

    Bad: `{"content": [{"type": "input_text", "text": "ok"}]}`

    Source: Types of the mcp SDK 2.3.0 for results (2026-11).
    """
    version = _version(subject)
    for at, block in _blocks(subject):
        kind = word(block, "type")
        if kind not in _BLOCKS:
            yield Breach((*at, "type"), f"{quoted(block.get('type'))} is not a block of a result", "use text")
        elif version and version < _BLOCKS[kind]:
            yield Breach(
                (*at, "type"), f"{kind} came with {_BLOCKS[kind]}; the version in use is {version}", "use text"
            )
    at, result = _result(subject)
    if "structuredContent" in result and version and version < "2025-06-18":
        yield Breach(
            (*at, "structuredContent"), f"structuredContent came with 2025-06-18; the version in use is {version}"
        )


@rule("MCP-006", "error", "response")
def structured_content(subject: Subject) -> Iterator[Breach]:
    """MCP: structuredContent fits the tool's outputSchema, and before 2026-07-28 it is an object.

    Why: clients validate it, and turn a result that does not fit into an error. Types, required properties, enums and
    constants are checked if the request has the tool.

    Good: outputSchema `{"type": "object", "required": ["n"]}` and `{"structuredContent": {"n": 1}}`

    Bad: outputSchema `{"type": "object", "required": ["n"]}` and `{"structuredContent": {}}`

    Source: Types of the mcp SDK 2.3.0 for tools and results (2026-11).
    """
    at, result = _result(subject)
    if "structuredContent" not in result:
        return
    place = (*at, "structuredContent")
    value, version = result["structuredContent"], _version(subject)
    if not isinstance(value, dict) and version and version < _MODERN:
        yield Breach(place, f"structuredContent is an object before {_MODERN}; this is {kind_of(value)}")
    called = word(sub(subject.request, "params"), "name")
    for _, tool in items(subject.request, "tools"):
        if called and word(tool, "name") == called and result.get("isError") is not True:
            yield from _broken_keywords(value, tool.get("outputSchema"), place)


def _broken_keywords(value: Any, schema: Any, at: Path) -> Iterator[Breach]:
    """The keywords of a schema that a value breaks. Only keywords that need no reference are checked."""
    todo: list[tuple[Path, JsonValue, JsonValue]] = [(at, value, schema)]
    while todo:
        here, one, wanted = todo.pop()
        if not isinstance(wanted, dict):
            continue
        kinds: JsonValue = wanted.get("type")
        names = [name for name in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(name, str)]
        if names and not any(_has_kind(one, name) for name in names):
            yield Breach(here, f"this is {kind_of(one)}; the outputSchema demands {' or '.join(names)}")
            # A value of a wrong type breaks other keywords, too. One breach is enough.
            continue
        if isinstance(wanted.get("enum"), list) and one not in wanted["enum"]:
            yield Breach(here, f"{quoted(one)} is not in the enum of the outputSchema")
        if "const" in wanted and one != wanted["const"]:
            yield Breach(here, f"{quoted(one)} is not the constant of the outputSchema")
        if isinstance(one, dict):
            for name in listed(wanted, "required"):
                if isinstance(name, str) and name not in one:
                    yield Breach(here, f"the outputSchema requires {name!r}", "add it")
            todo += [
                ((*here, name), one[name], inner) for name, inner in sub(wanted, "properties").items() if name in one
            ]
        elif isinstance(one, list):
            todo += [((*here, i), item, wanted.get("items")) for i, item in enumerate(one)]


def _has_kind(value: Any, kind: str) -> bool:
    if kind not in _TYPES:
        return True
    # In Python a bool is an int.
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, float) and value.is_integer())


@rule("MCP-007", "error", "request")
def self_contained_requests(subject: Subject) -> Iterator[Breach]:
    """MCP: since 2026-07-28 every request has its version and the client's capabilities in `_meta`, and the headers
    have the values of the body.

    Why: there is no handshake any more. A server refuses a request with a missing value (-32021, -32022) or with two
    different values (-32020).

    Good: `_meta` with `io.modelcontextprotocol/protocolVersion`, `.../clientCapabilities` and `.../clientInfo`

    Bad: `_meta` with `io.modelcontextprotocol/protocolVersion` alone

    Source: Types of the mcp SDK 2.3.0 for protocol versions and transports (2026-11).
    """
    method, params = word(subject.document, "method"), sub(subject.document, "params")
    meta = sub(params, "_meta")
    if "id" not in subject.document or (_version(subject) < _MODERN and method not in _MODERN_METHODS):
        return  # a notification, or a protocol version with a handshake
    at: Path = ("params", "_meta")
    if not word(meta, _META + "protocolVersion"):
        yield Breach(at, f"a request has {_META}protocolVersion", "add it")
    if not isinstance(meta.get(_META + "clientCapabilities"), dict):
        yield Breach(at, f"a request has {_META}clientCapabilities", "add it, {} if there are none")
    if not isinstance(meta.get(_META + "clientInfo"), dict):
        yield Breach(at, f"a request should have {_META}clientInfo", "add name and version", "warning")
    yield from _headers(subject, method, params, word(meta, _META + "protocolVersion"))


def _headers(subject: Subject, method: str, params: Object, version: str) -> Iterator[Breach]:
    if not subject.headers:
        return
    wanted: list[tuple[str, str, Path]] = [
        ("mcp-protocol-version", version, ("params", "_meta", _META + "protocolVersion")),
        ("mcp-method", method, ("method",)),
    ]
    if method in ("tools/call", "prompts/get"):
        wanted.append(("mcp-name", word(params, "name"), ("params", "name")))
    elif method == "resources/read":
        wanted.append(("mcp-name", word(params, "uri"), ("params", "uri")))
    for header, body, at in wanted:
        if header not in subject.headers:
            yield Breach(at, f"the header {header} is missing", "send it")
        elif body and _decoded_header(subject.headers[header]) != body:
            value = subject.headers[header]
            yield Breach(at, f"the header {header} has {quoted(value)}, the body {quoted(body)}", "make them agree")


def _decoded_header(value: str) -> str:
    """A header's value. Values that are not ASCII are sent as base64, and are decoded here."""
    found = _ENCODED.fullmatch(value)
    if found is None:
        return value
    try:
        return base64.b64decode(found[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return value


@rule("MCP-008", "error", "response")
def input_required(subject: Subject) -> Iterator[Breach]:
    """MCP: a result that wants input names the input, or has a requestState for the next request.

    Why: with neither, the client can only repeat the same call for ever.

    Good: `{"resultType": "input_required", "requestState": "s1"}`

    Bad: `{"resultType": "input_required"}`

    Source: Types of the mcp SDK 2.3.0 for results (2026-11).
    """
    at, result = _result(subject)
    if result.get("resultType") == "input_required":
        if not sub(result, "inputRequests") and not word(result, "requestState"):
            yield Breach(at, "input is required, and neither inputRequests nor requestState is there", "add one")


@rule("MCP-009", "error", "response")
def binary_blocks(subject: Subject) -> Iterator[Breach]:
    """MCP: image and audio blocks have base64 in `data` and a mimeType; a resource's `blob` is base64, with a mimeType.

    Why: without the type no provider takes the bytes, and a data URL or raw bytes are refused. For blobs the type is
    optional, so its absence is a warning.

    Good: `{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}`

    Bad: `{"type": "image", "data": "data:image/png;base64,iVBORw0KGgo="}`

    Source: Types of the mcp SDK 2.3.0 for results (2026-11).
    """
    places: list[tuple[Path, Object, str]] = []
    for at, block in _blocks(subject):
        if word(block, "type") in ("image", "audio"):
            places.append((at, block, "data"))
        elif word(block, "type") == "resource" and "blob" in sub(block, "resource"):
            places.append(((*at, "resource"), sub(block, "resource"), "blob"))
    at, result = _result(subject)
    places += [(here, one, "blob") for here, one in items(result, "contents", at) if "blob" in one]
    for here, holder, key in places:
        data = word(holder, key)
        if not data or len(data) % 4 or not _BASE64.fullmatch(data):
            yield Breach((*here, key), f"{key} is not base64", "encode the bytes, without a data URL's beginning")
        if "/" not in word(holder, "mimeType"):
            yield Breach((*here, "mimeType"), "the mimeType is missing", "add it", "warning" if key == "blob" else None)


@rule("MCP-010", "warning", "tools", "response")
def destructive_tools(subject: Subject) -> Iterator[Breach]:
    """MCP: a tool is destructive unless its annotations deny it. Nothing in the list makes a client ask before a call.

    Why: destructiveHint is true by default. A client without a policy of its own runs such tools unasked. Hints are
    the server's own words, so a client must still ask if it does not trust the server.

    Good: `{"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}`

    Bad: `{"name": "wipe", "inputSchema": {"type": "object"}}`

    Source: Types of the mcp SDK 2.3.0 for tools and results (2026-11).
    """
    for at, tool in _tools(subject):
        hints = sub(tool, "annotations")
        if hints.get("readOnlyHint") is not True and hints.get("destructiveHint") is not False:
            how = "is declared as destructive" if hints.get("destructiveHint") is True else "is destructive by default"
            fix = "ask before each call, or set readOnlyHint: true or destructiveHint: false if that is true"
            yield Breach(at, f"the tool {quoted(tool.get('name'))} {how}", fix)


RULES: tuple[Rule, ...] = rules_of(globals())
