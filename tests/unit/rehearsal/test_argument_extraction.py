"""Values for a parameter are found in the words by its type, its format and its name. Other words give no value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.rehearsal import schema_check
from dragoman.rehearsal.argument_extraction import (
    Extraction,
    json_values,
    mask_quotes,
    numbers_in,
    place_names,
    quoted_texts,
    words_of,
)

S = {"type": "string"}
I = {"type": "integer"}  # noqa: E741


def find(text: str, name: str, schema: Any, root: Any = None, *, required: bool = True) -> list[Any]:
    return Extraction(schema_check.read(json.dumps(root or {})), text).find(name, schema, required=required)


@pytest.mark.parametrize(
    ("text", "name", "schema", "expected"),
    [
        ("title is 'A b' ok", "title", S, ["A b"]),
        ('{"title": "x"}', "title", S, ["x"]),
        ("the user name: Ada.", "user_name", S, ["Ada"]),
        ("userName=ada99", "userName", S, ["ada99"]),
        ("count 5 of 9", "count", I, [5]),
        ("the 3rd of 1,200", "n", I, [3]),
        ("from 2.5", "n", I, []),
        ("from 2.5e3", "n", {"type": "number"}, [2500.0]),
        ("with verbose output", "verbose", {"type": "boolean"}, [True]),
        ("without verbose output", "verbose", {"type": "boolean"}, [False]),
        ("verbose = off", "verbose", {"type": "boolean"}, [False]),
        ("quiet", "verbose", {"type": "boolean"}, []),
        ("quiet", "", {"type": "boolean"}, []),
        ("in Light Blue or red", "tint", {"enum": ["red", "light-blue"]}, ["light-blue"]),
        ("level 2 please", "mode", {"enum": [1, 2, None]}, [2]),
        ("tint: RED", "tint", {"type": "string", "enum": ["red"]}, ["red"]),
        ("", "kind", {"const": 4}, [4]),
        ("see https://a.example/x, http://b.example.", "url", S, ["https://a.example/x", "http://b.example"]),
        ("see https://a.example/x", "page", {"type": "string", "format": "uri"}, ["https://a.example/x"]),
        ("mail ada@example.com!", "to", {"type": "string", "format": "email"}, ["ada@example.com"]),
        ("on 2026-02-03 at 10:30", "when", S, ["2026-02-03"]),
        ("tomorrow", "day", {"type": "string", "format": "date"}, []),
        ("2026-02-03T04:05:06Z", "start", {"type": "string", "format": "date-time"}, ["2026-02-03T04:05:06Z"]),
        ("at 10:30", "time", S, ["10:30"]),
        ("open ./a/b.py and `c d/e.txt` and f.md", "file", S, ["./a/b.py", "f.md"]),
        ("open `src/x.py`", "file_name", S, ["src/x.py"]),
        ("from Rio de Janeiro to Aix-en-Provence", "city", S, ["Rio de Janeiro", "Aix-en-Provence"]),
        ("somewhere 'nice'", "city", S, ["nice"]),
        ("in Oslo", "x", {"type": "string", "description": "Name of the city"}, ["Oslo"]),
        ("city: New York please", "city", S, ["New York"]),
        ("note: It rained all day. rank: 3", "note", S, ["It rained all day"]),
        ("run the command: git log -1.", "command", S, ["git log -1"]),
        ("look for cats", "query", S, ["cats"]),
        ("cats", "query", S, []),
        ("cats", "thing", S, []),
        ("tags a, b", "tags", {"type": "array", "items": S}, []),
        ("tags 'a', 'b'", "tags", {"type": "array", "items": S}, [["a", "b"]]),
        ("big and red", "tags", {"type": "array", "items": {"enum": ["red", "blue", "big"]}}, [["big", "red"]]),
        ("sum 1, 2.5 and 3", "values", {"type": "array", "items": {"type": "number"}}, [[1, 2.5, 3]]),
        ("sum 1, 2.5 and 3", "values", {"type": "array", "items": I}, [[1, 3]]),
        ("values: [7]", "values", {"type": "array", "items": I}, [[7]]),
        ("flags", "values", {"type": "array", "items": {"type": "boolean"}}, []),
        ('put {"x": "}\\""} there', "where", {"properties": {"x": S}}, [{"x": '}"'}]),
        ("where: {broken", "where", {"type": "object"}, []),
        ("Oslo", "city", True, []),
    ],
)
def test_values_are_found_by_type_format_and_name(text: str, name: str, schema: Any, expected: list[Any]) -> None:
    assert find(text, name, schema) == expected


def test_an_optional_parameter_must_be_named() -> None:
    assert find("3 in Oslo", "count", I, required=False) == []
    assert find("3 in Oslo", "city", S, required=False) == []
    assert find("", "kind", {"const": 4}, required=False) == []
    assert find("with count 3", "count", I, required=False) == [3]
    assert find("in red", "tint", {"enum": ["red"]}, required=False) == ["red"]


def test_numbers_are_given_out_in_their_order() -> None:
    extraction = Extraction(schema_check.read("{}"), "7 and 8")
    assert [extraction.find(name, I, required=True) for name in "abc"] == [[7], [8], []]


def test_references_and_branches_of_schemas_are_followed() -> None:
    root = {"$defs": {"n": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}, "yes": True}}
    assert find("4", "a", {"$ref": "#/$defs/n"}, root) == [4]
    assert find("4", "a", {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/n"}]}, root) == [4]
    assert find("'x'", "a", {"$ref": "#/$defs/loop"}, root) == ["x"]
    assert find("'x'", "a", {"$ref": "#/$defs/yes"}, root) == ["x"]
    assert find("'x'", "a", {"anyOf": [{"type": "null"}]}, root) == ["x"]


def test_an_object_in_the_words_is_used_if_it_fits() -> None:
    schema = json.dumps({"type": "object", "properties": {"a": I}, "required": ["a"]})
    assert Extraction(schema_check.read(schema), 'x {"b": 1} {"a": "no"} {"a": 2}').whole() == {"a": 2}
    assert Extraction(schema_check.read(schema), "a = 2").whole() is None
    assert Extraction(schema_check.read("true"), '{"z": 1}').whole() == {"z": 1}


def test_quotes_json_numbers_and_places_are_found_in_a_text() -> None:
    assert words_of("getHTTPPage_2x") == ["get", "http", "page", "2", "x"]
    assert quoted_texts("'a' \"b\" `c` “d” ```py\ne\n``` don't") == ["a", "b", "c", "d", "e"]
    found = json_values('[1] and {"a": {"b": 2}} and {oops} and [')
    assert found == ((0, 3, [1]), (8, 23, {"a": {"b": 2}}))
    assert json_values("{" * 100) == json_values("[NaN]") == ()
    assert mask_quotes('say "x" {"a": 1} end') == "say ___ ________ end"
    assert mask_quotes("{}" * 60).endswith("{}"), "the search has a limit"
    assert numbers_in("1 at 10:30 on 2026-01-01 see http://x.example/9 v2 -3") == [1, -3]
    assert place_names("in Rome, Paris and New York, NY. For Ada") == ["Rome", "Paris", "New York, NY", "Ada"]
