"""Owns the `anthropic-beta` header, with which a request asks for features in beta."""

from __future__ import annotations

from ...context import Context

HEADER = "anthropic-beta"


def ask_for(beta: str, context: Context) -> None:
    """Add a beta to the header, once."""
    betas = context.headers.get(HEADER)
    if betas is None:
        context.headers[HEADER] = beta
    # Several betas are in one header, separated by commas (anthropic 2.8.0, 2026-11).
    elif beta not in betas.split(","):
        context.headers[HEADER] = f"{betas},{beta}"
