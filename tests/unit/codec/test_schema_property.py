"""Laws of `adapt` for any schema and subset: the result is legal and stable, and every change is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from unittest import mock

import jsonschema_rs
import msgspec
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from dragoman.codec import schema as module
from dragoman.codec.schema import Change, adapt, document_writer, from_openapi
from dragoman.codec.schema.already_fits import _decoders, already_fits
from dragoman.codec.schema.document_writer import build_document
from dragoman.codec.schema.json_with_exact_numbers import decode
from dragoman.codec.schema.keywords import REFS
from dragoman.codec.schema.ref_and_allof_layers import SchemaAdaptation
from dragoman.codec.schema.source_document import SchemaDocument

from .schema_subsets import SUBSETS, TARGETS, refused, walk

# Strict targets close objects and require every property. This narrows the schema by intent.
WIDENING = [name for name, subset in TARGETS.items() if not (subset.closed or subset.all_required or subset.typed)]

_NAMES = st.sampled_from(["a", "b", "const", "$ref", "type", "properties", "x/y", "a~b", "é"])
_TYPES = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["x", "y", "", 0.5]))
_DATA = st.one_of(_SCALARS, st.lists(_SCALARS, max_size=2), st.dictionaries(_NAMES, _SCALARS, max_size=2))
_TARGETS = st.sampled_from(
    [
        "#",
        "#/$defs/a",
        "#/$defs/b",
        "#/definitions/a",
        "#/properties/a",
        "#/properties/a/items",
        "#/$defs/a/properties/b",
    ]
    + ["#/$defs/x~1y", "#/$defs/%61", "#/$defs/none", "https://example.com/x", "#anchor", "urn:thing"]
)
_COUNT = st.integers(0, 3)

_LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "type": st.one_of(_TYPES, st.lists(_TYPES, min_size=1, max_size=3, unique=True)),
    "description": st.sampled_from(["d", "e"]),
    "title": st.just("t"),
    "default": _DATA,
    "examples": st.lists(_DATA, max_size=2),
    "enum": st.lists(_DATA, min_size=1, max_size=3),
    "const": _DATA,
    "format": st.sampled_from(["date-time", "uri", "int32", "odd"]),
    "pattern": st.just("^x"),
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "uniqueItems": st.booleans(),
    "minProperties": _COUNT,
    "maxProperties": _COUNT,
    "minContains": _COUNT,
    "minimum": st.integers(-2, 2),
    "maximum": st.integers(-2, 2),
    "exclusiveMinimum": st.sampled_from([-1, 0, 0.5]),
    "exclusiveMaximum": st.sampled_from([1, 2, 2.5]),
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "required": st.lists(_NAMES, max_size=3, unique=True),
    "dependentRequired": st.dictionaries(_NAMES, st.lists(_NAMES, max_size=2, unique=True), max_size=2),
    "$ref": _TARGETS,
    "$comment": st.just("c"),
    "deprecated": st.booleans(),
    "x-vendor": _DATA,
    "$anchor": st.just("anchor"),
    "$id": st.just("urn:thing"),
}
# Legal JSON that is no legal 2020-12 schema: older drafts, other notations, mistakes.
_ODD: dict[str, st.SearchStrategy[Any]] = {
    "nullable": st.booleans(),
    "example": _DATA,
    "encrypted": st.booleans(),
    "exclusiveMinimum": st.booleans(),
    "type": st.one_of(st.sampled_from(["any", "str", "STRING", "odd", "Object"]), _DATA),
    "description": st.none(),
    "required": st.one_of(st.booleans(), st.none()),
    "enum": st.one_of(st.just([]), st.none()),
    "properties": st.one_of(st.just([]), st.none()),
    "items": st.one_of(st.integers(0, 1), st.none()),
    "anyOf": st.one_of(st.just([]), st.none()),
    "minItems": st.one_of(st.just("1"), st.just(-1), st.just(1.5)),
    "propertyOrdering": st.lists(_NAMES, max_size=2),
    "ref": st.sampled_from(["#/defs/a", "plain"]),
    "$ref": _DATA,
}


def _schemas(odd: bool) -> st.SearchStrategy[Any]:
    # The validator panics at some combinations of `$id`, `$anchor` and other names of places.
    leaves = {name: value for name, value in _LEAVES.items() if odd or name not in ("$anchor", "$id")}

    def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        several = st.lists(inner, min_size=1, max_size=3)
        named = st.dictionaries(_NAMES, inner, max_size=3)
        words: dict[str, st.SearchStrategy[Any]] = {
            **leaves,
            "properties": named,
            "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
            "dependentSchemas": named,
            "$defs": named,
            "items": inner,
            "additionalProperties": inner,
            "contains": inner,
            "propertyNames": inner,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "unevaluatedProperties": inner,
            "prefixItems": several,
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
        }
        if odd:
            words["definitions"] = named
            words["additionalItems"] = inner
            words["dependencies"] = named
            words["items"] = st.one_of(inner, several)
            words |= {name: st.one_of(value, words.get(name, value)) for name, value in _ODD.items()}
        return _objects(words)

    leaf = st.one_of(st.booleans(), _objects(leaves)) if not odd else st.one_of(_objects(leaves), _DATA)
    return st.one_of(grow(leaf), grow(st.one_of(leaf, grow(leaf))))


def _objects(words: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.lists(st.sampled_from(sorted(words)), max_size=5, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: words[name] for name in chosen}))


def _rooted(odd: bool) -> st.SearchStrategy[Any]:
    """Schemas that are often usable as parameters: objects with definitions."""
    inner = _schemas(odd)
    named = st.dictionaries(_NAMES, inner, max_size=3)
    root = st.fixed_dictionaries({"type": st.just("object"), "properties": named}, optional={"$defs": named})
    return st.one_of(root, inner)


ANY = _rooted(odd=True)
LEGAL = _rooted(odd=False)
_SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _places(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """A path without list positions, since a dropped member of a union changes the positions of later members."""
    return tuple(0 if isinstance(step, int) else step for step in path)


@pytest.mark.parametrize("name", SUBSETS)
@given(ANY)
@_SETTINGS
def test_output_is_legal_settled_repeatable_and_accounted_for(name: str, schema: Any) -> None:
    subset = SUBSETS[name]
    text = _bytes(schema)
    out, changes = adapt(text, subset)
    # Legal, settled, repeatable, and the same text where nothing is reported.
    assert refused(json.loads(out), subset) == []
    assert adapt(out, subset) == (out, ())
    assert module._adapt(text, subset) == (out, changes)
    assert changes or subset.upper or out == text
    # Every keyword is still there, or a change at or above its place explains its absence.
    explained = {change.path for change in changes if not change.detail.startswith("added")}
    written = {_places((*path, word)) for path, node in walk(json.loads(out)) for word in node}
    for path, node in walk(schema):
        for word in node:
            at = (*path, word)
            assert _places(at) in written or any(at[:size] in explained for size in range(len(at) + 1)), at
    # Every change leads into the original.
    for change in changes:
        value = schema
        for step in change.path:
            value = value[step]
    # A schema that the fast check accepts needs no change.
    with mock.patch.object(document_writer, "clean_leaf", lambda *_: False):
        assert module._adapt(text, subset) == (out, changes)
        for document in (text, out):
            if name not in ("anything", "loose") and already_fits(document, subset):
                job = SchemaAdaptation(
                    SchemaDocument(decode(document), (*REFS, "ref") if subset.upper else REFS), subset
                )
                assert build_document(job) == decode(document)
                assert not job.changes


@pytest.mark.parametrize("name", [name for name, subset in SUBSETS.items() if subset.keywords is None])
@given(ANY)
@example({"type": "object", "properties": {"a": {"type": "string", "description": "d"}}, "required": ["a"]})
@_SETTINGS
def test_the_quick_look_at_common_keywords_admits_no_more(name: str, schema: Any) -> None:
    *common, whole = [_admits(decode, _bytes(schema)) for decode in _decoders(SUBSETS[name])]
    assert whole or not any(common)


def _admits(decode: Callable[[bytes], Any], text: bytes) -> bool:
    try:
        decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _narrows(change: Change) -> bool:
    """Whether a change narrows by intent: a root that is an object, merged root branches, tuples, values of enums."""
    return (
        change.code == "schema.invalid"
        or change.path[-1:] == ("prefixItems",)
        or "empty string" in change.detail
        or change.detail in ("branches merged into one object", "added type object")
        or change.detail == "the root is an object and nothing else"
    )


def _nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(inner, st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3))


_VALUES = _nest(_nest(_SCALARS))


@pytest.mark.parametrize(
    "name", ["loose", "loose-modern", "loose-complete", "json-schema", "template", "openapi-untyped", *WIDENING]
)
@given(LEGAL, st.lists(st.dictionaries(_NAMES, _VALUES, max_size=4), min_size=3, max_size=8))
@_SETTINGS
def test_valid_arguments_stay_valid(name: str, schema: Any, arguments: list[Any]) -> None:
    out, changes = adapt(_bytes(schema), SUBSETS[name])
    assume(not any(_narrows(change) for change in changes))
    out = from_openapi(out)[0]
    try:
        before = jsonschema_rs.Draft202012Validator(schema)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        assume(False)
    after = jsonschema_rs.Draft202012Validator(json.loads(out))
    for value in arguments:
        if before.is_valid(value):
            assert after.is_valid(value), (value, json.loads(out))
