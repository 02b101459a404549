"""Owns the judge of Gemini bodies: the published schema with Vertex's fields, and the rules that the schema cannot
state.

Requests may be in camelCase or snake_case; answers are in camelCase only. Keys are rewritten along the schema, so names
that users choose (schema properties, args, response objects, labels) stay unchanged.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tests.oracles import exchanges, schema_sources
from tests.oracles.json_schema import Judge, closed, component, extra, pointer

Json = Any
Path = tuple[str | int, ...]

_VERTEX = "GoogleCloudAiplatformV1"
_ROOT = "#/components/schemas/"
DATA_FIELDS = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
# Vertex names some schemas after their parent; the Developer API does not.
_OTHER_NAMES = {
    "UsageMetadata": "GenerateContentResponseUsageMetadata",
    "PromptFeedback": "GenerateContentResponsePromptFeedback",
    "ThinkingConfig": "GenerationConfigThinkingConfig",
    "Web": "GroundingChunkWeb",
    "Maps": "GroundingChunkMaps",
    "Image": "GroundingChunkImage",
    "RetrievedContext": "GroundingChunkRetrievedContext",
    "GoogleAiGenerativelanguageV1betaGroundingSupport": "GroundingSupport",
    "GoogleAiGenerativelanguageV1betaSegment": "Segment",
    "GoogleSearch": "ToolGoogleSearch",
    "ComputerUse": "ToolComputerUse",
    "CodeExecution": "ToolCodeExecution",
    "TopCandidates": "LogprobsResultTopCandidates",
    "V1mainMediaResolution": "PartMediaResolution",
}


@cache
def _document() -> Json:
    document = schema_sources.document("gemini")
    schemas = document["components"]["schemas"]
    if not schema_sources.are_published():  # the SDK's types have Vertex's fields
        _loosen_stated(schemas)
        return closed(document)
    vertex = json.loads((exchanges.shared() / "specs" / "vertex-aiplatform-v1.discovery.json").read_bytes())["schemas"]
    others = {name: _from_discovery(schema) for name, schema in vertex.items()}
    schemas.update(others)
    for name, schema in list(schemas.items()):
        other = others.get(_VERTEX + _OTHER_NAMES.get(name, name))
        if other is not None and name not in others:
            _merge(schema, other)
    _loosen(schemas)
    return closed(document)


def _from_discovery(node: Json, *, mapping: bool = False) -> Json:
    """Discovery format to JSON Schema: references are bare names and `any` is a type."""
    if isinstance(node, list):
        return [_from_discovery(item) for item in node]
    if not isinstance(node, dict):
        return node
    if mapping:
        return {key: _from_discovery(value) for key, value in node.items()}
    if "$ref" in node:
        return {"$ref": _ROOT + node["$ref"]}
    if node.get("type") == "any":
        return {}
    return {
        key: _from_discovery(value, mapping=key == "properties")
        for key, value in node.items()
        if key in ("type", "properties", "items", "additionalProperties", "enum", "format")
    }


def _merge(schema: Json, other: Json) -> None:
    """Extend a schema by Vertex's additions: further fields, and further values of shared enums."""
    properties = schema.setdefault("properties", {})
    for field, theirs in other.get("properties", {}).items():
        ours = properties.setdefault(field, theirs)
        if "enum" in ours and "enum" in theirs:
            ours["enum"] = [*ours["enum"], *(value for value in theirs["enum"] if value not in ours["enum"])]


def _loosen(schemas: dict[str, Json]) -> None:
    # google-genai 3.1.0 has this field and this finish reason. The stored schema is older.
    extra(schemas, "GenerateContentRequest", continuationToken={"type": "string"})
    schemas["Candidate"]["properties"]["finishReason"]["enum"].append("CONTINUATION")
    # 61 of 456 recorded requests answered with 200 spell schema types in lower case.
    kinds = schemas["Schema"]["properties"]["type"]["enum"]
    kinds.extend([kind.lower() for kind in kinds])
    # The same for thinking levels in 10 of them.
    levels = schemas["ThinkingConfig"]["properties"]["thinkingLevel"]["enum"]
    levels.extend([level.lower() for level in levels])
    # The JSON form of protobuf also takes 64-bit integers as numbers, and real requests use numbers.
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if field.get("format") == "int64":
                field["type"] = ["string", "integer"]


def _loosen_stated(schemas: dict[str, Json]) -> None:
    """The same corrections where the types of the SDK replace the published schema."""
    extra(schemas, "GenerateContentRequest", continuationToken={"type": "string"})
    for name in ("Type", "ThinkingLevel"):
        schemas[name]["enum"] += [value.lower() for value in schemas[name]["enum"]]


