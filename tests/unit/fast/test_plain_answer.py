"""Plain answers: the calls that every dialect accepts unchanged, so that the fast path can be used."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.codec.dialect_extras import Fields
from dragoman.facts.loss_severity_by_place_and_value import EMPTY_VALUES, field_severity
from dragoman.fast.plain_answer import (
    NO_TEXT,
    CallId,
    PlainAnswer,
    PlainCall,
    as_spelled,
    has_decodable_arguments,
    kept_in,
    length,
    plain_calls,
)


def _answer(calls: dict[str, tuple[str, str]], *, parsed: bool = False) -> PlainAnswer:
    made = {call_id: PlainCall(name, arguments) for call_id, (name, arguments) in calls.items()}
    return PlainAnswer("id", "model", NO_TEXT, made, "tool_calls", 1, 1, parsed=parsed)


@pytest.mark.parametrize("call_id", ["call_1", "toolu_01AbC", "6u8oiigt", "a-b", "9", "1_a", "-"])
def test_ids_that_every_dialect_accepts(call_id: str) -> None:
    assert plain_calls(_answer({call_id: ("f", "{}")}), ())


@pytest.mark.parametrize("call_id", ["call:1", "a b", "a\n", "a\0", "é", "call.1", "٣"])
def test_ids_that_some_dialect_refuses(call_id: str) -> None:
    assert not plain_calls(_answer({call_id: ("f", "{}")}), ())
    assert not plain_calls(_answer({"call_1": ("f", "{}"), call_id: ("f", "{}")}), ())


@pytest.mark.parametrize(("call_id", "fits"), [("", False), ("x", True), ("x" * 40, True), ("x" * 41, False)])
def test_decoding_checks_the_length_of_an_id(call_id: str, fits: bool) -> None:
    decode = msgspec.json.Decoder(CallId).decode
    if fits:
        assert decode(msgspec.json.encode(call_id)) == call_id
    else:
        with pytest.raises(msgspec.DecodeError):
            decode(msgspec.json.encode(call_id))


@pytest.mark.parametrize(("name", "fits"), [("read_file", True), ("a-b", True), ("a.b", False), ("", False)])
def test_names_that_every_dialect_accepts(name: str, fits: bool) -> None:
    for _ in range(2):  # computed first, then from the cache
        assert plain_calls(_answer({"c1": ("f", "{}"), "c2": (name, "{}")}), ()) is fits


def test_an_id_that_the_conversation_already_has_is_not_plain() -> None:
    answer = _answer({"c1": ("f", "{}"), "c2": ("f", "{}")})
    assert plain_calls(answer, (frozenset({"c3"}), frozenset({"c4"})))
    assert not plain_calls(answer, (frozenset({"c3"}), frozenset({"c2"})))
    assert not plain_calls(answer, None), "the ids of the conversation are unknown"


@pytest.mark.parametrize("arguments", ["", "[]", "null", "1", '{"a":', '{"a":1e999}', "{} {}", '"{}"'])
def test_arguments_that_are_no_object_are_not_plain(arguments: str) -> None:
    answer: Any = _answer({"c1": ("f", "{}"), "c2": ("f", arguments)})
    assert not plain_calls(answer, ())
    assert not has_decodable_arguments(answer)


def test_arguments_received_as_objects_are_decoded_for_targets_that_write_objects() -> None:
    answer = _answer({"c1": ("f", '{"a":1e999}')}, parsed=True)
    assert plain_calls(answer, ())
    assert not has_decodable_arguments(answer)
    assert has_decodable_arguments(_answer({"c1": ("f", '{"a":[1e99]}')}, parsed=True))


@pytest.mark.parametrize("value", [None, 0, -1.5, True, False, "", "x", [], [1, [2]], {}, {"a": {"b": 1}}])
def test_a_value_is_empty_if_its_absence_is_no_loss(value: Any) -> None:
    sent = msgspec.json.encode(value)
    lost = field_severity((), "billing", sent, quiet=False, answer=True) is not None
    assert (Raw(sent) not in EMPTY_VALUES) == lost


class _Shape(msgspec.Struct):
    x: Raw = Raw()
    y: Raw = Raw()
    z: int | None = None


def test_fields_with_a_meaning_are_listed_in_their_order() -> None:
    fields = Fields("z", "y", "x")
    assert kept_in(("a", 0), _Shape(), fields) == ()
    assert kept_in(("a", 0), _Shape(Raw(b"null"), Raw(b"[]"), 0), fields) == ()
    assert kept_in(("a", 0), _Shape(Raw(b"0"), Raw(b"{}"), 3), fields) == ((("a", 0), ("z", "x")),)


@pytest.mark.parametrize(
    "sent",
    [
        '"a"',
        '"two\\nlines\\tand \\"quotes\\" \\\\ \\b\\f\\r"',
        '"\x7f \u2028 é 😀 /"',
        r'"\\u0041"',
        r'"\u00e9"',
        r'"\ud83d\ude00"',
        r'"\u000a\u0000"',
        r'"a\/b"',
    ],
)
def test_a_text_is_written_in_its_encoded_form(sent: str) -> None:
    text = msgspec.json.decode(sent)
    spelled = as_spelled(Raw(sent.encode()))
    assert spelled is not None
    assert bytes(spelled) == msgspec.json.encode(text)
    assert length(spelled) == len(text)


@pytest.mark.parametrize(("sent", "empty"), [("null", True), ('""', True), ("1", False), ("[]", False), ("{}", False)])
def test_values_that_are_no_text_have_no_encoded_form(sent: str, empty: bool) -> None:
    assert as_spelled(Raw(sent.encode())) is (NO_TEXT if empty else None)
    assert length(NO_TEXT) == 0


def test_a_text_in_its_encoded_form_is_copied() -> None:
    sent = Raw(b'"one\\ntwo"')
    assert as_spelled(sent) is sent
