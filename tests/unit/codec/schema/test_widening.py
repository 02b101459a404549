"""A value that is valid for the original is valid for the target's schema, or the narrowing is reported."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.codec.schema import Change, adapt, from_openapi

from ..schema_subsets import TARGETS
from .test_targets import NARROWING, legal

# Few names, few values and related keywords, so that arguments often match the schemas.
_NAMES = st.sampled_from(["a", "b", "x1", "x2"])
_SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 0.5, "", "x", "xx"])
_COUNTS = st.integers(0, 2)
_KINDS = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
_LEAVES = st.sampled_from(
    [
        True,
        False,
        {},
        {"type": "string"},
        {"type": "integer"},
        {"type": ["string", "null"]},
        {"const": 1},
        {"enum": ["x", 1, None]},
        {"minLength": 2},
        {"$ref": "#/$defs/a"},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "additionalProperties": False},
    ]
)


def _some(words: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.lists(st.sampled_from(sorted(words)), min_size=1, max_size=4, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: words[name] for name in chosen}))


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    unions = {"anyOf": several, "oneOf": several, "allOf": several}
    objects = {
        "type": st.sampled_from(["object", ["object", "null"]]),
        "properties": st.dictionaries(_NAMES, inner, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^x", "^a"]), inner, max_size=2),
        "additionalProperties": st.one_of(st.booleans(), inner),
        "unevaluatedProperties": st.one_of(st.booleans(), inner),
        "propertyNames": inner,
        "required": st.lists(_NAMES, max_size=2, unique=True),
        "minProperties": _COUNTS,
        "dependentRequired": st.dictionaries(_NAMES, st.lists(_NAMES, max_size=1), max_size=1),
    }
    arrays = {
        "type": st.sampled_from(["array", ["array", "null"], ["array", "string"]]),
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "minContains": _COUNTS,
        "maxContains": _COUNTS,
        "unevaluatedItems": inner,
        "maxItems": _COUNTS,
    }
    values = {
        "type": _KINDS,
        "enum": st.lists(_SCALARS, min_size=1, max_size=3),
        "const": _SCALARS,
        "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a"]),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "minimum": _COUNTS,
        "minLength": _COUNTS,
        "nullable": st.booleans(),
        "description": st.just("D"),
    }
    return st.one_of(_some(objects | unions), _some(arrays | unions), _some(values | unions))


_INNER = _grown(st.one_of(_LEAVES, _grown(_LEAVES)))
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(_NAMES, _INNER, min_size=1, max_size=2)},
    optional={
        "$defs": st.dictionaries(st.sampled_from(["a", "b"]), _INNER, max_size=2),
        "additionalProperties": st.one_of(st.booleans(), _INNER),
        "patternProperties": st.dictionaries(st.just("^x"), _INNER, max_size=1),
        "oneOf": st.lists(_INNER, min_size=1, max_size=2),
    },
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(inner, st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3))


ARGUMENTS = st.lists(st.dictionaries(_NAMES, _nested(_nested(_SCALARS)), max_size=3), min_size=4, max_size=10)


def _narrows(change: Change) -> bool:
    return change.code == "schema.invalid" or any(text in change.detail for text in NARROWING)


@pytest.mark.parametrize("target", TARGETS)
@given(schema=SCHEMAS, arguments=ARGUMENTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_valid_arguments_stay_valid_or_the_report_explains_the_change(
    target: str, schema: Any, arguments: list[Any]
) -> None:
    text = json.dumps(schema).encode()
    out, changes = adapt(text, TARGETS[target])
    legal(target, TARGETS[target], json.loads(out))
    assert adapt(out, TARGETS[target]) == (out, ())
    try:
        before = jsonschema_rs.Draft202012Validator(json.loads(from_openapi(text)[0]))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        return  # it names what is not there, or is otherwise no schema
    after = jsonschema_rs.Draft202012Validator(json.loads(out))
    for value in arguments:
        if before.is_valid(value) and not after.is_valid(value):
            assert any(_narrows(change) for change in changes), value
