"""The name and the description of a structured answer are written into its schema."""

from __future__ import annotations

import json

import pytest

import dragoman
from dragoman.canon.request import Format
from dragoman.codec.format_name_in_schema import format_name, with_words
from dragoman.context import Context

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
BASE = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def schema_and_dropped_details(shape: Format) -> tuple[str | None, list[str]]:
    context = Context("openai-chat", "gemini")
    out = with_words(shape, ("response_format",), context)
    rewritten = [loss for loss in context.losses.all() if loss.code == "schema.rewritten"]
    assert bool(rewritten) == (out.schema != shape.schema)
    return out.schema, [loss.detail for loss in context.losses.all() if loss.code == "format.detail.dropped"]


def test_name_and_description_are_written_into_the_schema() -> None:
    assert schema_and_dropped_details(Format("schema", '{"type":"object"}', "one", "of many")) == (
        '{"title":"one","description":"of many","type":"object"}',
        [],
    )


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        ('{"title":"other","description":"else"}', ["name, description"]),
        ('{"title":"one","description":"else"}', ["description"]),
        ('{"title":"one","description":"of many"}', []),
        ('{"$ref":"#/$defs/a"}', ["name, description"]),
        ("true", ["name, description"]),
    ],
)
def test_a_schema_keeps_its_own_title_and_description(schema: str, left: list[str]) -> None:
    assert schema_and_dropped_details(Format("schema", schema, "one", "of many")) == (schema, left)


def test_the_placeholder_name_is_not_written_as_a_title() -> None:
    assert schema_and_dropped_details(Format("schema", '{"type":"object"}', "answer")) == (
        '{"type":"object"}',
        ["name"],
    )
    assert schema_and_dropped_details(Format("schema", '{"title":"answer"}', "answer")) == ('{"title":"answer"}', [])


def test_without_a_schema_the_name_is_dropped() -> None:
    assert schema_and_dropped_details(Format("schema", None, "one")) == (None, ["name"])
    assert schema_and_dropped_details(Format("json")) == (None, [])


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        (Format("schema", '{"title":"Person"}', "own"), "own"),
        (Format("schema", '{"title":"Person"}'), "Person"),
        (Format("schema", '{"title":"A person"}'), "answer"),
        (Format("schema", '{"properties":{"title":{}}}'), "answer"),
        (Format("schema"), "answer"),
    ],
)
def test_a_format_without_a_name_is_named_by_its_title(shape: Format, name: str) -> None:
    assert format_name(shape) == name


@pytest.mark.parametrize("target", ["anthropic", "gemini", "code-assist"])
def test_a_chat_format_keeps_its_name_and_description_in_a_round_trip(target: str) -> None:
    shape = {"name": "person", "description": "Somebody.", "strict": True, "schema": SCHEMA}
    request = {**BASE, "response_format": {"type": "json_schema", "json_schema": shape}}
    translated = dragoman.translate_request(request, source="openai-chat", target=target)
    assert "format.detail.dropped" not in {loss.code for loss in translated.losses}
    back = dragoman.translate_request(translated.body, source=target, target="openai-chat").json()
    written = back["response_format"]["json_schema"]
    assert (written["name"], written["strict"]) == ("person", True)
    assert json.loads(json.dumps(written["schema"]))["description"] == "Somebody."
