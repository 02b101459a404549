"""Texts for regular expressions, and which of them are never run."""

from __future__ import annotations

import re

import pytest

from dragoman.rehearsal.pattern_samples import matches, sample


@pytest.mark.parametrize(
    "pattern",
    [
        "abc", "^a+$", "[a-z]{3,5}", "^[^a-c]$", r"\d\d:\d\d", r"\w+@\w+\.com", "(ab|cd)+", "(?:x)?y", "a{2}", "a{2,}",
        r"\.\*", "^(?P<n>q)$", "a*?b", "[]x]", r"[\d]{2}", "", "|a", r"\bword\b", r"[\]]", r"^\S+\s\S+$",
    ],
)  # fmt: skip
def test_a_sample_matches(pattern: str) -> None:
    found = sample(pattern)
    assert found is not None and re.search(pattern, found)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_a_sample_is_as_long_as_asked(size: int) -> None:
    found = sample("^[a-z]+$", size)
    assert found is not None and len(found) >= size


@pytest.mark.parametrize(
    "pattern", ["(?=a)a", r"\p{L}", "(", "[", "*", r"(a)\1", "a{9999}{9999}", "(" * 80, "a" * 5000, "\\", r"[^\s\S]"]
)
def test_what_is_not_understood_gives_nothing(pattern: str) -> None:
    assert sample(pattern) is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(?:a*)*b", "(a{1,}){1,}$"])
def test_a_pattern_that_could_run_away_is_not_run(pattern: str) -> None:
    assert matches(pattern, "a" * 4000 + "!"), "nothing can be told of it"


def test_matching() -> None:
    assert matches("^a+$", "aaa")
    assert not matches("^a+$", "b")
    assert matches("(?<!a)b", "ab"), "not understood: nothing can be told"
    assert matches("a" * 5000, "b"), "too long: nothing can be told"
