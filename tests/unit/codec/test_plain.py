"""Plain answers: which calls every dialect takes as they are, so that they may go the short way."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.canon.response import Plain, PlainCall
from dragoman.codec.plain import CallId, decodable, plain_calls


def _answer(calls: dict[str, tuple[str, str]], *, parsed: bool = False) -> Plain:
    made = {call_id: PlainCall(name, arguments) for call_id, (name, arguments) in calls.items()}
    return Plain("id", "model", "", made, "tool_calls", 1, 1, parsed=parsed)


@pytest.mark.parametrize("call_id", ["call_1", "toolu_01AbC", "6u8oiigt", "a-b", "9", "1_a", "-"])
def test_ids_that_every_dialect_takes(call_id: str) -> None:
    assert plain_calls(_answer({call_id: ("f", "{}")}), ())


@pytest.mark.parametrize("call_id", ["call:1", "a b", "a\n", "é", "call.1", "٣"])
def test_ids_that_some_dialect_refuses(call_id: str) -> None:
    assert not plain_calls(_answer({call_id: ("f", "{}")}), ())
    assert not plain_calls(_answer({"call_1": ("f", "{}"), call_id: ("f", "{}")}), ())


@pytest.mark.parametrize(("call_id", "fits"), [("", False), ("x", True), ("x" * 40, True), ("x" * 41, False)])
def test_decoding_knows_the_length_of_an_id(call_id: str, fits: bool) -> None:
    decode = msgspec.json.Decoder(CallId).decode
    if fits:
        assert decode(msgspec.json.encode(call_id)) == call_id
    else:
        with pytest.raises(msgspec.DecodeError):
            decode(msgspec.json.encode(call_id))


@pytest.mark.parametrize(("name", "fits"), [("read_file", True), ("a-b", True), ("a.b", False), ("", False)])
def test_names_that_every_dialect_takes(name: str, fits: bool) -> None:
    for _ in range(2):  # found out, then remembered
        assert plain_calls(_answer({"c1": ("f", "{}"), "c2": (name, "{}")}), ()) is fits


def test_ids_that_stand_in_the_conversation_already() -> None:
    answer = _answer({"c1": ("f", "{}"), "c2": ("f", "{}")})
    assert plain_calls(answer, (frozenset({"c3"}), frozenset({"c4"})))
    assert not plain_calls(answer, (frozenset({"c3"}), frozenset({"c2"})))
    assert not plain_calls(answer, None), "it is not known which do"


@pytest.mark.parametrize("arguments", ["", "[]", "null", "1", '{"a":', '{"a":1e999}', "{} {}", '"{}"'])
def test_arguments_that_are_no_object(arguments: str) -> None:
    answer: Any = _answer({"c1": ("f", "{}"), "c2": ("f", arguments)})
    assert not plain_calls(answer, ())
    assert not decodable(answer)


def test_arguments_that_came_as_objects_are_decoded_for_those_who_get_them_as_such() -> None:
    answer = _answer({"c1": ("f", '{"a":1e999}')}, parsed=True)
    assert plain_calls(answer, ())
    assert not decodable(answer)
    assert decodable(_answer({"c1": ("f", '{"a":[1e99]}')}, parsed=True))
