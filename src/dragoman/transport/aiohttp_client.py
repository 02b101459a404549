"""The HTTP client that uses aiohttp: for proxies, and for networks where our own client does not work.

A request costs two to three times as much as with `http_client.py`. That is little beside a proxy's own time.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from math import inf
from types import TracebackType

import aiohttp
from yarl import URL

from ..errors import TransportError
from .http_client import Pool
from .http_client_interface import (
    MAX_HEAD,
    Address,
    ConnectionLimits,
    Headers,
    PendingAnswer,
    Post,
    Take,
    UpstreamAnswer,
    too_long,
)
from .large_body_joining import join_pieces
from .proxy_and_client_choice import ProxySettings
from .response_head_reader import head_of_headers


class _Answer:
    """An upstream's answer, as aiohttp gives it."""

    done = False  # aiohttp reports the end only to the reader

    def __init__(self, answer: aiohttp.ClientResponse, limits: ConnectionLimits) -> None:
        self.status = answer.status
        self.heading = head_of_headers(answer.raw_headers)
        self._answer = answer
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._end = inf
        self._total = 0.0
        self._error: TransportError | None = None

    @property
    def headers(self) -> Headers:
        return list(self.heading)

    def header(self, name: str) -> str:
        return self.heading.header(name)

    def whole(self, limit: int) -> bytes | None:
        return None

    async def pieces(self, timeout: float | None = None, take: Take | None = None) -> AsyncIterator[bytes]:
        while True:
            piece = await self._next(self._limits.idle if timeout is None else timeout)
            if not piece:
                return
            yield piece

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        found: list[bytes] = []
        size = 0
        async for piece in self.pieces(timeout):
            size += len(piece)
            if size > limit:
                self.close()
                raise TransportError("upstream_bad", f"the upstream's answer is longer than {limit} bytes")
            found.append(piece)
        return await join_pieces(found)

    async def _next(self, seconds: float) -> bytes:
        if self._error is not None:
            raise self._error
        left = self._end - self._loop.time()
        try:
            async with asyncio.timeout(max(min(seconds, left), 0.0)):
                # `readany` gives what has come, without waiting for a full buffer.
                return await self._answer.content.readany()
        except TimeoutError:
            why = too_long(self._total) if left <= seconds else f"the upstream sent nothing within {seconds:g} seconds"
            self.fail("timeout", why)
        except aiohttp.ClientPayloadError as error:
            self.fail("closed", f"the upstream closed the connection in the middle of its answer: {error}")
        except (aiohttp.ClientError, OSError) as error:
            self.fail("closed", f"the upstream's answer broke off: {error}")
        assert self._error is not None
        raise self._error

    def limit_time(self, seconds: float, total: float) -> None:
        self._end, self._total = self._loop.time() + seconds, total

    def fail(self, kind: str, message: str) -> None:
        self._error = self._error or TransportError(kind, message)
        self._answer.close()

    def close(self) -> None:
        # A connection in the middle of an answer cannot be used again.
        if self._answer.content.is_eof():
            self._answer.release()
        else:
            self.fail("closed", "the gateway closed the connection before the end of the answer")

    async def __aenter__(self) -> UpstreamAnswer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AiohttpClient:
    """Uses aiohttp for upstreams behind a proxy, and our own pool for others; with `everywhere`, aiohttp for all."""

    def __init__(
        self,
        limits: ConnectionLimits,
        proxies: ProxySettings,
        *,
        everywhere: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._proxies = proxies
        self._everywhere = everywhere
        self._tls = tls
        self._own = Pool(limits, tls)
        self._session: aiohttp.ClientSession | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def limits(self) -> ConnectionLimits:
        """The limits of both clients."""
        return self._own.limits

    @limits.setter
    def limits(self, limits: ConnectionLimits) -> None:
        self._own.limits = limits

    def begin(self, post: Post, body: bytes) -> PendingAnswer | None:
        """As in `UpstreamClient`; None for every request that goes through aiohttp."""
        if self._everywhere or self._proxies.proxy_for(post.address) is not None:
            return None
        return self._own.begin(post, body)

    async def request(
        self,
        address: Address,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes = b"",
        *,
        first_byte: float | None = None,
        within: tuple[float, float] | None = None,
    ) -> UpstreamAnswer:
        """As in `UpstreamClient`."""
        proxy = self._proxies.proxy_for(address)
        if proxy is None and not self._everywhere:
            return await self._own.request(address, method, target, headers, body, first_byte=first_byte, within=within)
        seconds = self.limits.first_byte if first_byte is None else first_byte
        host = f"[{address.host}]" if ":" in address.host else address.host
        where = f"{host}:{address.port}" + (f" through the proxy {URL(proxy).host}" if proxy else "")
        url = URL(f"http{'s' if address.secure else ''}://{host}:{address.port}{target}", encoded=True)
        try:
            # aiohttp has no limit for the time until the head.
            async with asyncio.timeout(seconds):
                # Redirects are not followed: they could carry the key to another host.
                found = await self._opened().request(
                    method, url, headers=list(headers), data=body or None, proxy=proxy, allow_redirects=False
                )
        except aiohttp.ClientSSLError as error:
            raise TransportError("connect", f"no secure connection to {where}: {error}") from None
        except aiohttp.ClientHttpProxyError as error:  # The error's own text contains the proxy's password.
            raise TransportError("connect", f"no connection to {where}, which answered {error.status}") from None
        except (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError) as error:
            raise TransportError("connect", f"no connection to {where}: {error}") from None
        except TimeoutError:
            raise TransportError("timeout", f"the upstream did not answer within {seconds:g} seconds") from None
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
            raise TransportError("closed", f"the upstream closed the connection before it answered: {error}") from None
        except (aiohttp.ClientError, ValueError) as error:
            raise TransportError("upstream_bad", f"the upstream's answer is not HTTP: {error}") from None
        answer = _Answer(found, self.limits)
        if within is not None:
            answer.limit_time(*within)
        return answer

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            limits = self.limits
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0,
                    limit_per_host=limits.per_host,
                    keepalive_timeout=limits.keep_alive,
                    ssl=self._tls if self._tls is not None else True,
                ),
                # The whole time has no limit here: streams may last for hours, and the deadlines above hold.
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.connect),
                # Cookies of one client must not reach the next one.
                cookie_jar=aiohttp.DummyCookieJar(),
                max_line_size=MAX_HEAD,
                max_field_size=MAX_HEAD,
            )
        return self._session

    def close(self) -> None:
        """Close idle connections; answers under way go on."""
        self._own.close()
        if self._session is not None and self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._session.close())
