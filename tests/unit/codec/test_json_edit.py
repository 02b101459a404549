"""Edits of JSON text: only the values that differ are written, and every other byte is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codec.json_edit import edit_document


@pytest.mark.parametrize(
    ("document", "after", "expected"),
    [
        (b'{"a": 1, "b": 2.50, "c": 3}', {"a": 1, "c": 3}, b'{"a": 1, "c": 3}'),
        (b'{"a": 1, "b": 2.50, "c": 3}', {"b": 2.5, "c": 3}, b'{"b": 2.50, "c": 3}'),
        (b'{"a": 1, "b": 2.50, "c": 3}', {"a": 1, "b": 2.5}, b'{"a": 1, "b": 2.50}'),
        (b'{"a": 1e0, "b": 2}', {"a": 1.0, "b": 5}, b'{"a": 1e0, "b": 5}'),
        (b'{"a":1}', {}, b"{}"),
        (b" { } ", {"a": 1}, b' {"a":1} '),
        (b'{"a" : 1,\n "b" : 2}', {"a": 1, "b": 2, "c": 3}, b'{"a" : 1,\n "b" : 2,\n "c" : 3}'),
        (
            b'{"o": {"x": [1, 2,  3], "y": "\\u0041"}}',
            {"o": {"x": [1, 2, 4], "y": "A"}},
            b'{"o": {"x": [1, 2,  4], "y": "\\u0041"}}',
        ),
        (b'{"l": [1, {"k": 1.0}]}', {"l": [1, {"k": 1.0}, 7]}, b'{"l": [1, {"k": 1.0}, 7]}'),
        (b'{"l": [1, 2.0, 3, 4]}', {"l": [1, 9, 8, 2.0, 3, 4]}, b'{"l": [1, 9, 8, 2.0, 3, 4]}'),
        (b'{"l": [1, 2.0, 3]}', {"l": [3]}, b'{"l": [3]}'),
        (b'{"n": "text"}', {"n": {"is": "an object"}}, b'{"n": {"is":"an object"}}'),
    ],
)
def test_only_values_that_differ_are_written(document: bytes, after: Any, expected: bytes) -> None:
    assert edit_document(document, json.loads(document), after) == expected


def test_a_field_that_was_not_read_is_kept() -> None:
    assert edit_document(b'{"a":1,"strange":[1.0]}', {"a": 1}, {"a": 2}) == b'{"a":2,"strange":[1.0]}'


def test_a_field_in_another_spelling_is_the_same_field() -> None:
    document = b'{"generation_config":{"top_p":0.50,"topK":1}}'
    before = {"generationConfig": {"topP": 0.5, "topK": 1}}
    assert (
        edit_document(document, before, {"generationConfig": {"topP": 0.5}}) == b'{"generation_config":{"top_p":0.50}}'
    )
    assert edit_document(document, before, {"generationConfig": {"topK": 1}}) == b'{"generation_config":{"topK":1}}'


@pytest.mark.parametrize("document", [b'{"a":1,"a":2}', b"{", b'{"a":1}}'])
def test_text_that_is_ambiguous_or_broken_is_not_edited(document: bytes) -> None:
    assert edit_document(document, {"a": 1}, {"a": 3}) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


@given(OBJECTS, OBJECTS, st.sampled_from([None, 1]), st.booleans())
def test_the_edited_text_has_the_new_value(before: Any, after: Any, indent: int | None, spaced: bool) -> None:
    separators = (" ,", " : ") if spaced else None
    document = json.dumps(before, indent=indent, separators=separators).encode()
    found = edit_document(document, before, after)
    assert found is not None
    assert json.loads(found) == after
    assert edit_document(document, before, before) == document
