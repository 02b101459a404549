"""HTTP/1.1 to clients: bytes to requests, replies to bytes. Knows no dialect, no route, no upstream.

Written by hand because of what it costs (78 microseconds of CPU for a proxied request against uvicorn's 135, measured
on two cores, see bench/) and because of what a gateway must know at once: that a client has gone (its upstream is then
let go in the same moment), and that it reads slowly. Parsing is httptools' (llhttp).

Bounds: size of heads and bodies, requests under way, time to send a head, time between two pieces of a body, time
between two requests. Each breach is answered, by the handler's own words where it has some, and closes the connection.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from functools import lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple, cast

import httptools

from ..transport.deadlines import Deadlines
from ..transport.wire import lower

Handler = Callable[["Incoming", "Reply"], Awaitable[None]]

_REASONS = {status.value: status.phrase for status in HTTPStatus}
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSE = "connection: close"
_LINGER = 2.0
"""Seconds in which what a refused client still sends is thrown away: cut off at once, it would not read the answer."""
_OFFER = frozenset({"connection", "upgrade", "http2-settings"})


class Bounds(NamedTuple):
    """What a client may ask of the server."""

    head: int = 64 * 1024
    body: int = 64 * 1024 * 1024
    head_seconds: float = 30.0
    body_seconds: float = 60.0
    """Between two pieces of a body."""
    idle_seconds: float = 75.0
    """Between two requests on one connection."""
    drain_seconds: float = 60.0
    """A client that takes nothing for so long is let go."""


class Incoming:
    """One request of a client."""

    __slots__ = ("body", "headers", "method", "path", "peer", "query", "refusal")

    def __init__(self, method: str, path: str, query: str, headers: dict[str, str], body: bytes, peer: str) -> None:
        self.method = method
        self.path = path
        """As it was sent: not decoded."""
        self.query = query
        self.headers = headers
        """Names in lower case; of several with one name the values are joined."""
        self.body = body
        self.peer = peer
        self.refusal: tuple[int, str] | None = None
        """Why the server itself refuses the request, for the handler to say in the client's words."""


class Gone(Exception):
    """The client has left."""


class Reply:
    """The answer to one request: whole by `send`, or piece by piece by `start`, `write` and `end`."""

    __slots__ = ("_chunked", "_client", "_ended", "keep_alive", "started", "status")

    def __init__(self, client: _Client, keep_alive: bool) -> None:
        self._client = client
        self._chunked = False
        self._ended = False
        self.started = False
        self.status = 0
        self.keep_alive = keep_alive

    @property
    def gone(self) -> bool:
        return self._client.transport is None

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """A whole answer, in one write."""
        self.started = self._ended = True
        self.status = status
        self._client.write(self._head(status, headers, f"content-length: {len(body)}") + body)

    def start(self, status: int, headers: Collection[tuple[str, str]]) -> None:
        """The head of an answer whose body comes in pieces. It is written with the first of them."""
        self.started = True
        self.status = status
        self._chunked = self._client.chunks
        how = "transfer-encoding: chunked" if self._chunked else _CLOSE
        self._client.held = self._head(status, headers, how)

    def write(self, data: bytes) -> None:
        if data:
            self._client.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    async def drain(self) -> None:
        """Wait while the client reads more slowly than we write. Raises Gone when it has left."""
        client = self._client
        if client.transport is None:
            raise Gone
        if client.full is not None:
            await client.drained()

    def end(self) -> None:
        self._ended = True
        self._client.write(b"0\r\n\r\n" if self._chunked else b"")
        if not self._chunked:
            self.keep_alive = False

    def cut(self) -> None:
        """The answer cannot be finished: break the connection off, so that the client does not take it for whole."""
        self._client.abort()

    @property
    def ended(self) -> bool:
        return self._ended

    def _head(self, status: int, headers: Collection[tuple[str, str]], how: str) -> bytes:
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
        close = f"{_CLOSE}\r\n" if not self.keep_alive and how != _CLOSE else ""
        text = f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}\r\n{how}\r\n{lines}{close}\r\n"
        head = text.encode("latin-1", "replace")
        if head.count(b"\n") != len(headers) + (4 if close else 3):
            raise ValueError("a header of the answer holds a line break")
        return head