@cache
def _judge(name: str) -> Judge:
    return Judge(component(_document(), name))


def check_request(body: Json) -> list[str]:
    """Findings in a generateContent request."""
    value, found = camel_cased(body, "GenerateContentRequest")
    found += _judge("GenerateContentRequest").findings(value)
    if not isinstance(value, dict):
        return found
    contents = value.get("contents")
    if not isinstance(contents, list) or not contents:
        found.append("/contents: required and not empty")
    else:
        for index, content in enumerate(contents):
            found += _content(content, ("contents", index), ("user", "model", "function", "tool", None))
    if "systemInstruction" in value:
        found += _content(value["systemInstruction"], ("systemInstruction",), None)
    for index, tool in enumerate(_list(value.get("tools"))):
        for place, declaration in enumerate(_list(_get(tool, "functionDeclarations"))):
            found += _declaration(declaration, ("tools", index, "functionDeclarations", place))
    return found


def check_answer(body: Json) -> list[str]:
    """Findings in an answer or in one chunk of a stream."""
    found = _judge("GenerateContentResponse").findings(body)
    if not isinstance(body, dict):
        return found
    for index, candidate in enumerate(_list(body.get("candidates"))):
        content = _get(candidate, "content")
        for place, part in enumerate(_list(_get(content, "parts"))):
            found += _part(part, ("candidates", index, "content", "parts", place), answer=True)
    return found


def _content(content: Json, path: Path, roles: tuple[str | None, ...] | None) -> list[str]:
    found: list[str] = []
    parts = _get(content, "parts")
    if not isinstance(parts, list) or not parts:
        found.append(f"{pointer((*path, 'parts'))}: required and not empty")
    if roles is not None and _get(content, "role") not in roles:
        found.append(f"{pointer((*path, 'role'))}: unknown role {_get(content, 'role')!r}")
    for index, part in enumerate(_list(parts)):
        found += _part(part, (*path, "parts", index), answer=False)
    return found


def _part(part: Json, path: Path, *, answer: bool) -> list[str]:
    if not isinstance(part, dict):
        return []
    found: list[str] = []
    data = [field for field in DATA_FIELDS if field in part]
    if len(data) != 1:
        found.append(f"{pointer(path)}: exactly one data field expected, found {data}")
    call = part.get("functionCall")
    # Vertex streams calls in pieces, and only the first piece has a name.
    piece = answer and isinstance(call, dict) and (not call or "partialArgs" in call)
    if isinstance(call, dict) and not piece and not call.get("name"):
        found.append(f"{pointer((*path, 'functionCall'))}: name is required")
    result = part.get("functionResponse")
    if isinstance(result, dict):
        for field in ("name", "response"):
            if field not in result or result[field] == "":
                found.append(f"{pointer((*path, 'functionResponse'))}: {field} is required")
    return found


def _declaration(declaration: Json, path: Path) -> list[str]:
    found: list[str] = []
    if not _get(declaration, "name"):
        found.append(f"{pointer(path)}: name is required")
    if isinstance(declaration, dict):
        for one, other in (("parameters", "parametersJsonSchema"), ("response", "responseJsonSchema")):
            if one in declaration and other in declaration:
                found.append(f"{pointer(path)}: {one} and {other} exclude each other")
    return found


def camel_cased(value: Json, name: str) -> tuple[Json, list[str]]:
    """The value with known snake_case keys in camelCase and without null fields, as protobuf's JSON form reads it."""
    found: list[str] = []
    return _walk(value, {"$ref": _ROOT + name}, (), found), found


def _walk(value: Json, schema: Json, path: Path, found: list[str]) -> Json:
    if "$ref" in schema:
        schema = _document()["components"]["schemas"][schema["$ref"].removeprefix(_ROOT)]
    if isinstance(value, list) and "items" in schema:
        return [_walk(item, schema["items"], (*path, index), found) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties")
    if properties is None:
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and "$ref" in values:
            return {key: _walk(item, values, (*path, key), found) for key, item in value.items()}
        return value
    out: dict[str, Json] = {}
    for key, item in value.items():
        camel = _camel(key)
        known = camel if camel in properties else key
        if item is None and known in properties:
            continue
        if known in out:
            found.append(f"{pointer((*path, known))}: given twice, in camelCase and snake_case")
        out[known] = _walk(item, properties.get(known, {}), (*path, key), found)
    return out


def _camel(key: str) -> str:
    head, *tail = key.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in tail)


def _get(value: Json, key: str) -> Json:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
