"""Heads of answers: what is known of an upstream's tells its other heads apart, is bounded, and changes nothing."""

from __future__ import annotations

import pytest

from dragoman.transport.response_head_reader import (
    MAX_LENGTH,
    MAX_LINES,
    MAX_SHAPES,
    NONE,
    SELDOM,
    HeadShapes,
    listed,
)


def head(*lines: str, status: str = "200 OK") -> bytes:
    return ("\r\n".join([f"HTTP/1.1 {status}", *lines]) + "\r\n\r\n").encode("latin-1")


def test_values_are_those_of_this_very_head() -> None:
    known = HeadShapes()
    for value in ("a", "", "b: c", "\xe9", "x" * 3000):
        found = known.read(head("Date: now", f"X-Id:{value}", "x-id: second") + b"{}\r\n\r\n")
        assert list(found) == [("date", "now"), ("x-id", value), ("x-id", "second")]
        assert (found.header("x-id"), found.header("x-none")) == (value, "")
    assert len(known) == 1


@pytest.mark.parametrize(
    "other",
    [
        head("date: x", "x-id: a", status="201 Created"),
        head("date: x", "x-ie: a"),
        head("date: x", "X-id: a"),
        head("x-id: a", "date: x"),
        head("date: x"),
        head("date: x", "x-id: a", "content-encoding: gzip"),
        head("content-encoding: gzip", "date: x", "x-id: a"),
        head(),
    ],
)
def test_a_head_with_other_names_is_told_apart(other: bytes) -> None:
    known = HeadShapes()
    known.read(head("date: x", "x-id: a"))
    found = known.read(other)
    assert list(found) == list(HeadShapes().read(other))
    assert found.shape.compressed is (b"gzip" in other)
    assert len(known) == 2


@pytest.mark.parametrize(
    ("before", "more"),
    [(b"HTTP/1.1 100 Continue\r\n\r\n", 0), (b"\r\n", 0), (b"", 1)],
    ids=["interim", "blank", "plain"],
)
def test_what_stands_before_a_head_is_none_of_it(before: bytes, more: int) -> None:
    known = HeadShapes()
    assert list(known.read(before + head("x-id: a"))) == [("x-id", "a")]
    assert len(known) == more


def test_lines_that_end_in_another_way_are_not_joined() -> None:
    known = HeadShapes()
    known.read(head("x-id: a"))
    odd = head("x-id: a\nx-evil: b")  # which the parser does not take
    assert "x-evil: b" not in known.read(odd).header("x-id")


def test_what_is_known_of_an_upstream_is_bounded() -> None:
    known = HeadShapes()
    for number in range(3 * MAX_SHAPES):
        wanted = [(f"x-{number}", "1"), ("content-type", "a/b")]
        assert list(known.read(head(f"x-{number}: 1", "content-type: a/b"))) == wanted
    assert len(known) == MAX_SHAPES
    for lines in ["x" * MAX_LENGTH + ": 1"], [f"x-{number}: 1" for number in range(MAX_LINES + 1)]:
        known = HeadShapes()
        name = lines[-1].partition(":")[0]
        assert known.read(head(*lines)).header(name) == "1"
        assert len(known) == 0


def test_what_an_upstream_sends_from_now_on_is_learnt_at_last() -> None:
    known = HeadShapes()
    for number in range(MAX_SHAPES):
        known.read(head(f"x-{number}: 1"))
    last = known.read(head(f"x-{MAX_SHAPES - 1}: 1")).shape
    shapes = [known.read(head("new: 1")).shape for _ in range(SELDOM + 2)]
    assert len(set(shapes)) == SELDOM
    assert len(known) == MAX_SHAPES
    assert known.read(head(f"x-{MAX_SHAPES - 1}: 2")).shape is last  # those that came lately stay


def test_a_head_that_fits_but_for_its_end_takes_no_time() -> None:
    known = HeadShapes()
    lines = [f"x-{number}: {' ' * 400}a" for number in range(60)]  # enough that going back would never end
    known.read(head(*[f"x-{number}: a" for number in range(60)], "last: 1"))
    assert known.read(head(*lines, "lost: 1")).header("lost") == "1"


def test_the_content_type_is_found_by_its_place() -> None:
    for found, kind in ((listed([(b"a", b"b"), (b"Content-Type", b"a/b")]), b"a/b"), (listed([(b"a", b"a/b")]), b"")):
        assert found.values[found.shape.kind] == kind
    assert (list(NONE), NONE.values[NONE.shape.kind], NONE.size()) == ([], b"", 0)
    assert listed([(b"ab", b"cd")]).size() == len(b"ab: cd\r\n")
