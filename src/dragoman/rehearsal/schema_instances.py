"""Makes values that fit a JSON Schema: from its defaults, examples, enums and bounds, and from wishes of the caller.

Candidates are made in an order of preference and each is checked (`schema_check.py`); the first that fits is taken. The
search is bounded, so that a schema nothing fits, or one without end, costs little."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from ..codec.schema.source_document import Document
from . import pattern_samples, schema_check
from .schema_check import Json

Wish = Callable[[str, dict[str, Json]], list[Json]]
"""Values to try first for a property, by its name and schema."""

NOTHING: Any = object()

_DEEP = 12
_STEPS = 5000
_LONG = 100_000
_HUGE = 2**62
_WORD = "rehearsal"

_FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "P1D",
    "email": "rehearsal@example.com",
    "idn-email": "rehearsal@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "/",
    "iri-reference": "/",
    "uri-template": "/{id}",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "regex": ".*",
    "byte": "cmVoZWFyc2Fs",
}

_SIGNS: dict[str, frozenset[str]] = {
    "object": frozenset(
        {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"}
    ),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}
"""Keywords by which a schema without a type says what it means."""


def no_wish(name: str, schema: dict[str, Json]) -> list[Json]:
    """Nothing is wished for."""
    return []


class Maker:
    """Makes values for the schemas of one document."""

    def __init__(self, document: Document, wish: Wish = no_wish, *, full: bool = False) -> None:
        """`full`: optional properties too, and arrays with something in them."""
        self._document = document
        self._wish = wish
        self._full = full
        self._steps = _STEPS
        self._fits = schema_check.Fit(document)

    def make(self) -> Json:
        """A value for the document's root; NOTHING when none was found."""
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
        yield from self._said(schema)
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
                yield from self._by_type(_merged(rest, schema[keyword]), depth)

    def _said(self, schema: dict[str, Json]) -> Iterator[Json]:
        """What the schema itself names as a value."""
        for keyword in ("const", "default", "example"):
            if keyword in schema:
                yield schema[keyword]
        for keyword in ("examples", "enum"):
            found = schema.get(keyword)
            if isinstance(found, list):
                yield from found

    def _referred(self, schema: dict[str, Json], depth: int, name: str) -> Iterator[Json]:
        named = schema_check.target(self._document, schema)
        rest = {key: value for key, value in schema.items() if key not in self._document.refs}
        if named is None:
            yield from self._candidates(rest, depth + 1, name)
        elif isinstance(named, dict):
            # The depth counts references too: a circle of them has to end.
            yield from self._candidates(_merged(rest, named), depth + 1, name)
        else:
            yield from self._candidates(named, depth + 1, name)

    def _combined(
        self, schema: dict[str, Json], keyword: str, inner: list[Json], depth: int, name: str
    ) -> Iterator[Json]:
        rest = {key: value for key, value in schema.items() if key != keyword}
        if keyword == "allOf":
            for one in inner:
                rest = _merged(rest, self._resolved(one))
            yield from self._candidates(rest, depth + 1, name)
            return
        plain = [one for one in inner if not (isinstance(one, dict) and one.get("type") == "null")]
        for one in (*plain, *[one for one in inner if one not in plain]):
            if one is not False:
                yield from self._candidates(_merged(rest, self._resolved(one)), depth + 1, name)

    def _resolved(self, schema: Json) -> dict[str, Json]:
        for _ in range(_DEEP):
            if not isinstance(schema, dict) or self._document.reference(schema) is None:
                break
            named = schema_check.target(self._document, schema)
            rest = {key: value for key, value in schema.items() if key not in self._document.refs}
            schema = _merged(rest, named) if isinstance(named, dict) else rest
        return schema if isinstance(schema, dict) else {}

    def _by_type(self, schema: dict[str, Json], depth: int) -> Iterator[Json]:
        kinds = schema.get("type")
        kinds = [kind.lower() for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
        if not kinds:
            kinds = [kind for kind, signs in _SIGNS.items() if signs & schema.keys()]
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
        declared = list(schema_check.properties(schema))
        required = schema_check.names(schema, "required")
        wanted = [name for name in declared if name in required]
        wanted += [name for name in required if name not in declared]
        everything = [*declared, *[name for name in wanted if name not in declared]]
        first, second = (everything, wanted) if self._full and depth < _DEEP // 2 else (wanted, everything)
        for chosen in (first, second) if first != second else (first,):
            made = self._object(schema, chosen, required, depth)
            if made is not None:
                yield made

    def _object(
        self, schema: dict[str, Json], chosen: list[str], required: list[str], depth: int
    ) -> dict[str, Json] | None:
        out: dict[str, Json] = {}
        most = schema_check.number_in(schema, "maxProperties")
        for name in chosen:
            if most is not None and len(out) >= most and name not in required:
                continue
            value = self._property(schema, name, depth)
            if value is not NOTHING:
                out[name] = value
            elif name in required:
                return None
        dependent = schema.get("dependentRequired")
        for name, others in dependent.items() if isinstance(dependent, dict) else ():
            for other in others if name in out and isinstance(others, list) else ():
                if other not in out:
                    value = self._property(schema, other, depth)
                    if value is not NOTHING:
                        out[other] = value
        self._fill(out, schema, depth)
        return out

    def _fill(self, out: dict[str, Json], schema: dict[str, Json], depth: int) -> None:
        """As many properties as there have to be."""
        least = schema_check.number_in(schema, "minProperties")
        if least is None or len(out) >= least:
            return
        spare = [name for name in schema_check.properties(schema) if name not in out]
        by_pattern = schema.get("patternProperties")
        for pattern in by_pattern if isinstance(by_pattern, dict) else ():
            spare += [text for text in (pattern_samples.sample(pattern, size) for size in range(8)) if text is not None]
        named = schema.get("propertyNames")
        if isinstance(named, dict):
            spare += [text for text in islice(self._candidates(named, depth + 1), 20) if isinstance(text, str)]
        spare += [f"key{number}" for number in range(1, int(min(least, 100)) + 1)]
        for name in spare:
            if len(out) >= least:
                return
            value = self._property(schema, name, depth) if name not in out else NOTHING
            if value is not NOTHING:
                out[name] = value

    def _property(self, schema: dict[str, Json], name: str, depth: int) -> Json:
        found = schema_check.properties_for(schema, name)
        inner = found[0] if len(found) == 1 else {"allOf": found}
        return self._value(inner, depth + 1, name)

    def _arrays(self, schema: dict[str, Json], depth: int) -> Iterator[Json]:
        least = schema_check.number_in(schema, "minItems") or 0
        first, rest = schema_check.tuple_of(schema)
        wanted = max(int(min(least, 1000)), 1 if self._full and depth < _DEEP // 2 and rest is not False else 0)
        holds = schema.get("contains")
        out: list[Json] = []
        if holds is not None and not first:
            times = schema_check.number_in(schema, "minContains")
            for _ in range(int(min(1 if times is None else times, 100))):
                self._append(out, {"allOf": [holds, rest]}, schema, depth)
        while len(out) < max(wanted, len(first) if self._full or least else 0):
            if not self._append(out, first[len(out)] if len(out) < len(first) else rest, schema, depth):
                break
        yield out
        if len(out) > least:
            yield out[: int(least)]
        yield []

    def _append(self, out: list[Json], schema: Json, array: dict[str, Json], depth: int) -> bool:
        unique = array.get("uniqueItems") is True
        for candidate in self._candidates(schema, depth + 1):
            if self._fits(candidate, schema) and not (unique and any(schema_check.same(candidate, one) for one in out)):
                out.append(candidate)
                return True
        base: Json = _WORD if not out else out[0]
        step = (schema_check.number_in(schema, "multipleOf") if isinstance(schema, dict) else None) or 1
        for number in range(2, len(out) + 3 if unique else 0):
            other: Json = base + number * step if schema_check.is_number(base) else f"{_WORD} {number}"
            if self._fits(other, schema) and not any(schema_check.same(other, one) for one in out):
                out.append(other)
                return True
        return False


def _merged(first: dict[str, Json], second: dict[str, Json]) -> dict[str, Json]:
    """Both schemas in one, as far as a guess needs it: what comes of it is checked against the real ones."""
    out = {**first, **second}
    for name, value in first.items():
        other = second.get(name)
        if other is None:
            continue
        if name in ("properties", "patternProperties") and isinstance(value, dict) and isinstance(other, dict):
            both = {key: {"allOf": [value[key], other[key]]} for key in value if key in other}
            out[name] = {**value, **other, **both}
        elif name == "required" and isinstance(value, list) and isinstance(other, list):
            out[name] = [*value, *[one for one in other if one not in value]]
        elif name in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"):
            out[name] = max(value, other) if schema_check.is_number(value) and schema_check.is_number(other) else other
        elif name in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"):
            out[name] = min(value, other) if schema_check.is_number(value) and schema_check.is_number(other) else other
        elif name == "enum" and isinstance(value, list) and isinstance(other, list):
            out[name] = [one for one in value if any(schema_check.same(one, two) for two in other)]
        elif name == "items" and isinstance(value, dict) and isinstance(other, dict):
            out[name] = _merged(value, other)
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
        yield _tidy(step)
        for bound in bounds:
            nearest = math.floor(bound / step)
            yield from [_tidy((nearest + more) * step) for more in (0, 1, -1, 2)]
    for bound in bounds:
        yield from [_tidy(bound + more) for more in (0, 1, -1, 0.5, -0.5)]
        yield from (math.floor(bound) + 1, math.ceil(bound) - 1)
    if len(bounds) == 2:
        yield _tidy(sum(bounds) / 2)
    yield from [bound for bound in (low, high, -1) if bound is not None]


def _tidy(value: int | float) -> int | float:
    """A whole number without its fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
