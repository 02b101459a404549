"""Tests of the drawer: it takes every choice of a schema, it is deterministic, and its values match the schema."""

from __future__ import annotations

import jsonschema_rs
import pytest

from tests.generated import plausible_values
from tests.generated.generated_documents import SOURCES, Source, drawer, drawn, marked
from tests.generated.known_failures import numberless, settled
from tests.generated.values_from_schema import MARK, Drawer
from tests.oracles import schema_sources

SCHEMA = {
    "root": {
        "type": "object",
        "required": ["kind", "items"],
        "properties": {
            "kind": {"enum": ["a", "b", "c"]},
            "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/defs/item"}},
            "flag": {"type": "boolean"},
            "limit": {"type": ["integer", "null"], "minimum": 3, "maximum": 9},
        },
    },
    "defs": {
        "item": {"anyOf": [{"$ref": "#/defs/leaf"}, {"$ref": "#/root"}]},
        "leaf": {
            "allOf": [
                {"type": "object", "required": ["type"], "properties": {"type": {"const": "leaf"}}},
                {"type": "object", "properties": {"text": {"type": "string"}}},
            ]
        },
    },
}


def small(seed: int = 1) -> Drawer:
    return Drawer(SCHEMA, "#/root", seed, plausible_values.text, {})


def test_every_choice_of_a_schema_is_taken_and_all_values_match_it() -> None:
    judge = jsonschema_rs.Draft202012Validator({"$ref": "#/root", **SCHEMA})
    draw = small()
    # Three kinds, two flags, two types of the limit, two kinds of item; fields: flag, limit, text.
    assert len(draw.missing) == 12
    found = []
    while draw.missing:
        found.append(draw.next())
        assert len(found) < 50
    assert all(judge.is_valid(value) for value in found)
    assert all(f"'kind': '{kind}'" in str(found) for kind in "abc")


def test_the_same_seed_gives_the_same_values() -> None:
    one, other = small(), small()
    assert [one.next() for _ in range(9)] == [other.next() for _ in range(9)]
    third = small(2)
    assert [third.next() for _ in range(9)] != [small().next() for _ in range(9)]


@pytest.mark.parametrize(("dialect", "source"), [(key[0], one) for key, of in SOURCES.items() for one in of])
def test_every_choice_of_the_providers_schemas_is_taken(dialect: str, source: Source) -> None:
    draw = drawer(dialect, source, 1)
    assert draw.missing
    for _ in range(400):
        if not draw.missing:
            break
        draw.next()
    assert not draw.missing, sorted(draw.missing)[:5]


@pytest.mark.parametrize(("dialect", "kind"), sorted(SOURCES))
def test_every_mark_has_a_place(dialect: str, kind: str) -> None:
    documents = drawn(dialect, kind)
    assert len({one.id for one in documents}) == len(documents) > (3 if schema_sources.are_published() else 2)
    assert sum([len(marked(one).places) for one in documents]) > len(documents)
    assert all(MARK.fullmatch(mark) for one in documents for mark in marked(one).places)


def test_a_known_finding_is_matched_by_its_kind_and_place() -> None:
    found = ["/stream = True", "/messages/3/x = 4"]
    assert settled("no effect", "openai-chat to gemini request", found) == ["/messages/3/x = 4"]
    assert settled("silent", "openai-chat to gemini request", found) == found
    assert numberless("/a/12/b: 'Say mk000007zzzz.'") == "/a/N/b: 'Say MK.'"
