"""Recorded requests whose model is changed within one dialect: turns that are left out at first change nothing."""

from __future__ import annotations

import pytest

from dragoman.dialects import get
from dragoman.facts import profiles
from dragoman.facts.profile import DEFAULT_PROFILE, Profile
from dragoman.translate import model_change_within_dialect
from dragoman.translate.model_change_within_dialect import fit_to_model
from tests.recorded.recorded_bodies import DIALECTS, cases

EACH = 3
"""Every so many recorded requests, begun anew for each profile: all of them with all profiles take long."""


def profiled(dialect: str) -> dict[Profile, str]:
    """A model for each profile that models of a dialect have."""
    names = [match.replace("*", "") for row in profiles.rows() if dialect in row.dialects for match in row.match]
    found = {profiles.lookup(dialect, name): name for name in names if name}
    found.pop(DEFAULT_PROFILE, None)
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_turns_that_are_left_out_at_first_would_change_nothing(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
