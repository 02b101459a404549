"""Every case against the library: exactly the cases on the list of expected failures fail."""

from __future__ import annotations

from functools import cache

import pytest

from dragoman.conform.judging import library_runner, suite_reader
from dragoman.conform.judging.verdicts_against_expected_failures import verdicts

SUITE = suite_reader.load_suite(suite_reader.latest_suite())
EXPECTED = suite_reader.expected_failures(SUITE.place / suite_reader.EXPECTED)
TOPICS = sorted({case.topic for case in SUITE.cases})


@cache
def _cases(topic: str) -> tuple[suite_reader.Case, ...]:
    return library_runner.choose_cases(SUITE.cases, (topic,))


@pytest.mark.parametrize("topic", TOPICS)
def test_the_library_conforms(topic: str) -> None:
    found = verdicts([library_runner.run(case) for case in _cases(topic)], EXPECTED)
    assert [f"{one.state} {one.result.case.id}: {'; '.join(one.words)}" for one in found if one.fails_run] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_every_fact_can_be_false(topic: str) -> None:
    """A case that an empty answer passes too is useless."""
    for case in _cases(topic):
        if case.id not in EXPECTED:
            outcome = library_runner.observe_case(case)
            outcome.document, outcome.checked, outcome.losses, outcome.raw = {}, [], (), b"{}"
            assert not library_runner.judge_case(case, outcome).passed, case.id
