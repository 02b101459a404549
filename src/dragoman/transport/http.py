"""HTTP/1.1 to upstreams: a pool of connections, one request at a time on each, answers read as they come.

Written by hand because of what it costs: for one request and its answer a client of this kind took 78 microseconds of
CPU, aiohttp 193, httpx 1,769 (measured on two cores, see bench/). Parsing is httptools' (llhttp), TLS is the standard
library's. What it does: keep-alive, chunked and counted bodies, interim answers, gzip and deflate, IPv6, TLS with
verification, back-pressure, time-outs, bounds on heads. What it leaves out: proxies, HTTP/2, redirects, cookies.

A connection that was idle may have been closed by the other side just when it was used again. If not one byte of an
answer came on a used connection, the request is sent once more on a new one; in no other case is anything sent twice.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections import deque
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Any, NamedTuple, cast

import httptools

from ..errors import TransportError

MAX_HEAD = 64 * 1024
HIGH_WATER = 256 * 1024
"""Bytes of an answer held for a slow reader before the upstream is no longer listened to."""
MAX_INFLATED = 16 * 1024 * 1024
"""What one piece of a compressed body may become."""

Headers = list[tuple[str, str]]


class Address(NamedTuple):
    """Where an upstream listens."""

    secure: bool
    host: str
    port: int


class Limits(NamedTuple):
    """Seconds to wait, and connections to keep."""

    connect: float = 10.0
    first_byte: float = 600.0
    idle: float = 300.0
    """Between two pieces of an answer."""
    keep_alive: float = 60.0
    """A connection unused for longer is closed."""
    per_host: int = 1000
    kept: int = 100
    """Unused connections kept open for each host."""


class _Connection(asyncio.Protocol):
    """One connection. All that happens on it is told to the answer under way."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.answer: Answer | None = None
        self.idle_since = 0.0
        self.drained: asyncio.Event | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by name

    def data_received(self, data: bytes) -> None:
        if self.answer is None:  # bytes that nobody asked for: the connection is of no more use
            self.close()
        else:
            self.answer.received(data)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        if self.answer is not None:
            self.answer.lost(error)
        self.resume_writing()

    def pause_writing(self) -> None:
        self.drained = asyncio.Event()

    def resume_writing(self) -> None:
        if self.drained is not None:
            self.drained.set()
            self.drained = None

    @property
    def open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.abort()


class Answer:
    """An upstream's answer: its head at once, its body as it comes. Read it to its end, or close it."""

    def __init__(self, pool: Pool, address: Address, connection: _Connection) -> None:
        self.status = 0
        self.headers: Headers = []
        self.began = False
        """A byte of it has come."""
        self._pool = pool
        self._address = address
        self._connection = connection
        self._parser = httptools.HttpResponseParser(self)
        self._head_size = 0
        self._head_done = False
        self._unread = 0
        self._done = False
        self._error: TransportError | None = None
        self._pieces: deque[bytes] = deque()
        self._held = 0
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None
        self._inflate: Any = None
        self._keep = False
        self._left = False

    # What the parser tells.

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4
        if self._head_size > MAX_HEAD:
            raise _TooLarge
        self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < 200:
            return
        self._keep = self._parser.should_keep_alive()
        encoding = self.header("content-encoding").lower()
        if encoding in ("gzip", "x-gzip", "deflate"):
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS | (16 if "gzip" in encoding else 0))
        self._head_done = True

    def on_body(self, data: bytes) -> None:
        if self._inflate is not None:
            data = self._inflate.decompress(data, MAX_INFLATED)
            if self._inflate.unconsumed_tail:
                raise _TooLarge
        if data:
            self._pieces.append(data)
            self._held += len(data)

    def on_message_complete(self) -> None:
        if self.status < 200:  # an interim answer; the real one follows
            self.status = 0
            self.headers = []
            self._head_size = 0
            return
        self._done = True

    # What the connection tells.

    def received(self, data: bytes) -> None:
        self.began = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.fail("upstream_bad", "the upstream switched protocols")
            return
        except (httptools.HttpParserError, zlib.error) as error:
            cause = error.__context__ if isinstance(error.__context__, _TooLarge | zlib.error) else error
            self.fail("upstream_bad", f"the upstream's answer is not HTTP: {cause or error}")
            return
        if not self._head_done:
            self._unread += len(data)  # a header that does not end is not told by the parser
            if self._unread > MAX_HEAD:
                self.fail("upstream_bad", f"the head of the upstream's answer is longer than {MAX_HEAD} bytes")
                return
        if self._done:
            self._leave(self._keep)
        elif self._held > HIGH_WATER and not self._paused and self._connection.transport is not None:
            self._paused = True
            self._connection.transport.pause_reading()
        self._wake()

    def lost(self, error: Exception | None) -> None:
        if self._done or self._error is not None:
            return
        if self._head_done and not self.header("content-length") and "chunked" not in self.header("transfer-encoding"):
            self._done = True  # a body that ends with the connection
        else:
            what = "before it answered" if not self.began else "in the middle of its answer"
            self._error = TransportError("closed", f"the upstream closed the connection {what}" + _why(error))
        self._leave(False)
        self._wake()

    # What the reader asks.

    def header(self, name: str) -> str:
        for known, value in self.headers:
            if known == name:
                return value
        return ""

    async def head(self, timeout: float) -> None:
        """Wait until status and headers are there."""
        while not self._head_done:
            if self._error is not None:
                raise self._error
            await self._wait(timeout, "the upstream did not answer")

    async def pieces(self, timeout: float | None = None) -> AsyncIterator[bytes]:
        """The body as it comes: everything that has come by now in one piece."""
        limit = self._pool.limits.idle if timeout is None else timeout
        while True:
            if self._pieces:
                yield self._taken()
            elif self._error is not None:
                raise self._error
            elif self._done:
                return
            else:
                await self._wait(limit, "the upstream fell silent")

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        """The whole body, of at most `limit` bytes."""
        found: list[bytes] = []
        size = 0
        async for piece in self.pieces(timeout):
            size += len(piece)
            if size > limit:
                self.close()
                raise TransportError("upstream_bad", f"the upstream's answer is longer than {limit} bytes")
            found.append(piece)
        return found[0] if len(found) == 1 else b"".join(found)

    def close(self) -> None:
        """Nobody wants the rest: the connection is closed at once, unless all of it has come."""
        if not self._done:
            self.fail("closed", "the answer was not wanted any more")

    async def __aenter__(self) -> Answer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _taken(self) -> bytes:
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if self._paused and self._connection.transport is not None and not self._done:
            self._connection.transport.resume_reading()
        self._paused = False
        return data

    async def _wait(self, timeout: float, what: str) -> None:
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = loop.call_later(timeout, self._late, what, timeout)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _late(self, what: str, timeout: float) -> None:
        self.fail("timeout", f"{what} within {timeout:g} seconds")

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def fail(self, kind: str, message: str) -> None:
        """Give it up for a reason, which its reader is told."""
        self._error = self._error or TransportError(kind, message)
        self._leave(False)
        self._wake()

    def _leave(self, keep: bool) -> None:
        """Nothing more will come: the connection goes back, to serve the next request or to be closed."""
        if self._left:
            return
        self._left = True
        self._connection.answer = None
        if self._paused and self._connection.transport is not None:
            self._connection.transport.resume_reading()
            self._paused = False
        self._pool.back(self._address, self._connection, keep)


