"""No silent loss in recorded traffic: a translation drops nothing without a loss that names its place."""

from __future__ import annotations

import pytest

from tests.laws import no_silent_loss
from tests.recorded.recorded_bodies import DIALECTS, PAIRS, Case, cases, settle

SHOWN = 6


def shown(found: dict[Case, list[str]]) -> dict[str, str]:
    """Return the documents that break the law, each with its first findings."""
    return {case.id: ", ".join(lost[:SHOWN]) for case, lost in found.items() if lost}


@pytest.mark.parametrize("way", no_silent_loss.WAYS)
@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_leaf_crosses_or_is_reported(source: str, target: str, kind: str, way: str) -> None:
    found = {case: no_silent_loss.document(case, target, way) for case in cases(source, kind)}  # type: ignore[arg-type]
    settle(f"no silent loss of {way}, {kind} {source} to {target}", shown(found))


@pytest.mark.parametrize("way", no_silent_loss.WAYS)
@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_within_one_dialect_every_leaf_comes_back(dialect: str, kind: str, way: str) -> None:
    found = {case: no_silent_loss.within_dialect(case, way) for case in cases(dialect, kind)}  # type: ignore[arg-type]
    settle(f"{way} come back, {kind} {dialect}", shown(found))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_streams_report_unknown_fields_and_events(source: str, target: str) -> None:
    found = {case: no_silent_loss.stream(case, target) for case in cases(source, "stream")}
    settle(f"stream with unknown fields {source} to {target}", shown(found))
