"""Answers that failed, for dialects without a word for it: what the client reads instead of an empty success."""

from __future__ import annotations

from ..canon.parts import Part, Text
from ..canon.response import Stop, StopReason

FAILED: dict[StopReason, str] = {
    "bad_tool_call": "The model ended its answer with a tool call that cannot be used.",
    "error": "The model's answer ended with an error.",
}
"""Reasons for which `stop` alone would be untrue, and what is said when the upstream said nothing."""
GAP = "\n\n"
"""Between what the model said and these words, where texts run together."""


def failure(stop: Stop, *own: str) -> str:
    """The words for an answer that failed; none when it did not, or when one of the dialects `own` has its word."""
    said = FAILED.get(stop.reason, "")
    if not said or (stop.extra is not None and any(name in stop.extra for name in own)):
        return ""
    return stop.detail or said


def with_failure(parts: tuple[Part, ...], words: str, gap: str = "") -> tuple[Part, ...]:
    """The parts of an answer with the words of `failure` behind them."""
    if not words:
        return parts
    said = any(type(part) is Text and part.text for part in parts)
    return (*parts, Text(gap + words if said else words))
