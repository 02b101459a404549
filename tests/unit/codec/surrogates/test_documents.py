"""Lone surrogates in JSON text: which escapes are lone surrogates, their replacement, and their places."""

from __future__ import annotations

import pytest

from dragoman.codec.json_text import breaks_off, decode, respelled
from dragoman.codec.surrogates.documents import has_lone_surrogate, replaced_places, without_surrogates


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\uD83D"', rb'"\ufffd"'),
        (rb'"\ude00"', rb'"\ufffd"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\ud83d\u0041"', rb'"\ufffd\u0041"'),
        (rb'"\ud83d\\ude00"', rb'"\ufffd\\ude00"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"\ude00\ud83d"', rb'"\ufffd\ufffd"'),
    ],
)
def test_a_lone_surrogate_becomes_the_replacement_character(text: bytes, mended: bytes) -> None:
    found = without_surrogates(text)
    assert found == mended
    assert len(found) == len(text)  # places in the text stay the same
    decode(found)


@pytest.mark.parametrize("text", [rb'"\ud83d\ude00"', rb'"\\ud83d"', rb'"\\\\ud83d"', rb'"\udbff\uDFFF"', b'"plain"'])
def test_pairs_and_escaped_backslashes_are_left_alone(text: bytes) -> None:
    assert without_surrogates(text) is None


def test_the_paths_of_values_and_of_names() -> None:
    document = (
        rb'{"a": [1, {"b": "x\ud83d"}, "\ud83d\ude00", "\ud83d \ud83d"], "c,\"{\ud83d": {"d": 1}, "e": "[\ude00"}'
    )
    mended = without_surrogates(document)
    assert mended is not None
    assert replaced_places(document, mended) == [("a", 1, "b"), ("a", 3), ('c,"{\ufffd',), ("e",)]


def test_text_that_is_no_json_is_one_place() -> None:
    text = rb'}],"\ud83d"'
    assert replaced_places(text, without_surrogates(text) or b"") == [()]


def test_arguments_with_half_a_character_are_complete() -> None:
    assert has_lone_surrogate(r'{"a": "\ud83d"}')
    assert not has_lone_surrogate(r'{"a": "\ud83d\ude00"}')
    assert not breaks_off(r'{"a": "\ud83d"}')
    assert breaks_off(r'{"a": "\ud83d", "b": ')


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (rb'{"model": "a", "x": "\ud83d"}', rb'{"model": "b", "x": "\ud83d"}'),
        # The same name also occurs at another place, so the search must read the text member by member.
        (rb'{"x": {"model": "\ud83d"}, "model" : "a", "y": 1}', rb'{"x": {"model": "\ud83d"}, "model" : "b", "y": 1}'),
        (rb'{"x": [{"model": "\ud83d"}, "model"]}', rb'{"x": [{"model": "\ud83d"}, "model"],"model":"b"}'),
    ],
)
def test_the_model_is_renamed_in_a_document_with_surrogates(document: bytes, expected: bytes) -> None:
    assert respelled(document, "model", "b") == expected
