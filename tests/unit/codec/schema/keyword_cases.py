"""Test data: every keyword of JSON Schema from draft 4 to 2020-12 and of OpenAPI 3.0, each in a schema that uses it.

A case is a name, the draft of the schema, the whole schema, and arguments that show the effect of the keyword. `one`
makes the schema of a single property `p` from a short form.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    name: str
    schema: Any
    arguments: tuple[Any, ...] = ()
    draft: str = "2020"


def one(name: str, schema: Any, *values: Any, draft: str = "2020", **root: Any) -> Case:
    whole = {"type": "object", "properties": {"p": schema}, "required": ["p"], **root}
    return Case(name, whole, tuple([{"p": value} for value in values]), draft)


def _words(words: dict[str, Any]) -> dict[str, Any]:
    """Root keywords such as `$defs`, which cannot be names of Python arguments."""
    return words


_A: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_B: Any = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
_TREE: Any = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}, "word": {"type": "string"}}}
_LEAF: Any = {"type": "string", "maxLength": 3}

CASES: list[Case] = [
    # Types
    one("type", {"type": "string"}, "x", 1),
    one("type list", {"type": ["string", "integer"]}, "x", 1, 1.5),
    one("type list with null", {"type": ["string", "null"], "maxLength": 3}, "x", None),
    one("type list of all", {"type": ["string", "number", "boolean", "object", "array", "null"]}, "x", [], {}),
    one("no type", {"description": "anything"}, "x", 1, [], {}, None),
    one("no type but properties", {"properties": {"a": {"type": "string"}}}, {"a": "x"}, {"a": 1}, 5),
    one("no type but items", {"items": {"type": "string"}}, ["x"], [1], "x"),
    one("no type but a bound", {"minimum": 3}, 3, 2, "x"),
    one("empty", {}, "x", 1, [], {}, None),
    one("true", True, "x", 1, [], {}, None),
    one("false", False, "x"),
    one("integer", {"type": "integer"}, 1, 1.0, 1.5),
    one("null", {"type": "null"}, None, 0),
    one("unknown type", {"type": "file"}, "x", draft="none"),
    one("types of other languages", {"type": "str"}, "x", draft="none"),
    one("type any", {"type": "any"}, "x", draft="none"),
    # Values
    one("const", {"const": "a"}, "a", "b"),
    one("const null", {"const": None}, None, 0),
    one("const object", {"const": {"a": 1}}, {"a": 1}, {}),
    one("const with type", {"type": "integer", "const": 3}, 3, 4),
    one("enum", {"type": "string", "enum": ["a", "b"]}, "a", "c"),
    one("enum of mixed types", {"enum": ["a", 1, None, True, 1.5]}, "a", 1, None, True, 1.5, "b"),
    one("enum with objects", {"enum": [{"a": 1}, [1], "x"]}, {"a": 1}, [1], "x"),
    one("enum of numbers", {"type": "integer", "enum": [1, 2]}, 1, 3),
    one("enum with an empty string", {"type": "string", "enum": ["", "a"]}, "", "a"),
    one("enum with null", {"type": ["string", "null"], "enum": ["a", None]}, "a", None),
    one("enum without values", {"enum": []}, draft="none"),
    # Numbers
    one("minimum, maximum", {"type": "number", "minimum": 1, "maximum": 3}, 1, 3, 0, 4),
    one("exclusive bounds", {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 3}, 2, 1.5, 1, 3),
    one("exclusive bounds of integers", {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 4}, 2, 3, 1, 4),
    one("exclusive fractions of integers", {"type": "integer", "exclusiveMinimum": 0.5, "minimum": -3}, 1, 0, 2),
    one("multipleOf", {"type": "integer", "multipleOf": 5}, 5, 6),
    one("exclusive flags", {"type": "number", "minimum": 1, "exclusiveMinimum": True}, 2, 1, draft="4"),
    one("exclusive flags off", {"type": "number", "maximum": 1, "exclusiveMaximum": False}, 1, 2, draft="4"),
    one("huge bounds", {"type": "integer", "minimum": -(10**30), "maximum": 10**400}, 0, 10**29),
    # Strings
    one("lengths", {"type": "string", "minLength": 1, "maxLength": 3}, "x", "", "xxxx"),
    one("pattern", {"type": "string", "pattern": "^a"}, "a", "b"),
    one("format", {"type": "string", "format": "date-time"}, "2026-01-01T00:00:00Z"),
    one("format uri", {"type": "string", "format": "uri"}, "x:y"),
    one("format of our own", {"type": "string", "format": "order-number"}, "x"),
    one("format of numbers", {"type": "integer", "format": "int64"}, 1, draft="openapi"),
    one("contentEncoding", {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}, "eA=="),
    one("contentSchema", {"type": "string", "contentMediaType": "application/json", "contentSchema": _A}, "{}"),
    # Arrays
    one("items", {"type": "array", "items": {"type": "string"}}, ["a"], [1]),
    one("array without items", {"type": "array"}, [1, "x"], "x"),
    one("items true", {"type": "array", "items": True}, [1, "x"]),
    one("items false", {"type": "array", "items": False}, [], [1]),
    one("item counts", {"type": "array", "items": {}, "minItems": 1, "maxItems": 2}, [1], [], [1, 2, 3]),
    one("minItems 5", {"type": "array", "items": {}, "minItems": 5}, [1] * 5, []),
    one("uniqueItems", {"type": "array", "items": {}, "uniqueItems": True}, [1], [1, 1]),
    one("prefixItems", {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], [1]),
    one(
        "prefixItems and items",
        {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
        ["a", 1],
        [1],
    ),
    one("prefixItems closed", {"type": "array", "prefixItems": [{"const": 1}], "items": False}, [1], [1, 2]),
    one("a list of items", {"type": "array", "items": [{"type": "string"}]}, ["a", 1], [1], draft="7"),
    one(
        "additionalItems",
        {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "integer"}},
        ["a", 1],
        [1],
        draft="7",
    ),
    one(
        "additionalItems false",
        {"type": "array", "items": [{"const": "a"}], "additionalItems": False},
        ["a"],
        ["a", "a"],
        draft="7",
    ),
    one("contains", {"type": "array", "contains": {"const": 1}}, [1, 2], [2]),
    one(
        "contains counted", {"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 3}, [1, 1], [1]
    ),
    one("unevaluatedItems", {"type": "array", "prefixItems": [{"const": 1}], "unevaluatedItems": False}, [1], [1, 2]),
    # Objects
    one("properties", _A, {"a": "x"}, {"a": "x", "b": 1}, {}),
    one("object without properties", {"type": "object"}, {}, {"a": 1}),
    one("optional properties", {"type": "object", "properties": {"a": {"type": "string"}}}, {}, {"a": "x"}),
    one("required without properties", {"type": "object", "required": ["z"]}, {"z": 1}, {}),
    one("closed", {**_A, "additionalProperties": False}, {"a": "x"}, {"a": "x", "b": 1}),
    one("open", {**_A, "additionalProperties": True}, {"a": "x", "b": 1}),
    one("a map", {"type": "object", "additionalProperties": {"type": "integer"}}, {"k": 1}, {"k": "x"}),
    one("a map beside properties", {**_A, "additionalProperties": {"type": "integer"}}, {"a": "x", "k": 1}),
    one(
        "patternProperties", {"type": "object", "patternProperties": {"^x": {"type": "integer"}}}, {"x1": 1}, {"x": "y"}
    ),
    one(
        "patternProperties closed",
        {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
        {"x1": 1},
        {"y": 1},
    ),
    one("propertyNames", {"type": "object", "propertyNames": {"pattern": "^a"}}, {"a": 1}, {"b": 1}),
    one("property counts", {"type": "object", "minProperties": 1, "maxProperties": 2}, {"a": 1}, {}),
    one("unevaluatedProperties", {"allOf": [_A], "unevaluatedProperties": False}, {"a": "x"}, {"a": "x", "b": 1}),
    one("dependentRequired", {"type": "object", "dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}),
    one("dependentSchemas", {"type": "object", "dependentSchemas": {"a": _B}}, {"a": 1, "b": 2}, {"a": 1}),
    one("dependencies", {"type": "object", "dependencies": {"a": ["b"], "c": _B}}, {"a": 1, "b": 2}, {}, draft="7"),
    one(
        "names that are keywords",
        {"type": "object", "properties": {"type": {"type": "string"}, "$ref": {"type": "string"}, "enum": {}}},
        {"type": "x", "$ref": "#", "enum": 1},
    ),
    # Unions
    one("anyOf", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "x", 1, 1.5),
    one("anyOf with null", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", None),
    one("anyOf of one", {"anyOf": [{"type": "string"}]}, "x"),
    one(
        "anyOf beside words",
        {"type": "string", "description": "D", "anyOf": [{"minLength": 3}, {"pattern": "^a"}]},
        "a",
    ),
    one("oneOf", {"oneOf": [{"type": "string"}, {"type": "integer"}]}, "x", 1),
    one("oneOf that overlaps", {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 1, 2.5, 3),
    one("oneOf of objects", {"oneOf": [_A, _B]}, {"a": "x"}, {"b": 1}, {"a": "x", "b": 1}),
    one("oneOf beside anyOf", {"anyOf": [_A, _B], "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": "x"}),
    one("allOf", {"allOf": [_A, _B]}, {"a": "x", "b": 1}, {"a": "x"}),
    one("allOf of one", {"allOf": [{"type": "string", "maxLength": 3}], "description": "D"}, "x", "xxxx"),
    one("allOf that disagrees", {"allOf": [{"type": "string"}, {"type": "integer"}]}, "x", 1),
    one("allOf of bounds", {"allOf": [{"minimum": 1}, {"minimum": 2, "maximum": 9}], "type": "integer"}, 2, 1),
    one("allOf of enums", {"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, "b", "a"),
    one("allOf of patterns", {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}, "ab", "a"),
    one("allOf of unions", {"allOf": [{"anyOf": [_A, _B]}, {"anyOf": [{"required": ["c"]}, {}]}]}, {"a": "x"}),
    one("unions in unions", {"anyOf": [{"oneOf": [_A, {"allOf": [_B]}]}, {"type": "null"}]}, {"a": "x"}, None),
    one(
        "a tagged union",
        {"oneOf": [{**_A, "title": "A"}, {**_B, "title": "B"}], "discriminator": {"propertyName": "k"}},
    ),
    one("not", {"type": "string", "not": {"enum": ["x"]}}, "y", "x"),
    one("not anything", {"not": {}}, 1),
    one("not in not", {"not": {"not": {"type": "string", "minLength": 2}}}, "xx", "x"),
    one(
        "if, then, else",
        {"type": "integer", "if": {"minimum": 5}, "then": {"multipleOf": 2}, "else": {"const": 1}},
        6,
        1,
    ),
    one("then alone", {"type": "string", "then": {"minLength": 3}}, "x"),
    # References
    one("$ref", {"$ref": "#/$defs/leaf"}, "x", "xxxx", **_words({"$defs": {"leaf": _LEAF}})),
    one("$ref with siblings", {"$ref": "#/$defs/leaf", "description": "D"}, "x", **_words({"$defs": {"leaf": _LEAF}})),
    one(
        "$ref with constraints",
        {"$ref": "#/$defs/leaf", "minLength": 2},
        "xx",
        "x",
        **_words({"$defs": {"leaf": _LEAF}}),
    ),
    one("definitions", {"$ref": "#/definitions/leaf"}, "x", draft="7", definitions={"leaf": _LEAF}),
    one(
        "$ref into properties",
        {"type": "object", "properties": {"q": {"$ref": "#/properties/p/properties/r"}, "r": _LEAF}},
    ),
    one("$ref to a $ref", {"$ref": "#/$defs/a"}, "x", **_words({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": _LEAF}})),
    one("$ref escaped", {"$ref": "#/$defs/a~1b~0c%20d"}, "x", **_words({"$defs": {"a/b~c d": _LEAF}})),
    one("$ref to an anchor", {"$ref": "#here"}, "x", **_words({"$defs": {"leaf": {**_LEAF, "$anchor": "here"}}})),
    one("$ref to an id", {"$ref": "urn:leaf"}, "x", **_words({"$defs": {"leaf": {**_LEAF, "$id": "urn:leaf"}}})),
    one("$ref to nothing", {"$ref": "#/$defs/none"}, "x", draft="none"),
    one("$ref to elsewhere", {"$ref": "https://example.com/leaf.json"}, "x", draft="none"),
    one("$ref to a file", {"$ref": "leaf.json#/$defs/x"}, "x", draft="none"),
    one("$ref to data", {"$ref": "#/properties/p/default", "default": 5}, draft="none"),
    one("$ref to itself", {"$ref": "#/properties/p"}, draft="none"),
    one("$ref that is no text", {"$ref": 5}, draft="none"),
    one(
        "recursive",
        {"$ref": "#/$defs/tree"},
        {"word": "x", "next": {"word": "y"}},
        **_words({"$defs": {"tree": _TREE}}),
    ),
    one(
        "recursive in two",
        {"$ref": "#/$defs/a"},
        {"b": {"a": {}}},
        **_words(
            {
                "$defs": {
                    "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}},
                    "b": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}},
                }
            }
        ),
    ),
    one("recursive root", {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, None, {"p": None}),
    one(
        "$dynamicRef", {"$dynamicRef": "#leaf"}, "x", **_words({"$defs": {"leaf": {**_LEAF, "$dynamicAnchor": "leaf"}}})
    ),
    one("$recursiveRef", {"anyOf": [{"$recursiveRef": "#"}, {"type": "null"}]}, None, draft="2019"),
    one("definitions nobody uses", _LEAF, "x", **_words({"$defs": {"other": {"not": {}}}})),
    one("inner definitions", {"$ref": "#/properties/p/$defs/x", "$defs": {"x": _LEAF}}, "x"),
    # Annotations
    one("title, description", {"type": "string", "title": "T", "description": "D"}, "x"),
    one("default, examples", {"type": "string", "default": "d", "examples": ["e"]}, "x"),
    one("default null", {"type": ["string", "null"], "default": None}, None),
    one(
        "deprecated, readOnly, writeOnly",
        {"type": "string", "deprecated": True, "readOnly": True, "writeOnly": False},
        "x",
    ),
    one("$comment", {"type": "string", "$comment": "c"}, "x"),
    one(
        "$schema, $id",
        _LEAF,
        "x",
        **_words({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:root"}),
    ),
    one(
        "id", _LEAF, "x", draft="4", **_words({"$schema": "http://json-schema.org/draft-04/schema#", "id": "urn:root"})
    ),
    one("$vocabulary", _LEAF, "x", **_words({"$vocabulary": {"urn:v": True}})),
    one("encrypted", {"type": "string", "encrypted": True}, "x"),
    one("unknown words", {"type": "string", "x-order": 1, "x-enum-varnames": ["A"], "markdownDescription": "M"}, "x"),
    # OpenAPI 3.0
    one("nullable", {"type": "string", "nullable": True}, "x", None, draft="openapi"),
    one("nullable enum", {"type": "string", "nullable": True, "enum": ["a"]}, "a", draft="openapi"),
    one("nullable false", {"type": "string", "nullable": False}, "x", draft="openapi"),
    one(
        "nullable reference",
        {"$ref": "#/$defs/leaf", "nullable": True},
        draft="openapi",
        **_words({"$defs": {"leaf": _LEAF}}),
    ),
    one("example", {"type": "string", "example": "e"}, "x", draft="openapi"),
    one(
        "xml, externalDocs",
        {"type": "string", "xml": {"name": "a"}, "externalDocs": {"url": "u"}},
        "x",
        draft="openapi",
    ),
    # Roots
    Case("root: empty", {}, ({}, {"a": 1})),
    Case("root: true", True, ({}, {"a": 1})),
    Case("root: false", False),
    Case("root: null", None, draft="none"),
    Case("root: text", "string", draft="none"),
    Case("root: list", [_A], draft="none"),
    Case("root: no type", {"properties": {"a": {"type": "string"}}}, ({"a": "x"}, {})),
    Case("root: no properties", {"type": "object"}, ({}, {"a": 1})),
    Case("root: string", {"type": "string", "description": "D"}),
    Case("root: array", {"type": "array", "items": _A}),
    Case("root: object or null", {"type": ["object", "null"], "properties": {"a": {}}}, ({"a": 1}, {})),
    Case("root: anyOf", {"anyOf": [_A, _B]}, ({"a": "x"}, {"b": 1})),
    Case("root: oneOf with properties", {"type": "object", "properties": {"c": {}}, "oneOf": [_A, _B]}, ({"a": "x"},)),
    Case("root: allOf", {"allOf": [_A, _B]}, ({"a": "x", "b": 1}, {"a": "x"})),
    Case("root: allOf with unions", {"allOf": [{"anyOf": [_A, _B]}, {"properties": {"c": {}}}]}, ({"a": "x"},)),
    Case("root: $ref", {"$ref": "#/$defs/a", "$defs": {"a": _A}}, ({"a": "x"}, {})),
    Case("root: $ref to itself", {"$ref": "#"}, draft="none"),
    Case("root: recursive $ref", {"$ref": "#/$defs/tree", "$defs": {"tree": _TREE}}, ({"word": "x", "next": {}},)),
    Case(
        "root: tagged union",
        {
            "oneOf": [
                {"type": "object", "properties": {"k": {"const": "a"}, "v": {"type": "string"}}, "required": ["k"]},
                {"type": "object", "properties": {"k": {"const": "b"}, "v": {"type": "integer"}}, "required": ["k"]},
            ]
        },
        ({"k": "a", "v": "x"}, {"k": "b", "v": 1}),
    ),
    Case("root: if", {**_A, "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}}, ({"a": "y"},)),
    Case("root: not", {**_A, "not": {"required": ["z"]}}, ({"a": "x"}, {"a": "x", "z": 1})),
    Case("root: minProperties", {**_A, "minProperties": 2}, ({"a": "x", "b": 1},)),
    Case("root: const", {"const": {"a": 1}}, ({"a": 1}, {})),
    Case("root: enum", {"type": "object", "enum": [{"a": 1}, {"b": 2}]}, ({"a": 1}, {})),
    Case("root: $comment", {**_A, "$comment": "c", "title": "T", "examples": [{"a": "x"}]}, ({"a": "x"},)),
    Case("root: definitions only", {"$defs": {"a": _A}}, ({},)),
    Case(
        "root: odd names",
        {
            "type": "object",
            "properties": {"$top": {"type": "integer"}, "a b": {}, "日本": {"type": "string"}, "x" * 65: {}, "ok": {}},
            "required": ["$top", "ok"],
            "additionalProperties": False,
        },
        ({"$top": 1, "ok": 1}, {"$top": 1, "ok": 1, "日本": "x", "a b": 2}),
    ),
    # Malformed schemas, as hosts and people write them
    one("words of wrong kinds", {"type": 5, "properties": [], "required": "a", "minimum": "1"}, draft="none"),
    one("nulls for absent", {"type": "string", "description": None, "enum": None, "items": None}, draft="none"),
    one("required as a flag", {"type": "string", "required": True}, "x", draft="none"),
    one("upper case types", {"type": "STRING"}, "x", draft="none"),
    one("a schema that is text", "string", draft="none"),
]
