"""The schema gate: every property needs a type, itself or in each branch of a union."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.runtime.mcp.untyped_schema_check import untyped_schema_path

STRING = {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "properties": {"param1": STRING}}, id="typed"),
        pytest.param({"type": "object"}, id="no-properties"),
        pytest.param({"anyOf": [STRING, {"type": "null"}]}, id="union"),
        pytest.param({"oneOf": [{"allOf": [STRING]}]}, id="union-in-union"),
        pytest.param({"type": "array"}, id="array-of-anything"),
        pytest.param({"type": ["string", "null"]}, id="list-of-types"),
        pytest.param({"type": "object", "properties": {"a": True}}, id="boolean-schema"),
        pytest.param({"type": "object", "anyOf": [{"required": ["a"]}]}, id="union-beside-a-type"),
        pytest.param({"type": "object", "additionalProperties": {}}, id="only-properties-and-items-are-checked"),
    ],
)
def test_a_typed_schema_is_accepted(schema: Any) -> None:
    assert untyped_schema_path(schema) is None


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        pytest.param({}, "/", id="empty"),
        pytest.param({"properties": {"a": STRING}}, "/", id="no-type-at-the-root"),
        pytest.param(
            {"type": "object", "properties": {"param1": {"description": "a param with no type"}}},
            "/properties/param1",
            id="the-seeds-example",
        ),
        pytest.param({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}, "/properties/a", id="reference"),
        pytest.param({"type": "array", "items": {"enum": ["a"]}}, "/items", id="items"),
        pytest.param({"anyOf": []}, "/", id="empty-union"),
        pytest.param({"anyOf": [STRING, {}]}, "/anyOf/1", id="one-branch"),
        pytest.param({"anyOf": [STRING], "oneOf": [{}]}, "/oneOf/0", id="a-branch-of-the-second-union"),
        pytest.param(
            {"type": "object", "properties": {"a/b": {}, "c": {}}}, "/properties/a~1b", id="the-first-is-named"
        ),
    ],
)
def test_an_untyped_schema_is_refused_with_its_path(schema: Any, where: str) -> None:
    assert untyped_schema_path(schema) == where


def test_a_very_deep_schema_is_checked() -> None:
    schema: Any = {}
    for _ in range(5_000):
        schema = {"type": "array", "items": schema}
    assert untyped_schema_path(schema) == "/items" * 5_000
