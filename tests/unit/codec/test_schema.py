"""`adapt` keyword by keyword: kept, rewritten, moved into the description, and reported keywords."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codec.schema import Change, Subset, adapt

from .schema_cases import VALUES
from .schema_subsets import SUBSETS, refused
from .schema_union_cases import UNIONS

# Every keyword of 2020-12, draft 7, draft 4 and OpenAPI that a target may refuse: a value, and a type that it fits.
CONSTRAINTS: dict[str, tuple[Any, str]] = {
    "minLength": (1, "string"),
    "maxLength": (9, "string"),
    "pattern": ("^a", "string"),
    "format": ("date-time", "string"),
    "contentEncoding": ("base64", "string"),
    "contentMediaType": ("image/png", "string"),
    "contentSchema": ({"type": "string"}, "string"),
    "minimum": (1, "number"),
    "maximum": (9, "number"),
    "exclusiveMinimum": (0, "number"),
    "exclusiveMaximum": (10, "number"),
    "multipleOf": (5, "number"),
    "minItems": (1, "array"),
    "maxItems": (9, "array"),
    "uniqueItems": (True, "array"),
    "contains": ({"type": "string"}, "array"),
    "minContains": (1, "array"),
    "maxContains": (2, "array"),
    "unevaluatedItems": ({"type": "string"}, "array"),
    "additionalItems": ({"type": "string"}, "array"),
    "minProperties": (1, "object"),
    "maxProperties": (9, "object"),
    "patternProperties": ({"^x": {"type": "string"}}, "object"),
    "propertyNames": ({"pattern": "^a"}, "object"),
    "unevaluatedProperties": ({"type": "string"}, "object"),
    "dependentRequired": ({"a": ["b"]}, "object"),
    "dependentSchemas": ({"a": {"required": ["b"]}}, "object"),
    "dependencies": ({"a": ["b"]}, "object"),
    "not": ({"const": 1}, "string"),
    "if": ({"minLength": 1}, "string"),
    "then": ({"minLength": 1}, "string"),
    "else": ({"minLength": 1}, "string"),
    "default": ("d", "string"),
    "examples": (["e"], "string"),
    "example": ("e", "string"),
}
ANNOTATIONS: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "id": "urn:x",
    "$comment": "c",
    "$anchor": "here",
    "$dynamicAnchor": "there",
    "$recursiveAnchor": True,
    "$vocabulary": {"urn:v": True},
    "title": "T",
    "deprecated": True,
    "readOnly": True,
    "writeOnly": True,
    "discriminator": {"propertyName": "a"},
    "xml": {"name": "a"},
    "externalDocs": {"url": "u"},
    "encrypted": True,
    "x-order": 3,
    "propertyOrdering": ["a"],
}
CASES = [*VALUES, *UNIONS]
TABLES = ("strict-required", "strict-closed", "json-schema", "openapi-untyped", "template", "narrow")


def fit(schema: Any, subset: Subset | str) -> tuple[Any, list[tuple[str, str]]]:
    """The adapted schema, and the reported changes as (code without its first word, path)."""
    out, changes = adapt(json.dumps(schema).encode(), SUBSETS[subset] if isinstance(subset, str) else subset)
    return json.loads(out), [(c.code.removeprefix("schema."), "/".join(map(str, c.path))) for c in changes]


def prop(schema: Any, subset: Subset | str) -> tuple[Any, list[tuple[str, str]]]:
    """As `fit`, for the schema of a single property `p`. Paths start inside `p`."""
    root = {"type": "object", "properties": {"p": schema}, "required": ["p"], "additionalProperties": False}
    out, changes = fit(root, subset)
    assert refused(out, SUBSETS[subset] if isinstance(subset, str) else subset) == []
    inside = [(code, path[13:]) for code, path in changes if (path + "/").startswith("properties/p/")]
    return out["properties"]["p"], inside


@pytest.mark.parametrize("word", CONSTRAINTS)
@pytest.mark.parametrize("table", TABLES)
def test_a_constraint_is_kept_or_moves_into_the_description(table: str, word: str) -> None:
    value, kind = CONSTRAINTS[word]
    out, changes = prop({"type": kind, word: value, "description": "D."}, table)
    keywords = SUBSETS[table].keywords or frozenset()
    if word in keywords:
        assert out[word] == value
        assert out["description"] == "D."
        assert ("keyword.dropped", word) not in changes
    else:
        assert word not in out
        text = value if isinstance(value, str) and word not in ("default", "example") else _compact(value)
        assert out["description"] == f"D. ({word}: {text})"
        assert changes.count(("keyword.dropped", word)) == 1


@pytest.mark.parametrize("word", ANNOTATIONS)
@pytest.mark.parametrize("table", TABLES)
def test_an_annotation_is_kept_or_reported_and_not_described(table: str, word: str) -> None:
    out, changes = prop({"type": "string", word: ANNOTATIONS[word]}, table)
    if word in (SUBSETS[table].keywords or frozenset()):
        assert out[word] == ANNOTATIONS[word]
    else:
        assert word not in out
        assert "description" not in out
        assert changes == [("keyword.dropped", word)]


@pytest.mark.parametrize("word", [*CONSTRAINTS, *ANNOTATIONS])
def test_loose_targets_keep_every_keyword(word: str) -> None:
    value, kind = CONSTRAINTS.get(word) or (ANNOTATIONS.get(word), "string")
    schema = {"type": "object", "properties": {"p": {"type": kind, word: value}}}
    text = json.dumps(schema, indent=1).encode()
    for table in ("anything", "loose", "loose-modern"):
        assert adapt(text, SUBSETS[table]) == (text, ())


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize(
    ("table", "schema", "wanted", "reported"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_rewrites(table: str, schema: Any, wanted: Any, reported: list[tuple[str, str]]) -> None:
    out, changes = prop(schema, table)
    assert (out, changes) == (wanted, reported)
    assert list(out) == list(wanted)


def test_names_of_properties_and_data_are_not_keywords() -> None:
    words = ["const", "format", "$ref", "oneOf", "$defs", "items", "x-a"]
    data = {"const": 1, "$ref": "#/nowhere", "type": "STRING", "oneOf": [{"not": {}}]}
    schema = {
        "type": "object",
        "properties": {word: {"type": "string"} for word in words} | {"data": {"default": data, "enum": [data]}},
        "required": words,
    }
    text = json.dumps(schema).encode()
    assert adapt(text, SUBSETS["json-schema"]) == (text, ())
    out, changes = fit({**schema, "x-b": 1}, "json-schema")
    assert (out, changes) == (schema, [("keyword.dropped", "x-b")])


def test_escaped_keywords_are_recognised() -> None:
    text = rb'{"type":"object","properties":{"a":{"\u0063onst":1}}}'
    out, changes = adapt(text, SUBSETS["json-schema"])
    assert out == b'{"type":"object","properties":{"a":{"enum":[1]}}}'
    assert changes == (Change("schema.rewritten", ("properties", "a", "const"), "const is now an enum of one value"),)


def test_untouched_parts_keep_their_spelling_and_order() -> None:
    big = "123456789012345678901234567890"
    text = (
        f'{{"type":"object","properties":{{"z":{{"default":1.50,"maximum":1E400,"enum":[{big},-0,1e2]}},'
        '"a":{"default":"\\ud800 \\u00e9","title":"t"},"m":{"const":1}}}'
    )
    out, _ = adapt(text.encode(), SUBSETS["json-schema"])
    assert (
        out
        == (
            f'{{"type":"object","properties":{{"z":{{"default":1.50,"maximum":1E400,"enum":[{big},-0,1e2]}},'
            '"a":{"default":"\\ud800 \\u00e9","title":"t"},"m":{"enum":[1]}}}'
        ).encode()
    )


def test_a_long_note_is_cut() -> None:
    out, _ = prop({"type": "string", "not": {"enum": ["x" * 5000]}}, "json-schema")
    assert len(out["description"]) < 400
    assert out["description"].endswith("…)")


def test_many_long_notes_are_cut() -> None:
    long = {"enum": list(range(2000))}
    words = ("not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "contentSchema")
    out, changes = prop({"type": "string", "description": "D", **dict.fromkeys(words, long)}, "json-schema")
    assert len(out["description"]) == 2002
    assert out["description"].startswith('D (not: {"enum":[0,1,2,')
    assert [path for _, path in changes] == list(words)


def test_a_keyword_that_forbids_nothing_is_not_described() -> None:
    schema = {"type": "array", "items": {}, "uniqueItems": False, "contains": True, "unevaluatedItems": False}
    out, changes = prop({**schema, "additionalProperties": True}, "template")
    assert out == {"type": "array", "items": {}}
    assert len(changes) == 4
    out, changes = prop({"type": "object", "properties": {}, "additionalProperties": True}, "strict-closed")
    assert out == {"type": "object", "properties": {}, "additionalProperties": False}
    assert changes == [("rewritten", "additionalProperties")]
    narrow = Subset(keywords=frozenset({"type", "description"}))
    out, changes = fit({"type": "object", "properties": {}, "required": []}, narrow)
    assert out == {"type": "object"}
    assert len(changes) == 2


@pytest.mark.parametrize("text", [b"", b"{", b"nope", b'{"a":NaN}', b'{"type":"object",}', b"\xff", b'{"a":"\xff"}'])
@pytest.mark.parametrize("table", SUBSETS)
def test_a_schema_that_is_not_json_is_refused(table: str, text: bytes) -> None:
    with pytest.raises(ValueError):
        adapt(text, SUBSETS[table])
