"""Checks which web pages may send requests. `exchange/client_ownership.py` checks keys, `allowed_hosts.py` checks
host names.

Any page can make a browser send a request to a gateway on the browser's own machine. So requests of a web page are
accepted only from pages on loopback, and from pages that the configuration names.
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
    """A parameter of a query, such as the key that Google's clients may send there."""
    return parse_qs(query).get(name, [""])[-1]


def from_page(headers: Mapping[str, str], listen: Listen, names: AllowedHosts) -> Headers | Fault | None:
    """For a request of a web page: the headers that let the page read the answer, or the fault for a page that is not
    allowed.

    None: the request comes from no page, or from the gateway's own page. Programs with pages of their own (editors,
    desktop apps) do not count as web pages. The request's Host was checked before.
    """
    origin = headers.get("origin", "")
    # The gateway's own page has the gateway's host in its Origin.
    if not origin or origin.partition("://")[2] == headers.get("host"):
        return None
    # A sandboxed page sends `null`. A comma joins two Origin headers, and no browser sends two.
    web = origin.lower().startswith(("http:", "https:")) or origin == "null" or "," in origin
    if web and not _may_ask(origin, listen, names):
        why = (
            f"web pages from {origin} may not send requests. "
            "Add the origin to listen.origins, or the host to listen.hosts."
        )
        return Fault("permission", why, 403)
    wanted = headers.get("access-control-request-headers", "")
    # `vary`: a cache must not give this answer to a page of another origin.
    out = [("access-control-allow-origin", origin), ("vary", "origin"), ("access-control-expose-headers", _EXPOSED)]
    if "access-control-request-method" in headers:
        out += [("access-control-allow-methods", _ALLOWED), ("access-control-max-age", "600")]
        if wanted:
            out.append(("access-control-allow-headers", wanted))
        if headers.get("access-control-request-private-network") == "true":
            out.append(("access-control-allow-private-network", "true"))
    return out


def _may_ask(origin: str, listen: Listen, names: AllowedHosts) -> bool:
    """Whether a page of another host may send requests, by the list of hosts or the list of origins. An address is
    accepted on loopback only. A page from any other address is as foreign as a page from another host name."""
    if origin in listen.origins or "*" in listen.origins or names.anything:
        return True
    try:
        host = origin_host(origin)
    except ValueError:
        return False
    return names.is_allowed_name(host) if isinstance(host, str) else host.is_loopback
