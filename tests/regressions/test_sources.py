"""Every case names its report once and describes the failure."""

from __future__ import annotations

import re

from tests.regressions import (
    test_accounts,
    test_codex,
    test_endings,
    test_exact,
    test_figures,
    test_history,
    test_hosts,
    test_limits,
    test_mishaps,
    test_pieces,
    test_replays,
    test_requests,
    test_seals,
    test_streams,
    test_tools,
)

TOPICS = (
    test_accounts,
    test_codex,
    test_endings,
    test_exact,
    test_figures,
    test_history,
    test_hosts,
    test_limits,
    test_mishaps,
    test_pieces,
    test_replays,
    test_requests,
    test_seals,
    test_streams,
    test_tools,
)
CASES = [case for topic in TOPICS for case in topic.CASES]
_SOURCE = re.compile(r"[\w.-]+/[\w.-]+#[1-9]\d*")


def test_every_case_names_its_report() -> None:
    assert [case.source for case in CASES if not _SOURCE.fullmatch(case.source)] == []
    assert [case.source for case in CASES if not case.failed.endswith((".", "?"))] == []


def test_no_report_has_two_cases() -> None:
    sources = [case.source for case in CASES]
    assert sorted({source for source in sources if sources.count(source) > 1}) == []
    assert len(sources) >= 60


def test_every_case_has_a_condition() -> None:
    """A request case may have no conditions: its checks for legal and lint-clean output always run."""
    idle = [case for case in CASES if not (case.holds or case.lacks or case.nowhere or case.losses)]
    assert [case.source for case in idle if type(case).__name__ not in ("RequestCase", "RepairCase")] == []
