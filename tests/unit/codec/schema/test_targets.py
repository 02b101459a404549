"""Every keyword for every subset of a dialect: the result is legal and stable, and every narrowing is reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from dragoman.codec.schema import Change, Subset, adapt, from_openapi
from tests.oracles.refused_schema_keywords import ANTHROPIC_STRICT, LAWS, Law, breaches

from ..schema_subsets import TARGETS, refused, walk
from .keyword_cases import CASES, Case

# Keywords that forbid nothing, or that have no meaning for a model: their removal is reported, but not described.
SILENT = {"$schema", "$id", "id", "$comment", "$anchor", "$dynamicAnchor", "$vocabulary", "title", "deprecated"}
SILENT |= {"readOnly", "writeOnly", "discriminator", "xml", "externalDocs", "encrypted", "x-order", "x-enum-varnames"}

# Intended narrowings, by strict targets and by targets with rules for the root: each narrowing is in the report.
NARROWING = (
    "added additionalProperties: false",
    "must be false",
    "added properties: none",
    "was optional: now required, and null when absent",
    "approximated by string, number, boolean and null",
    "added type",
    "branches merged into one object",
    "a branch that is not an object; left out",
    "the root is an object and nothing else",
    "it takes no arguments now",
    "items now allows each of its members",
    "moved to the description: the target refuses such a name",
)

_VALUES: tuple[Any, ...] = (None, True, 0, 1, 2, 5, 2.5, -1, "", "a", "xx", "2026-01-01", [], [1], ["a"], [1, 2], {})
_VALUES += ({"a": "x"}, {"a": 1}, {"b": 2}, {"a": "x", "b": 2}, {"x1": 1}, {"word": "w", "next": {"word": "v"}})


def law_of(target: str) -> Law | None:
    dialect, _, word = target.partition(" ")
    if dialect not in LAWS:
        return None
    if dialect == "ollama":  # The description of the root moves to the description of the tool.
        return LAWS[dialect][0]._replace(root_words=None)
    if word == "output":
        return ANTHROPIC_STRICT._replace(keys="") if dialect == "anthropic" else LAWS[dialect][0]
    return LAWS[dialect]["strict" in word]


def _validator(schema: Any, draft: str) -> Any:
    kinds = {
        "4": jsonschema_rs.Draft4Validator,
        "7": jsonschema_rs.Draft7Validator,
        "2019": jsonschema_rs.Draft201909Validator,
        "2020": jsonschema_rs.Draft202012Validator,
    }
    if draft == "openapi":
        schema, draft = json.loads(from_openapi(json.dumps(schema).encode())[0]), "2020"
    if draft not in kinds or schema is None:
        return None
    try:
        return kinds[draft](schema)
    except jsonschema_rs.ValidationError:
        return None


def _descriptions(schema: Any) -> str:
    return "\n".join([str(node.get("description")) for _, node in walk(schema)])


def _narrows(change: Change) -> bool:
    return change.code in ("schema.invalid",) or any(text in change.detail for text in NARROWING)


def _arguments(case: Case) -> Iterator[Any]:
    yield from case.arguments
    yield from _VALUES
    yield from ({"p": value} for value in _VALUES)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("target", TARGETS)
def test_every_keyword_for_every_target(target: str, case: Case) -> None:
    subset = TARGETS[target]
    text = json.dumps(case.schema, ensure_ascii=False, indent=1).encode()
    out, changes = adapt(text, subset)
    written = json.loads(out)
    legal(target, subset, written)
    assert adapt(out, subset) == (out, ())
    assert changes or out == text
    accounted(case.schema, written, changes, subset)
    before, after = _validator(case.schema, case.draft), _validator(written, "2020")
    assert after is not None, "the result is no JSON Schema"
    if before is None or any(_narrows(change) for change in changes):
        return
    for value in _arguments(case):
        if not subset.root_object or isinstance(value, dict):
            assert not before.is_valid(value) or after.is_valid(value), value


def legal(target: str, subset: Subset, written: Any) -> None:
    """Check that the target accepts every keyword, by the table of its subset and by the provider's documentation."""
    law = law_of(target)
    assert refused(written, subset) == []
    assert law is None or breaches(written, law, subset.root_object) == []


def accounted(schema: Any, written: Any, changes: tuple[Change, ...], subset: Subset) -> None:
    """Check that each change has a path in the original, and that each dropped constraint is in a description."""
    words = _descriptions(written)
    for change in changes:
        value = schema
        for step in change.path:
            value = value[step]
        if change.code == "schema.keyword.dropped" and "moved to the description" in change.detail:
            names = [change.detail.partition(" ")[0], *change.path]
            described = [name for name in names if f"{name}:" in words or f'"{name}":' in words]
            assert described or "no value is valid here" in words, change
    dropped = {change.path for change in changes}
    for path, node in walk(schema):
        for word in node:
            place = (*path, word)
            if word in SILENT and place in dropped:
                assert f"{word}:" not in words, word


@pytest.mark.parametrize("target", TARGETS)
def test_a_schema_that_needs_no_change_keeps_its_bytes(target: str) -> None:
    subset = TARGETS[target]
    closed = ',"additionalProperties":false' if subset.closed else ""
    text = (
        '{"type":"object",  "properties":{"b":{"type":"string","enum":["x", "y"]},\n"a":{"type":"array","items":'
        '{"type":["string","null"]}}},"required":["b","a"]' + closed + "}"
    ).encode()
    assert adapt(text, subset) == (text, ())