class Pool:
    """Connections to upstreams, kept open between requests."""

    def __init__(self, limits: Limits | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.limits = limits or Limits()
        self._tls = tls
        self._free: dict[Address, deque[_Connection]] = {}
        self._busy: dict[Address, int] = {}
        self._queue: dict[Address, deque[asyncio.Future[None]]] = {}
        self._closed = False

    async def request(
        self,
        address: Address,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes = b"",
        *,
        first_byte: float | None = None,
    ) -> Answer:
        """Send a request; gives the answer once its head is there."""
        head = _head(address, method, target, headers, len(body))
        timeout = self.limits.first_byte if first_byte is None else first_byte
        while True:
            connection, fresh = await self._connection(address)
            answer = Answer(self, address, connection)
            connection.answer = answer
            assert connection.transport is not None
            connection.transport.writelines([head, body]) if body else connection.transport.write(head)
            try:
                if connection.drained is not None:
                    await asyncio.wait_for(connection.drained.wait(), timeout)
                await answer.head(timeout)
            except TransportError as error:
                if fresh or answer.began or error.kind != "closed":
                    raise
                continue  # it had been closed while it was idle
            except BaseException:
                answer.close()
                raise
            return answer

    async def _connection(self, address: Address) -> tuple[_Connection, bool]:
        if self._closed:
            raise TransportError("closed", "the pool is closed")
        while self._busy.get(address, 0) >= self.limits.per_host:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queue.setdefault(address, deque()).append(turn)
            await turn
        self._busy[address] = self._busy.get(address, 0) + 1
        now = asyncio.get_running_loop().time()
        free = self._free.get(address)
        while free:
            connection = free.pop()
            if connection.open and now - connection.idle_since < self.limits.keep_alive:
                return connection, False
            connection.close()
        try:
            return await self._connect(address), True
        except BaseException:
            self._left(address)
            raise

    async def _connect(self, address: Address) -> _Connection:
        loop = asyncio.get_running_loop()
        context = None
        if address.secure:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            context = self._tls
        try:
            async with asyncio.timeout(self.limits.connect):
                _, connection = await loop.create_connection(
                    _Connection,
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

    def back(self, address: Address, connection: _Connection, keep: bool) -> None:
        free = self._free.setdefault(address, deque())
        if keep and connection.open and len(free) < self.limits.kept and not self._closed:
            connection.idle_since = asyncio.get_running_loop().time()
            free.append(connection)
        else:
            connection.close()
        self._left(address)

    def _left(self, address: Address) -> None:
        self._busy[address] -= 1
        queue = self._queue.get(address)
        while queue:
            turn = queue.popleft()
            if not turn.done():
                turn.set_result(None)
                break

    def close(self) -> None:
        """Close what is idle; answers under way go on."""
        self._closed = True
        for free in self._free.values():
            for connection in free:
                connection.close()
            free.clear()


class _TooLarge(Exception):
    """Raised inside the parser, which wraps it."""


def _head(address: Address, method: str, target: str, headers: Iterable[tuple[str, str]], size: int) -> bytes:
    host = f"[{address.host}]" if ":" in address.host else address.host
    usual = address.port == (443 if address.secure else 80)
    lines = [f"{method} {target} HTTP/1.1", f"host: {host}" if usual else f"host: {host}:{address.port}"]
    for name, value in headers:
        if "\r" in value or "\n" in value or not name or any(c in name for c in "\r\n: "):
            raise TransportError("connect", f"the header {name[:40]!r} cannot be sent")
        lines.append(f"{name}: {value}")
    if size or method in ("POST", "PUT", "PATCH"):
        lines.append(f"content-length: {size}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _why(error: Exception | None) -> str:
    return f": {error}" if error is not None else ""
