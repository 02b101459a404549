"""Values for schemas. An independent validator accepts every value, and the search always ends."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from dragoman.rehearsal import schema_check
from dragoman.rehearsal.schema_instances import NOTHING, InstanceMaker

NODE = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/node"}, "word": {"type": "string"}},
    "required": ["word"],
}
TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["name", "children"],
}
SCHEMAS: dict[str, Any] = {
    "anything": {},
    "true": True,
    "string": {"type": "string"},
    "long string": {"type": "string", "minLength": 50, "maxLength": 52},
    "short string": {"type": "string", "maxLength": 2},
    "empty string": {"type": "string", "maxLength": 0},
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}(?:-[a-f]+)?$"},
    "pattern with a choice": {"pattern": "^(?:left|right)[.]txt$", "type": "string"},
    "long pattern": {"type": "string", "pattern": "^a+$", "minLength": 12},
    "date": {"type": "string", "format": "date"},
    "uuid": {"type": "string", "format": "uuid"},
    "integer": {"type": "integer"},
    "bounds": {"type": "integer", "minimum": 5, "maximum": 7},
    "open bounds": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "below zero": {"type": "integer", "maximum": -3},
    "multiple": {"type": "integer", "multipleOf": 7, "minimum": 20},
    "fraction": {"type": "number", "multipleOf": 0.25, "exclusiveMinimum": 1},
    "enum": {"enum": [None, "a"]},
    "enum with a type": {"type": "string", "enum": [1, "a"]},
    "const": {"const": {"a": [1, 2]}},
    "default": {"type": "string", "default": "here"},
    "a default that does not fit": {"type": "string", "default": 3, "minLength": 2},
    "examples": {"type": "string", "pattern": "^(?=x)x$", "examples": ["x"]},
    "nullable": {"type": ["string", "null"]},
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array", "items": {"type": "integer"}, "minItems": 3},
    "unique": {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
    "unique numbers": {
        "type": "array",
        "items": {"type": "integer", "multipleOf": 5},
        "minItems": 4,
        "uniqueItems": True,
    },
    "unique anything": {"type": "array", "minItems": 4, "uniqueItems": True},
    "unique members": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True},
    "tuple": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
    "empty array": {"type": "array", "items": False},
    "object": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]},
    "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
    "undeclared but required": {"type": "object", "required": ["x"], "additionalProperties": {"type": "integer"}},
    "anyOf": {"anyOf": [{"type": "integer", "minimum": 9}, {"type": "string"}]},
    "anyOf with a branch that cannot be": {"type": "string", "anyOf": [{"type": "integer"}, {"minLength": 3}]},
    "oneOf": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]},
    "allOf": {
        "allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "integer", "minimum": 3}}}]
    },
    "allOf bounds": {"type": "integer", "allOf": [{"minimum": 3}, {"minimum": 6}, {"maximum": 6}]},
    "not": {"type": "integer", "not": {"const": 1}},
    "if": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["more"], "properties": {"more": {"type": "integer"}}},
    },
    "ref": {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
    "ref beside others": {"$ref": "#/$defs/node", "required": ["next"], "$defs": {"node": NODE}},
    "definitions": {"$ref": "#/definitions/word", "definitions": {"word": {"type": "string", "minLength": 1}}},
    "tree": TREE,
    "nullable circle": {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["next"],
    },
    "discriminated": {
        "oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
                "required": ["kind", "lives"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "dog"}},
                "required": ["kind"],
                "additionalProperties": False,
            },
        ]
    },
    "beyond all bounds": {"type": "number", "minimum": 1e300},
    "a step between": {"type": "number", "multipleOf": 0.1, "minimum": 0.25, "maximum": 0.35},
    "a reference to anything": {"$ref": "#/$defs/any", "$defs": {"any": True}},
    "allOf references": {"allOf": [{"$ref": "#/$defs/node"}, {"required": ["more"]}], "$defs": {"node": NODE}},
    "allOf enums": {"allOf": [{"enum": [1, 2, 3]}, {"enum": [3, 4]}]},
    "allOf items": {
        "type": "array",
        "minItems": 1,
        "allOf": [{"items": {"type": "integer"}}, {"items": {"minimum": 8}}],
    },
    "allOf properties": {
        "allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"minimum": 3}}, "required": ["a"]}]
    },
    "allOf required": {"type": "object", "required": ["a"], "allOf": [{"required": ["b"]}]},
    "both maxima": {"type": "integer", "minimum": 4, "maximum": 9, "allOf": [{"maximum": 4}]},
    "old tuple": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "array",
        "items": [{"type": "integer"}],
        "additionalItems": False,
        "minItems": 1,
    },
    "a branch that is nothing": {"anyOf": [False, {"type": "string"}]},
    "a pattern that is not understood": {"type": "string", "pattern": "^(?=a)a", "default": "a"},
    "an array with too much in it": {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    "huge bounds": {"type": "integer", "minimum": 2**60, "maximum": 2**60 + 1},
}


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_made_value_is_valid(name: str, full: bool) -> None:
    schema = SCHEMAS[name]
    value = InstanceMaker(schema_check.read(json.dumps(schema)), full=full).make()
    assert value is not NOTHING
    assert jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(value), value


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "minLength": 4, "maxLength": 2},
        {"$ref": "#"},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"oneOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]},
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"type": "string", "pattern": "(?=a)", "minLength": 9, "maxLength": 8},
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"type": "array", "items": {"enum": ["a"]}, "minItems": 2, "uniqueItems": True},
        {"type": "number", "multipleOf": 1e300, "minimum": 1},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]},
        {"type": "object", "required": ["a", "b"], "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}},
    ],
)
def test_the_search_ends_for_an_unsatisfiable_schema(schema: Any) -> None:
    made = InstanceMaker(schema_check.read(json.dumps(schema))).make()
    assert made is NOTHING or schema_check.FitCheck(schema_check.read(json.dumps(schema)))(made, schema)


def test_optional_properties_are_made_only_on_request() -> None:
    schema = json.dumps(
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]}
    )
    assert InstanceMaker(schema_check.read(schema)).make() == {"b": 1}
    assert InstanceMaker(schema_check.read(schema), full=True).make() == {"a": "rehearsal", "b": 1}


def test_wished_values_are_used_if_they_fit() -> None:
    schema = json.dumps({"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]})

    def wish(name: str, inner: dict[str, Any]) -> list[Any]:
        return [9, 4] if name == "n" else []

    assert InstanceMaker(schema_check.read(schema), wish).make() == {"n": 4}


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", "3", "[" * 5000, '{"type": 5, "properties": 3, "required": {}, "enum": 1}']
)
def test_invalid_schema_text_accepts_any_value(text: str | None) -> None:
    assert InstanceMaker(schema_check.read(text)).make() is not NOTHING


VALUES: list[Any] = [
    None,
    True,
    0,
    1,
    1.0,
    2.5,
    -3,
    "",
    "a",
    "rehearsal",
    "AB-1234",
    [],
    [1],
    [1, 1],
    ["a", 4, 4],
    {},
    {"a": 1},
]
VALUES += [{"b": 2}, {"word": "x"}, {"kind": "a"}, {"kind": "b"}, {"kind": "a", "more": 1}, {"x_1": 2}, {"next": None}]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_check_agrees_with_an_independent_validator(name: str) -> None:
    schema = SCHEMAS[name]
    document = schema_check.read(json.dumps(schema))
    judge = jsonschema_rs.validator_for(schema, validate_formats=True)
    if "(?=" in json.dumps(schema):
        return  # A pattern that is not run counts as matched.
    assert [
        value for value in VALUES if schema_check.FitCheck(document)(value, document.root) != judge.is_valid(value)
    ] == []


def test_multiples_are_checked() -> None:
    assert (
        schema_check.is_multiple(7, 0)
        and schema_check.is_multiple(0.3, 0.1)
        and not schema_check.is_multiple(0.35, 0.1)
    )
    assert not schema_check.is_multiple(1e300, 1e-3), "the quotient is too large for a decision"
