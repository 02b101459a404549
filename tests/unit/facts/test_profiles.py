"""Profiles: rows of a data file, matched by dialect and model name, later rows over earlier ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from dragoman.dialects import names
from dragoman.errors import ConfigError
from dragoman.facts.profile import DEFAULT_PROFILE, Profile
from dragoman.facts.profiles import load, lookup, rows

FIELDS = {field.name for field in msgspec.structs.fields(Profile)}


def test_every_row_names_facts_that_exist_with_values_that_fit() -> None:
    for row in rows():
        assert set(row.facts) <= FIELDS, row
        assert row.facts, row
        msgspec.convert(row.facts, Profile)


def test_every_row_has_dialects_models_a_source_and_a_date() -> None:
    for row in rows():
        assert set(row.dialects) <= set(names()), row
        assert row.match, row
        assert row.source, row
        assert re.fullmatch(r"20\d\d-\d\d", row.date), row


def test_every_row_is_matched_by_its_own_patterns() -> None:
    for row in rows():
        for pattern in row.match:
            for dialect in row.dialects:
                assert lookup(dialect, pattern.replace("*", "x")) != DEFAULT_PROFILE, row


@pytest.mark.parametrize("model", ["", "llama-3", "my-gpt-5", "my-gemini", "nova-pro"])
def test_an_unknown_model_has_the_default_profile(model: str) -> None:
    assert lookup("openai-chat", model) is DEFAULT_PROFILE


@pytest.mark.parametrize("model", ["gpt-5.2", "openai/gpt-5.2", "azure/eu/GPT-5.2", "gpt-5.2-2026-01-01"])
def test_a_model_is_known_with_a_route_before_its_name(model: str) -> None:
    known = lookup("openai-chat", model)
    assert known == lookup("openai-chat", "gpt-5.2")
    assert (known.reasoning, known.efforts) == (True, ("none", "low", "medium", "high", "xhigh"))


@pytest.mark.parametrize("model", ["claude-fable-5-2", "claude-mythos-5-2", "claude-fable-5.2"])
def test_a_version_number_is_not_mistaken_for_a_date(model: str) -> None:
    known = lookup("anthropic", model)
    assert (known.forced_choice, known.bound_seals) == ("refused", True)


def test_a_star_does_not_cross_a_slash() -> None:
    assert lookup("openai-chat", "gpt-5.2/other") is DEFAULT_PROFILE


@pytest.mark.parametrize(
    ("dialect", "model", "facts"),
    [
        ("openai-chat", "gpt-4o", {"thinks": False}),
        ("openai-chat", "o3-mini", {"reasoning": True}),
        ("openai-chat", "gpt-5-chat-latest", {"reasoning": False, "thinks": False}),
        ("openai-chat", "gpt-5.4", {"chat_tools": "effort_none", "reasoning": True}),
        ("openai-responses", "gpt-5.4", {"chat_tools": "ok"}),
        ("openai-chat", "gpt-6-astra", {"chat_tools": "refused"}),
        ("anthropic", "claude-3-5-sonnet-20241022", {"thinks": False, "max_tokens": 8192}),
        ("anthropic", "claude-opus-5.5", {"forced_choice": "refused", "thinking_off": False, "sampling": False}),
        ("gemini", "gemini-2.5-pro", {"thinking_budget": (128, 32768), "thinking_off": False}),
        ("gemini", "models/gemini-3-pro-preview", {"seals": True, "thinking_levels": ("LOW", "HIGH")}),
        ("gemini", "gemini-4-flash", {"sampling": False}),
    ],
)
def test_facts_of_models(dialect: str, model: str, facts: dict[str, object]) -> None:
    profile = lookup(dialect, model)
    assert {name: getattr(profile, name) for name in facts} == facts


ROW = {
    "dialects": ["anthropic"],
    "match": ["claude-opus-5*"],
    "facts": {"prefill": True, "max_tokens": 99},
    "source": "tried",
    "date": "2026-11",
}


def test_loaded_rows_win_until_they_are_unloaded() -> None:
    before = lookup("anthropic", "claude-opus-5")
    with load([ROW]):
        mine = lookup("anthropic", "claude-opus-5")
        assert mine == msgspec.structs.replace(before, prefill=True, max_tokens=99)
        with load([{**ROW, "facts": {"max_tokens": 7}}]):
            assert lookup("anthropic", "claude-opus-5") == msgspec.structs.replace(mine, max_tokens=7)
        assert lookup("anthropic", "claude-opus-5") == mine
    assert lookup("anthropic", "claude-opus-5") == before


def test_rows_are_loaded_from_a_file_and_unloaded(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([{**ROW, "match": ["nobody-knows-*"]}]))
    loaded = load(file)
    assert lookup("anthropic", "nobody-knows-1").max_tokens == 99
    loaded.unload()
    assert lookup("anthropic", "nobody-knows-1") is DEFAULT_PROFILE


@pytest.mark.parametrize(
    "row",
    [
        {**ROW, "facts": {"perfill": True}},
        {**ROW, "facts": {"prefill": "yes"}},
        {**ROW, "models": ["x"]},
        {name: value for name, value in ROW.items() if name != "source"},
        "claude",
    ],
)
def test_an_invalid_row_is_refused_and_no_row_is_loaded(row: object) -> None:
    before = rows()
    with pytest.raises(ConfigError):
        load([ROW, row])  # type: ignore[list-item]
    assert rows() == before


@pytest.mark.parametrize(
    "model", ["anthropic.claude-opus-5-v1:0", "eu.anthropic.claude-opus-5", "claude-opus-5@20261001"]
)
def test_names_of_resellers_are_known(model: str) -> None:
    assert lookup("anthropic", model) == lookup("anthropic", "claude-opus-5") != DEFAULT_PROFILE
