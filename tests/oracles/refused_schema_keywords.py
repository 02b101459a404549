"""Owns the keywords that each target refuses in a tool's schema, only from the documentation of the providers.

The tables of the library are not used. So this module finds a keyword that was added to one of them by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

Path = tuple[str | int, ...]
Node = dict[str, Any]


class Law(NamedTuple):
    """The keywords and forms that one target accepts."""

    words: frozenset[str] | None = None
    """Allowed keywords; None: any."""
    root_words: frozenset[str] | None = None
    """Allowed keywords of the root, where they differ."""
    formats: frozenset[str] | None = None
    strict: bool = False
    """Every object is closed, and every schema has a type, a union or a reference."""
    all_required: bool = False
    lone_refs: bool = False
    """A reference has no other keywords beside it."""
    recursive: bool = True
    scalars: bool = False
    """Values of an enum are no objects or arrays."""
    min_items: int | None = None
    items: bool = False
    """Every array has `items`."""
    keys: str = ""
    """The pattern for names of the root's properties."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENAI_STRICT = _words(
    "type properties items description enum required additionalProperties anyOf const $ref $defs title pattern format"
    " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems"
)
_ANTHROPIC_STRICT = _words(
    "type properties items description enum required additionalProperties anyOf allOf const $ref $defs title format"
    " minItems"
)
_GEMINI = _words(
    "type format title description default items minItems maxItems uniqueItems enum properties required minProperties"
    " maxProperties minimum maximum minLength maxLength pattern additionalProperties anyOf oneOf $ref $defs"
)
_OLLAMA = _words("anyOf type items description enum properties required")
_OLLAMA_ROOT = _words("type $defs items required properties")

OPENAI_LOOSE: Final = Law(items=True)
OPENAI_STRICT: Final = Law(
    words=_OPENAI_STRICT,
    formats=_words("date-time time date duration email hostname ipv4 ipv6 uuid"),
    strict=True,
    all_required=True,
    lone_refs=True,
    items=True,
)
ANTHROPIC_LOOSE: Final = Law(keys=r"[a-zA-Z0-9_.-]{1,64}")
ANTHROPIC_STRICT: Final = Law(
    words=_ANTHROPIC_STRICT,
    formats=_words("date-time time date duration email hostname uri ipv4 ipv6 uuid"),
    strict=True,
    recursive=False,
    scalars=True,
    min_items=1,
    keys=r"[a-zA-Z0-9_.-]{1,64}",
)
GEMINI: Final = Law(words=_GEMINI)
OLLAMA: Final = Law(words=_OLLAMA, root_words=_OLLAMA_ROOT)

LAWS: Final[dict[str, tuple[Law, Law]]] = {
    "openai-chat": (OPENAI_LOOSE, OPENAI_STRICT),
    "openai-responses": (OPENAI_LOOSE, OPENAI_STRICT),
    "openrouter": (OPENAI_LOOSE, OPENAI_STRICT),
    "anthropic": (ANTHROPIC_LOOSE, ANTHROPIC_STRICT),
    "gemini": (GEMINI, GEMINI),
    "code-assist": (GEMINI, GEMINI),
    "ollama": (OLLAMA, OLLAMA),
}
"""Dialect -> its usual law, and its law with `strict`."""

_ONE = _words("items additionalProperties not if then else contains propertyNames additionalItems unevaluatedItems")
_ONE |= _words("unevaluatedProperties contentSchema")
_MANY = _words("anyOf oneOf allOf prefixItems")
_NAMED = _words("properties patternProperties $defs definitions dependentSchemas")


def nodes(schema: Any, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every object in schema position."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for word, value in schema.items():
        if word in _ONE and isinstance(value, dict):
            yield from nodes(value, (*path, word))
        elif isinstance(value, list) and (word in _MANY or word == "items"):
            for i, item in enumerate(value):
                yield from nodes(item, (*path, word, i))
        elif word in _NAMED and isinstance(value, dict):
            for name, item in value.items():
                yield from nodes(item, (*path, word, name))


def breaches(schema: Any, law: Law, root_object: bool = True) -> list[str]:
    """The parts of a schema that the target would refuse."""
    if not isinstance(schema, dict):
        return ["the schema is no object"]
    found = []
    if root_object and schema.get("type") != "object":
        found.append("the root has no type object")
    if root_object and law.words is not None and {"anyOf", "oneOf", "allOf", "$ref"} & schema.keys():
        found.append("a union or a reference at the root")
    if law.keys:
        found += [f"name {name!r}" for name in schema.get("properties", {}) if not re.fullmatch(law.keys, name)]
    for path, node in nodes(schema):
        words = law.root_words if not path and law.root_words is not None else law.words
        found += [f"{'/'.join(map(str, path))}: {text}" for text in _breaches(node, law, words)]
    if law.words is not None:
        found += _references(schema, law)
    return found


def _breaches(node: Node, law: Law, words: frozenset[str] | None) -> Iterator[str]:
    if words is not None:
        yield from (f"keyword {word}" for word in node if word not in words)
    kinds = node.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds or []
    if law.items and "array" in kinds and "items" not in node:
        yield "an array without items"
    if law.formats is not None and node.get("format", "date") not in law.formats:
        yield f"format {node['format']}"
    if law.min_items is not None and node.get("minItems", 0) > law.min_items:
        yield f"minItems {node['minItems']}"
    if law.lone_refs and "$ref" in node and node.keys() - {"$ref", "$defs"}:
        yield "words beside a reference"
    if law.scalars and any(isinstance(value, dict | list) for value in [*node.get("enum", []), node.get("const")]):
        yield "an enum of objects"
    if not law.strict:
        return
    if not {"type", "anyOf", "allOf", "$ref", "enum", "const"} & node.keys():
        yield "no type"
    if "object" in kinds or (not kinds and "properties" in node):
        if node.get("additionalProperties") is not False:
            yield "an open object"
        if law.all_required and set(node.get("properties", {})) - set(node.get("required", ())):
            yield "an optional property"


def _references(schema: Node, law: Law) -> Iterator[str]:
    """References without a target, and circular references where they are refused."""
    edges: dict[str, set[str]] = {}
    for path, node in nodes(schema):
        text = node.get("$ref")
        if not isinstance(text, str):
            continue
        if text != "#" and not re.fullmatch(r"#/\$defs/[^/]+", text):
            yield f"reference {text}"
        inside = f"#/$defs/{path[1]}" if path[:1] == ("$defs",) else "#"
        edges.setdefault(inside, set()).add(text)
        name = text.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        if text != "#" and "%" not in name and name not in schema.get("$defs", {}):
            yield f"reference {text} leads nowhere"
    if not law.recursive:
        for start in edges:
            seen: set[str] = set()
            waiting = [*edges[start]]
            while waiting:
                place = waiting.pop()
                if place == start or place == "#":
                    yield f"recursion through {start}"
                    break
                if place not in seen:
                    seen.add(place)
                    waiting.extend(edges.get(place, ()))
