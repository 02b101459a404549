"""Tests of the marking of values in canon."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from dragoman.canon import Media, Part, Text, ToolResult
from tests.laws.marked_values import CanonMarker


def _pieces(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        yield type(part).__name__


def test_the_marker_reaches_every_kind_of_part() -> None:
    marker = CanonMarker()
    whole = ToolResult("c", (Text("a"), Media("image", "image/png", "aaaa")))
    found = marker.part(whole, ("turns", 0, "parts", 0))
    assert isinstance(found, ToolResult)
    assert list(_pieces(found.parts)) == ["Text", "Media"]
    assert len(marker.places) == 2
    assert all(len(base64.b64decode(mark)) == 9 for mark in marker.places)
