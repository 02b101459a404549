"""The data file of model facts: valid rows, known dialects, and only fields of a profile."""

from __future__ import annotations

import re

import msgspec

from dragoman.dialects import names as dialects
from dragoman.facts import profiles
from dragoman.facts.profile import DEFAULT_PROFILE, Profile


def test_every_row_is_valid_and_states_its_source() -> None:
    rows = profiles.rows()
    assert len(rows) > 10
    for row in rows:
        assert row.dialects and row.match and row.facts, row
        assert set(row.dialects) <= set(dialects()), row
        assert row.source and re.fullmatch(r"20\d\d-\d\d(-\d\d)?", row.date), row


def test_every_fact_is_a_field_of_a_profile_with_a_value_of_its_type() -> None:
    known = {field.name for field in msgspec.structs.fields(Profile)}
    for row in profiles.rows():
        assert set(row.facts) <= known, row.match
        assert isinstance(msgspec.convert(row.facts, Profile), Profile)


def test_every_field_of_a_profile_is_stated_by_some_row() -> None:
    stated = {name for row in profiles.rows() for name in row.facts}
    unstated = {field.name for field in msgspec.structs.fields(Profile)} - stated
    assert unstated == set()


def test_every_row_changes_something_for_its_own_models() -> None:
    for row in profiles.rows():
        for dialect in row.dialects:
            model = row.match[0].replace("*", "")
            assert profiles.lookup(dialect, model) != DEFAULT_PROFILE, (dialect, model)
