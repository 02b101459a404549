"""Our own HTTP/1.1 client for upstreams: a pool of connections, one request at a time on each, answers read as they
come.

It is written by hand because of its cost: for one request and its answer a client of this kind took 78 microseconds of
CPU, aiohttp 193, httpx 1,769 (measured on two cores, see bench/). httptools (llhttp) parses, the standard library does
TLS. Included: keep-alive, chunked and counted bodies, interim answers, gzip and deflate, IPv6, TLS with verification,
back-pressure, time-outs, limits on heads. Not included: proxies, HTTP/2, redirects, cookies.

The other side may close an idle connection just when it is used again. If not one byte of an answer came on a used
connection, the request is sent once more on a new connection. In no other case is a request sent twice.

This module owns the pool; `upstream_connection.py` and `upstream_answer.py` own a single connection.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any

from ..errors import TransportError
from .http_client_interface import Address, ConnectionLimits, Headers, Post
from .large_body_joining import LARGE
from .request_head_and_decompression import request_head
from .shared_deadline_timer import Deadlines
from .upstream_answer import HIGH_WATER, ConnectionAnswer
from .upstream_connection import AddressConnections, UpstreamConnection

__all__ = ["HIGH_WATER", "Address", "ConnectionAnswer", "ConnectionLimits", "Headers", "Pool"]


class Pool:
    """Connections to upstreams, kept open between requests. A pool belongs to the event loop that first uses it."""

    def __init__(self, limits: ConnectionLimits | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.limits = limits or ConnectionLimits()
        self.closed = False
        self._tls = tls
        self._hosts: dict[Address, AddressConnections] = {}
        self.loop: asyncio.AbstractEventLoop | Any = None
        self.deadlines: Deadlines | Any = None

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
    ) -> ConnectionAnswer:
        """Send a request, and return the answer once its head has come. `within`: the arguments of
        `ConnectionAnswer.limit_time`."""
        message = request_head(address, method, target, tuple(headers))
        if body or method in ("POST", "PUT", "PATCH"):
            message, body = _message(message, body)
        else:
            message += b"\r\n"
        timeout = self.limits.first_byte if first_byte is None else first_byte
        host = self._hosts.get(address)
        if host is None:
            host = self._new(address)
        began = self.loop.time()
        while True:
            # The connection that came back last is the least likely to be closed by the other side.
            connection = host.free.pop() if host.free else await self._next_free(host)
            answer = connection.ask(message, body)
            if within is not None:
                # Waiting for a connection counts, too.
                answer.limit_time(within[0] - (self.loop.time() - began), within[1])
            try:
                await answer.wait_for_head(timeout)
                if answer.status:
                    return answer
                # No head came: `unheard` raises, or the loop sends the request again.
                answer.raise_if_not_repeatable()
            except BaseException:
                answer.close()
                raise

    def begin(self, post: Post, body: bytes) -> ConnectionAnswer | None:
        """Send a request on a free connection, and return its future answer; None where no connection is free."""
        host = self._hosts.get(post.address)
        if host is None or not host.free:
            return None
        return host.free.pop().ask(*_message(post.head, body))

    def _new(self, address: Address) -> AddressConnections:
        if self.loop is None:
            self.loop = asyncio.get_running_loop()
            self.deadlines = Deadlines(self.loop)
        host = self._hosts[address] = AddressConnections(address)
        return host

    async def _next_free(self, host: AddressConnections) -> UpstreamConnection:
        """A connection that has to be waited for or opened."""
        while not host.free and host.connections + host.opening >= self.limits.per_host and not self.closed:
            turn: asyncio.Future[None] = self.loop.create_future()
            host.queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    host.continue_waiting()  # pass the free connection on, because this request was cancelled
                raise
        if self.closed:
            raise TransportError("closed", "the pool is closed")
        # Another request may have given its connection back while this one waited.
        if host.free:
            return host.free.pop()
        host.opening += 1
        try:
            return await self._connect(host)
        finally:
            host.opening -= 1
            host.continue_waiting()

    async def _connect(self, host: AddressConnections) -> UpstreamConnection:
        address, context = host.address, None
        if address.secure:
            if self._tls is None:
                # The context reads all certificates of the system, so it is made once and only if needed.
                self._tls = ssl.create_default_context()
            context = self._tls
        try:
            async with asyncio.timeout(self.limits.connect):
                _, connection = await self.loop.create_connection(
                    lambda: UpstreamConnection(self, host),
                    address.host,
                    address.port,
                    ssl=context,
                    server_hostname=address.host if address.secure else None,
                )
        except TimeoutError:
            where = f"{address.host}:{address.port}"
            raise TransportError(
                "connect", f"no connection to {where} within {self.limits.connect:g} seconds"
            ) from None
        except ssl.SSLError as error:
            raise TransportError(
                "connect", f"no secure connection to {address.host}: {error.reason or error}"
            ) from None
        except OSError as error:
            raise TransportError("connect", f"no connection to {address.host}:{address.port}: {error}") from None
        return connection

    def close(self) -> None:
        """Close idle connections; answers under way go on."""
        self.closed = True
        for host in self._hosts.values():
            # A copy: closing a connection removes it from the list.
            for connection in host.free.copy():
                connection.close()
            for turn in host.queue:
                if not turn.done():
                    turn.set_result(None)
            host.queue.clear()


def _message(head: bytes, body: bytes) -> tuple[bytes, bytes]:
    """A request in one piece; a large body stays apart, so that it is not copied."""
    if len(body) > LARGE:
        return b"%bcontent-length: %d\r\n\r\n" % (head, len(body)), body
    return b"%bcontent-length: %d\r\n\r\n%b" % (head, len(body), body), b""
