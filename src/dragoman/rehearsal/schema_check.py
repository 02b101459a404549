"""Owns the check whether a value fits a JSON Schema, for the keywords that tools and structured output use.

Three things are ignored: a keyword that this module does not know, a reference to another document, and a pattern that
`pattern_samples.py` cannot run. So this is not a validator for other uses. A library would be a new dependency of the
gateway.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from ..codec import json_text
from ..codec.cache_memory_budget import remembered
from ..codec.schema.json_with_exact_numbers import too_deep
from ..codec.schema.source_document import SchemaDocument
from . import pattern_samples

Json = Any

_DEEP = 60
_STEPS = 100_000

FORMATS: Mapping[str, re.Pattern[str]] = {
    "date": re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\Z"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z"),
    "time": re.compile(r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?\Z"),
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+\Z"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+\Z"),
    "url": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+\Z"),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z"),
    "ipv4": re.compile(r"(\d{1,3}\.){3}\d{1,3}\Z"),
}


def read(schema: str | None) -> SchemaDocument:
    """A schema from its text. Callers must not change it. None and broken text stand for a schema that takes
    anything."""
    return _cached(schema)


def _read(schema: str | None) -> SchemaDocument:
    if schema is None or too_deep(schema.encode("utf-8", "replace")):
        return SchemaDocument({})
    try:
        value = json_text.decode(schema)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        value = {}
    return SchemaDocument(value if isinstance(value, dict | bool) else {})


_cached = remembered(_read, lambda document, schema: 1000 + 8 * len(schema or ""))


def resolve_reference(document: SchemaDocument, schema: dict[str, Json]) -> Json | None:
    """The schema that a schema's reference names. None: the reference names no place of the document."""
    reference = document.reference(schema)
    path = None if reference is None else document.resolve(reference[1], ())
    return None if path is None else document.find(path)


def is_equal(first: Json, second: Json) -> bool:
    """JSON equality: true is not 1."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(is_equal(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_equal(first[key], second[key]) for key in first)
    return (type(first) is type(second) or (is_number(first) and is_number(second))) and bool(first == second)


def is_number(value: Json) -> bool:
    """Whether a value is a JSON number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_type(value: Json, name: Json) -> bool:
    """Whether the value has a type, by its JSON Schema name, also in capitals: Gemini declares `STRING`."""
    name = name.lower() if isinstance(name, str) else ""
    if name == "integer":
        return is_number(value) and (isinstance(value, int) or value.is_integer())
    if name == "number":
        return is_number(value)
    kinds: dict[str, type] = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, kinds[name]) if name in kinds else True


def is_multiple(value: int | float, step: int | float) -> bool:
    """Whether the value is a multiple of the step."""
    try:
        # In binary fractions 0.3 is not a multiple of 0.1.
        return step == 0 or Decimal(str(value)) % Decimal(str(step)) == 0
    except InvalidOperation:  # infinities, and quotients beyond the precision
        return False


class FitCheck:
    """Checks values against schemas of one document. After a limit of steps every value fits."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._left = _STEPS

    def __call__(self, value: Json, schema: Json, depth: int = 0) -> bool:
        if isinstance(schema, bool):
            return schema
        self._left -= 1
        if not isinstance(schema, dict) or depth > _DEEP or self._left < 0:
            return True
        if self._document.reference(schema) is not None:
            named = resolve_reference(self._document, schema)
            if named is not None and not self(value, named, depth + 1):
                return False
        return (
            self._fits_type(value, schema)
            and self._combined(value, schema, depth + 1)
            and (not isinstance(value, str) or _text(value, schema))
            and (not is_number(value) or _number(value, schema))
            and (not isinstance(value, list) or self._array(value, schema, depth + 1))
            and (not isinstance(value, dict) or self._object(value, schema, depth + 1))
        )

    def _fits_type(self, value: Json, schema: dict[str, Json]) -> bool:
        kind = schema.get("type")
        if kind is not None and not any(is_type(value, one) for one in (kind if isinstance(kind, list) else [kind])):
            return False
        if "const" in schema and not is_equal(value, schema["const"]):
            return False
        members = schema.get("enum")
        return not isinstance(members, list) or any(is_equal(value, one) for one in members)

    def _combined(self, value: Json, schema: dict[str, Json], depth: int) -> bool:
        every, some, one = [_schemas(schema, name) for name in ("allOf", "anyOf", "oneOf")]
        if not all(self(value, inner, depth) for inner in every):
            return False
        if some and not any(self(value, inner, depth) for inner in some):
            return False
        if one and sum([self(value, inner, depth) for inner in one]) != 1:
            return False
        if "not" in schema and self(value, schema["not"], depth):
            return False
        if "if" in schema:
            branch = "then" if self(value, schema["if"], depth) else "else"
            return self(value, schema.get(branch, True), depth)
        return True

    def _array(self, value: list[Json], schema: dict[str, Json], depth: int) -> bool:
        if not _between(len(value), schema, "minItems", "maxItems"):
            return False
        if schema.get("uniqueItems") is True and any(is_equal(a, b) for i, a in enumerate(value) for b in value[:i]):
            return False
        first, rest = tuple_of(schema)
        return all(self(item, first[at] if at < len(first) else rest, depth) for at, item in enumerate(value))

    def _object(self, value: dict[str, Json], schema: dict[str, Json], depth: int) -> bool:
        if any(name not in value for name in names(schema, "required")):
            return False
        return all(self(item, property_schema(schema, name), depth) for name, item in value.items())


def _schemas(schema: dict[str, Json], name: str) -> list[Json]:
    found = schema.get(name)
    return found if isinstance(found, list) else []


def names(schema: dict[str, Json], keyword: str) -> list[str]:
    """The property names that a keyword lists."""
    found = schema.get(keyword)
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def properties(schema: dict[str, Json]) -> dict[str, Json]:
    """The declared properties."""
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def property_schema(schema: dict[str, Json], name: str) -> Json:
    """The schema of a property with this name."""
    declared = properties(schema)
    return declared[name] if name in declared else schema.get("additionalProperties", True)


def tuple_of(schema: dict[str, Json]) -> tuple[list[Json], Json]:
    """The schemas of the first items of an array, and the schema of all other items."""
    items = schema.get("items", True)
    if isinstance(items, list):
        return items, schema.get("additionalItems", True)
    return _schemas(schema, "prefixItems"), items


def number_in(schema: Mapping[str, Json], name: str) -> int | float | None:
    """The number of a keyword, if the keyword has one."""
    found = schema.get(name)
    return found if is_number(found) else None


def _between(size: int, schema: Mapping[str, Json], least: str, most: str) -> bool:
    low, high = number_in(schema, least), number_in(schema, most)
    return (low is None or size >= low) and (high is None or size <= high)


def _text(value: str, schema: dict[str, Json]) -> bool:
    if not _between(len(value), schema, "minLength", "maxLength"):
        return False
    known = FORMATS.get(str(schema.get("format")))
    if known is not None and not known.match(value):
        return False
    pattern = schema.get("pattern")
    return not isinstance(pattern, str) or pattern_samples.matches(pattern, value)


def _number(value: int | float, schema: dict[str, Json]) -> bool:
    low, high, above, below, step = [
        number_in(schema, name) for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    ]
    return (
        (low is None or value >= low)
        and (high is None or value <= high)
        and (above is None or value > above)
        and (below is None or value < below)
        and (step is None or is_multiple(value, step))
    )
