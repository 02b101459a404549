"""The proxy for each upstream, from the usual environment variables, and the choice of the HTTP client.

The variables are HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in either case. Addresses on this machine never use a
proxy.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from ..errors import ConfigError
from .http_client import Pool
from .http_client_interface import Address, ConnectionLimits, Kind, UpstreamClient


class ProxySettings:
    """The proxies that an environment names."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        def variable(name: str) -> str:
            # The lower case comes first, as in curl.
            return environment.get(name) or environment.get(name.upper()) or ""

        self._secure = _checked("https_proxy", variable("https_proxy") or variable("all_proxy"))
        self._plain = _checked("http_proxy", variable("http_proxy") or variable("all_proxy"))
        self._but = [one.strip().lower() for one in variable("no_proxy").split(",") if one.strip()]

    def __bool__(self) -> bool:
        return bool(self._secure or self._plain)

    def proxy_for(self, address: Address) -> str | None:
        """The address of the proxy for an upstream; None for a direct connection."""
        proxy = self._secure if address.secure else self._plain
        # A local upstream, such as Ollama, is never behind the proxy.
        if not proxy or address.host == "localhost" or address.host == "::1" or address.host.startswith("127."):
            return None
        return None if any(_covers_address(one, address) for one in self._but) else proxy


def _covers_address(rule: str, address: Address) -> bool:
    """Whether an entry of NO_PROXY covers the address: `*`, or a host with everything below it; either may have a
    port."""
    if rule == "*":
        return True
    name, colon, port = rule.rpartition(":")
    if colon and port.isdigit() and not name.endswith(":"):
        if int(port) != address.port:
            return False
        rule = name
    rule, host = rule.strip("[]").lstrip("*").lstrip("."), address.host.lower()
    return host == rule or host.endswith("." + rule)


def _checked(name: str, proxy: str) -> str:
    if not proxy:
        return ""
    # curl and others accept a proxy without a scheme.
    url = proxy if "://" in proxy else f"http://{proxy}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            "proxy", f"{parts.scheme}://{parts.hostname or ''}", ("http://host:port",), f"{name} names no HTTP proxy"
        )
    return url


def client(limits: ConnectionLimits, environment: Mapping[str, str], kind: Kind = "auto") -> UpstreamClient:
    """The client for upstreams. ConfigError where aiohttp is needed and not installed."""
    proxies = ProxySettings(environment)
    if kind == "own" or (kind == "auto" and not proxies):
        return Pool(limits)
    try:
        from .aiohttp_client import AiohttpClient
    except ModuleNotFoundError as error:
        why = "a proxy needs aiohttp" if proxies else "aiohttp is not installed"
        raise ConfigError(
            "client", "", problem=f"{why} ({error.name} is missing). Run pip install 'dragoman[proxy]'"
        ) from None
    return AiohttpClient(limits, proxies, everywhere=kind == "aiohttp")
