"""Extras are fields that only one dialect has. They are collected with their place, and put back at that place."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw, Struct

from dragoman.canon.losses import Loss
from dragoman.codec.dialect_extras import gather, restore, sent_fields
from dragoman.codec.wire_decoding_with_unknown_fields import Unknown
from dragoman.context import Context

ONE, TWO, NULL = Raw(b"1"), Raw(b"2"), Raw(b"null")


class Wire(Struct):
    a: Raw = Raw()
    b: Raw = Raw()


def _losses(context: Context) -> list[str]:
    context.settle(frozenset())
    assert {loss.code for loss in context.losses.all()} <= {"field.dropped"}
    return [loss.path for loss in context.losses.all()]


def test_carried_fields_are_those_that_were_sent() -> None:
    assert sent_fields(Wire(ONE, NULL), ("a", "b")) == {"a": ONE, "b": NULL}
    assert sent_fields(Wire(b=TWO), ("a", "b")) == {"b": TWO}
    assert sent_fields(Wire(), ("a", "b")) is None


def test_gathering_takes_the_fields_at_the_place_and_below() -> None:
    unknown: Unknown = {
        ("tools", 0): {"x": ONE},
        ("tools", 0, "function"): {"y": TWO},
        ("tools", 1): {"x": TWO},
        (): {"z": ONE},
    }
    context = Context("openai-chat", "gemini")
    assert gather(context, ("tools", 0), unknown) == {"openai-chat": {"x": ONE, "function/y": TWO}}
    assert unknown == {("tools", 1): {"x": TWO}, (): {"z": ONE}}
    assert gather(context, (), unknown) == {"openai-chat": {"tools/1/x": TWO, "z": ONE}}
    assert unknown == {}
    assert gather(context, (), unknown) is None
    assert sorted(_losses(context)) == ["/tools/0/function/y", "/tools/0/x", "/tools/1/x", "/z"]


def test_fields_of_the_wire_that_the_canon_lacks_are_gathered_too() -> None:
    context = Context("openai-chat", "gemini")
    more = {"store": ONE, "message/audio": TWO}
    assert gather(context, ("choices", 0), {}, more) == {"openai-chat": more}
    assert _losses(context) == ["/choices/0/store", "/choices/0/message/audio"]


def test_keys_with_slashes_keep_their_place() -> None:
    context = Context("gemini", "openai-chat")
    unknown: Unknown = {("a",): {"x/y": ONE, "p~q": TWO}}
    extra = gather(context, (), unknown)
    assert extra == {"gemini": {"a/x~1y": ONE, "a/p~0q": TWO}}
    assert restore({"a": {}}, extra, "gemini") == {"a": {"x/y": ONE, "p~q": TWO}}
    assert _losses(context) == ["/a/x~1y", "/a/p~0q"]


@pytest.mark.parametrize(
    ("out", "name", "restored"),
    [
        ({}, "x", {"x": ONE}),
        ({"x": 5}, "x", {"x": 5}),
        ({}, "x~1y", {"x/y": ONE}),
        ({"f": {"a": 1}}, "f/x", {"f": {"a": 1, "x": ONE}}),
        ({"f": {"x": 1}}, "f/x", {"f": {"x": 1}}),
        ({"l": [{}, {}]}, "l/1/x", {"l": [{}, {"x": ONE}]}),
        ({"l": [{}]}, "l/1/x", {"l": [{}]}),
        ({"l": [{}]}, "l/a/x", {"l": [{}]}),
        ({}, "f/x", {}),
        ({"l": ["a", "b"]}, "l/1", {"l": ["a", ONE, "b"]}),
        ({"l": ["a"]}, "l/7", {"l": ["a", ONE]}),
        ({"l": ["a"]}, "l/x", {"l": ["a"]}),
        ({}, "l/0", {"l": [ONE]}),
        ({"m": {}}, "m/l/2", {"m": {"l": [ONE]}}),
        ({}, "m/l/0", {}),
        ({}, "l/0/x", {}),
        ({"f": "text"}, "f/x", {"f": "text"}),
        ({"f": "text"}, "f/g/x", {"f": "text"}),
    ],
)
def test_a_field_is_put_back_into_its_object(out: dict[str, Any], name: str, restored: dict[str, Any]) -> None:
    assert restore(out, {"openai-chat": {name: ONE}}, "openai-chat") == restored


def test_another_dialects_fields_are_not_put_back() -> None:
    assert restore({"a": 1}, {"gemini": {"x": ONE}}, "openai-chat") == {"a": 1}
    assert restore({"a": 1}, None, "openai-chat") == {"a": 1}


def test_nulls_are_no_loss() -> None:
    context = Context("openai-chat", "gemini")
    gather(context, (), {}, {"store": NULL, "user": ONE})
    context.settle(frozenset({"user"}))
    assert context.losses.all() == (Loss("field.dropped", "dropped", "info", "/user"),)
