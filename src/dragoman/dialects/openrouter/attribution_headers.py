"""Attribution: the headers by which OpenRouter knows the application behind a request."""

from __future__ import annotations

from collections.abc import Mapping

PASSED = ("HTTP-Referer", "X-OpenRouter-Title", "X-Title", "X-OpenRouter-Categories", "X-OpenRouter-Metadata")
"""Headers that say who asks, and nothing else: a gateway passes a client's own ones on unchanged."""

_LOWERED = {name.lower(): name for name in PASSED}


def attribution(client: Mapping[str, str] | None = None, *, referer: str = "", title: str = "") -> dict[str, str]:
    """The headers to send beside a request: the client's own ones, else those of the route's owner.

    `X-Title` is the older name of `X-OpenRouter-Title`; both are written, so that every proxy on the way knows one.
    """
    found = {_LOWERED[name.lower()]: value for name, value in (client or {}).items() if name.lower() in _LOWERED}
    if referer:
        found.setdefault("HTTP-Referer", referer)
    named = found.get("X-OpenRouter-Title") or found.get("X-Title") or title
    if named:
        found.setdefault("X-OpenRouter-Title", named)
        found.setdefault("X-Title", named)
    return found
