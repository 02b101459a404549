"""Owns the attribution headers, which name the application that sends a request."""

from __future__ import annotations

from collections.abc import Mapping

PASSED = ("HTTP-Referer", "X-OpenRouter-Title", "X-Title", "X-OpenRouter-Categories", "X-OpenRouter-Metadata")
"""Headers that only name the application. A gateway forwards a client's own ones unchanged."""

_LOWERED = {name.lower(): name for name in PASSED}


def attribution(client: Mapping[str, str] | None = None, *, referer: str = "", title: str = "") -> dict[str, str]:
    """The attribution headers of a request: the client's own headers, else the headers of the route's owner.

    `X-Title` is the older name of `X-OpenRouter-Title` (OpenRouter's docs, 2026-11). Both headers are written, because
    a proxy may read only one.
    """
    found = {_LOWERED[name.lower()]: value for name, value in (client or {}).items() if name.lower() in _LOWERED}
    if referer:
        found.setdefault("HTTP-Referer", referer)
    named = found.get("X-OpenRouter-Title") or found.get("X-Title") or title
    if named:
        found.setdefault("X-OpenRouter-Title", named)
        found.setdefault("X-Title", named)
    return found
