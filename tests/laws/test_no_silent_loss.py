"""Tests of the check for silent losses: it can fail, and a loss excuses only what it is about."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import Loss
from dragoman.canon import Seal
from dragoman.codec import packed_seals
from tests.laws import marked_documents, no_silent_loss


def silent(path: str = "", code: str = "part.dropped", effect: Any = "dropped") -> list[str]:
    """Return the silent losses of a document whose only text is not in the output, with one reported loss."""
    marked = marked_documents.mark_texts({"messages": [{"content": [{"type": "text", "text": "Hello"}]}]})
    return no_silent_loss.silent(marked, b"{}", (Loss(code, effect, "info", path),))


LEAF = "/messages/0/content/0/text"


@pytest.mark.parametrize("path", [LEAF, "/messages/0/content/0", "/messages/0"])
def test_a_loss_at_or_above_the_place_explains_a_missing_text(path: str) -> None:
    assert silent(path) == []


@pytest.mark.parametrize(
    ("path", "code", "effect"),
    [
        ("", "part.dropped", "dropped"),
        ("/messages/1", "part.dropped", "dropped"),
        ("/messages/0/content/0/text/deeper", "part.dropped", "dropped"),
        ("/messages/0/content/0", "cache.dropped", "dropped"),
        ("/messages/0/content/0", "seal.dropped", "dropped"),
        (LEAF, "turn.invented", "invented"),
        ("", "stop.approximated", "approximated"),
    ],
)
def test_a_loss_at_another_place_or_of_another_kind_explains_nothing(path: str, code: str, effect: str) -> None:
    assert silent(path, code, effect) == [LEAF]


def test_a_text_in_the_output_needs_no_loss_even_if_packed() -> None:
    marked = marked_documents.mark_texts({"signature": "s", "text": "t"})
    seal, text = marked.places
    packed = packed_seals.pack(Seal("anthropic", seal))
    assert no_silent_loss.silent(marked, f'{{"a":"{packed}","b":"{text}"}}'.encode(), ()) == []
    assert no_silent_loss.silent(marked, f'{{"b":"{text}"}}'.encode(), ()) == ["/signature"]
