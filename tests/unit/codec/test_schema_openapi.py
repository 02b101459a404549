"""`from_openapi` reads the OpenAPI-like notation into standard JSON Schema. The way back is tested too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codec.schema import Change, adapt, from_openapi

from .schema_subsets import SUBSETS

CASES: list[tuple[str, Any, Any]] = [
    ("type", {"type": "STRING"}, {"type": "string"}),
    (
        "type as a number",
        {"type": 6, "properties": {"a": {"type": 1}}},
        {"type": "object", "properties": {"a": {"type": "string"}}},
    ),
    ("type unspecified", {"type": "TYPE_UNSPECIFIED", "title": "T"}, {"title": "T"}),
    ("type unspecified as a number", {"type": 0, "title": "T"}, {"title": "T"}),
    ("type list", {"type": ["STRING", "NULL"]}, {"type": ["string", "null"]}),
    ("nullable", {"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
    ("nullable in lower case", {"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ("not nullable", {"type": "STRING", "nullable": False}, {"type": "string"}),
    (
        "nullable enum",
        {"type": "STRING", "enum": ["a"], "nullable": True},
        {"type": ["string", "null"], "enum": ["a", None]},
    ),
    (
        "nullable union",
        {"anyOf": [{"type": "STRING"}], "nullable": True},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
    ),
    (
        "nullable reference",
        {
            "type": "OBJECT",
            "properties": {"a": {"ref": "#/defs/A", "nullable": True}},
            "defs": {"A": {"type": "STRING"}},
        },
        {
            "type": "object",
            "properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}},
            "$defs": {"A": {"type": "string"}},
        },
    ),
    (
        "null for absent",
        {"type": "STRING", "items": None, "enum": None, "default": None},
        {"type": "string", "default": None},
    ),
    ("example", {"type": "STRING", "example": "a"}, {"type": "string", "examples": ["a"]}),
    (
        "counts in quotes",
        {"type": "ARRAY", "minItems": "1", "maxItems": "09"},
        {"type": "array", "minItems": 1, "maxItems": "09"},
    ),
    ("bounds in quotes", {"type": "NUMBER", "minimum": "1.50"}, {"type": "number", "minimum": 1.5}),
    (
        "order",
        {"type": "OBJECT", "properties": {"b": {"type": 1}, "a": {"type": 1}}, "propertyOrdering": ["a", "b"]},
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
    ),
    (
        "snake case",
        {
            "type": "OBJECT",
            "properties": {"max_items": {"any_of": [{"type": "STRING", "min_length": "2"}], "max_items": 3}},
            "property_ordering": ["max_items"],
            "additional_properties": {"type": "STRING"},
        },
        {
            "type": "object",
            "properties": {"max_items": {"anyOf": [{"type": "string", "minLength": 2}], "maxItems": 3}},
            "additionalProperties": {"type": "string"},
        },
    ),
    (
        "enum of numbers",
        {"type": "INTEGER", "format": "enum", "enum": ["101", "x"]},
        {"type": "integer", "enum": [101, "x"]},
    ),
    (
        "data is not read",
        {"type": "STRING", "default": {"type": "STRING"}},
        {"type": "string", "default": {"type": "STRING"}},
    ),
    ("odd values", {"type": "OBJECT", "properties": [], "items": 5}, {"type": "object", "properties": [], "items": 5}),
    ("odd type", {"type": {"a": 1}, "nullable": True, "title": "T"}, {"type": {"a": 1}, "title": "T"}),
    (
        "a standard reference",
        {"$ref": "#/defs/A", "defs": {"A": {"type": 1}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}},
    ),
    (
        "boolean schemas",
        {"type": "OBJECT", "additionalProperties": False},
        {"type": "object", "additionalProperties": False},
    ),
]


@pytest.mark.parametrize(("schema", "wanted"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_notation(schema: Any, wanted: Any) -> None:
    out, changes = from_openapi(json.dumps(schema).encode())
    assert json.loads(out) == wanted
    assert list(json.loads(out)) == list(wanted)
    assert json.dumps(json.loads(out)) == json.dumps(wanted)
    assert changes == ()
    assert from_openapi(out) == (out, ())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"nullable": {"type": "string"}, "ref": {"enum": ["STRING"]}}, "x-any": 1},
        {"type": ["string", "null"], "default": {"type": "STRING", "nullable": True}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"const": None, "examples": [{"nullable": True}]}}},
        {"allOf": [True, {"not": {"minItems": 1, "exclusiveMinimum": True}}], "items": [{"type": "null"}]},
        True,
        {},
    ],
)
def test_standard_schemas_are_returned_unchanged(schema: Any) -> None:
    text = json.dumps(schema, indent=3).encode()
    out, changes = from_openapi(text)
    assert out is text or out == text
    assert changes == ()


def test_a_property_order_without_properties_is_reported() -> None:
    out, changes = from_openapi(b'{"type":"OBJECT","propertyOrdering":["a"]}')
    assert out == b'{"type":"object"}'
    assert changes == (Change("schema.keyword.dropped", ("propertyOrdering",), "there are no properties to order"),)


def test_deep_and_malformed_schemas() -> None:
    deep = b'{"type":"OBJECT","items":' * 5000 + b"{}" + b"}" * 5000
    out, changes = from_openapi(deep)
    assert out == b'{"type":"object"}'
    assert [change.code for change in changes] == ["schema.invalid"]
    for text in (b"", b"{]", b'{"type":"OBJECT"', b'{"a":"\xff"}'):
        with pytest.raises(ValueError):
            from_openapi(text)
    large = json.dumps({"type": "OBJECT", "properties": {f"p{n}": {"type": "STRING"} for n in range(4000)}}).encode()
    assert b"STRING" not in from_openapi(large)[0]


def test_a_round_trip_keeps_the_meaning() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "description": "D"},
            "b": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer", "minimum": 1}}]},
            "c": {"type": "string", "enum": ["x", "y"]},
        },
        "required": ["a"],
    }
    out, _ = adapt(json.dumps(schema).encode(), SUBSETS["openapi-untyped"])
    assert b'"STRING"' in out
    assert json.loads(from_openapi(out)[0]) == schema | {
        "properties": schema["properties"] | {"a": {"type": ["string", "null"], "description": "D"}}
    }
