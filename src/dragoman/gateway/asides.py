"""Questions to an upstream beside the exchanges: counts, lists of models, session calls. Short, whole, asked once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from ..canon.events import Fault
from ..dialects import get
from ..errors import ConfigError, TransportError
from ..transport.heading import Heading
from ..transport.redaction import Redactor
from . import upstreams
from .config import Upstream
from .desk import Desk
from .secrets import passed_on

PATIENCE = 30.0
LARGEST = 16 * 1024 * 1024


class Told(NamedTuple):
    """An upstream's answer."""

    status: int
    headers: Heading
    body: bytes

    def fault(self, dialect: str) -> Fault:
        """The fault that it says, for a status that is one."""
        return get(dialect).read_fault(self.body, self.status, dict(self.headers))


async def ask(
    desk: Desk,
    upstream: Upstream,
    method: str,
    path: str,
    asked: Mapping[str, str],
    client: str,
    body: bytes = b"",
    seconds: float = PATIENCE,
) -> Told | Fault:
    """What an upstream answers; a Fault when it could not be asked. `asked` are the headers of a client."""
    try:
        token = await desk.tokens.get(upstream.credentials) if upstreams.auth(upstream) == "google" else ""
        headers = upstreams.headers(upstream, desk.environment, client, asked, token)
        place = upstreams.place(upstream, path)
        async with asyncio.timeout(seconds):
            async with await desk.pool.request(upstreams.address(upstream), method, place, headers, body) as answer:
                found = await answer.read(LARGEST)
                if answer.status >= 300:  # it may repeat the key that it does not take
                    found = _redactor(desk, asked).data(found)
                return Told(answer.status, answer.heading, found)
    except ConfigError as error:
        return Fault("auth", f"the gateway has no key for this upstream: {error}", 401)
    except TimeoutError:
        return Fault("timeout", f"the upstream did not answer within {seconds:g} seconds", 504)
    except TransportError as error:
        why = _redactor(desk, asked).text(str(error))
        return Fault("timeout" if error.kind == "timeout" else "upstream_bad", why, 502)


def _redactor(desk: Desk, asked: Mapping[str, str]) -> Redactor:
    return desk.redactor.beside([*desk.tokens.known(), *passed_on(desk.config, asked)])
