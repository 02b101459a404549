"""Who may ask: clients that show a key, where keys are wanted, and web pages that are not from somewhere else.

A browser sends what any page tells it to, also to a gateway on its own machine. So requests that come from a page are
taken only from pages on loopback, and from those that the configuration names.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from ..canon.events import Fault
from ..errors import ConfigError
from .config import Listen

Headers = list[tuple[str, str]]
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ALLOWED = "GET, POST, DELETE, OPTIONS"
_EXPOSED = (
    "dragoman-exchange, dragoman-losses, dragoman-repairs, dragoman-estimate, x-request-id, request-id, retry-after"
)


class Keys(Protocol):
    """Knows which keys open the gateway."""

    def refusal(self, key: str) -> Fault | None:
        """Why a client that shows this key ("" for none) is not served; None when it is. Who is served with a head is
        served with the same again, until the configuration is read anew: it is not asked each time."""
        ...


class ListedKeys:
    """Those are served who show one of some keys. Only their digests are kept."""

    def __init__(self, keys: list[str]) -> None:
        self._digests = [_digest(key) for key in keys]

    def refusal(self, key: str) -> Fault | None:
        if not key:
            return Fault("auth", "no key was sent; this gateway wants one, as any dialect sends it", 401)
        shown = _digest(key)
        # All are compared, so that the time it takes tells nothing.
        if any([hmac.compare_digest(shown, known) for known in self._digests]):  # noqa: C419
            return None
        return Fault("auth", "the key is not one of this gateway's", 401)


def _digest(key: str) -> bytes:
    # The standard library's own hash: what OpenSSL's cost for a few bytes is mostly their making.
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=32).digest()


def keys(listen: Listen, environment: Mapping[str, str]) -> Keys | None:
    """The keys of a configuration, None when it wants none: everybody who can connect is served.

    ConfigError when it wants some and there are none: nobody is let in by mistake.
    """
    if not listen.key_env:
        return None
    found = environment.get(listen.key_env, "").replace(",", " ").split()
    if not found:
        raise ConfigError("key", "", problem=f"listen.key_env: the variable {listen.key_env} is empty")
    return ListedKeys(found)


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
