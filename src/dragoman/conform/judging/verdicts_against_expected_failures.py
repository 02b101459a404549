"""Owns the verdicts: an expected failure that passes is red, and a case that could not be tested is red."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .library_runner import CaseResult

State = Literal["pass", "fail", "untested", "expected", "surprise"]
RED: tuple[State, ...] = ("fail", "untested", "surprise")


class CaseVerdict(Struct):
    """A result, compared with the list of expected failures."""

    result: CaseResult
    state: State
    words: list[str] = []
    """The failures of the case, or the reason why a failure was expected."""

    @property
    def fails_run(self) -> bool:
        """Whether the verdict makes the run fail."""
        return self.state in RED


def verdicts(results: list[CaseResult], expected: dict[str, str]) -> list[CaseVerdict]:
    """The verdict for every result."""
    return [_verdict(result, expected.get(result.case.id)) for result in results]


def _verdict(result: CaseResult, reason: str | None) -> CaseVerdict:
    if result.passed:
        if reason is None:
            return CaseVerdict(result, "pass")
        return CaseVerdict(result, "surprise", [f"expected to fail ({reason}), but passed: take it off the list"])
    reasons = [f"could not be tested: {result.untested}"] if result.untested else result.failures
    if reason is not None:
        return CaseVerdict(result, "expected", [reason])
    return CaseVerdict(result, "untested" if result.untested else "fail", reasons)


def unknown_expected_failures(expected: dict[str, str], known: set[str]) -> list[str]:
    """Expected failures whose id is not a case of the suite. They are an error, so that the list stays current."""
    return sorted(set(expected) - known)
