"""Reasoning effort and thinking budgets: our own table between words and token counts (no provider publishes one)."""

from __future__ import annotations

from ..canon.parts import Path
from ..canon.request import Settings
from ..crossing import Crossing

ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

BUDGETS = {"none": 0, "minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32000, "max": 32000}


def from_budget(budget: int) -> str | None:
    """The effort word for a budget; None when the model is to decide for itself (-1).

    The limits lie so that a word's own budget in any target comes back as that word or settles on the next one."""
    if budget < 0:
        return None
    for limit, word in ((1, "none"), (1024, "minimal"), (5000, "low"), (12000, "medium"), (24000, "high")):
        if budget < limit:
            return word
    return "xhigh"


def nearest(effort: str, accepted: tuple[str, ...]) -> str:
    """The accepted word closest to `effort`, the lower one first; `effort` itself when nothing is known."""
    if not accepted or effort in accepted or effort not in ORDER:
        return effort
    rank = ORDER.index(effort)
    ranked = [word for word in accepted if word in ORDER]
    return min(ranked, key=lambda word: (abs(ORDER.index(word) - rank), ORDER.index(word)), default=effort)


def wanted(settings: Settings, crossing: Crossing) -> str | None:
    """The effort word for a target that has words: as said, made from the budget, or the nearest the model takes."""
    at: Path = settings.at.get("effort", ())
    effort = settings.effort
    if effort is None:
        if settings.budget is None:
            return None
        at = settings.at.get("budget", ())
        effort = from_budget(settings.budget)
        if effort is None:
            return None
        crossing.lose("effort.approximated", at, f"a budget of {settings.budget} tokens is sent as effort {effort}")
    if not crossing.profile.thinks:
        crossing.lose("effort.dropped", at, f"{crossing.model or 'the model'} takes no effort setting")
        return None
    own = nearest(effort, crossing.profile.efforts)
    if own != effort:
        crossing.lose("effort.approximated", at, f"{effort} is sent as {own}")
    return own
