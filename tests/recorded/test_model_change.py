"""Recorded requests with a change of the model within one dialect: the fast path that skips turns gives the same
result."""

from __future__ import annotations

import pytest

from dragoman.dialects import get
from dragoman.facts import profiles
from dragoman.facts.profile import DEFAULT_PROFILE, Profile
from dragoman.translate import model_change_within_dialect
from dragoman.translate.model_change_within_dialect import fit_to_model
from tests.recorded.recorded_bodies import DIALECTS, cases

EACH = 3
"""Only every n-th recorded request is used, with another start for each profile: all of them would take long."""


def profiled(dialect: str) -> dict[Profile, str]:
    """Return one model for each profile of the dialect."""
    names = [match.replace("*", "") for row in profiles.rows() if dialect in row.dialects for match in row.match]
    found = {profiles.lookup(dialect, name): name for name in names if name}
    found.pop(DEFAULT_PROFILE, None)
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_skipped_turns_would_not_change_the_result(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = cases(dialect, "request")
    shorter = 0
    for place, model in enumerate(profiled(dialect).values()):
        for case in recorded[place % EACH :: EACH]:
            found, _ = fit_to_model(case.body, get(dialect), model)
            with monkeypatch.context() as patch:
                patch.setattr(model_change_within_dialect, "_shortened", lambda *_: None)
                whole, _ = fit_to_model(case.body, get(dialect), model)
            assert found == whole, (case.id, model)
            shorter += found == case.body
    assert shorter
