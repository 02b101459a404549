"""Positions of citations in a text that grows."""

from __future__ import annotations

import pytest

from dragoman.dialects.gemini import grounding
from dragoman.dialects.gemini.grounding import CharacterOffsets

PIECES = ("plain ", "ä", "", "words ", "€ and 𝄞", " end")


@pytest.mark.parametrize("start", range(8))
def test_a_growing_text_has_the_positions_of_the_whole_text(start: int) -> None:
    pieces: list[str] = []
    growing = CharacterOffsets(pieces)
    for piece in PIECES:
        pieces.append(piece)
        text = "".join(pieces)
        whole = CharacterOffsets([text])
        data = text.encode()
        for end in range(len(data) + 2):
            assert growing.span(start, end, None) == whole.span(start, end, None)
        assert growing.length() == whole.length() == len(text)
    assert growing.whole() == "".join(PIECES)
    pieces.append("!")
    assert growing.length() == len("".join(PIECES)) + 1


def test_the_quoted_text_decides_if_the_offsets_are_wrong() -> None:
    places = CharacterOffsets(["über ", "allem"])
    assert places.span(6, 11, "allem") == (5, 10)
    assert places.span(0, 99, "allem") == (5, 10)
    assert places.span(0, 99, "nothing") == (None, None)


def test_searches_for_segments_with_wrong_offsets_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grounding, "_SEARCHED", 10)
    places = CharacterOffsets(["some words ", "and more"])
    assert places.span(900, 901, "more") == (15, 19)
    assert places.span(900, 901, "more") == (None, None)
    assert places.span(15, 19, "more") == (15, 19)


def test_counting_characters_does_not_count_bytes() -> None:
    """The characters of every text in a stream are counted. The bytes are counted only for texts with citations."""
    pieces = ["über "]
    places = CharacterOffsets(pieces)
    assert places.length() == 5
    pieces.append("älles")
    assert places.length() == 10
    assert places._measured == 0
    assert places.span(6, 12, None) == (5, 10)
    assert places._measured == 2
