"""Which web pages may ask. Which keys may is in `gateway/client_identity.py`, which names the gateway has in
`allowed_hosts.py`.

A browser sends what any page tells it to, also to a gateway on its own machine. So requests that come from a page are
taken only from pages on loopback, and from those that the configuration names.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs

from ...canon.events import Fault
from ..config import Listen
from .allowed_hosts import AllowedHosts, origin_host

Headers = list[tuple[str, str]]
_ALLOWED = "GET, POST, DELETE, OPTIONS"
_EXPOSED = (
    "dragoman-exchange, dragoman-losses, dragoman-repairs, dragoman-estimate, x-request-id, request-id, retry-after"
)


def parameter_in(query: str, name: str) -> str:
    """A parameter of an address, such as the key that Google's clients may show there."""
    return parse_qs(query).get(name, [""])[-1]


def from_page(headers: Mapping[str, str], listen: Listen, names: AllowedHosts) -> Headers | Fault | None:
    """For a request that a web page makes: the headers that let the page read the answer, or why it may not ask.

    None: it comes from no page, or from the gateway's own. Programs with pages of their own (editors, desktop apps) are
    no web pages. The request's Host was checked before.
    """
    origin = headers.get("origin", "")
    if not origin or origin.partition("://")[2] == headers.get("host"):  # the gateway's own page says where it is from
        return None
    web = origin.lower().startswith(("http:", "https:")) or origin == "null" or "," in origin
    if web and not _may_ask(origin, listen, names):
        why = f"pages from {origin} may not ask; listen.origins names pages that may, listen.hosts names hosts"
        return Fault("permission", why, 403)
    wanted = headers.get("access-control-request-headers", "")
    out = [("access-control-allow-origin", origin), ("vary", "origin"), ("access-control-expose-headers", _EXPOSED)]
    if "access-control-request-method" in headers:
        out += [("access-control-allow-methods", _ALLOWED), ("access-control-max-age", "600")]
        if wanted:
            out.append(("access-control-allow-headers", wanted))
        if headers.get("access-control-request-private-network") == "true":
            out.append(("access-control-allow-private-network", "true"))
    return out


def _may_ask(origin: str, listen: Listen, names: AllowedHosts) -> bool:
    """Whether a page from elsewhere may ask: by the list of hosts, or by that of origins. An address is accepted on
    loopback only: a page that is served from any other address is as foreign as one with a name."""
    if origin in listen.origins or "*" in listen.origins or names.anything:
        return True
    try:
        host = origin_host(origin)
    except ValueError:
        return False
    return names.named(host) if isinstance(host, str) else host.is_loopback
