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
from math import inf
from types import TracebackType
from typing import Any, cast

import httptools

from ..errors import TransportError
from .client import MAX_HEAD, Address, Headers, Limits, too_long
from .deadlines import Deadlines
from .wire import Inflate, TooLarge, Unasked, lower, request_head, why

__all__ = ["HIGH_WATER", "Address", "Answer", "Headers", "Limits", "Pool"]

HIGH_WATER = 256 * 1024
"""Bytes of an answer held for a slow reader before the upstream is no longer listened to."""


class _Connection(asyncio.Protocol):
    """One connection and its parser. All that happens on it is told to the answer under way."""

    __slots__ = ("_deadlines", "answer", "drained", "idle_since", "on_body", "parser", "pieces", "resting", "transport")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self.transport: asyncio.Transport | None = None
        self.answer: Answer | None = None
        self.resting: deque[_Connection] | None = None  # where it lies while nobody uses it
        self.idle_since = 0.0  # 0: never yet
        self.drained: asyncio.Event | None = None
        self.pieces: list[bytes] = []
        """Of a body, as the parser told them: some upstreams send every event of a stream as a chunk of its own."""
        self.on_body = self.pieces.append
        self.parser: Any = httptools.HttpResponseParser(self)

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
        self._deadlines.forget(self)
        if self.answer is not None:
            self.answer.lost(error)
        if self.resting is not None:
            self.resting.remove(self)
            self.resting = None
        self.parser = None  # it holds this object too
        self.resume_writing()

    def late(self) -> None:
        """Asked by the deadlines: whoever waits has waited long enough."""
        if self.answer is not None:
            self.answer.late()

    def pause_writing(self) -> None:
        self.drained = asyncio.Event()

    def resume_writing(self) -> None:
        if self.drained is not None:
            self.drained.set()
            self.drained = None

    # What the parser tells. It does to the answer what is to be done, since each call more is paid for every header.

    def on_message_begin(self) -> None:
        if self.answer is None or self.answer.done:
            raise Unasked

    def on_header(self, name: bytes, value: bytes) -> None:
        assert self.answer is not None
        if not self.answer.head_done:  # behind a body nobody looks for them
            self.answer.headers.append((lower(name), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        assert self.answer is not None
        self.answer.headed(self.parser.get_status_code(), self.parser.should_keep_alive())

    def on_message_complete(self) -> None:
        answer = self.answer
        assert answer is not None
        if answer.status < 200:  # an interim answer; the real one follows
            answer.status = 0
            answer.headers = []
            return
        answer.done = True

    @property
    def open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.abort()


class Answer:
    """An upstream's answer: its head at once, its body as it comes. Read it to its end, or close it."""

    # What few answers change, and what they change late, is found in the class until they do.
    status = 0
    began = False
    """A byte of it has come."""
    head_done = False
    done = False
    """All of it has come."""
    held = 0
    """Bytes that have come and were not taken."""
    inflate: Inflate | None = None
    """Where the body is compressed."""
    _error: TransportError | None = None
    _waiter: asyncio.Future[None] | None = None
    _waited = (0.0, "")
    _unread = 0
    _paused = False
    _end = inf
    _total = 0.0
    _keep = False
    _left = False

    def __init__(self, pool: Pool, host: _Host, connection: _Connection) -> None:
        self.headers: Headers = []
        self.waiting: list[bytes] = []
        """What has come and was not taken."""
        self._pool = pool
        self._host = host
        self._connection = connection

    # What the connection tells.

    def headed(self, status: int, keep: bool) -> None:
        """Status and headers are there."""
        self.status = status
        if self._unread > MAX_HEAD and sum([len(name) + len(value) + 4 for name, value in self.headers]) > MAX_HEAD:
            raise TooLarge("its head is too large")
        if status >= 200:
            self._keep = keep
            self.head_done = True
            encoding = self.header("content-encoding").lower()
            if encoding in ("gzip", "x-gzip", "deflate"):
                self.inflate = Inflate(zlib.MAX_WBITS | (16 if "gzip" in encoding else 0))

    def received(self, data: bytes) -> None:
        self.began = True
        if not self.head_done:
            self._unread += len(data)
        connection = self._connection
        try:
            connection.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.fail("upstream_bad", "the upstream switched protocols")
            return
        except httptools.HttpParserError as error:
            if not self.done:
                cause = error.__context__ if isinstance(error.__context__, TooLarge) else error
                self.fail("upstream_bad", f"the upstream's answer is not HTTP: {cause or error}")
                return
            self._keep = False  # more than one answer to one request: whatever comes next is not for us
        if self._unread > MAX_HEAD and not self.head_done:  # a header that does not end is not told by the parser
            self.fail("upstream_bad", f"the head of the upstream's answer is longer than {MAX_HEAD} bytes")
            return
        if (connection.pieces or self.done) and not self._come(connection.pieces):
            return
        if self.done:
            self._leave(self._keep)
        elif self.held > HIGH_WATER and not self._paused and connection.transport is not None:
            self._paused = True
            connection.transport.pause_reading()
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _come(self, pieces: list[bytes]) -> bool:
        """More of the body; False when it cannot be read."""
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if self.inflate is not None:
            try:
                data = self.inflate.feed(data)
                if self.done:
                    self.inflate.close()
            except (TooLarge, zlib.error) as error:
                self.done = False
                self.fail("upstream_bad", f"the upstream's answer is not HTTP: {error}")
                return False
        if data:
            self.waiting.append(data)
            self.held += len(data)
        return True

    def lost(self, error: Exception | None) -> None:
        if self.done or self._error is not None:
            return
        if self.head_done and not self.header("content-length") and "chunked" not in self.header("transfer-encoding"):
            self.done = True  # a body that ends with the connection
        else:
            what = "before it answered" if not self.began else "in the middle of its answer"
            self._error = TransportError("closed", f"the upstream closed the connection {what}" + why(error))
        self._leave(False)
        self._wake()

    def late(self) -> None:
        """It did not come in time, if somebody waits for it."""
        if self._waiter is not None and not self._waiter.done():
            seconds, what = self._waited
            over = self._pool.loop.time() >= self._end
            self.fail("timeout", too_long(self._total) if over else f"{what} within {seconds:g} seconds")

    # What the reader asks.

    def header(self, name: str) -> str:
        for known, value in self.headers:
            if known == name:
                return value
        return ""

    def within(self, seconds: float, total: float) -> None:
        """Give it up when the rest of it takes longer; `total` is what all of it may take."""
        self._end, self._total = self._pool.loop.time() + seconds, total

    async def pieces(self, timeout: float | None = None) -> AsyncIterator[bytes]:
        """The body as it comes: everything that has come by now in one piece."""
        limit = self._pool.limits.idle if timeout is None else timeout
        while True:
            if self.waiting:
                if self._end < inf and self._pool.loop.time() >= self._end:
                    self.fail("timeout", too_long(self._total))
                yield self._taken()
            elif self.done:
                return
            else:
                await self.wait(limit, "the upstream fell silent")

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        """The whole body, of at most `limit` bytes."""
        seconds = self._pool.limits.idle if timeout is None else timeout
        found: list[bytes] = []
        size = 0
        while True:
            if size + self.held > limit:
                self.close()
                raise TransportError("upstream_bad", f"the upstream's answer is longer than {limit} bytes")
            if self._paused or self.done:
                size += self.held
                found.append(self._taken())
            if self.done:
                return found[0] if len(found) == 1 else b"".join(found)
            await self.wait(seconds, "the upstream fell silent")

    def close(self) -> None:
        """Nobody wants the rest: the connection is closed at once, unless all of it has come."""
        if not self.done:
            self.fail("closed", "the answer was not wanted any more")

    async def __aenter__(self) -> Answer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _taken(self) -> bytes:
        pieces = self.waiting
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self.waiting = []
        self.held = 0
        if self._paused:
            self._paused = False
            if self._connection.transport is not None and not self._left:
                self._connection.transport.resume_reading()
        return data

    async def wait(self, seconds: float, what: str) -> None:
        """Until more of it has come. Raises the error that it ended with."""
        if self._error is not None:
            raise self._error
        pool = self._pool
        self._waited = (seconds, what)
        self._waiter = pool.loop.create_future()
        if self._end < inf:
            seconds = min(seconds, max(self._end - pool.loop.time(), 0.0))
        pool.deadlines.expect(self._connection, seconds)
        try:
            await self._waiter
        finally:
            self._waiter = None

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
        connection = self._connection
        connection.answer = None
        if self._paused and connection.transport is not None:
            connection.transport.resume_reading()
            self._paused = False
        self._pool.back(self._host, connection, keep)


class _Host:
    """What the pool knows of one address."""

    __slots__ = ("address", "busy", "free", "queue")

    def __init__(self, address: Address) -> None:
        self.address = address
        self.busy = 0
        self.free: deque[_Connection] = deque()
        self.queue: deque[asyncio.Future[None]] = deque()

    def left(self) -> None:
        """A place is free: for the first who waits, if somebody does."""
        self.busy -= 1
        self.next()

    def next(self) -> None:
        while self.queue:
            turn = self.queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return


class Pool:
    """Connections to upstreams, kept open between requests. Belongs to the event loop that first asks it."""

    def __init__(self, limits: Limits | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.limits = limits or Limits()
        self._tls = tls
        self._hosts: dict[Address, _Host] = {}
        self._closed = False
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
    ) -> Answer:
        """Send a request; gives the answer once its head is there."""
        if self.loop is None:
            self.loop = asyncio.get_running_loop()
            self.deadlines = Deadlines(self.loop)
        message = request_head(address, method, target, tuple(headers))
        if body or method in ("POST", "PUT", "PATCH"):
            message = b"%bcontent-length: %d\r\n\r\n%b" % (message, len(body), body)
        else:
            message += b"\r\n"
        timeout = self.limits.first_byte if first_byte is None else first_byte
        host = self._hosts.get(address)
        if host is None:
            host = self._hosts[address] = _Host(address)
        while True:
            connection = self._unused(host) or await self._another(host)
            answer = Answer(self, host, connection)
            connection.answer = answer
            if connection.transport is not None:
                connection.transport.write(message)
            else:  # closed in the moment it was opened
                answer.lost(None)
            try:
                if connection.drained is not None:
                    await asyncio.wait_for(connection.drained.wait(), timeout)
                while not answer.head_done:
                    await answer.wait(timeout, "the upstream did not answer")
            except TransportError as error:
                if not connection.idle_since or answer.began or error.kind != "closed":
                    raise
                continue  # it had been closed while it was idle
            except TimeoutError:
                answer.close()
                what = f"the upstream did not take the request within {timeout:g} seconds"
                raise TransportError("timeout", what) from None
            except BaseException:
                answer.close()
                raise
            return answer

    def _unused(self, host: _Host) -> _Connection | None:
        """An open connection that serves nobody, if there is one and its turn has come."""
        if self._closed:
            raise TransportError("closed", "the pool is closed")
        if host.busy >= self.limits.per_host:
            return None
        while host.free:
            connection = host.free.pop()
            connection.resting = None
            if connection.open and self.loop.time() - connection.idle_since < self.limits.keep_alive:
                host.busy += 1
                return connection
            connection.close()
        return None

    async def _another(self, host: _Host) -> _Connection:
        """A connection for which one has to wait."""
        while host.busy >= self.limits.per_host:
            turn: asyncio.Future[None] = self.loop.create_future()
            host.queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    host.next()  # the place was ours, and we do not take it
                raise
        found = self._unused(host)
        if found is not None:
            return found
        host.busy += 1
        try:
            return await self._connect(host.address)
        except BaseException:
            host.left()
            raise

    async def _connect(self, address: Address) -> _Connection:
        context = None
        if address.secure:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            context = self._tls
        try:
            async with asyncio.timeout(self.limits.connect):
                _, connection = await self.loop.create_connection(
                    lambda: _Connection(self.deadlines),
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

    def back(self, host: _Host, connection: _Connection, keep: bool) -> None:
        if keep and connection.open and len(host.free) < self.limits.kept and not self._closed:
            connection.idle_since = self.loop.time()
            host.free.append(connection)
            connection.resting = host.free
        else:
            connection.close()
        host.left()

    def close(self) -> None:
        """Close what is idle; answers under way go on."""
        self._closed = True
        for host in self._hosts.values():
            for connection in host.free:
                connection.resting = None
                connection.close()
            host.free.clear()
