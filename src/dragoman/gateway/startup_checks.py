"""Looks at the upstreams when the gateway starts: which have no key, and which do not take a connection.

The look goes on beside serving and delays nothing. Each finding is one line that says what to do.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping

from ..errors import ConfigError
from ..transport.addressing import address
from ..transport.proxy_settings import ProxySettings
from .config import REHEARSAL, Config, Upstream

SECONDS = 3.0
"""How long a connection may take before the upstream counts as unreachable."""


async def check_upstreams(config: Config, environment: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """Warn about upstreams that cannot serve: the findings of all, as they come."""
    asked = {name: one for name, one in config.upstreams.items() if one.dialect != REHEARSAL}
    for name, upstream in asked.items():
        if upstream.key_env and not environment.get(upstream.key_env):
            warn(
                f"upstream {name!r} has no key: the variable {upstream.key_env} is empty. "
                "Set it, and start the gateway again."
            )
    try:
        proxies = ProxySettings(environment)
    except ConfigError:
        return  # whoever asks through that proxy is told
    await asyncio.gather(*[_check_connection(name, one, proxies, warn) for name, one in asked.items()])


async def _check_connection(name: str, upstream: Upstream, proxies: ProxySettings, warn: Callable[[str], None]) -> None:
    place = address(upstream)
    if proxies.of(place) is not None:
        return  # only the proxy could be tried, and that says nothing of the upstream
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(place.host, place.port)
        writer.transport.abort()
    except (OSError, TimeoutError, UnicodeError) as error:
        warn(
            f"upstream {name!r} cannot be reached at {place.host}:{place.port} ({_why(error)}). "
            f"Start it, or set upstreams.{name}.base_url to where it listens."
        )


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no connection within {SECONDS:g} seconds"
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
