"""Places of citations in a text that grows."""

from __future__ import annotations

import pytest

from dragoman.dialects.gemini import grounding
from dragoman.dialects.gemini.grounding import Places

PIECES = ("plain ", "ä", "", "words ", "€ and 𝄞", " end")


@pytest.mark.parametrize("start", range(8))
def test_a_text_that_grows_has_the_places_of_the_whole(start: int) -> None:
    said: list[str] = []
    growing = Places(said)
    for piece in PIECES:
        said.append(piece)
        text = "".join(said)
        whole = Places([text])
        data = text.encode()
        for end in range(len(data) + 2):
            assert growing.span(start, end, None) == whole.span(start, end, None)
        assert growing.length() == whole.length() == len(text)
    assert growing.whole() == "".join(PIECES)
    said.append("!")
    assert growing.length() == len("".join(PIECES)) + 1


def test_the_quoted_text_decides_where_the_numbers_do_not_fit() -> None:
    places = Places(["über ", "allem"])
    assert places.span(6, 11, "allem") == (5, 10)
    assert places.span(0, 99, "allem") == (5, 10)
    assert places.span(0, 99, "nothing") == (None, None)


def test_searches_for_segments_that_are_not_where_their_offsets_say_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grounding, "_SEARCHED", 10)
    places = Places(["some words ", "and more"])
    assert places.span(900, 901, "more") == (15, 19)
    assert places.span(900, 901, "more") == (None, None)
    assert places.span(15, 19, "more") == (15, 19)


def test_counting_characters_measures_no_bytes() -> None:
    """Every text of a stream is counted; only one with citations has its bytes measured."""
    said = ["über "]
    places = Places(said)
    assert places.length() == 5
    said.append("älles")
    assert places.length() == 10
    assert places._measured == 0
    assert places.span(6, 12, None) == (5, 10)
    assert places._measured == 2
