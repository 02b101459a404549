"""From results to a verdict: an expected failure that passes is red, and so is what could not be tested."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .library_runner import Result

State = Literal["pass", "fail", "untested", "expected", "surprise"]
RED: tuple[State, ...] = ("fail", "untested", "surprise")


class Verdict(Struct):
    """A result in the light of the expected failures."""

    result: Result
    state: State
    words: list[str] = []
    """What is wrong, or why a failure was expected."""

    @property
    def red(self) -> bool:
        return self.state in RED


def verdicts(results: list[Result], expected: dict[str, str]) -> list[Verdict]:
    """Every result with its state."""
    return [_verdict(result, expected.get(result.case.id)) for result in results]


def _verdict(result: Result, reason: str | None) -> Verdict:
    if result.passed:
        if reason is None:
            return Verdict(result, "pass")
        return Verdict(result, "surprise", [f"expected to fail ({reason}), but passed: take it off the list"])
    told = [f"could not be tested: {result.untested}"] if result.untested else result.failures
    if reason is not None:
        return Verdict(result, "expected", [reason])
    return Verdict(result, "untested" if result.untested else "fail", told)


def strangers(expected: dict[str, str], known: set[str]) -> list[str]:
    """Expected failures that are no case of the suite: a list that nobody keeps is no list."""
    return sorted(set(expected) - known)
