"""Owns values that fit a JSON Schema: made from its defaults, examples, enums and bounds, and from the caller's wishes.

Candidates come in an order of preference. `schema_check.py` checks each, and the first that fits is taken. The search
is bounded, so an impossible or endless schema costs little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from ..codec.schema.source_document import SchemaDocument
from . import pattern_samples, schema_check
from .schema_check import Json

Wish = Callable[[str, dict[str, Json]], list[Json]]
"""Gives the values to try first for a property, by its name and schema."""

NOTHING: Any = object()
"""No value was found. None is a value: null."""

_DEEP = 12
_STEPS = 5000
_LONG = 100_000
_HUGE = 2**62
_WORD = "rehearsal"

# Reserved for examples: example.com (RFC 2606, June 1999), 192.0.2.1 (RFC 5737, January 2010) and 2001:db8::1 (RFC
# 3849, July 2004).
_FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "P1D",
    "email": "rehearsal@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}

_KEYWORDS: dict[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}
"""Keywords that show the type of a schema without `type`."""


def no_wanted_value(name: str, schema: dict[str, Json]) -> list[Json]:
    """No value comes first."""
    return []


class InstanceMaker:
    """Makes values for the schemas of one document."""

    def __init__(self, document: SchemaDocument, wanted_value: Wish = no_wanted_value, *, full: bool = False) -> None:
        """`full`: optional properties too, and arrays with something in them."""
        self._document = document
        self._wish = wanted_value
        self._full = full
        self._steps = _STEPS
        self._fits = schema_check.FitCheck(document)

    def make(self) -> Json:
        """A value for the document's root, or NOTHING."""
        return self._value(self._document.root, 0)

    def _value(self, schema: Json, depth: int, name: str = "") -> Json:
        for candidate in self._candidates(schema, depth, name):
            if self._fits(candidate, schema):
                return candidate
        return NOTHING

    def _candidates(self, schema: Json, depth: int, name: str = "") -> Iterator[Json]:
        self._steps -= 1
        if schema is False or depth > _DEEP or self._steps <= 0:
            return
        if not isinstance(schema, dict) or not schema:
            yield from (*self._wish(name, {}), _WORD, {})
            return
        yield from self._wish(name, schema)
        yield from self._named(schema)
        if self._document.reference(schema) is not None:
            yield from self._referred(schema, depth, name)
            return
        for keyword in ("allOf", "anyOf", "oneOf"):
            inner = schema.get(keyword)
            if isinstance(inner, list) and inner:
                yield from self._combined(schema, keyword, inner, depth, name)
                return
        yield from self._by_type(schema, depth)
        for keyword in ("then", "else"):
            if isinstance(schema.get(keyword), dict):
                rest = {key: value for key, value in schema.items() if key not in ("if", "then", "else")}
                yield from self._by_type(_merge_schemas(rest, schema[keyword]), depth)

    def _named(self, schema: dict[str, Json]) -> Iterator[Json]:
        """Values that the schema itself names."""
        for keyword in ("const", "default", "example"):
            if keyword in schema:
                yield schema[keyword]
        for keyword in ("examples", "enum"):
            found = schema.get(keyword)
            if isinstance(found, list):
                yield from found

    def _referred(self, schema: dict[str, Json], depth: int, name: str) -> Iterator[Json]:
        named = schema_check.resolve_reference(self._document, schema)
        rest = {key: value for key, value in schema.items() if key not in self._document.refs}
        if named is None:
            yield from self._candidates(rest, depth + 1, name)
        elif isinstance(named, dict):
            # The depth counts references too: a circle of them has to end.
            yield from self._candidates(_merge_schemas(rest, named), depth + 1, name)
        else:
            yield from self._candidates(named, depth + 1, name)

    def _combined(
        self, schema: dict[str, Json], keyword: str, inner: list[Json], depth: int, name: str
    ) -> Iterator[Json]:
        rest = {key: value for key, value in schema.items() if key != keyword}
        if keyword == "allOf":
            for one in inner:
                rest = _merge_schemas(rest, self._resolved(one))
            yield from self._candidates(rest, depth + 1, name)
            return
        # null comes last: every other value shows more.
        plain = [one for one in inner if not (isinstance(one, dict) and one.get("type") == "null")]
        for one in (*plain, *[one for one in inner if one not in plain]):
            if one is not False:
                yield from self._candidates(_merge_schemas(rest, self._resolved(one)), depth + 1, name)

    def _resolved(self, schema: Json) -> dict[str, Json]:
        for _ in range(_DEEP):
            if not isinstance(schema, dict) or self._document.reference(schema) is None:
                break
            named = schema_check.resolve_reference(self._document, schema)
            rest = {key: value for key, value in schema.items() if key not in self._document.refs}
            schema = _merge_schemas(rest, named) if isinstance(named, dict) else rest
        return schema if isinstance(schema, dict) else {}

    def _by_type(self, schema: dict[str, Json], depth: int) -> Iterator[Json]:
        kinds = schema.get("type")
        kinds = [kind.lower() for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
        if not kinds:
            kinds = [kind for kind, names in _KEYWORDS.items() if names & schema.keys()]
            kinds = kinds or ["string", "object", "number", "array", "boolean", "null"]
        for kind in sorted(kinds, key=lambda kind: kind == "null"):
            if kind == "object":
                yield from self._objects(schema, depth)
            elif kind == "array":
                yield from self._arrays(schema, depth)
            elif kind == "string":
                yield from _strings(schema)
            elif kind in ("number", "integer"):
                yield from _numbers(schema)
            elif kind == "boolean":
                yield from (True, False)
            else:
                yield None

    def _objects(self, schema: dict[str, Json], depth: int) -> Iterator[Json]:
        declared, required = list(schema_check.properties(schema)), schema_check.names(schema, "required")
        wanted = [name for name in declared if name in required] + [name for name in required if name not in declared]
        everything = [*declared, *[name for name in wanted if name not in declared]]
        first, second = (everything, wanted) if self._full and depth < _DEEP // 2 else (wanted, everything)
        for chosen in (first, second) if first != second else (first,):
            values = {name: self._value(schema_check.property_schema(schema, name), depth + 1, name) for name in chosen}
            if all(values[name] is not NOTHING for name in required):
                yield {name: value for name, value in values.items() if value is not NOTHING}

    def _arrays(self, schema: dict[str, Json], depth: int) -> Iterator[Json]:
        least = schema_check.number_in(schema, "minItems") or 0
        first, rest = schema_check.tuple_of(schema)
        wanted = max(int(min(least, 1000)), 1 if self._full and depth < _DEEP // 2 and rest is not False else 0)
        out: list[Json] = []
        while len(out) < max(wanted, len(first) if self._full or least else 0):
            if not self._append(out, first[len(out)] if len(out) < len(first) else rest, schema, depth):
                break
        yield out
        if len(out) > least:
            yield out[: int(least)]
        yield []

    def _append(self, out: list[Json], schema: Json, array: dict[str, Json], depth: int) -> bool:
        """Add one item, another than the items before if the array wants unique items. False: there is none."""
        unique = array.get("uniqueItems") is True
        step = (schema_check.number_in(schema, "multipleOf") if isinstance(schema, dict) else None) or 1
        base = out[0] if out and schema_check.is_number(out[0]) else None
        counted = [
            f"{_WORD} {number}" if base is None else base + number * step
            for number in range(2, len(out) + 3 if unique else 0)
        ]
        for candidate in chain(self._candidates(schema, depth + 1), counted):
            if self._fits(candidate, schema) and not (
                unique and any(schema_check.is_equal(candidate, one) for one in out)
            ):
                out.append(candidate)
                return True
        return False


def _merge_schemas(first: dict[str, Json], second: dict[str, Json]) -> dict[str, Json]:
    """Both schemas in one, as far as a guess needs it: every value is checked against the original schemas."""
    out = {**first, **second}
    for name in first.keys() & second.keys():
        value, other = first[name], second[name]
        if name == "properties" and isinstance(value, dict) and isinstance(other, dict):
            both = {key: {"allOf": [value[key], other[key]]} for key in value if key in other}
            out[name] = {**value, **other, **both}
        elif name == "required" and isinstance(value, list) and isinstance(other, list):
            out[name] = [*value, *[one for one in other if one not in value]]
        elif schema_check.is_number(value) and schema_check.is_number(other) and name != "multipleOf":
            out[name] = max(value, other) if "min" in name.lower() else min(value, other)
        elif name == "enum" and isinstance(value, list) and isinstance(other, list):
            out[name] = [one for one in value if any(schema_check.is_equal(one, two) for two in other)]
        elif name == "items" and isinstance(value, dict) and isinstance(other, dict):
            out[name] = _merge_schemas(value, other)
    return out


def _strings(schema: dict[str, Json]) -> Iterator[str]:
    known = _FORMATS.get(str(schema.get("format")))
    if known is not None:
        yield known
    least = int(min(schema_check.number_in(schema, "minLength") or 0, _LONG))
    most = schema_check.number_in(schema, "maxLength")
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        for size in dict.fromkeys((least, 0, 1)):
            found = pattern_samples.sample(pattern, size)
            if found is not None:
                yield found
    long = (_WORD * (least // len(_WORD) + 1))[: max(least, len(_WORD))]
    yield long if most is None else long[: int(max(most, 0))]
    yield from ("", "a", "0", "A", "-")


def _numbers(schema: dict[str, Json]) -> Iterator[int | float]:
    low = schema_check.number_in(schema, "exclusiveMinimum")
    low = schema_check.number_in(schema, "minimum") if low is None else low
    high = schema_check.number_in(schema, "exclusiveMaximum")
    high = schema_check.number_in(schema, "maximum") if high is None else high
    step = schema_check.number_in(schema, "multipleOf")
    yield from (1, 0, 2)
    bounds = [bound for bound in (low, high) if bound is not None and abs(bound) < _HUGE]
    if step and 1 / _HUGE < abs(step) < _HUGE:
        yield _whole_as_integer(step)
        for bound in bounds:
            nearest = math.floor(bound / step)
            yield from [_whole_as_integer((nearest + more) * step) for more in (0, 1, -1, 2)]
    for bound in bounds:
        yield from [_whole_as_integer(bound + more) for more in (0, 1, -1, 0.5, -0.5)]
        yield from (math.floor(bound) + 1, math.ceil(bound) - 1)
    if len(bounds) == 2:
        yield _whole_as_integer(sum(bounds) / 2)
    yield from [bound for bound in (low, high, -1) if bound is not None]


def _whole_as_integer(value: int | float) -> int | float:
    """A whole number as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