class _Client(asyncio.Protocol):
    """One connection of a client: one request after the other."""

    __slots__ = (
        "_body",
        "_early",
        "_fed",
        "_headers",
        "_in_body",
        "_lines",
        "_loop",
        "_parser",
        "_peer",
        "_reads",
        "_ready",
        "_refusal",
        "_refused",
        "_server",
        "_size",
        "_url",
        "chunks",
        "full",
        "held",
        "on_body",
        "task",
        "transport",
    )

    def __init__(self, server: Server) -> None:
        self.transport: asyncio.Transport | None = None
        self.chunks = True
        self.full: asyncio.Future[None] | None = None
        self.held = b""
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._body: list[bytes] = []
        self.on_body = self._body.append  # what the parser tells most often
        self._parser: Any = httptools.HttpRequestParser(self)
        self._peer = ""
        self.task: asyncio.Task[None] | None = None
        self._refused = False
        self._ready: deque[tuple[Incoming, bool, bool]] = deque()  # requests that wait for the one before them
        self._early: list[bytes] = []  # bytes that came while a request was being answered
        self._reset()

    def _reset(self) -> None:
        self._url = b""
        self._lines: list[tuple[bytes, bytes]] = []
        self._headers: dict[str, str] = {}
        self._size = self._reads = 0  # of the body, as far as it was counted
        self._fed = 0
        self._in_body = False
        self._refusal: tuple[int, str] | None = None

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by name
        peer = self.transport.get_extra_info("peername")
        self._peer = f"{peer[0]}" if isinstance(peer, tuple) else ""
        self._server.clients.add(self)
        self._server.deadlines.expect(self, self._server.bounds.head_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self._server.clients.discard(self)
        self._server.deadlines.forget(self)
        self._parser = None  # it holds this object too
        if self.full is not None and not self.full.done():
            self.full.set_exception(Gone())
            self.full.exception()  # nobody may be waiting
        if self.task is not None:
            self.task.cancel()

    def pause_writing(self) -> None:
        self.full = self._loop.create_future()

    def resume_writing(self) -> None:
        if self.full is not None and not self.full.done():
            self.full.set_result(None)
        self.full = None

    def eof_received(self) -> bool:
        # A client that closes its half has either gone or waits for the answer; SDKs that go close both.
        return False

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self.task is not None:
            self._early.append(data)
            if self.transport is not None:
                self.transport.pause_reading()
            return
        self._feed(data)

    def _feed(self, data: bytes) -> None:
        bounds = self._server.bounds
        self._fed += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError as error:
            self._refusal = self._refusal or (400, f"the request is not HTTP: {error}")
        if self._refusal is not None and self._ready:
            self._start()  # what came before is answered first
        elif self._refusal is not None:  # not every callback's exception stops the parser
            self._refuse(*self._refusal)
        elif self._ready:
            self._start()
        elif self._fed > bounds.head and (refusal := self._overlong()) is not None:
            self._refuse(*refusal)
        elif self._in_body:
            self._server.deadlines.expect(self, bounds.body_seconds)

    def _stay(self, rest: bytes) -> None:
        """A client offers to switch protocols. There is none to switch to: it is answered as if it had not.

        The parser leaves out the body of such a request; so where there is one (Java's client offers HTTP/2 with every
        request), all of it is read again without the offer.
        """
        request = self._ready[-1][0]
        headers = request.headers
        if request.method != "CONNECT" and ("transfer-encoding" in headers or "content-length" in headers):
            self._ready.pop()
            where = f"{request.path}?{request.query}" if request.query else request.path
            kept = [f"{name}: {value}" for name, value in headers.items() if name not in _OFFER]
            head = "\r\n".join([f"{request.method} {where} HTTP/1.1", *kept, "", ""])
            self._parser = httptools.HttpRequestParser(self)
            self._feed(head.encode("latin-1") + rest)
        else:
            self._start()

    def _overlong(self) -> tuple[int, str] | None:
        """Why a request of which so much has come is not waited for any longer. The parser tells nothing of a header
        before its end, nor of what stands around chunks and behind them: in chunks of one byte that is five times the
        body."""
        bounds, pieces, read = self._server.bounds, self._body, self._reads
        if len(pieces) > read:  # one for each time that something came, however small the chunks are
            pieces[read:] = [b"".join(pieces[read:])]
            self._reads += 1
            self._size += len(pieces[read])
        size = self._size
        if size > bounds.body:
            return 413, _too_long("body", bounds.body)
        return (431, _too_long("head", bounds.head)) if self._fed > bounds.head + 6 * size else None

    # What the parser tells.

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:  # behind a body: too late to say anything about the request
            self._lines.append((name, value))

    def on_headers_complete(self) -> None:
        self._in_body = True
        lines, bounds = self._lines, self._server.bounds
        self._headers = headers = {lower(name): value.decode("latin-1") for name, value in lines}
        if len(headers) < len(lines):
            self._headers = headers = _joined(lines)
        if not 0 < self._fed <= bounds.head:  # 0: it came right behind another
            size = len(self._url) + sum([len(name) + len(value) + 4 for name, value in lines])
            if size > bounds.head:
                self._refusal = (431, _too_long("head", bounds.head))
                raise _Stop
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > bounds.body:
            self._refusal = (413, _too_long("body", bounds.body))
            raise _Stop
        if "expect" in headers and headers["expect"].lower() == "100-continue" and self.transport is not None:
            self.transport.write(_CONTINUE)

    def on_message_complete(self) -> None:
        parser = self._parser
        keep = parser.should_keep_alive() and not parser.should_upgrade()
        url = self._url
        path, query = _parted(url) if len(url) < 200 else _parted.__wrapped__(url)
        pieces = self._body
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if len(body) > self._server.bounds.body:
            self._refusal = (413, _too_long("body", self._server.bounds.body))
            raise _Stop
        request = Incoming(_method(parser.get_method()), path, query, self._headers, body, self._peer)
        self._ready.append((request, keep, parser.get_http_version() != "1.0"))
        self._reset()

    # Requests and replies.

    def _start(self) -> None:
        request, keep, self.chunks = self._ready.popleft()
        self.task = self._loop.create_task(self._serve(request, Reply(self, keep and not self._server.draining)))

    def _refuse(self, status: int, why: str) -> None:
        """Answer a request that is not read to its end, and close."""
        self._refused = True
        headers = self._headers or _joined(self._lines)  # those that have come, where the head is not all there
        request = Incoming("", self._url.partition(b"?")[0].decode("latin-1"), "", headers, b"", self._peer)
        request.refusal = (status, why)
        self.task = self._loop.create_task(self._serve(request, Reply(self, keep_alive=False)))

    async def _serve(self, request: Incoming, reply: Reply) -> None:
        server = self._server
        server.busy += 1
        try:
            await server.handler(request, reply)
        except Gone:
            pass  # nobody is there to be told
        except asyncio.CancelledError:
            if self.transport is not None:
                raise
        finally:
            server.busy -= 1
            self.task = None
            if not reply._ended:
                self.abort()  # also when the handler failed: nobody waits for what will not come
        if self.transport is None or not reply._ended:
            return
        if reply.keep_alive and not server.draining:
            self._next()
        elif self._refused and not server.draining and self.transport.can_write_eof():
            self.transport.write_eof()
            server.deadlines.expect(self, _LINGER)
        else:
            self.transport.close()

    def _next(self) -> None:
        if self._ready:
            self._start()
            return
        if self._refusal is not None:
            self._refuse(*self._refusal)
            return
        self._server.deadlines.expect(self, self._server.bounds.idle_seconds)
        if self._early and self.transport is not None:
            early = b"".join(self._early)
            self._early.clear()
            self.transport.resume_reading()
            self._feed(early)

    def write(self, data: bytes) -> None:
        if self.transport is not None:
            if self.held:
                data, self.held = self.held + data, b""
            if data:
                self.transport.write(data)

    async def drained(self) -> None:
        if self.full is not None:
            try:
                await asyncio.wait_for(asyncio.shield(self.full), self._server.bounds.drain_seconds)
            except TimeoutError:
                self.abort()
                raise Gone from None

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def late(self) -> None:
        """Asked by the deadlines: nothing has come for too long."""
        if self.task is None and self.transport is not None:
            if self._fed and not self._refused:
                self._refuse(408, "the request did not come to its end in time")
            else:
                self.transport.close()


@lru_cache(maxsize=512)  # clients ask for the same few again and again
def _parted(url: bytes) -> tuple[str, str]:
    path, _, query = url.decode("latin-1").partition("?")
    return path, query


@lru_cache(maxsize=64)
def _method(name: bytes) -> str:
    return name.decode("latin-1")


def _joined(lines: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers of which some came more than once."""
    out: dict[str, str] = {}
    for name, value in lines:
        key, told = lower(name), value.decode("latin-1")
        out[key] = f"{out[key]}, {told}" if key in out else told
    return out


def _too_long(what: str, most: int) -> str:
    return f"the {what} of the request is longer than {most} bytes"


class _Stop(Exception):
    """Ends parsing; why is in `_refusal`."""


class Server:
    """Listens, and gives requests to the handler."""

    def __init__(self, handler: Handler, bounds: Bounds | None = None) -> None:
        self.handler = handler
        self.bounds = bounds or Bounds()
        self.clients: set[_Client] = set()
        self.busy = 0
        self.draining = False
        self.deadlines: Deadlines
        self._listening: asyncio.Server | None = None

    async def start(self, host: str, port: int, *, reuse_port: bool = False) -> int:
        """Begin to listen; gives the port, which the system chooses for 0."""
        loop = asyncio.get_running_loop()
        self.deadlines = Deadlines(loop)
        self._listening = await loop.create_server(
            lambda: _Client(self), host, port, backlog=2048, reuse_port=reuse_port or None
        )
        found: socket.socket = self._listening.sockets[0]
        number: int = found.getsockname()[1]
        return number

    async def stop(self, seconds: float) -> bool:
        """Take no more connections, let requests under way finish for so long; False when some had to be broken off."""
        self.draining = True
        if self._listening is not None:
            self._listening.close()
        for client in list(self.clients):
            if client.task is None and client.transport is not None:
                client.transport.close()
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while self.busy and loop.time() < end:
            await asyncio.sleep(0.02)
        clean = not self.busy
        for client in list(self.clients):
            client.abort()
        self.deadlines.close()
        return clean
