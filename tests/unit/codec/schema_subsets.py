"""Test data: the subsets of the dialects, more subsets of other shapes, and a walk over the objects of a schema."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec

from dragoman import dialects
from dragoman.codec.schema import Subset

_CORE = frozenset({"type", "properties", "items", "description", "enum", "required", "additionalProperties", "anyOf"})
_BOUNDS = frozenset({"minimum", "maximum", "minItems", "maxItems", "pattern", "format", "title"})
_LENGTHS = frozenset({"minLength", "maxLength", "minProperties", "maxProperties", "default"})
_STRICT_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)
_OPENAPI = Subset(
    keywords=_CORE | _BOUNDS | _LENGTHS | {"example", "nullable", "propertyOrdering"},
    refs="inline",
    const="enum",
    one_of="any_of",
    all_of="merge",
    types="nullable",
    upper=True,
    string_enum=True,
    formats=frozenset({"date-time", "enum", "int32", "int64", "float", "double"}),
    root_object=True,
)

SUBSETS: dict[str, Subset] = {
    "anything": Subset(),
    "loose": Subset(root_object=True),
    "loose-complete": Subset(root_object=True, complete=True),
    "loose-modern": Subset(root_object=True, modern=True),
    "inline-only": Subset(refs="inline"),
    "strict-required": Subset(
        keywords=_CORE | _BOUNDS | {"const", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
        one_of="any_of",
        all_of="merge",
        ref_siblings=False,
        typed=True,
        complete=True,
        formats=_STRICT_FORMATS,
        root_object=True,
        closed=True,
        all_required=True,
    ),
    "strict-closed": Subset(
        keywords=_CORE | {"const", "allOf", "format", "minItems", "title"},
        recursive=False,
        one_of="any_of",
        typed=True,
        formats=_STRICT_FORMATS,
        root_object=True,
        closed=True,
        scalar_enum=True,
        min_items=1,
    ),
    "json-schema": Subset(
        keywords=_CORE | _BOUNDS | _LENGTHS | {"uniqueItems", "oneOf"},
        const="enum",
        all_of="merge",
        root_object=True,
    ),
    "openapi": msgspec.structs.replace(_OPENAPI, typed=True, complete=True, any_of_alone=True),
    "openapi-refs": msgspec.structs.replace(_OPENAPI, refs="keep", root_ref=False, ref_siblings=False, typed=True),
    "openapi-untyped": _OPENAPI,
    "template": Subset(
        keywords=frozenset({"type", "properties", "items", "description", "enum", "required", "anyOf"}),
        root_keywords=frozenset({"type", "properties", "items", "required", "$defs"}),
        refs="inline",
        const="enum",
        one_of="any_of",
        all_of="merge",
        root_object=True,
    ),
    "narrow": Subset(
        keywords=frozenset({"type", "items", "description", "enum", "properties", "required"}),
        refs="inline",
        types="nullable",
        root_object=True,
    ),
}

SUBSETS["narrow-typed"] = msgspec.structs.replace(SUBSETS["narrow"], typed=True)


def _subsets_of_dialects() -> dict[str, Subset]:
    """Every subset in a dialect's folder, by the names of dialect and subset. Equal subsets are listed once."""
    found: dict[str, Subset] = {}
    for name in dialects.names():
        folder = import_module(f"dragoman.dialects.{name.replace('-', '_')}")
        for module in pkgutil.iter_modules(folder.__path__):
            for word, value in vars(import_module(f"{folder.__name__}.{module.name}")).items():
                if isinstance(value, Subset) and value not in found.values():
                    found[f"{name} {word.lower().strip('_')}"] = value
    return found


TARGETS = _subsets_of_dialects()
SUBSETS |= TARGETS

_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "defs")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE = (
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)


def walk(schema: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Every object that is a schema or subschema, with its path."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for name, value in schema.items():
        if name in _MAPS and isinstance(value, dict):
            for key, item in value.items():
                yield from walk(item, (*path, name, key))
        elif name in _LISTS and isinstance(value, list):
            for index, item in enumerate(value):
                yield from walk(item, (*path, name, index))
        elif name in _SINGLE:
            yield from walk(value, (*path, name))


def refused(schema: Any, subset: Subset) -> list[tuple[tuple[str | int, ...], str]]:
    """The keywords of the schema and its subschemas that the subset does not list."""
    kept = frozenset[str]()
    if subset.refs == "keep":
        kept = frozenset({"ref", "defs"} if subset.upper else {"$ref", "$defs"})
    found = []
    for path, node in walk(schema):
        allowed = subset.root_keywords if not path and subset.root_keywords is not None else subset.keywords
        found += [(path, name) for name in node if allowed is not None and name not in allowed | kept]
    return found
