"""References and roots: `adapt` follows, keeps, merges or cuts them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codec.schema import Subset, adapt, from_openapi

from .schema_subsets import SUBSETS
from .test_schema import fit

TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/Node"}},
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}, "v": {"type": "string"}},
        }
    },
}


def test_recursion_is_kept_if_the_target_allows_it() -> None:
    text = json.dumps(TREE, indent=1).encode()
    assert adapt(text, SUBSETS["json-schema"]) == (text, ())


def test_recursion_is_cut_if_references_are_inlined() -> None:
    out, changes = fit(TREE, "template")
    node = {
        "type": "object",
        "properties": {
            "kids": {"type": "array", "items": {"description": "(recursive: Node)", "type": "object"}},
            "v": {"type": "string"},
        },
    }
    assert out == {"type": "object", "properties": {"root": node}}
    assert changes == [
        ("ref.inlined", "properties/root/$ref"),
        ("ref.cut", "$defs/Node/properties/kids/items/$ref"),
        ("rewritten", "$defs"),
    ]


def test_recursion_is_cut_if_the_target_forbids_it() -> None:
    out, changes = fit(TREE, Subset(recursive=False))
    assert out["properties"] == TREE["properties"]
    assert out["$defs"]["Node"]["properties"]["kids"]["items"] == {"description": "(recursive: Node)", "type": "object"}
    assert changes == [("ref.cut", "$defs/Node/properties/kids/items/$ref")]


def test_one_of_two_mutual_references_is_cut() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        },
    }
    assert fit(schema, Subset(recursive=False))[1] == [("ref.cut", "$defs/B/properties/a/$ref")]


@pytest.mark.parametrize(
    ("ref", "place"),
    [
        ("#/$defs/a~1b", {"$defs": {"a/b": {"type": "string"}}}),
        ("#/$defs/a~0b", {"$defs": {"a~b": {"type": "string"}}}),
        ("#/$defs/a%20%C3%A9", {"$defs": {"a é": {"type": "string"}}}),
        ("#/definitions/x", {"definitions": {"x": {"type": "string"}}}),
        ("#/properties/q/items", {}),
        ("#/properties/q/prefixItems/1", {}),
        ("#named", {"$defs": {"x": {"$anchor": "named", "type": "string"}}}),
        ("urn:x", {"$defs": {"x": {"$id": "urn:x", "type": "string"}}}),
        ("urn:x#/$defs/y", {"$defs": {"x": {"$id": "urn:x", "$defs": {"y": {"type": "string"}}}}}),
        ("urn:root#/$defs/x", {"$id": "urn:root", "$defs": {"x": {"type": "string"}}}),
    ],
)
def test_a_reference_can_point_to_many_kinds_of_places(ref: str, place: dict[str, Any]) -> None:
    tuple_like = {"type": "array", "items": {"type": "string"}, "prefixItems": [{}, {"type": "string"}]}
    schema = {"type": "object", "properties": {"p": {"$ref": ref}, "q": tuple_like}, **place}
    out, changes = fit(schema, "template")
    assert out["properties"]["p"] == {"type": "string"}
    assert ("ref.inlined", "properties/p/$ref") in changes
    kept, _ = fit(schema, "json-schema")
    name = kept["properties"]["p"]["$ref"]
    assert name.startswith("#/$defs/")
    assert from_openapi(json.dumps(kept).encode())[1] == ()
    assert {"type": "string"} in kept["$defs"].values()


@pytest.mark.parametrize(
    "ref",
    ["https://example.com/x.json", "#/$defs/none", "#/properties/p/x", "#nowhere", "other.json#/a", "#/required/0"],
)
def test_a_reference_to_nothing_is_cut(ref: str) -> None:
    schema = {"type": "object", "properties": {"p": {"$ref": ref, "description": "D"}}, "required": ["p"]}
    for table in ("json-schema", "template"):
        out, changes = fit(schema, table)
        assert out["properties"]["p"] == {"description": f"D\n($ref: {ref})"}
        assert changes == [("ref.cut", "properties/p/$ref")]


def test_siblings_of_a_reference_are_merged_with_its_target() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/S", "description": "mine", "minLength": 2, "title": "P"}},
        "$defs": {"S": {"type": "string", "minLength": 1, "maxLength": 9, "description": "theirs", "title": "S"}},
    }
    out, changes = fit(schema, Subset(refs="inline"))
    assert out["properties"]["p"] == {
        "description": "mine\ntheirs",
        "minLength": 2,
        "title": "P",
        "type": "string",
        "maxLength": 9,
    }
    assert changes == [
        ("ref.inlined", "properties/p/$ref"),
        ("keyword.dropped", "$defs/S/title"),
        ("rewritten", "$defs"),
    ]
    out, changes = fit(schema, Subset(ref_siblings=False))
    assert out["properties"]["p"]["maxLength"] == 9
    assert out["$defs"] == schema["$defs"]


def test_a_recursive_reference_loses_siblings_that_the_target_forbids() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N", "description": "D"}}}
    schema = {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": node}}
    out, changes = fit(schema, Subset(ref_siblings=False))
    assert out["$defs"]["N"]["properties"]["next"] == {"$ref": "#/$defs/N"}
    assert changes == [("keyword.dropped", "$defs/N/properties/next/description")]


def test_definitions_move_to_the_place_that_the_target_uses() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/X"}, "b": {"$ref": "#/properties/a"}},
        "definitions": {"X": {"type": "string"}, "unused": {}},
        "required": ["a"],
    }
    out, _ = fit(schema, "json-schema")
    assert out == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/X"}, "b": {"$ref": "#/$defs/a"}},
        "required": ["a"],
        "$defs": {"X": {"type": "string"}, "a": {"$ref": "#/$defs/X"}},
    }
    out, _ = fit(schema, "openapi-refs")
    assert out["properties"]["a"] == {"ref": "#/defs/X"}
    assert out["defs"] == {"X": {"type": "STRING"}, "a": {"ref": "#/defs/X"}}


def test_a_reference_to_the_whole_document() -> None:
    schema = {"type": "object", "properties": {"sub": {"$ref": "#"}}}
    assert fit(schema, "json-schema") == (schema, [])
    assert fit(schema, "template")[0]["properties"]["sub"] == {"description": "(recursive: #)", "type": "object"}
    out, _ = fit(schema, "openapi-refs")
    assert out["properties"]["sub"] == {"ref": "#/defs/root"}
    assert out["defs"]["root"]["properties"]["sub"] == {"ref": "#/defs/root"}


def test_odd_references() -> None:
    schema = {
        "$id": "urn:root",
        "type": "object",
        "properties": {
            "twice": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]},
            "round": {"$ref": "#/$defs/x"},
            "by name": {"$ref": "urn:root#/$defs/é"},
            "into text": {"$ref": "#/type/x"},
            "true": {"$ref": "#/$defs/yes"},
            "open": {"$ref": "#/$defs/open"},
            "far": {"$ref": "#/$defs/far"},
        },
        "$defs": {
            "a": {"type": "string"},
            "x": {"$ref": "#/$defs/y"},
            "y": {"$ref": "#/$defs/x"},
            "é": {"type": "string"},
            "yes": True,
            "far": {"enum": [1], "not": {"$ref": "#/$defs/far"}, "title": "T"},
            "open": {"properties": {"in": {"$ref": "#/$defs/open"}, "no": {"$ref": "#/$defs/open/properties/in"}}},
        },
    }
    out, changes = fit(schema, "template")
    assert out["properties"] == {
        "twice": {"type": "string"},
        "round": {},
        "by name": {"type": "string"},
        "into text": {"description": "($ref: #/type/x)"},
        "true": {},
        "far": {"enum": [1], "description": '(not: {"$ref":"#/$defs/far"})'},
        "open": {
            "properties": {
                "in": {"description": "(recursive: open)"},
                "no": {"description": "(recursive: open)"},
            }
        },
    }
    assert ("ref.inlined", "properties/twice/allOf/1/$ref") in changes
    kept, _ = fit(schema, "json-schema")
    assert kept["properties"]["by name"] == {"$ref": "#/$defs/%C3%A9"}


def test_the_type_of_a_cut_reference() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}},
        "$defs": {
            "a": {"title": "A", "anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]},
            "b": {"allOf": [{"$ref": "#/$defs/list"}], "anyOf": [{"$ref": "#/$defs/b"}, {"maxItems": 1}]},
            "list": {"items": {"$ref": "#/$defs/b"}},
        },
    }
    out, _ = fit(schema, "template")
    assert out["properties"]["a"]["anyOf"] == [{"description": "(recursive: a)"}, {"type": "string"}]
    out, _ = fit({**schema, "$defs": {**schema["$defs"], "a": {"$ref": "#/$defs/a"}}}, "template")
    assert out["properties"]["a"] == {}


def test_names_for_definitions_do_not_collide() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#/definitions/a"}},
        "$defs": {"a": {"type": "integer"}},
        "definitions": {"a": {"type": "boolean"}},
    }
    out, _ = fit(schema, "json-schema")
    assert out["properties"]["b"] == {"$ref": "#/$defs/a_2"}
    assert out["properties"]["c"] == {"$ref": "#/$defs/a_3"}
    assert out["$defs"] == {"a": {"type": "integer"}, "a_2": {"type": "string"}, "a_3": {"type": "boolean"}}


def test_an_optional_reference_may_be_null() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
    out, _ = fit(schema, "strict-required")
    assert out["properties"]["a"] == {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}
    nullable = Subset(all_required=True, types="nullable", refs="inline")
    out, _ = fit({"properties": {"a": {"type": "string"}, "b": {"type": "null"}}}, nullable)
    assert out["properties"] == {"a": {"type": "string", "nullable": True}, "b": {"type": "null"}}


def test_definitions_that_are_no_object() -> None:
    assert fit({"type": "object", "$defs": []}, "json-schema") == ({"type": "object"}, [("invalid", "$defs")])


def test_keywords_that_occur_twice_and_cannot_be_merged() -> None:
    one = {"if": {"minProperties": 1}, "then": {"maxProperties": 9}, "examples": [{}], "exclusiveMinimum": True}
    two = {"if": {"minProperties": 2}, "else": {"maxProperties": 8}, "examples": [1], "exclusiveMinimum": 0}
    schema = {"type": "object", "allOf": [one, two, {"allOf": [{"title": "T"}]}], "additionalItems": True}
    out, changes = fit(schema, "loose")
    assert out == {
        "type": "object",
        "additionalItems": True,
        "if": {"minProperties": 1},
        "then": {"maxProperties": 9},
        "examples": [{}, 1],
        "exclusiveMinimum": True,
        "title": "T",
        "description": '(if: {"minProperties":2}; else: {"maxProperties":8}; exclusiveMinimum: 0)',
    }
    assert ("keyword.dropped", "allOf/1/else") in changes


def test_booleans_at_the_root() -> None:
    for text in (b"true", b" false "):
        assert adapt(text, Subset(refs="inline")) == (text, ())
    assert fit(True, "loose") == ({"type": "object"}, [("rewritten", ""), ("rewritten", "")])


# Roots


@pytest.mark.parametrize(
    "root", [5, None, "x", [], False, {"type": "string"}, {"type": "array", "items": {}}, {"enum": [1]}]
)
def test_a_root_that_is_no_object(root: Any) -> None:
    out, changes = fit(root, "json-schema")
    text = json.dumps(root, separators=(",", ":"))
    assert out == {"type": "object", "properties": {}, "description": f"(schema: {text})"}
    assert changes == [("invalid", "")]


@pytest.mark.parametrize(
    "root", [{}, {"properties": {}}, {"type": ["object", "null"]}, {"required": []}, {"$comment": "c"}]
)
def test_a_root_without_the_type_object(root: dict[str, Any]) -> None:
    out, changes = fit(root, "loose")
    assert out == {"type": "object"} | {name: value for name, value in root.items() if name != "type"}
    assert [code for code, _ in changes] == ["rewritten"]


def test_a_root_union_becomes_one_object() -> None:
    schema = {
        "description": "D",
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "kind": {"const": "a", "description": "K"},
                    "x": {"type": "string"},
                    "s": {"type": "string"},
                },
                "required": ["kind", "x"],
                "additionalProperties": False,
            },
            {"$ref": "#/$defs/B"},
            {"type": "null"},
        ],
        "$defs": {
            "B": {
                "properties": {"kind": {"const": "b"}, "s": {"type": "integer"}},
                "required": ["kind"],
                "additionalProperties": False,
            }
        },
    }
    out, changes = fit(schema, "template")
    assert out == {
        "type": "object",
        "properties": {
            "kind": {"description": "K", "enum": ["a", "b"]},
            "x": {"type": "string"},
            "s": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["kind"],
    }
    assert ("rewritten", "anyOf") in changes
    assert ("rewritten", "anyOf/2") in changes
    assert ("keyword.dropped", "description") in changes
    loose, _ = fit(schema, "loose")
    assert loose["additionalProperties"] is False
    assert loose["description"] == "D (anyOf: {x} | {})"


def test_a_root_union_of_requirements_is_described() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a"],
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    out, changes = fit(schema, "loose")
    assert out == {
        "type": "object",
        "properties": schema["properties"],
        "required": ["a"],
        "description": "(oneOf: {a} | {b})",
    }
    assert changes == [("rewritten", "oneOf")]


def test_a_root_reference_and_a_root_all_of_are_resolved() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/A"}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}],
        "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]}},
    }
    out, _ = fit(schema, "loose")
    assert out == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"type": "string"}},
        "required": ["a", "b"],
        "$defs": schema["$defs"],
    }


def test_a_root_union_in_a_root_union() -> None:
    kinds = [{"properties": {"k": {"const": n}}, "required": ["k"], "additionalProperties": False} for n in (1, 2)]
    schema = {
        "properties": {"p": {"type": "string"}, "q": {"title": "Q"}},
        "anyOf": [
            {"oneOf": kinds, "properties": {"p": {"maxLength": 3}, "q": {"type": "integer"}}},
            {"anyOf": [{"type": "string"}], "properties": {"p": {"minLength": 1}}},
            {"required": ["p"]},
        ],
    }
    out, _ = fit(schema, "narrow")
    assert out == {
        "type": "object",
        "properties": {"p": {"type": "string"}, "q": {}, "k": {"enum": [1, 2]}},
        "description": "(anyOf: {k} | {p})",
    }
    schema["anyOf"] = schema["anyOf"][:1]
    out, changes = fit(schema, "loose")
    assert out["properties"]["p"] == {"type": "string", "maxLength": 3}
    assert out["properties"]["q"] == {"title": "Q", "type": "integer"}
    assert out["additionalProperties"] is False
    assert changes == [("rewritten", ""), ("rewritten", "anyOf")]


def test_a_root_union_with_conflicting_branches() -> None:
    branches = [{"properties": {"p": {"type": kind}}} for kind in ("string", "integer")]
    out, changes = fit({"type": "object", "anyOf": branches}, "narrow")
    assert out == {"type": "object", "properties": {"p": {"type": "string"}}}
    assert ("rewritten", "anyOf/1/properties/p") in changes
    mixed = [
        {"properties": {"p": {"enum": [1], "type": "integer"}}},
        {"properties": {"p": {"enum": ["a"], "type": "string"}}},
    ]
    assert fit({"anyOf": mixed}, "loose")[0]["properties"]["p"] == {"enum": [1, "a"]}
    same = [{"properties": {"p": {"const": n, "type": "integer"}}} for n in (1, 2)]
    assert fit({"anyOf": same}, "loose")[0]["properties"]["p"] == {"type": "integer", "enum": [1, 2]}
    out, changes = fit({"type": "object", "oneOf": [{"type": "string"}, {"items": {}}]}, "loose")
    assert out == {"type": "object", "description": '(oneOf: [{"type":"string"},{"items":{}}])'}
    assert changes[-1] == ("keyword.dropped", "oneOf")


def test_loose_targets_keep_everything_below_the_root() -> None:
    inner = {"p": {"type": "date", "required": True, "$ref": "#/nowhere", "items": [False], "minItems": "x"}}
    assert fit({"properties": inner}, "loose")[0] == {"type": "object", "properties": inner}


def test_a_reference_that_may_be_null_becomes_a_union() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/a", "nullable": True, "description": "D"}},
        "$defs": {"a": {"type": "string"}},
    }
    union = {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "description": "D"}
    for table in ("json-schema", "loose-modern"):
        out, changes = fit(schema, table)
        assert out == {**schema, "properties": {"p": union}}
        assert changes == [("rewritten", "properties/p/$ref"), ("rewritten", "properties/p/nullable")]
    out, _ = fit(schema, "template")
    assert out["properties"]["p"] == {"type": ["string", "null"], "description": "D"}


def test_names_that_a_target_refuses_are_described() -> None:
    subset = Subset(root_object=True, root_keys="[a-z]{1,3}", modern=True)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a b": {"type": "string"},
            "ok": {"$ref": "#/properties/a b"},
            "in": {"type": "object", "properties": {"a b": {}}},
        },
        "required": ["ok", "a b"],
        "additionalProperties": False,
        "unevaluatedProperties": False,
    }
    out, changes = fit(schema, subset)
    assert out == {
        "type": "object",
        "properties": {"ok": {"$ref": "#/$defs/a_b"}, "in": schema["properties"]["in"]},
        "required": ["ok"],
        "description": '(property "a b": {"type":"string"}; required: ["a b"])',
        "$defs": {"a_b": {"type": "string"}},
    }
    assert changes == [
        ("keyword.dropped", "properties/a b"),
        ("keyword.dropped", "required"),
        ("keyword.dropped", "additionalProperties"),
        ("keyword.dropped", "unevaluatedProperties"),
        ("rewritten", "properties/ok/$ref"),
    ]
    legal = {"type": "object", "properties": {"abc": {}, "x": {"properties": {"A": {}}}}}
    assert fit(legal, subset) == (legal, [])


def test_branches_with_patterns_do_not_close_the_merged_object() -> None:
    branch = {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False}
    out, _ = fit({"anyOf": [branch, {**branch, "properties": {"a": {}}}]}, "json-schema")
    assert "additionalProperties" not in out
