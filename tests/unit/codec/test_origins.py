"""The origin of a seal: dialect, host and model, if they are known."""

from __future__ import annotations

import pytest

from dragoman.canon.parts import Seal
from dragoman.codec.packed_seals import Origin, family, same_origin


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet-4-0", "claude-sonnet-4-20250514"),
        ("gpt-5.1", "gpt-5.1-2025-11-13"),
        ("models/gemini-3-pro-preview", "gemini-3-pro-preview-11-2025"),
        ("gemini-2.0-flash", "gemini-2.0-flash-001"),
        ("google/Gemini-3-Pro", "gemini-3-pro"),
        ("claude-opus-4-1@20250805", "claude-opus-4-1"),
    ],
)
def test_the_name_in_an_answer_belongs_to_the_requested_model(asked: str, answered: str) -> None:
    assert family(asked) == family(answered)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("claude-sonnet-4-5", "claude-opus-4-5"),
        ("gpt-5", "gpt-5-mini"),
        ("gpt-5.1", "gpt-5.2"),
        ("gemini-3-pro-preview", "gemini-3-flash-preview"),
        ("claude-opus-4-1", "claude-opus-4-5"),
    ],
)
def test_different_models_have_different_families(one: str, other: str) -> None:
    assert family(one) != family(other)


def test_a_name_that_is_only_a_stamp_is_kept() -> None:
    assert family("-latest") == "-latest"
    assert family("") == ""


@pytest.mark.parametrize(
    ("seal", "same"),
    [
        (Seal("gemini", "x"), True),
        (Seal("gemini", "x", "", "gemini-3-pro"), True),
        (Seal("gemini", "x", "", "gemini-3-flash"), False),
        (Seal("gemini", "x", "", "gemini-3-pro", "vertex"), False),
        (Seal("gemini", "x", "", "gemini-3-pro", "google"), True),
        (Seal("anthropic", "x", "", "gemini-3-pro"), False),
    ],
)
def test_a_seal_is_sent_only_to_its_origin(seal: Seal, same: bool) -> None:
    assert same_origin(seal, Origin("gemini", "gemini-3-pro-preview", "google")) is same


def test_an_unknown_model_matches_any_model() -> None:
    assert same_origin(Seal("gemini", "x", "", "gemini-3-pro", "google"), Origin("gemini"))
