"""Streams as one JSON array: any cut of the bytes gives the same elements; only commas may separate them."""

from __future__ import annotations

import random

import pytest

from dragoman.codec import json_array_splitter
from dragoman.errors import WireError

TEXT = b'[{"a": [1, {"b": "}]\\"["}]}\r\n,\n{"c": "\\\\"} , {"d":"\xc3\xa9"}]\n'
ELEMENTS = [b'{"a": [1, {"b": "}]\\"["}]}', b'{"c": "\\\\"}', b'{"d":"\xc3\xa9"}']


def split(text: bytes, cuts: list[int]) -> tuple[list[bytes], json_array_splitter.JsonArraySplitter]:
    splitter = json_array_splitter.JsonArraySplitter("gemini")
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += splitter.feed(text[start:end])
    return found, splitter


def test_elements_are_the_same_however_the_bytes_are_cut() -> None:
    assert split(TEXT, [])[0] == ELEMENTS
    assert split(TEXT, list(range(1, len(TEXT))))[0] == ELEMENTS
    assert split(TEXT, [5, 5, 9, 9])[0] == ELEMENTS
    dice = random.Random(7)
    for _ in range(200):
        cuts = sorted(dice.sample(range(len(TEXT)), dice.randrange(1, 9)))
        found, splitter = split(TEXT, cuts)
        assert (found, splitter.ended, splitter.open) == (ELEMENTS, True, False)


def test_an_open_element_is_reported() -> None:
    found, splitter = split(b'[{"a":1},{"b":"x', [])
    assert (found, splitter.ended, splitter.open) == ([b'{"a":1}'], False, True)


def test_objects_without_an_array_are_accepted() -> None:
    assert split(b'{"error":{}}\n{"a":1}', [])[0] == [b'{"error":{}}', b'{"a":1}']


def test_bytes_after_the_array_are_ignored() -> None:
    found, splitter = split(b'[{"a":1}] and so on {"b":2}', [3, 9, 15])
    assert (found, splitter.ended, splitter.broken) == ([b'{"a":1}'], True, None)


@pytest.mark.parametrize("cuts", [[], [8], [9], [10], list(range(1, 18))])
def test_an_element_that_is_no_object_breaks_the_stream(cuts: list[int]) -> None:
    found, splitter = split(b'[{"a":1},true,{"b":2}]', cuts)
    assert found == [b'{"a":1}']
    assert str(splitter.broken) == "not gemini: expected objects in a JSON array, got b't'"


def test_an_element_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_array_splitter, "MAX_FRAME", 100)
    splitter = json_array_splitter.JsonArraySplitter("gemini")
    splitter.feed(b'[{"a":"' + b"x" * 60)
    with pytest.raises(WireError, match="at most 100 bytes"):
        splitter.feed(b"x" * 60)
