"""The exact JSON text of arguments and schemas."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman.codec import json_text
from dragoman.errors import WireError

TOO_LARGE = ('{"n":1e999}', '{"n":[-2.5E+0400]}', '{"n":%s.5}' % ("7" * 400))


@pytest.mark.parametrize(
    "text", ["{}", ' {"a": 1.0} ', '{"a":{"b":[1,2]}}', '{"n":1e300}', '{"n":1e-999,"hash":"e100"}']
)
def test_one_object_is_an_object(text: str) -> None:
    assert json_text.is_object(text)
    assert json_text.is_object(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        '"{}"',
        "null",
        "{",
        '{"a":',
        "{} {}",
        "{}x",
        '{"a":nul}',
        "{'a':1}",
        '{"a":"\ud800"}',
        '{"a":' * 9999,
        *TOO_LARGE,
    ],
)
def test_other_text_is_no_object(text: str) -> None:
    assert not json_text.is_object(text)


@pytest.mark.parametrize("text", TOO_LARGE)
def test_text_with_a_number_that_no_decoder_accepts_is_no_object(text: str) -> None:
    long = text[:-1] + ',"pad":"' + "é" * 999 + '"}'
    assert json_text.is_whole(text) and json_text.is_whole(long)
    assert not json_text.is_object(long)
    assert not json_text.is_object(long.encode())
    assert json_text.is_object(long.replace("1e999", "1e99").replace("E+", "E-").replace("7" * 400, "7"))


def test_bytes_that_are_not_utf8_are_no_object() -> None:
    assert not json_text.is_object(b'{"\xff":1}')


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "null"])
def test_blank_arguments_are_an_empty_object(blank: str) -> None:
    assert json_text.object_raw(blank) == Raw(b"{}")


def test_arguments_keep_their_exact_text() -> None:
    assert json_text.object_raw('{"b": 1.50,\n "a":1}') == Raw(b'{"b": 1.50,\n "a":1}')


@pytest.mark.parametrize("text", ['{"a": ', "[1]", "7"])
def test_arguments_that_are_no_object_give_none(text: str) -> None:
    assert json_text.object_raw(text) is None


def test_values_and_texts() -> None:
    assert json_text.fields(b'{"a": 1.0, "b":"x"}') == {"a": Raw(b"1.0"), "b": Raw(b'"x"')}
    assert json_text.text(Raw('"ü"')) == '"ü"'
    assert json_text.plain(Raw(b'{"a":[1]}')) == {"a": [1]}
    assert json_text.raw({"a": [1]}) == Raw(b'{"a":[1]}')
    assert json_text.string('a"b') == b'"a\\"b"'


@pytest.mark.parametrize("text", [b'{"n":1e999}', b'"\xff"', b"[" * 9999 + b"]" * 9999])
def test_a_value_that_was_only_skimmed_can_be_invalid(text: bytes) -> None:
    with pytest.raises(WireError, match="a value that can be decoded"):
        json_text.plain(Raw(text))
    assert json_text.kind(Raw(b'{"type":' + text + b"}")) == ""


@pytest.mark.parametrize(
    ("value", "word"), [(b'{"type":"x"}', "x"), (b'{"type":7}', ""), (b"{}", ""), (b'["type"]', ""), (b'"type"', "")]
)
def test_kind_is_the_name_of_the_json_type(value: bytes, word: str) -> None:
    assert json_text.kind(Raw(value)) == word


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('"{}"', "{}"),
        ('"a"', None),
        ('"{"', None),
        ('{"a": 1}', None),
        ("[]", None),
        ('"', None),
        ("", None),
    ],
)
def test_an_object_in_a_string_is_found(text: str, inner: str | None) -> None:
    assert json_text.encoded_twice(text) == inner


@pytest.mark.parametrize(
    ("document", "is_one"),
    [
        (b'{"a": [1, "\xc3\xa4"]}', True),
        (b'{"a": 1e999}', True),
        (b'{"a": "\xe4"}', False),
        (b'{"a": 1', False),
        (b"[1]", False),
        (b"", False),
        (b'{"a":' + b"[" * 100_000, False),
    ],
)
def test_a_document_is_one_object_in_utf_8(document: bytes, is_one: bool) -> None:
    assert json_text.is_document(document) is is_one
