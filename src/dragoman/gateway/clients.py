"""Which web pages may ask: those that are not from somewhere else. Which keys may is in `identity.py`.

A browser sends what any page tells it to, also to a gateway on its own machine. So requests that come from a page are
taken only from pages on loopback, and from those that the configuration names.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from ..canon.events import Fault
from .config import Listen

Headers = list[tuple[str, str]]
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ALLOWED = "GET, POST, DELETE, OPTIONS"
_EXPOSED = (
    "dragoman-exchange, dragoman-losses, dragoman-repairs, dragoman-estimate, x-request-id, request-id, retry-after"
)


def key_in(query: str) -> str:
    """The key that an address shows, as those of Google's clients may."""
    return parse_qs(query).get("key", [""])[-1]


def from_page(headers: Mapping[str, str], listen: Listen) -> Headers | Fault | None:
    """For a request that a web page makes: the headers that let the page read the answer, or why it may not ask.

    None: it comes from no page. Programs with pages of their own (editors, desktop apps) are no web pages.
    """
    origin = headers.get("origin", "")
    if not origin or origin.partition("://")[2] == headers.get("host"):  # the gateway's own page says where it is from
        return _rebound(headers, listen)
    if origin.lower().startswith(("http:", "https:")) or origin == "null":
        if not (_host(origin) in _LOOPBACK or origin in listen.origins or "*" in listen.origins):
            return Fault("permission", f"pages from {origin} may not ask; listen.origins names those that may", 403)
    wanted = headers.get("access-control-request-headers", "")
    out = [("access-control-allow-origin", origin), ("vary", "origin"), ("access-control-expose-headers", _EXPOSED)]
    if "access-control-request-method" in headers:
        out += [("access-control-allow-methods", _ALLOWED), ("access-control-max-age", "600")]
        if wanted:
            out.append(("access-control-allow-headers", wanted))
        if headers.get("access-control-request-private-network") == "true":
            out.append(("access-control-allow-private-network", "true"))
    return out


def _host(address: str) -> str:
    """The host that an address names; "" when it is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _rebound(headers: Mapping[str, str], listen: Listen) -> Fault | None:
    """A page whose own name was made to point here asks without saying where it is from; the name tells."""
    if "sec-fetch-site" not in headers and "origin" not in headers:
        return None
    host = _host(f"//{headers.get('host', '')}")
    numeric = host.replace(".", "").isdigit() or ":" in host
    named = {_host(origin) for origin in listen.origins} | {listen.host, *_LOOPBACK}
    if numeric or host in named or "*" in listen.origins:
        return None
    return Fault("permission", f"this gateway is not called {host}; listen.origins names what it is called", 403)
