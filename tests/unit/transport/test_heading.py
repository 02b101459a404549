"""Heads of answers: what is known of an upstream's tells its other heads apart, is bounded, and changes nothing."""

from __future__ import annotations

import time

import pytest

from dragoman.transport.heading import MAX_LENGTH, MAX_SHAPES, NONE, Known, heading, listed


def head(*lines: str, status: str = "200 OK") -> bytes:
    return ("\r\n".join([f"HTTP/1.1 {status}", *lines]) + "\r\n\r\n").encode("latin-1")


def test_values_are_those_of_this_very_head() -> None:
    known: Known = []
    for value in ("a", "", "b: c", "\xe9", "x" * 3000):
        found = heading(head("Date: now", f"X-Id:{value}", "x-id: second") + b"{}\r\n\r\n", known)
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
    known: Known = []
    heading(head("date: x", "x-id: a"), known)
    found = heading(other, known)
    assert list(found) == list(heading(other, []))
    assert found.shape.compressed is (b"gzip" in other)
    assert len(known) == 2


@pytest.mark.parametrize(
    ("before", "more"),
    [(b"HTTP/1.1 100 Continue\r\n\r\n", 0), (b"\r\n", 0), (b"", 1)],
    ids=["interim", "blank", "plain"],
)
def test_what_stands_before_a_head_is_none_of_it(before: bytes, more: int) -> None:
    known: Known = []
    assert list(heading(before + head("x-id: a"), known)) == [("x-id", "a")]
    assert len(known) == more


def test_lines_that_end_in_another_way_are_not_joined() -> None:
    known: Known = []
    heading(head("x-id: a"), known)
    odd = head("x-id: a\nx-evil: b")  # which the parser does not take
    assert "x-evil: b" not in heading(odd, known).header("x-id")


def test_what_is_known_of_an_upstream_is_bounded() -> None:
    known: Known = []
    for number in range(3 * MAX_SHAPES):
        wanted = [(f"x-{number}", "1"), ("content-type", "a/b")]
        assert list(heading(head(f"x-{number}: 1", "content-type: a/b"), known)) == wanted
    assert len(known) == MAX_SHAPES
    known.clear()
    assert heading(head("x" * MAX_LENGTH + ": 1"), known).header("x" * MAX_LENGTH) == "1"
    assert known == []


def test_a_head_that_fits_but_for_its_end_takes_no_time() -> None:
    known: Known = []
    lines = [f"x-{number}: {' ' * 400}a" for number in range(100)]
    heading(head(*[f"x-{number}: a" for number in range(100)], "last: 1"), known)
    began = time.perf_counter()
    assert heading(head(*lines, "lost: 1"), known).header("lost") == "1"
    assert time.perf_counter() - began < 1


def test_the_content_type_is_found_by_its_place() -> None:
    for found, kind in ((listed([(b"a", b"b"), (b"Content-Type", b"a/b")]), b"a/b"), (listed([(b"a", b"a/b")]), b"")):
        assert found.values[found.shape.kind] == kind
    assert (list(NONE), NONE.values[NONE.shape.kind], NONE.size()) == ([], b"", 0)
    assert listed([(b"ab", b"cd")]).size() == len(b"ab: cd\r\n")
