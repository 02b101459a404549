"""Schemas that are huge, or that expand without end: the result for every target is legal, bounded and reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codec.schema import adapt

from ..schema_subsets import TARGETS
from .test_targets import legal

_LEVELS = 60


def _object(properties: dict[str, Any], **words: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **words}


def _doubling_definitions(level: Any, last: Any) -> dict[str, Any]:
    """Definitions that each refer twice to the next one. Written out, n definitions become 2 ** n schemas."""
    definitions = {f"d{n}": level({"$ref": f"#/$defs/d{n + 1}"}) for n in range(_LEVELS)}
    return definitions | {f"d{_LEVELS}": last}


_P = {"p": {"$ref": "#/$defs/d0"}}
_TEXT = {"type": "string"}
_LOOPS = {
    f"d{i}": _object({"n": {"$ref": f"#/$defs/d{(i + 1) % 500}"}, "m": {"$ref": f"#/$defs/d{i * 7 % 500}"}})
    for i in range(500)
}

SCHEMAS: dict[str, Any] = {
    "laughs in properties": _object(
        _P, **{"$defs": _doubling_definitions(lambda ref: _object({"l": ref, "r": ref}), _TEXT)}
    ),
    "laughs in allOf": _object(_P, **{"$defs": _doubling_definitions(lambda ref: {"allOf": [ref, ref]}, _TEXT)}),
    "laughs in anyOf": _object(
        _P, **{"$defs": _doubling_definitions(lambda ref: {"anyOf": [ref, {**ref, "title": "x"}]}, _TEXT)}
    ),
    "laughs at the root": {
        "anyOf": [{"$ref": "#/$defs/d0"}, _object({"q": {}})],
        "$defs": _doubling_definitions(lambda ref: {"oneOf": [ref, ref]}, _object({"a": _TEXT})),
    },
    "loops": _object(_P, **{"$defs": _LOOPS}),
    "references to odd places": _object(
        {f"p{i}": {"$ref": f"#/x-library/{i}/x"} for i in range(1000)},
        **{"x-library": [{"x": {"type": "string", "maxLength": i}} for i in range(1000)]},
    ),
    "a union of many": {
        "oneOf": [_object({"k": {"const": f"v{i}"}, f"p{i}": {}}, required=["k"]) for i in range(500)],
    },
    "illegal names": _object({f"p {i}": _TEXT for i in range(2000)}, required=[f"p {i}" for i in range(2000)]),
    "many words": {
        **_object({"a": _TEXT}, **{"$defs": {"x": {}}, "$id": "urn:x"}),
        **{f"x-{i}": i for i in range(2000)},
    },
}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_schema_that_expands_without_end_has_a_bounded_result(target: str, name: str) -> None:
    text = json.dumps(SCHEMAS[name]).encode()
    out, changes = adapt(text, TARGETS[target])
    legal(target, TARGETS[target], json.loads(out))
    assert len(out) < 3 * len(text) + 200_000
    assert adapt(out, TARGETS[target]) == (out, ())
    for change in changes:
        value = SCHEMAS[name]
        for step in change.path:
            value = value[step]


@pytest.mark.parametrize("target", TARGETS)
def test_ten_thousand_properties(target: str) -> None:
    names = [f"p{i}" for i in range(10_000)]
    schema = _object({name: {"type": "string", "not": {"const": "x"}} for name in names}, required=names)
    out, changes = adapt(json.dumps(schema).encode(), TARGETS[target])
    written = json.loads(out)
    assert list(written["properties"]) == names
    assert written["required"] == names
    kept = TARGETS[target].keywords is None
    for name in names:
        inner = written["properties"][name]
        assert inner == schema["properties"][name] or inner["description"] == '(not: {"const":"x"})'
    dropped = [change.path for change in changes if change.code == "schema.keyword.dropped"]
    assert dropped == ([] if kept else [("properties", name, "not") for name in names])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("levels", [50, 100, 5_000])
def test_depth_is_bounded(target: str, levels: int) -> None:
    inner = '{"type":"object","properties":{"a":' * levels + '{"type":"string","const":"x"}' + "}}" * levels
    out, changes = adapt(inner.encode(), TARGETS[target])
    legal(target, TARGETS[target], json.loads(out))
    assert adapt(out, TARGETS[target]) == (out, ())
    if levels > 64 and TARGETS[target].keywords is not None:
        assert "schema.invalid" in {change.code for change in changes}
