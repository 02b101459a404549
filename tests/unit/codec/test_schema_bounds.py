"""`adapt` always ends. The quick check `clean` accepts only schemas that need no change."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dragoman.codec.schema import Subset, adapt
from dragoman.codec.schema.already_fits import already_fits

from .schema_subsets import SUBSETS, refused, walk
from .test_schema import fit

# Bounds


def _doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {"type": "object", "properties": {s: {"$ref": f"#/$defs/d{n + 1}"} for s in "lr"}}
        for n in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "string"}
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def test_copies_of_copies_are_bounded() -> None:
    out, changes = adapt(json.dumps(_doubling(40)).encode(), SUBSETS["template"])
    assert len(out) < 4_000_000
    assert any(change.code == "schema.ref.cut" and "too far" in change.detail for change in changes)
    assert refused(json.loads(out), SUBSETS["template"]) == []
    assert adapt(out, SUBSETS["template"]) == (out, ())


def test_siblings_copied_into_branches_are_bounded() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        schema = {
            "properties": {"p": schema},
            "anyOf": [{"required": ["p"]}, {"maxProperties": 3}, {"minProperties": 1}],
        }
    out, _ = adapt(json.dumps({"type": "object", "properties": {"p": schema}}).encode(), SUBSETS["openapi"])
    assert len(out) < 10_000_000


def test_a_long_chain_of_references_is_bounded() -> None:
    definitions: dict[str, Any] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(150)}
    definitions["d150"] = {"type": "string"}
    schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}
    out, changes = fit(schema, "template")
    assert out["properties"]["p"]["type"] == "string"
    assert ("ref.cut", "$defs/d99/$ref") in changes
    assert fit(schema, "json-schema") == (schema, [])


@pytest.mark.parametrize("table", SUBSETS)
@pytest.mark.parametrize("word", ["items", "properties", "anyOf", "not", "default"])
def test_nesting_of_any_depth_is_handled(table: str, word: str) -> None:
    opening = {"properties": '{"a":{', "anyOf": "[{"}.get(word, "{")
    closing = {"properties": "}}", "anyOf": "}]"}.get(word, "}")
    for depth in (10, 60, 90, 100, 10_000):
        inner = "".join(f'"{word}":{opening}' for _ in range(depth)) + closing * depth
        text = f'{{"type":"object","properties":{{"p":{{{inner}}}}}}}'.encode()
        out, changes = adapt(text, SUBSETS[table])
        json.loads(out)
        assert adapt(out, SUBSETS[table]) == (out, ())
        if depth == 10_000:
            assert [change.code for change in changes] == ["schema.invalid"]


def test_deep_schemas_are_cut_at_a_fixed_depth() -> None:
    schema: dict[str, Any] = {"type": "string", "const": "x"}
    for _ in range(80):
        schema = {"type": "array", "items": schema}
    out, changes = fit({"type": "object", "properties": {"p": schema}}, "json-schema")
    assert max(len(path) for path, _ in walk(out)) < 75
    assert [code for code, _ in changes] == ["invalid"]


def test_large_schemas_are_not_cached_but_adapted_the_same_way() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"const": n} for n in range(4000)}}
    text = json.dumps(schema).encode()
    assert len(text) > 65_536
    out, changes = adapt(text, SUBSETS["json-schema"])
    assert len(changes) == 4000
    assert json.loads(out)["properties"]["p3999"] == {"enum": [3999]}


# The quick check


@pytest.mark.parametrize("table", ["loose", "loose-modern", "loose-complete", "json-schema", "template"])
def test_an_ordinary_schema_is_clean(table: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "City, e.g. Zürich"},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            "more": {"anyOf": [{"type": "object", "properties": {}}, {"type": "number"}]},
        },
        "required": ["place"],
    }
    assert already_fits(json.dumps(schema, ensure_ascii=False).encode(), SUBSETS[table])


def test_strict_schemas_are_clean_once_adapted() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"enum": [1]}}}}
    for table in ("strict-required", "strict-closed", "openapi", "openapi-untyped"):
        out, changes = adapt(json.dumps(schema).encode(), SUBSETS[table])
        assert already_fits(out, SUBSETS[table])
        assert not already_fits(json.dumps(schema).encode(), SUBSETS[table])
        assert adapt(out, SUBSETS[table]) == (out, ())
        assert bool(changes) or SUBSETS[table].upper


def test_a_union_with_siblings_is_not_clean_if_unions_must_have_none() -> None:
    union = {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}
    subset = msgspec.structs.replace(SUBSETS["openapi"], typed=False)
    for extra, wanted in (({}, True), ({"description": "D"}, False)):
        schema = {"type": "OBJECT", "properties": {"a": {**union, **extra}}}
        assert already_fits(json.dumps(schema).encode(), subset) is wanted


def test_subsets_with_few_rules() -> None:
    schema = {"type": "object", "properties": {"a": {"oneOf": [{"const": 1}, {"const": "x"}]}}}
    text = json.dumps(schema).encode()
    assert already_fits(text, Subset(modern=True))
    assert not already_fits(text, Subset(one_of="any_of"))
    assert not already_fits(text, Subset(const="enum"))
    assert not already_fits(text, Subset(any_of_alone=True))
    assert already_fits(text, Subset(scalar_enum=True, formats=frozenset()))


def test_equal_subsets_compare_and_hash_equal() -> None:
    subset = SUBSETS["openapi"]
    assert hash(subset) == hash(msgspec.structs.replace(subset))
    assert subset == msgspec.structs.replace(subset)
