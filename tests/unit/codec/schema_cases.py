"""Test data: how one property is rewritten. Name, subset, schema, what becomes of it, what is reported (code, path)."""

from __future__ import annotations

from typing import Any

REWRITES: list[tuple[str, str, Any, Any, list[tuple[str, str]]]] = [
    # const, enum
    ("const", "json-schema", {"const": "a"}, {"enum": ["a"]}, [("rewritten", "const")]),
    ("const null", "json-schema", {"const": None}, {"enum": [None]}, [("rewritten", "const")]),
    (
        "const beside enum",
        "json-schema",
        {"enum": ["a", "b"], "const": "b"},
        {"enum": ["b"]},
        [("rewritten", "enum"), ("rewritten", "const")],
    ),
    (
        "const against enum",
        "json-schema",
        {"enum": ["a"], "const": "b"},
        {"enum": ["a"], "description": '(const: "b")'},
        [("keyword.dropped", "const")],
    ),
    ("const kept", "strict-closed", {"type": "string", "const": "a"}, {"type": "string", "const": "a"}, []),
    (
        "enum of numbers",
        "openapi-untyped",
        {"type": "integer", "enum": [1, 2]},
        {"type": "INTEGER", "description": "(enum: [1,2])"},
        [("keyword.dropped", "enum")],
    ),
    (
        "enum with null and nothing",
        "openapi-untyped",
        {"type": ["string", "null"], "enum": ["a", "", None]},
        {"type": "STRING", "enum": ["a"], "nullable": True},
        [("rewritten", "type"), ("rewritten", "enum")],
    ),
    (
        "enum of objects",
        "strict-closed",
        {"type": "array", "enum": [[1]]},
        {"type": "array", "description": "(enum: [[1]])"},
        [("keyword.dropped", "enum")],
    ),
    # types
    (
        "type or null",
        "openapi-untyped",
        {"type": ["string", "null"], "minLength": 1},
        {"type": "STRING", "minLength": 1, "nullable": True},
        [("rewritten", "type")],
    ),
    ("type or null kept", "json-schema", {"type": ["string", "null"]}, {"type": ["string", "null"]}, []),
    (
        "two types",
        "openapi-untyped",
        {"type": ["string", "array"], "items": {"type": "integer"}, "maxLength": 3, "description": "D"},
        {
            "anyOf": [{"type": "STRING", "maxLength": 3}, {"type": "ARRAY", "items": {"type": "INTEGER"}}],
            "description": "D",
        },
        [("rewritten", "type"), ("rewritten", "items"), ("rewritten", "maxLength")],
    ),
    (
        "two types, union alone",
        "openapi",
        {"type": ["string", "boolean", "null"], "description": "D"},
        {
            "anyOf": [
                {"type": "STRING", "description": "D", "nullable": True},
                {"type": "BOOLEAN", "description": "D", "nullable": True},
            ]
        },
        [("rewritten", "type"), ("rewritten", "description")],
    ),
    (
        "two types, no union",
        "narrow",
        {"type": ["string", "boolean"]},
        {"type": "string", "description": '(type: ["string","boolean"])'},
        [("rewritten", "type"), ("keyword.dropped", "type")],
    ),
    ("type in capitals", "json-schema", {"type": "STRING"}, {"type": "string"}, [("rewritten", "type")]),
    ("type by habit", "json-schema", {"type": "int"}, {"type": "integer"}, [("rewritten", "type")]),
    ("type any", "json-schema", {"type": "any"}, {}, [("rewritten", "type")]),
    ("type unknown", "json-schema", {"type": "date"}, {}, [("invalid", "type")]),
    ("type malformed", "json-schema", {"type": {"a": 1}}, {}, [("invalid", "type")]),
    (
        "nullable from OpenAPI",
        "json-schema",
        {"type": "string", "enum": ["a"], "nullable": True},
        {"type": ["string", "null"], "enum": ["a", None]},
        [("rewritten", "nullable")],
    ),
    (
        "nullable false",
        "json-schema",
        {"type": "string", "nullable": False},
        {"type": "string"},
        [("rewritten", "nullable")],
    ),
    (
        "nullable union",
        "json-schema",
        {"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": True},
        {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        [("rewritten", "nullable")],
    ),
    ("no type: object", "openapi", {"properties": {}}, {"type": "OBJECT", "properties": {}}, [("rewritten", "")]),
    (
        "no type: array",
        "openapi",
        {"items": {"type": "string"}},
        {"type": "ARRAY", "items": {"type": "STRING"}},
        [("rewritten", "")],
    ),
    ("no type: values", "openapi", {"enum": ["a"]}, {"type": "STRING", "enum": ["a"]}, [("rewritten", "")]),
    (
        "no type: bounds",
        "strict-closed",
        {"pattern": "x"},
        {"type": "string", "description": "(pattern: x)"},
        [("rewritten", ""), ("keyword.dropped", "pattern")],
    ),
    ("anything", "strict-closed", {}, {"type": ["string", "number", "boolean", "null"]}, [("rewritten", "")]),
    ("anything untyped", "json-schema", {}, {}, []),
    ("true", "json-schema", True, {}, [("rewritten", "")]),
    ("false", "json-schema", False, {"description": "(no value is valid here)"}, [("rewritten", "")]),
    ("no schema", "json-schema", 5, {}, [("invalid", "")]),
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
    # bounds
    (
        "exclusive bounds of an integer",
        "json-schema",
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9.5, "maximum": 7},
        {"type": "integer", "minimum": 1, "maximum": 7},
        [("rewritten", "exclusiveMinimum"), ("rewritten", "maximum"), ("rewritten", "exclusiveMaximum")],
    ),
    (
        "exclusive bounds of draft 4",
        "strict-required",
        {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 9},
        [("rewritten", "exclusiveMinimum"), ("rewritten", "minimum"), ("rewritten", "exclusiveMaximum")],
    ),
    (
        "bounds malformed",
        "json-schema",
        {"type": "array", "minItems": "1", "maxItems": -1, "uniqueItems": 0},
        {"type": "array"},
        [("invalid", "minItems"), ("invalid", "maxItems"), ("invalid", "uniqueItems")],
    ),
    ("minItems taken", "strict-closed", {"type": "array", "minItems": 1}, {"type": "array", "minItems": 1}, []),
    (
        "minItems too large",
        "strict-closed",
        {"type": "array", "minItems": 2},
        {"type": "array", "description": "(minItems: 2)"},
        [("keyword.dropped", "minItems")],
    ),
    (
        "format not taken",
        "openapi-untyped",
        {"type": "string", "format": "uri"},
        {"type": "STRING", "description": "(format: uri)"},
        [("keyword.dropped", "format")],
    ),
    # arrays
    (
        "tuple",
        "json-schema",
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": False, "minItems": 2},
        {
            "type": "array",
            "items": {"anyOf": [{"type": "string"}, {"type": "number"}]},
            "minItems": 2,
            "description": '(prefixItems: [{"type":"string"},{"type":"number"}])',
        },
        [("keyword.dropped", "prefixItems"), ("rewritten", "items")],
    ),
    (
        "tuple of draft 7",
        "json-schema",
        {"type": "array", "items": [{"type": "string"}, {"type": "string"}], "additionalItems": {"type": "string"}},
        {
            "type": "array",
            "items": {"type": "string"},
            "description": '(prefixItems: [{"type":"string"},{"type":"string"}])',
        },
        [
            ("rewritten", "items"),
            ("rewritten", "additionalItems"),
            ("keyword.dropped", "items"),
            ("rewritten", "additionalItems"),
        ],
    ),
    (
        "tuple renewed",
        "loose-modern",
        {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
        [("rewritten", "items"), ("rewritten", "additionalItems")],
    ),
    ("array without items", "loose-complete", {"type": "array"}, {"type": "array", "items": {}}, [("rewritten", "")]),
    # objects
    (
        "map",
        "strict-closed",
        {"type": "object", "additionalProperties": {"type": "string"}},
        {
            "type": "object",
            "properties": {},
            "additionalProperties": False,
            "description": '(additionalProperties: {"type":"string"})',
        },
        [("rewritten", ""), ("keyword.dropped", "additionalProperties")],
    ),
    (
        "additionalProperties refused",
        "template",
        {"type": "object", "properties": {}, "additionalProperties": False},
        {"type": "object", "properties": {}},
        [("keyword.dropped", "additionalProperties")],
    ),
    (
        "optional properties",
        "strict-required",
        {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "string", "enum": ["x"]},
                "c": {"const": 1, "type": "integer"},
                "d": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "required": ["a", "zz"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": ["string", "null"], "enum": ["x", None]},
                "c": {"enum": [1, None], "type": ["integer", "null"]},
                "d": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            },
            "required": ["a", "b", "c", "d"],
            "additionalProperties": False,
            "description": '(required: ["zz"])',
        },
        [
            ("keyword.dropped", "required"),
            ("rewritten", "properties/b"),
            ("rewritten", "properties/c"),
            ("rewritten", "properties/d"),
        ],
    ),
    (
        "words of the wrong kind",
        "json-schema",
        {"properties": [], "required": True, "description": None, "enum": [], "anyOf": [], "items": "x", "pattern": 5},
        {},
        [
            ("invalid", "properties"),
            ("invalid", "required"),
            ("invalid", "description"),
            ("invalid", "enum"),
            ("invalid", "anyOf"),
            ("invalid", "items"),
            ("invalid", "pattern"),
        ],
    ),
    # unions that turn out to be null, or to have one member
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
    # keywords that turn round what stands inside them
    (
        "not of what cannot be said",
        "loose-modern",
        {"not": {"$ref": "#/nowhere"}, "description": "D"},
        {"description": 'D (not: {"$ref":"#/nowhere"})'},
        [("ref.cut", "not/$ref"), ("keyword.dropped", "not")],
    ),
    (
        "if of what cannot be said",
        "loose-modern",
        {"if": {"$ref": "#/nowhere"}, "then": {"minLength": 1}, "title": "T"},
        {"title": "T", "description": '(if: {"$ref":"#/nowhere"}; then: {"minLength":1})'},
        [("ref.cut", "if/$ref"), ("keyword.dropped", "if"), ("keyword.dropped", "then")],
    ),
    (
        "contains of what cannot be said",
        "loose-modern",
        {"contains": {"$ref": "#/nowhere"}},
        {"contains": {"description": "($ref: #/nowhere)"}},
        [("ref.cut", "contains/$ref")],
    ),
    (
        "at most so many of what cannot be said",
        "loose-modern",
        {"contains": {"$ref": "#/nowhere"}, "maxContains": 2},
        {"description": '(contains: {"$ref":"#/nowhere"}; maxContains: 2)'},
        [("ref.cut", "contains/$ref"), ("keyword.dropped", "contains"), ("keyword.dropped", "maxContains")],
    ),
    # types where unions are not known
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
        "a union that says nothing",
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
