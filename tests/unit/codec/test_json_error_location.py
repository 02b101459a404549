"""Mistakes in JSON text: the error names the line, the column and the kind of mistake."""

from __future__ import annotations

import msgspec
import pytest

import dragoman
from dragoman.codec.json_error_location import json_mistake
from dragoman.dialects import names
from dragoman.errors import WireError

CASES = [
    (b"", "it is empty"),
    (b" \n", "it is empty"),
    (b"not json", "expecting value, found 'n' at line 1, column 1"),
    (b'{"a": 1,\n "b": }', "expecting value, found '}' at line 2, column 7"),
    (b'{"a": "\xc3\xa4",\n "b" 1}', "expecting ':' delimiter, found '1' at line 2, column 6"),
    (b'{"a": [1, 2', "it ends too early, at line 1, column 12"),
    (b'{\n "a": "text', "it ends too early, at line 2, column 12"),
    (b'{"a": 1} x', "extra data, found 'x' at line 1, column 10"),
    (b'{"a": "\xff"}', "byte 0xff at line 1, column 8 is not UTF-8"),
    (b'{"a": NaN}', "invalid character at line 1, column 7"),
]


@pytest.mark.parametrize(("body", "words"), CASES)
def test_the_place_of_the_mistake_is_named(body: bytes, words: str) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)) as refused:
        msgspec.json.decode(body)
    assert json_mistake(body, str(refused.value)) == words


@pytest.mark.parametrize("dialect", names())
def test_every_dialect_names_the_place(dialect: str) -> None:
    with pytest.raises(WireError) as refused:
        dragoman.translate_request(b'{"model": "m",\n "messages": [}', source=dialect, target="gemini", model="m")
    assert str(refused.value) == "not valid JSON: expecting value, found '}' at line 2, column 15"


def test_a_mistake_in_deeply_nested_text_is_found() -> None:
    assert json_mistake(b"[" * 200_000, "Input data was truncated")
