"""Test data: how unions, merges and conditions are rewritten. Name, subset, schema, result, report (code, path)."""

from __future__ import annotations

from typing import Any

UNIONS: list[tuple[str, str, Any, Any, list[tuple[str, str]]]] = [
    # unions
    (
        "oneOf",
        "template",
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        [("rewritten", "oneOf")],
    ),
    (
        "oneOf kept",
        "json-schema",
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        [],
    ),
    (
        "oneOf with a widened branch",
        "json-schema",
        {"oneOf": [{"multipleOf": 2}, {"type": "string"}]},
        {"anyOf": [{"description": "(multipleOf: 2)"}, {"type": "string"}]},
        [("keyword.dropped", "oneOf/0/multipleOf"), ("rewritten", "oneOf")],
    ),
    (
        "oneOf beside anyOf",
        "template",
        {"anyOf": [{"type": "string"}, {"type": "null"}], "oneOf": [{"enum": ["a"]}]},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "description": '(oneOf: [{"enum":["a"]}])'},
        [("keyword.dropped", "oneOf")],
    ),
    (
        "one or null",
        "openapi-untyped",
        {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}], "default": None, "title": "T"},
        {"default": None, "title": "T", "type": "STRING", "maxLength": 3, "nullable": True},
        [("rewritten", "anyOf")],
    ),
    (
        "two or null",
        "openapi-untyped",
        {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]},
        {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}], "nullable": True},
        [("rewritten", "anyOf/1")],
    ),
    (
        "one or null, no union",
        "narrow",
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "string", "description": "(nullable: true)"},
        [("rewritten", "anyOf")],
    ),
    (
        "union alone",
        "openapi",
        {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "D", "title": "T", "default": "x"},
        {
            "anyOf": [
                {"type": "STRING", "description": 'D (default: "x")'},
                {"type": "INTEGER", "description": 'D (default: "x")'},
            ]
        },
        [("keyword.dropped", "title"), ("keyword.dropped", "default"), ("rewritten", "description")],
    ),
    # allOf
    (
        "allOf",
        "json-schema",
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}, "required": ["a"]},
                {"properties": {"a": {"maxLength": 9}, "b": {"type": "number"}}, "required": ["b"], "minProperties": 2},
                {"minProperties": 1},
            ],
            "description": "D",
        },
        {
            "description": "D",
            "type": "object",
            "properties": {"a": {"type": "string", "minLength": 1, "maxLength": 9}, "b": {"type": "number"}},
            "required": ["a", "b"],
            "minProperties": 2,
        },
        [("rewritten", "allOf")],
    ),
    (
        "allOf that disagrees",
        "json-schema",
        {"allOf": [{"type": "string", "pattern": "^a"}, {"type": "integer", "pattern": "b$"}]},
        {"type": "string", "pattern": "^a", "description": "(type: integer; pattern: b$)"},
        [("rewritten", "allOf"), ("keyword.dropped", "allOf/1/type"), ("keyword.dropped", "allOf/1/pattern")],
    ),
    (
        "allOf of numbers",
        "json-schema",
        {"allOf": [{"type": "number", "maximum": 9.50}, {"type": ["integer", "null"], "maximum": 10}]},
        {"type": "integer", "maximum": 9.5},
        [("rewritten", "allOf")],
    ),
    (
        "allOf of enums",
        "json-schema",
        {"allOf": [{"enum": [1, "a", "b"]}, {"enum": ["b", 1.0]}]},
        {"enum": [1, "b"]},
        [("rewritten", "allOf")],
    ),
    ("allOf kept", "strict-closed", {"allOf": [{"type": "string"}]}, {"allOf": [{"type": "string"}]}, []),
    # unions of null, or of one member
    (
        "nothing but null",
        "openapi-untyped",
        {"anyOf": [{"type": "null"}, {"const": None}]},
        {"type": "NULL"},
        [("rewritten", "anyOf")],
    ),
    (
        "null by way of others",
        "openapi-untyped",
        {"anyOf": [{"allOf": [{"type": "null"}]}, {"type": "string"}], "title": "T"},
        {"title": "T", "nullable": True, "type": "STRING"},
        [("rewritten", "anyOf/0/allOf"), ("rewritten", "")],
    ),
    (
        "null by way of a sibling",
        "openapi",
        {"type": "null", "anyOf": [{"minLength": 1}, {"maxLength": 2}]},
        {"minLength": 1, "type": "NULL"},
        [("rewritten", "type"), ("rewritten", "")],
    ),
    (
        "null beside a union of unions",
        "openapi",
        {"anyOf": [{"type": ["string", "number"]}, {"type": "boolean"}, {"allOf": [{"const": None}]}]},
        {
            "anyOf": [
                {"anyOf": [{"type": "STRING", "nullable": True}, {"type": "NUMBER", "nullable": True}]},
                {"type": "BOOLEAN", "nullable": True},
            ]
        },
        [
            ("rewritten", "anyOf/0/type"),
            ("rewritten", "anyOf/2/allOf"),
            ("rewritten", "anyOf/2/allOf/0/const"),
            ("rewritten", "anyOf/2"),
            ("keyword.dropped", "anyOf/2/allOf/0/const"),
            ("rewritten", ""),
        ],
    ),
    (
        "two types beside a union",
        "openapi-untyped",
        {"type": ["string", "integer", "null"], "anyOf": [{"type": "string", "maxLength": 2}, {"minimum": 1}]},
        {
            "anyOf": [
                {"type": "STRING", "maxLength": 2},
                {"anyOf": [{"type": "STRING"}, {"type": "INTEGER", "minimum": 1}]},
            ],
            "nullable": True,
        },
        [("rewritten", "type"), ("rewritten", "anyOf/1/minimum")],
    ),
    (
        "two types, one of them with values",
        "openapi-untyped",
        {"type": ["string", "integer"], "enum": ["a", "b"]},
        {"type": "STRING", "enum": ["a", "b"]},
        [("rewritten", "type")],
    ),
    (
        "two types with values and a format each",
        "openapi-untyped",
        {
            "type": ["string", "number", "integer"],
            "enum": ["a", 1.5],
            "format": "date-time",
            "additionalProperties": False,
        },
        {
            "anyOf": [
                {"type": "STRING", "enum": ["a"], "format": "date-time"},
                {"type": "NUMBER", "description": "(enum: [1.5])"},
            ]
        },
        [("rewritten", "type"), ("rewritten", "enum"), ("rewritten", "format"), ("rewritten", "additionalProperties")],
    ),
    (
        "a number's format",
        "openapi-untyped",
        {"type": ["integer", "object"], "format": "int32", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {
            "anyOf": [
                {"type": "INTEGER", "format": "int32"},
                {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
            ]
        },
        [("rewritten", "type"), ("rewritten", "format"), ("rewritten", "properties"), ("rewritten", "required")],
    ),
    ("null alone", "openapi-untyped", {"type": ["null"]}, {"type": "NULL"}, [("rewritten", "type")]),
    # merging
    (
        "two conditions",
        "loose-modern",
        {"allOf": [{"if": {"minLength": 1}, "then": {"maxLength": 9}}]},
        {"allOf": [{"if": {"minLength": 1}, "then": {"maxLength": 9}}]},
        [],
    ),
    (
        "flags, examples and false",
        "json-schema",
        {
            "uniqueItems": False,
            "additionalProperties": {"type": "string"},
            "allOf": [
                {"uniqueItems": True, "additionalProperties": True, "items": {"type": "string"}},
                {"additionalProperties": False, "items": {"maxLength": 3}, "uniqueItems": True},
                {"title": "T", "default": 1},
                {"title": "T", "default": 1.0},
            ],
        },
        {
            "uniqueItems": True,
            "additionalProperties": False,
            "items": {"type": "string", "maxLength": 3},
            "title": "T",
            "default": 1,
        },
        [("rewritten", "allOf"), ("rewritten", "additionalProperties")],
    ),
    (
        "enums that have nothing in common",
        "json-schema",
        {"enum": ["a"], "allOf": [{"enum": ["b"]}]},
        {"enum": ["a"], "description": '(enum: ["b"])'},
        [("rewritten", "allOf"), ("keyword.dropped", "allOf/0/enum")],
    ),
    (
        "whole numbers and others",
        "json-schema",
        {"type": ["number", "string"], "allOf": [{"type": ["integer", "string"]}]},
        {"type": ["string", "integer"]},
        [("rewritten", "allOf")],
    ),
    (
        "a tuple beside a list of items",
        "json-schema",
        {"type": "array", "items": [{"type": "string"}], "prefixItems": [{}], "additionalItems": [1]},
        {"type": "array", "items": {"type": "string"}, "description": '(prefixItems: [{"type":"string"}])'},
        [
            ("rewritten", "items"),
            ("rewritten", "additionalItems"),
            ("invalid", "prefixItems"),
            ("invalid", "additionalItems"),
            ("keyword.dropped", "items"),
        ],
    ),
    # keywords that negate the schemas inside them
    (
        "not of a schema that cannot be written",
        "loose-modern",
        {"not": {"$ref": "#/nowhere"}, "description": "D"},
        {"description": 'D (not: {"$ref":"#/nowhere"})'},
        [("ref.cut", "not/$ref"), ("keyword.dropped", "not")],
    ),
    (
        "if of a schema that cannot be written",
        "loose-modern",
        {"if": {"$ref": "#/nowhere"}, "then": {"minLength": 1}, "title": "T"},
        {"title": "T", "description": '(if: {"$ref":"#/nowhere"}; then: {"minLength":1})'},
        [("ref.cut", "if/$ref"), ("keyword.dropped", "if"), ("keyword.dropped", "then")],
    ),
    (
        "contains of a schema that cannot be written",
        "loose-modern",
        {"contains": {"$ref": "#/nowhere"}},
        {"contains": {"description": "($ref: #/nowhere)"}},
        [("ref.cut", "contains/$ref")],
    ),
    (
        "at most two of a schema that cannot be written",
        "loose-modern",
        {"contains": {"$ref": "#/nowhere"}, "maxContains": 2},
        {"description": '(contains: {"$ref":"#/nowhere"}; maxContains: 2)'},
        [("ref.cut", "contains/$ref"), ("keyword.dropped", "contains"), ("keyword.dropped", "maxContains")],
    ),
    # types in targets without unions
    (
        "a union that is not known",
        "narrow-typed",
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {
            "type": "string",
            "description": '(anyOf: [{"type":"string"},{"type":"integer"}]; type: ["string","integer"])',
        },
        [("rewritten", ""), ("keyword.dropped", "anyOf")],
    ),
    (
        "a union without a constraint",
        "narrow-typed",
        {"anyOf": [{"title": "a"}, {"type": "integer"}]},
        {
            "type": "string",
            "description": '(anyOf: [{"title":"a"},{"type":"integer"}]; '
            'type: ["string","number","boolean","null"]; nullable: true)',
        },
        [("rewritten", ""), ("keyword.dropped", "anyOf")],
    ),
    (
        "constants by their type",
        "strict-closed",
        {"const": {"a": 1}},
        {"type": "object", "properties": {}, "additionalProperties": False, "description": '(const: {"a":1})'},
        [("rewritten", ""), ("keyword.dropped", "const"), ("rewritten", ""), ("rewritten", "")],
    ),
    (
        "values by their type",
        "openapi-untyped",
        {"enum": [True, False]},
        {"type": "BOOLEAN", "description": "(enum: [true,false])"},
        [("keyword.dropped", "enum")],
    ),
]
