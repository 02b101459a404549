"""Checks the upstreams when the gateway starts: whether each has a key, and whether each takes a connection.

The checks run beside the server and delay nothing. Each finding is one line that names the next step.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping

from ...errors import ConfigError
from ...transport.proxy_and_client_choice import ProxySettings
from ...transport.upstream_url_and_headers import address_of_upstream
from ..config import REHEARSAL, Config, Upstream

SECONDS = 3.0
"""Time for a connection. An upstream that needs longer counts as unreachable."""


async def check_upstreams(config: Config, environment: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """Warn about each upstream that cannot serve, as soon as its check ends."""
    asked = {name: one for name, one in config.upstreams.items() if one.dialect != REHEARSAL}
    for name, upstream in asked.items():
        if upstream.key_env and not environment.get(upstream.key_env):
            warn(
                f"upstream {name!r} has no key: the variable {upstream.key_env} is empty. "
                "Set the variable, and start the gateway again."
            )
    try:
        proxies = ProxySettings(environment)
    except ConfigError:
        return  # A request through that proxy gets the error.
    await asyncio.gather(*[_check_connection(name, one, proxies, warn) for name, one in asked.items()])


async def _check_connection(name: str, upstream: Upstream, proxies: ProxySettings, warn: Callable[[str], None]) -> None:
    host_and_port = address_of_upstream(upstream)
    if proxies.proxy_for(host_and_port) is not None:
        return  # A connection to the proxy would prove nothing about the upstream.
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(host_and_port.host, host_and_port.port)
        writer.transport.abort()
    except (OSError, TimeoutError, UnicodeError) as error:
        warn(
            f"upstream {name!r} cannot be reached at {host_and_port.host}:{host_and_port.port} ({_reason(error)}). "
            f"Start the upstream, or set upstreams.{name}.base_url to its address."
        )


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no connection within {SECONDS:g} seconds"
    if isinstance(error, socket.gaierror):
        return "the host name is not known"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
