"""The header by which a request asks for features that are in beta."""

from __future__ import annotations

from ...context import Crossing

HEADER = "anthropic-beta"


def ask_for(beta: str, crossing: Crossing) -> None:
    """Ask for a feature, once."""
    asked = crossing.headers.get(HEADER)
    if asked is None:
        crossing.headers[HEADER] = beta
    elif beta not in asked.split(","):
        crossing.headers[HEADER] = f"{asked},{beta}"
