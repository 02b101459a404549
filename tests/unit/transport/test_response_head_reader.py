"""Heads of answers: the cached shapes of an upstream's heads are bounded, and give the same headers as the parser."""

from __future__ import annotations

import pytest

from dragoman.fast.repeated_response_heads import MAX_KNOWN, MAX_LENGTH, MAX_LINES, SELDOM
from dragoman.transport.response_head_reader import NONE, HeadReader, listed


def head(*lines: str, status: str = "200 OK") -> bytes:
    return ("\r\n".join([f"HTTP/1.1 {status}", *lines]) + "\r\n\r\n").encode("latin-1")


def test_a_cached_shape_gives_the_values_of_the_new_head() -> None:
    heads = HeadReader()
    for value in ("a", "", "b: c", "\xe9", "x" * 3000):
        found = heads.read(head("Date: now", f"X-Id:{value}", "x-id: second") + b"{}\r\n\r\n")
        assert list(found) == [("date", "now"), ("x-id", value), ("x-id", "second")]
        assert (found.header("x-id"), found.header("x-none")) == (value, "")
    assert len(heads.repeated) == 1


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
def test_a_head_with_other_names_has_another_shape(other: bytes) -> None:
    heads = HeadReader()
    heads.read(head("date: x", "x-id: a"))
    found = heads.read(other)
    assert list(found) == list(HeadReader().read(other))
    assert found.shape.compressed is (b"gzip" in other)
    assert len(heads.repeated) == 2


@pytest.mark.parametrize(
    ("before", "more"),
    [(b"HTTP/1.1 100 Continue\r\n\r\n", 0), (b"\r\n", 0), (b"", 1)],
    ids=["interim", "blank", "plain"],
)
def test_bytes_before_a_head_are_no_part_of_it(before: bytes, more: int) -> None:
    heads = HeadReader()
    assert list(heads.read(before + head("x-id: a"))) == [("x-id", "a")]
    assert len(heads.repeated) == more


def test_lines_with_another_line_end_are_not_joined() -> None:
    heads = HeadReader()
    heads.read(head("x-id: a"))
    odd = head("x-id: a\nx-evil: b")  # the parser refuses this line end
    assert "x-evil: b" not in heads.read(odd).header("x-id")


def test_the_shapes_of_an_upstream_are_bounded() -> None:
    heads = HeadReader()
    for number in range(3 * MAX_KNOWN):
        wanted = [(f"x-{number}", "1"), ("content-type", "a/b")]
        assert list(heads.read(head(f"x-{number}: 1", "content-type: a/b"))) == wanted
    assert len(heads.repeated) == MAX_KNOWN
    for lines in ["x" * MAX_LENGTH + ": 1"], [f"x-{number}: 1" for number in range(MAX_LINES + 1)]:
        heads = HeadReader()
        name = lines[-1].partition(":")[0]
        assert heads.read(head(*lines)).header(name) == "1"
        assert len(heads.repeated) == 0


def test_a_new_shape_is_learned_after_several_answers() -> None:
    heads = HeadReader()
    for number in range(MAX_KNOWN):
        heads.read(head(f"x-{number}: 1"))
    last = heads.read(head(f"x-{MAX_KNOWN - 1}: 1")).shape
    learned = [heads.read(head("new: 1")).shape for _ in range(SELDOM + 2)]
    assert len(set(learned)) == SELDOM
    assert len(heads.repeated) == MAX_KNOWN
    assert heads.read(head(f"x-{MAX_KNOWN - 1}: 2")).shape is last  # recently used shapes stay


def test_a_head_that_differs_only_at_its_end_is_read_fast() -> None:
    heads = HeadReader()
    lines = [f"x-{number}: {' ' * 400}a" for number in range(60)]  # so many that a backtracking pattern would never end
    heads.read(head(*[f"x-{number}: a" for number in range(60)], "last: 1"))
    assert heads.read(head(*lines, "lost: 1")).header("lost") == "1"


def test_the_shape_has_the_place_of_the_content_type() -> None:
    for found, kind in ((listed([(b"a", b"b"), (b"Content-Type", b"a/b")]), b"a/b"), (listed([(b"a", b"a/b")]), b"")):
        assert found.values[found.shape.kind] == kind
    assert (list(NONE), NONE.values[NONE.shape.kind], NONE.size()) == ([], b"", 0)
    assert listed([(b"ab", b"cd")]).size() == len(b"ab: cd\r\n")
