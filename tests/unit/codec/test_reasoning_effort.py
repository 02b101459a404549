"""Effort words and thinking budgets."""

from __future__ import annotations

import pytest

from dragoman.canon.losses import Loss
from dragoman.canon.request import Settings
from dragoman.codec.reasoning_effort import BUDGETS, THINKS_BY_DEFAULT, from_budget, nearest, wanted
from dragoman.context import Context
from dragoman.facts.profile import DEFAULT_PROFILE, Profile


@pytest.mark.parametrize(
    ("budget", "effort"),
    [
        (-1, None),
        (0, "none"),
        (1, "minimal"),
        (1023, "minimal"),
        (1024, "low"),
        (5000, "medium"),
        (12000, "high"),
        (24000, "xhigh"),
        (100000, "xhigh"),
    ],
)
def test_the_effort_for_a_budget(budget: int, effort: str | None) -> None:
    assert from_budget(budget) == effort


def test_a_word_is_restored_from_its_budget_or_from_the_next_budget() -> None:
    back = {word: from_budget(budget) for word, budget in BUDGETS.items()}
    assert {word: other for word, other in back.items() if word != other} == {"minimal": "low", "max": "xhigh"}


@pytest.mark.parametrize(
    ("effort", "accepted", "sent"),
    [
        ("high", (), "high"),
        ("high", ("low", "high"), "high"),
        ("medium", ("low", "high"), "low"),
        ("max", ("low", "medium", "high"), "high"),
        ("none", ("low", "medium", "high"), "low"),
        ("minimal", ("none", "low"), "none"),
        ("turbo", ("low",), "turbo"),
        ("high", ("adaptive",), "high"),
    ],
)
def test_the_nearest_word_that_a_model_accepts(effort: str, accepted: tuple[str, ...], sent: str) -> None:
    assert nearest(effort, accepted) == sent


AT = {"effort": ("reasoning_effort",), "budget": ("thinking", "budget_tokens")}
UNASKED = Loss("effort.approximated", "approximated", "info", "/thinking/budget_tokens", THINKS_BY_DEFAULT)


@pytest.mark.parametrize(
    ("settings", "profile", "sent", "losses"),
    [
        (Settings(at=AT), Profile(), None, ()),
        (Settings(effort="high", at=AT), Profile(), "high", ()),
        (
            Settings(effort="max", at=AT),
            Profile(efforts=("low", "high")),
            "high",
            (Loss("effort.approximated", "approximated", "info", "/reasoning_effort", "max is sent as high"),),
        ),
        (
            Settings(budget=8192, at=AT),
            Profile(),
            "medium",
            (
                Loss(
                    "effort.approximated",
                    "approximated",
                    "info",
                    "/thinking/budget_tokens",
                    "a budget of 8192 tokens is sent as effort medium",
                ),
            ),
        ),
        (Settings(budget=-1, at=AT), Profile(thinking_default=True), None, (UNASKED,)),
        (Settings(budget=-1, at=AT), Profile(reasoning=True, effort_default="medium"), None, (UNASKED,)),
        (
            Settings(budget=-1, at=AT),
            Profile(),
            None,
            (
                Loss(
                    "effort.dropped",
                    "dropped",
                    "warning",
                    "/thinking/budget_tokens",
                    "it is not known whether gpt-4o takes an effort",
                ),
            ),
        ),
        (
            Settings(budget=-1, open_effort="high", at=AT),
            Profile(efforts=("none", "low", "medium"), effort_default="none"),
            "medium",
            (
                Loss(
                    "effort.approximated",
                    "approximated",
                    "info",
                    "/thinking/budget_tokens",
                    "thinking as much as the model decides is sent as effort medium",
                ),
            ),
        ),
        (
            Settings(effort="high", budget=3000, at=AT),
            Profile(),
            "high",
            (
                Loss(
                    "effort.approximated",
                    "approximated",
                    "info",
                    "/thinking/budget_tokens",
                    "a budget of 3000 tokens: effort high is sent instead",
                ),
            ),
        ),
        (
            Settings(effort="low", at=AT),
            Profile(thinks=False),
            None,
            (Loss("effort.dropped", "dropped", "warning", "/reasoning_effort", "gpt-4o takes no effort setting"),),
        ),
    ],
)
def test_the_effort_to_write(settings: Settings, profile: Profile, sent: str | None, losses: tuple[Loss, ...]) -> None:
    context = Context("anthropic", "openai-chat", model="gpt-4o", profile=profile or DEFAULT_PROFILE)
    assert wanted(settings, context) == sent
    assert context.losses.all() == losses
