"""Schemas: no keyword reaches an upstream that refuses or ignores it, and no keyword is dropped without a loss."""

from __future__ import annotations

from typing import Any

from . import paths
from .documents import Doc, tool, toolset
from .kit import CLEAN, Cases, case, src

TOPIC = "schema-keywords"
GOOGLE = ("gemini", "code-assist")
FORBIDDEN: dict[str, tuple[tuple[str, ...], Any]] = {
    # keyword -> upstreams that must not get the keyword, and a schema of a property that uses it
    "allOf": (("gemini", "code-assist", "ollama"), {"allOf": [{"type": "string"}, {"minLength": 2}]}),
    "const": (("gemini", "code-assist", "ollama"), {"type": "string", "const": "metric"}),
    "not": (("gemini", "code-assist", "ollama"), {"type": "string", "not": {"enum": ["x"]}}),
    "if": (
        ("gemini", "code-assist", "ollama"),
        {"type": "string", "if": {"minLength": 3}, "then": {"maxLength": 5}},
    ),
    "prefixItems": (
        ("gemini", "code-assist", "ollama"),
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
    ),
    "patternProperties": (
        ("gemini", "code-assist", "ollama"),
        {"type": "object", "properties": {}, "patternProperties": {"^x": {"type": "string"}}},
    ),
    "exclusiveMinimum": (("gemini", "code-assist", "ollama"), {"type": "number", "exclusiveMinimum": 0}),
    "multipleOf": (("gemini", "code-assist", "ollama"), {"type": "integer", "multipleOf": 5}),
    "oneOf": (("ollama",), {"oneOf": [{"type": "string"}, {"type": "integer"}]}),
    "default": (("ollama",), {"type": "string", "default": "metric"}),
    "minimum": (("ollama",), {"type": "integer", "minimum": 1}),
    "pattern": (("ollama",), {"type": "string", "pattern": "^[a-z]+$"}),
    "format": (("ollama",), {"type": "string", "format": "date-time"}),
    "additionalProperties": (("ollama",), {"type": "object", "properties": {}, "additionalProperties": False}),
}
FROM = ("anthropic", "openai-chat", "openai-responses")
RECURSIVE = {
    "type": "object",
    "properties": {"tree": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}


def cases() -> Cases:
    sources = [src("crosswalk", "10 Structured output and JSON-Schema keywords", "T")]
    own = {"gemini": src("gemini", "4 Tools", "T"), "ollama": src("ollama", "4 Tools", "S")}
    for keyword, (upstreams, value) in FORBIDDEN.items():
        requirement = (
            f"The schema keyword {keyword}, which the upstream refuses or ignores, does not reach it; the property "
            "stays, and the change is reported."
        )
        for i, upstream in enumerate(upstreams):
            origin = FROM[i % len(FROM)]
            schema = {"type": "object", "properties": {"place": value}, "required": ["place"]}
            yield case(
                TOPIC,
                keyword,
                "tools",
                origin,
                upstream,
                requirement=requirement,
                sources=[*sources, own.get(upstream, src("code-assist", "4 Tools, calls, results, signatures", "S"))],
                given=toolset(origin, tool(origin, "get_weather", schema)),
                expect=[
                    {"no_key": keyword},
                    {"path": _property(upstream, "place"), "present": True},
                    *_expected_loss(keyword),
                    CLEAN,
                ],
            )
    yield from _references(sources)
    yield from _roots(sources)


def _expected_loss(keyword: str) -> list[Doc]:
    """Return the loss that must be reported, for a dropped or a rewritten constraint."""
    if keyword in ("const", "allOf", "oneOf"):
        return [{"loss": "schema.rewritten"}]
    return [{"loss": "schema.keyword.dropped"}]


def _property(upstream: str, name: str) -> str:
    _, _, schema = paths._DECLARED[upstream]
    within = "/*/functionDeclarations/*" if upstream in GOOGLE else "/*"
    return f"{within}/{schema}/properties/{name}"


def _references(sources: list[Doc]) -> Cases:
    requirement = (
        "A reference is resolved for an upstream that drops references, so that the property keeps its fields."
    )
    schema = {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/place"}},
        "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
    for origin in FROM:
        yield case(
            TOPIC,
            "ref",
            "tools",
            origin,
            "ollama",
            requirement=requirement,
            sources=[*sources, src("ollama", "4 Tools", "S")],
            given=toolset(origin, tool(origin, "get_weather", schema)),
            expect=[
                {"no_key": "$ref"},
                {"path": _property("ollama", "at") + "/properties/city", "present": True},
                CLEAN,
            ],
        )
    requirement = "A schema that refers to itself is cut where it must be, with a report, and never loops or vanishes."
    for upstream in ("ollama", "gemini", "anthropic", "openai-responses"):
        facts: list[Doc] = [{"path": _property(upstream, "tree"), "present": True}, CLEAN]
        if upstream == "ollama":
            facts += [{"no_key": "$ref"}, {"loss": "schema.ref.cut"}]
        yield case(
            TOPIC,
            "recursive",
            "tools",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=sources,
            given=toolset("openai-chat", tool("openai-chat", "get_tree", RECURSIVE)),
            expect=facts,
        )


def _roots(sources: list[Doc]) -> Cases:
    requirement = "Parameters whose root is a union become an object where the upstream demands one, with a report."
    union = {
        "anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object", "properties": {}}]
    }
    for upstream in ("openai-responses", "openai-chat", "gemini", "ollama"):
        yield case(
            TOPIC,
            "root-union",
            "tools",
            "anthropic",
            upstream,
            requirement=requirement,
            sources=sources,
            given=toolset("anthropic", tool("anthropic", "pick", {"type": "object", **union})),
            expect=[{"path": _schema(upstream) + "/type", "equals": "object"}, {"somewhere": "pick"}, CLEAN],
        )
    requirement = "A tool without parameters is declared in the way the upstream wants it."
    bare = {"type": "function", "function": {"name": "now", "description": "The time."}}
    for upstream in ("anthropic", "ollama"):
        yield case(
            TOPIC,
            "no-parameters",
            "tools",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=[src("crosswalk", "3 Tool definition", "T")],
            given=[bare],
            expect=[{"path": _schema(upstream) + "/type", "equals": "object"}, CLEAN],
        )
    requirement = "Google's upper-case types become JSON Schema for everybody else."
    declared = {
        "name": "get_weather",
        "description": "?",
        "parameters": {
            "type": "OBJECT",
            "properties": {"city": {"type": "STRING", "nullable": True}},
            "required": ["city"],
        },
    }
    for upstream in ("anthropic", "openai-chat", "openai-responses", "ollama", "openrouter"):
        yield case(
            TOPIC,
            "upper-case",
            "tools",
            "gemini",
            upstream,
            requirement=requirement,
            sources=[src("gemini", "4 Tools", "T")],
            given=[{"functionDeclarations": [declared]}],
            expect=[{"path": _schema(upstream) + "/type", "equals": "object"}, {"no_key": "nullable"}, CLEAN],
        )


def _schema(upstream: str) -> str:
    return _property(upstream, "x").removesuffix("/properties/x")
