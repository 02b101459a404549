"""Profiles: rows of a data file, matched by dialect and model name, later rows over earlier ones."""

from __future__ import annotations

import re

import msgspec
import pytest

from dragoman.crossing import DEFAULT_PROFILE, Profile
from dragoman.dialects import names
from dragoman.profiles import lookup, rows

FIELDS = {field.name for field in msgspec.structs.fields(Profile)}


def test_every_row_names_facts_that_exist_with_values_that_fit() -> None:
    for row in rows():
        assert set(row.facts) <= FIELDS, row
        assert row.facts, row
        msgspec.convert(row.facts, Profile)


def test_every_row_says_whose_and_since_when() -> None:
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


@pytest.mark.parametrize("model", ["", "llama-3", "my-gpt-5", "gemini-3-pro", "claude-opus-5"])
def test_an_unknown_model_has_the_default_profile(model: str) -> None:
    assert lookup("openai-chat", model) is DEFAULT_PROFILE


@pytest.mark.parametrize("model", ["gpt-5.2", "openai/gpt-5.2", "azure/eu/GPT-5.2", "gpt-5.2-2026-01-01"])
def test_a_model_is_known_with_its_route_in_front(model: str) -> None:
    known = lookup("openai-chat", model)
    assert known == lookup("openai-chat", "gpt-5.2")
    assert (known.reasoning, known.efforts) == (True, ("none", "low", "medium", "high", "xhigh"))


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
