"""Owns reasoning effort and thinking budgets: the project's own table of words and token counts (no provider publishes
one).
"""

from __future__ import annotations

from typing import NamedTuple

from ..canon.parts import Path
from ..canon.request import Settings
from ..context import Context

ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

# Anthropic's smallest budget is 1024 (docs, 2026-10). xhigh and max share the largest number, because larger budgets
# need more output tokens than many models have.
BUDGETS = {"none": 0, "minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32000, "max": 32000}


THINKS_BY_DEFAULT = "nothing is sent: the model thinks by default"
"""The detail of a loss if a request turns thinking on and the target has no setting for that."""

_OPEN_EFFORT = "medium"
"""The effort of OpenAI and OpenRouter if thinking is on without an effort."""


def from_budget(budget: int) -> str | None:
    """The effort word for a budget; None if the model shall decide (-1).

    The limits are chosen so that a word's own budget in any target comes back as the same word, or settles on the next
    one.
    """
    if budget < 0:
        return None
    # The limits are between the budgets above, not on them: a client may send a slightly smaller number.
    for limit, word in ((1, "none"), (1024, "minimal"), (5000, "low"), (12000, "medium"), (24000, "high")):
        if budget < limit:
            return word
    return "xhigh"


def nearest(effort: str, accepted: tuple[str, ...]) -> str:
    """The accepted word closest to `effort`, the lower of two; `effort` itself if the accepted words are unknown."""
    # An unknown word is a host's own. To guess its rank would be wrong more often than to pass it.
    if not accepted or effort in accepted or effort not in ORDER:
        return effort
    rank = ORDER.index(effort)
    ranked = [word for word in accepted if word in ORDER]
    # A tie goes to the lower effort, which costs less.
    return min(ranked, key=lambda word: (abs(ORDER.index(word) - rank), ORDER.index(word)), default=effort)


class WantedEffort(NamedTuple):
    """The thinking that a request asks for."""

    effort: str | None
    """The effort word. None: thinking is on, and the model decides how much."""
    at: Path
    """The path of the setting in the request."""
    words: str
    """The setting in words, for the loss report."""


def wanted_effort(settings: Settings) -> WantedEffort | None:
    """The thinking that a request asks for, by effort or else by budget. None: the request has neither."""
    if settings.effort is not None:
        return WantedEffort(settings.effort, settings.at.get("effort", ()), settings.effort)
    if settings.budget is None:
        return None
    at = settings.at.get("budget", ())
    if settings.budget < 0:
        return WantedEffort(None, at, "thinking as much as the model decides")
    return WantedEffort(from_budget(settings.budget), at, f"a budget of {settings.budget} tokens")


def enables_thinking(settings: Settings) -> bool:
    """Whether a request turns thinking on and lets the model decide how much."""
    return settings.effort is None and settings.budget is not None and settings.budget < 0


def wanted(settings: Settings, context: Context) -> str | None:
    """The effort word for a target with words: the requested word, one made from the budget, or the nearest word that
    the model takes.
    """
    requested = wanted_effort(settings)
    if requested is None:
        return None
    profile = context.profile
    if not profile.thinks:
        # The request forbids thinking to a model without it: nothing is lost.
        fulfilled = requested.effort == "none"
        words = "does not think anyway" if fulfilled else "takes no effort setting"
        context.lose(
            "effort.dropped", requested.at, f"{context.model or 'the model'} {words}", "info" if fulfilled else None
        )
        return None
    effort = requested.effort or _opened(settings, requested, context)
    if effort is None:
        return None
    # Such a word passes within one dialect, because the host may accept it.
    if effort not in ORDER and effort not in profile.efforts and context.source != context.target:
        context.lose("effort.dropped", requested.at, f"{effort} is a word of {context.source} hosts alone")
        return None
    own = nearest(effort, profile.efforts)
    if own != requested.words:
        by_words = settings.effort is not None
        context.lose(
            "effort.approximated", requested.at, f"{requested.words} is sent as {'' if by_words else 'effort '}{own}"
        )
    lose_budget(settings, f"effort {own}", context)
    return own


def lose_budget(settings: Settings, sent: str, context: Context) -> None:
    """Report the budget of a request that also has an effort, if `sent` expresses only the effort."""
    if settings.effort is not None and settings.budget is not None and settings.budget > 0:
        detail = f"a budget of {settings.budget} tokens: {sent} is sent instead"
        context.lose("effort.approximated", settings.at.get("budget", ()), detail)


def _opened(settings: Settings, requested: WantedEffort, context: Context) -> str | None:
    """The effort for thinking that is only turned on. A model that thinks by default needs none."""
    profile = context.profile
    if profile.effort_default == "none" and profile.efforts:
        return settings.open_effort or _OPEN_EFFORT
    if not (profile.effort_default or profile.thinking_default or profile.reasoning):
        unknown = f"it is not known whether {context.model or 'the model'} takes an effort"
        context.lose("effort.dropped", requested.at, unknown)
    elif context.source != context.target:
        context.lose("effort.approximated", requested.at, THINKS_BY_DEFAULT)
    return None
