"""The strict form of a schema: it accepts the same answers as the schema, or there is no strict form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codec.schema.lossless_strict_form import StrictForm, strict_form
from dragoman.codec.strict_null_removal import AbsentRemover, without_absent
from dragoman.rules.helpers import strict_subset

NAME = {"type": "string"}


def _form(schema: Any) -> StrictForm:
    return strict_form(json.dumps(schema).encode())


def _object(properties: Any, *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def test_a_schema_that_obeys_the_subset_stays_as_it_is() -> None:
    schema = _object({"a": NAME, "b": {"type": ["integer", "null"]}}, "a", "b", additionalProperties=False)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    form = _form(schema)
    assert json.loads(form.schema) == schema
    assert (form.changes, form.absent, form.obstacle) == ((), None, "")
    assert not list(strict_subset(schema, ()))


def test_an_object_with_properties_is_closed_and_loses_its_annotations() -> None:
    form = _form(_object({"a": {"type": "string", "default": "x", "examples": ["y"]}}, "a"))
    written = json.loads(form.schema)
    assert written["additionalProperties"] is False
    assert not {"default", "examples"} & set(written["properties"]["a"])
    assert form.absent is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "array", "items": NAME},
        {"anyOf": [_object({"a": NAME}, "a")]},
        _object({"a": NAME}, "a", additionalProperties=True),
        _object({"a": NAME}, "a", additionalProperties=NAME),
        _object({"a": {"type": "object"}}, "a"),
        _object({"a": {"type": "array"}}, "a"),
        _object({"a": {}}, "a"),
        _object({"a": True}, "a"),
        _object({"a": {"type": "string", "minLength": 1}}, "a"),
        _object({"a": {"type": "string", "format": "uri"}}, "a"),
        _object({"a": {"type": "string", "pattern": "^(?=x)"}}, "a"),
        _object({"a": {"type": ["string", "integer"]}}, "a"),
        _object({"a": {"enum": ["x", 1]}}, "a"),
        _object({"a": {"enum": []}}, "a"),
        _object({"a": {"type": "array", "prefixItems": [NAME], "items": NAME}}, "a"),
        _object({"a": {"allOf": [_object({"b": NAME}, "b"), _object({"c": NAME}, "c")]}}, "a"),
        _object({"a": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}, "a"),
        _object({"a": {"oneOf": [_object({"b": NAME}, "b"), _object({"c": NAME}, "c")]}}, "a"),
        _object({"a": {"anyOf": [_object({"b": NAME}, "b"), _object({"b": NAME, "c": NAME}, "b", "c")]}}, "a"),
        _object({"a": {"$ref": "#/$defs/missing"}}, "a"),
        _object({"a": NAME}, "a", "b"),
        _object({"a": NAME}, "a", minProperties=1),
        # Null means absent in the first member, and null in the second.
        _object(
            {"a": {"anyOf": [_object({"b": NAME, "c": NAME}, "b"), _object({"c": {"type": ["string", "null"]}})]}}, "a"
        ),
    ],
)
def test_a_keyword_that_would_change_the_valid_answers_is_an_obstacle(schema: Any) -> None:
    form = _form(schema)
    assert form.obstacle
    assert form.schema == b""


def test_disjoint_members_of_one_of_become_any_of() -> None:
    def tagged(tag: str) -> dict[str, Any]:
        return _object({"kind": {"const": tag}, "v": NAME}, "kind", "v")

    form = _form(_object({"a": {"oneOf": [tagged("x"), tagged("y"), {"type": "null"}]}}, "a"))
    assert not form.obstacle
    written = json.loads(form.schema)
    assert [member["type"] for member in written["properties"]["a"]["anyOf"]] == ["object", "object", "null"]
    assert not list(strict_subset(written, ()))


def test_limits_of_size() -> None:
    assert not _form(_object({"a": {"enum": [str(n) for n in range(1000)]}}, "a")).obstacle
    assert _form(_object({"a": {"enum": [str(n) for n in range(1001)]}}, "a")).obstacle
    deep: dict[str, Any] = NAME
    for _ in range(10):
        deep = _object({"a": deep}, "a")
    assert not _form(deep).obstacle
    assert _form(_object({"a": deep}, "a")).obstacle


TREE = {
    **_object({"name": NAME, "note": NAME, "left": {"$ref": "#/$defs/node"}, "all": {"type": "array"}}, "name"),
    "$defs": {
        "node": _object(
            {
                "value": {"type": "integer"},
                "kind": {"enum": ["p", "q"]},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
            "value",
        )
    },
}
TREE["properties"]["all"]["items"] = {"$ref": "#/$defs/node"}

ANSWERS = [
    (
        '{"name": "n", "note": null, "left": null, "all": null}',
        '{"name": "n"}',
    ),
    (
        '{"note":null,"left":{"kind":null,"value":12,"next":{"value":-1.5e3,"kind":"p","next":null}},"name":"null"}',
        '{"left":{"value":12,"next":{"value":-1.5e3,"kind":"p","next":null}},"name":"null"}',
    ),
    (
        '{"name":"a\\"b, null","all":[{"value":1,"kind":null,"next":null},{"value":2,"kind":"q","next":null}]}',
        '{"name":"a\\"b, null","all":[{"value":1,"next":null},{"value":2,"kind":"q","next":null}]}',
    ),
    ('{"n\\u006fte" : null , "name":"x"} ', '{ "name":"x"} '),
    ("I cannot do that.", "I cannot do that."),
    ('{"name": tr, "note": null}', '{"name": tr}'),
    ('{"name":"x","no', '{"name":"x","no'),
    ('["note", null, {"note": null}]', '["note", null, {"note": null}]'),
    ("null", "null"),
    ("", ""),
]


@pytest.mark.parametrize(("sent", "wanted"), ANSWERS)
def test_nulls_of_optional_properties_are_removed_again(sent: str, wanted: str) -> None:
    form = _form(TREE)
    assert not form.obstacle and form.absent is not None
    assert not list(strict_subset(json.loads(form.schema), ()))
    assert without_absent(sent, form.absent) == wanted
    for size in range(1, 8):
        remover = AbsentRemover(form.absent)
        pieces = [remover.feed(sent[i : i + size]) for i in range(0, len(sent), size)]
        assert "".join(pieces) + remover.close() == wanted


def test_a_null_that_the_schema_allows_stays() -> None:
    form = _form(_object({"a": {"type": ["string", "null"]}, "b": {"enum": ["x", None]}, "c": NAME}, "c"))
    assert not form.obstacle and form.absent is None


def test_text_is_passed_on_unchanged() -> None:
    form = _form(TREE)
    assert form.absent is not None
    remover = AbsentRemover(form.absent)
    assert remover.feed('{"name": "lo') == '{"name": "lo'
    assert remover.feed('ng", "no') == 'ng"'
    assert remover.feed('te": "x') == ', "note": "x'
    assert remover.feed('"}') == '"}'
    assert remover.close() == ""
