"""Sample texts for regular expressions. Dangerous expressions are never run."""

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
def test_a_sample_has_the_requested_length(size: int) -> None:
    found = sample("^[a-z]+$", size)
    assert found is not None and len(found) >= size


@pytest.mark.parametrize(
    "pattern", ["(?=a)a", r"\p{L}", "(", "[", "*", r"(a)\1", "a{9999}{9999}", "(" * 80, "a" * 5000, "\\", r"[^\s\S]"]
)
def test_an_unsupported_pattern_gives_no_sample(pattern: str) -> None:
    assert sample(pattern) is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(?:a*)*b", "(a{1,}){1,}$"])
def test_a_pattern_that_may_take_very_long_is_not_run(pattern: str) -> None:
    assert matches(pattern, "a" * 4000 + "!"), "a pattern that is not run counts as matched"


def test_texts_are_matched_with_patterns() -> None:
    assert matches("^a+$", "aaa")
    assert not matches("^a+$", "b")
    assert matches("(?<!a)b", "ab"), "an unsupported pattern counts as matched"
    assert matches("a" * 5000, "b"), "a pattern that is too long counts as matched"
