"""Checks the Host of every request, as a defence against DNS rebinding.

A web page can make its own name point at this machine (DNS rebinding), and then send requests to the gateway as if the
gateway were the page's own server. Only names can be rebound. So addresses, `localhost` and the machine's own names are
accepted. Any other name has to be listed in `listen.hosts`.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

from ...canon.events import Fault
from ...codec.cache_memory_budget import TableCache
from ..config import Listen

MAX_REMEMBERED = 256
"""Number of Host values whose verdict is remembered."""
_HOST = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+(?:%[0-9A-Za-z._~-]+)?)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]*))?"
)
_LABELS = re.compile(r"[0-9a-z_-]{1,63}(?:\.[0-9a-z_-]{1,63})*")


class AllowedHosts:
    """The names that the gateway answers to."""

    def __init__(self, listen: Listen, machine: Iterable[str] | None = None) -> None:
        """`machine` are the machine's own names; None: the names that the system gives."""
        known = {"localhost", listen.host, *(own_names() if machine is None else machine)}
        known |= {_origin_host(origin) for origin in listen.origins}
        named = [name.lower().removesuffix(".") for name in listen.hosts]
        self.anything = "*" in named
        """The check is switched off."""
        self._names = frozenset({name.lower() for name in known if name} | {name for name in named if "*" not in name})
        self._endings = tuple([name[1:] for name in named if name.startswith("*.")])
        self._verdicts: TableCache[str, Fault | None] = TableCache(MAX_REMEMBERED, 1_000)

    def refusal(self, host: str | None, *, required: bool = True) -> Fault | None:
        """The refusal of a request with this Host, or None. `required`: the request uses HTTP/1.1, where the header is
        mandatory (RFC 9112, 3.2, June 2022)."""
        if not host:
            return _malformed_host("the request has no Host header") if required else None
        if host in self._verdicts:
            return self._verdicts[host]
        found = self._verdict(host)
        # Only values of usual length are remembered, because strangers can send long values.
        if len(host) <= 300:
            self._verdicts.put(host, found)
        return found

    def is_allowed_name(self, name: str) -> bool:
        """Whether a name is `localhost`, the machine's own, or listed."""
        return self.anything or name in self._names or name.endswith(self._endings)

    def _verdict(self, host: str) -> Fault | None:
        try:
            name = host_name(host)
        except ValueError:
            return _malformed_host(f"the Host header {host[:300]!r} is not a host")
        if isinstance(name, str) and not self.is_allowed_name(name):
            why = f"this gateway does not accept the host name {name!r}. Add the name to listen.hosts"
            return Fault("permission", f'{why} ("*" there switches the check off).', 403, "host_not_allowed")
        return None


def host_name(value: str) -> str | IPv4Address | IPv6Address:
    """The host in front of an optional port: an address, or a name in lower case without its final dot.

    ValueError for everything else: users, paths, several hosts, IPv6 addresses without brackets, invalid ports.
    """
    found = _HOST.fullmatch(value)
    if found is None or int(found["port"] or "0") > 65535:
        raise ValueError(value)
    if found["six"] is not None:
        return IPv6Address(found["six"])
    name = found["name"].lower().removesuffix(".")
    try:
        return ip_address(name)
    except ValueError:
        if len(name) > 253 or _LABELS.fullmatch(name) is None:
            raise
        return name


def target_authority(target: str) -> str:
    """The host and port in a request target of absolute form, `http://host:port/path` (RFC 9112, 3.2.2, June 2022)."""
    return target.partition("://")[2].partition("/")[0]


def without_authority(target: str) -> str:
    """The path of a request target. Scheme and host of the absolute form, which clients send to a proxy, are removed.
    `*` stays."""
    scheme, found, rest = target.partition("://")
    return f"/{rest.partition('/')[2]}" if found and scheme.lower() in ("http", "https") else target


def own_names() -> set[str]:
    """The machine's own names, from the system. No DNS query is made, because an attacker can control DNS answers."""
    name = socket.gethostname().lower().removesuffix(".")
    first = name.partition(".")[0]
    return {name, first, f"{first}.local"} if first else set()


def origin_host(origin: str) -> str | IPv4Address | IPv6Address:
    """The host of an origin, `https://host:port`. ValueError for any other text."""
    scheme, found, authority = origin.partition("://")
    if not found or scheme.lower() not in ("http", "https"):
        raise ValueError(origin)
    return host_name(authority)


def _origin_host(origin: str) -> str:
    try:
        return str(origin_host(origin))
    except ValueError:
        return ""


def _malformed_host(why: str) -> Fault:
    return Fault("invalid_request", f"{why}. HTTP/1.1 demands exactly one, as HOST or HOST:PORT.", 400, "bad_host")
