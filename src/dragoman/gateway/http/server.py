"""The HTTP/1.1 server for clients: bytes to requests, replies to bytes. It depends on no dialect, no route and no
upstream.

It is written by hand for two reasons. It costs less: 78 microseconds of CPU for a proxied request, against 135 with
uvicorn (measured on two cores, see bench/). And a gateway must notice at once when a client closes the connection, to
close the upstream's connection too, and when a client reads slowly. httptools (llhttp) parses requests. Heads that were
parsed before are recognised by their bytes (`fast.repeated_request_heads`).

Limits: size of heads and bodies, requests under way, time to send a head, time between two pieces of a body, time to
send a body, time between two requests. Each breach is answered, in the client's dialect where the handler finds the
dialect, and closes the connection.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, cast

import httptools
from msgspec import Struct

from ...fast.repeated_request_heads import LENGTH, MAX_DIGITS, KnownHead, KnownHeads
from ...transport.large_body_joining import is_large, join_pieces
from ...transport.request_head_and_decompression import lower_name
from ...transport.shared_deadline_timer import Deadlines
from .client_hangup_detection import has_left
from .incoming_request_record import IncomingRequest
from .reply_writer import ClientGone, ReplyWriter
from .request_path_method_and_headers import join_headers, method_text, split_url

__all__ = ["ClientGone", "Handler", "IncomingRequest", "ReplyWriter", "Server", "ServerBounds"]

Handler = Callable[["IncomingRequest", "ReplyWriter"], Awaitable[None]]

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_LINGER = 2.0
"""Seconds in which further bytes of a refused client are read and dropped. If the connection were closed at once, the
client might not read the answer."""
_LATE = "the request was not complete in time"
_OFFER = frozenset({"connection", "upgrade", "http2-settings"})
_READ_AHEAD = 64 * 1024
"""Bytes that are read ahead while a request is answered. The end of a connection is seen only after all bytes before it
are read, so reading ahead shows that a client has left."""
_LOOK_SECONDS = 1.0
"""Time between two checks of a connection with more bytes than `_READ_AHEAD`."""
_ALWAYS = 1024 * 1024
"""Bytes of a body that are always accepted, even when other clients have used up the limit for all bodies."""
_STRANGE = 8
"""Unknown heads in a row after which a connection is no longer searched for known heads."""


class ServerBounds(Struct, frozen=True):
    """Limits on the requests of a client."""

    head: int = 64 * 1024
    body: int = 64 * 1024 * 1024
    head_seconds: float = 30.0
    body_seconds: float = 60.0
    """Seconds between two pieces of a body."""
    request_seconds: float = 300.0
    """Seconds for a whole body, from its first piece to its last. Without this limit a client that sends single bytes
    would hold a connection forever."""
    idle_seconds: float = 75.0
    """Seconds between two requests on one connection."""
    bodies: int = 256 * 1024 * 1024
    """Bytes of all requests together that came in several pieces and are not answered yet."""
    drain_seconds: float = 60.0
    """Seconds after which the connection to a client that reads nothing is closed."""


class _Client(asyncio.Protocol):
    """One connection of a client. Requests on the connection are answered one after the other."""

    __slots__ = (
        "_ahead",
        "_begun",
        "_behind",
        "_body",
        "_body_end",
        "_early",
        "_fed",
        "_headers",
        "_heads",
        "_held",
        "_in_body",
        "_known",
        "_lines",
        "_loop",
        "_missing",
        "_opening",
        "_parser",
        "_parsing",
        "_reads",
        "_ready",
        "_refusal",
        "_refused",
        "_rested",
        "_server",
        "_size",
        "_strange",
        "_url",
        "_waiter",
        "_watched",
        "full",
        "keep_alive",
        "on_body",
        "task",
        "transport",
    )

    def __init__(self, server: Server) -> None:
        self.transport: asyncio.Transport | None = None
        self.full: asyncio.Future[None] | None = None
        self.keep_alive = True
        """Another request may follow the one that is being answered."""
        self._server = server
        self._heads = server.heads.known
        self._loop = asyncio.get_running_loop()
        self._body: list[bytes] = []
        self.on_body = self._body.append  # the callback that the parser calls most often
        self._parser: Any = httptools.HttpRequestParser(self)
        self.task: asyncio.Task[None] | None = None  # serves all requests of the connection, from the first one on
        self._waiter: asyncio.Future[IncomingRequest] | None = None  # awaited by the task between two requests
        self._refused = False
        self._ready: deque[IncomingRequest] = deque()  # requests that wait until the one before them is answered
        self._early: deque[bytes] = deque()  # bytes that came while a request was being answered
        self._ahead = 0  # number of bytes in _early
        self._known: KnownHead | None = None  # the known head of a request whose body is gathered without the parser
        self._missing = 0  # bytes that are still missing from that body
        self._strange = 0  # unknown heads in a row
        self._rested = 0.0  # when the last answer was sent
        self._watched = False  # a deadline is set that is no later than the deadline of an idle connection
        self._reset()
        self._held = 0  # bytes that the server counts for this connection

    def _reset(self) -> None:
        self._url = b""
        self._lines: list[tuple[bytes, bytes]] = []
        self._headers: dict[str, str] = {}
        self._size = self._reads = 0  # bytes and reads of the body whose pieces are already joined and counted
        self._fed = 0
        self._body_end = 0.0  # the deadline for the whole body; 0 before its first piece
        self._in_body = self._begun = False
        # the request began in the same piece in which another ended, so _fed does not count all its bytes
        self._behind = False
        self._refusal: tuple[int, str] | None = None
        self._opening = b""  # the head that the parser was given, if a request began with it
        self._parsing = self._strange >= _STRANGE  # the next bytes are not searched for a known head

    @property
    def busy(self) -> bool:
        """Whether a request is being answered."""
        return self.task is not None and self._waiter is None

    # Callbacks of the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transport is not a subclass of asyncio.Transport
        self._server.clients.add(self)
        self.keep_alive = not self._server.draining
        self._server.deadlines.expect(self, self._server.bounds.head_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self._uncount_body_bytes()
        self._server.clients.discard(self)
        self._server.deadlines.forget(self)
        self._parser = None  # the parser holds a reference to this object
        if self.full is not None and not self.full.done():
            self.full.set_exception(ClientGone())
            self.full.exception()  # marks the exception as seen, because nobody may be waiting
        if self.task is not None:
            self.task.cancel()
            if self.busy:
                self._server.leaving.add(self.task)
                # The handler still closes its upstream. A stop of the server waits for that.
                self.task.add_done_callback(self._server.leaving.discard)

    def pause_writing(self) -> None:
        self.full = self._loop.create_future()

    def resume_writing(self) -> None:
        if self.full is not None and not self.full.done():
            self.full.set_result(None)
        self.full = None

    def eof_received(self) -> bool:
        # A client that closes its half has either left or waits for the answer. SDKs that leave close both halves.
        return False

    def data_received(self, data: bytes) -> None:
        if self._waiter is None and self.task is not None:  # busy
            self._put_off(data)
            return
        if self._parsing:
            self._go_on(data)
            return
        head, end, body = data.partition(b"\r\n\r\n")
        before, _, rest = head.partition(LENGTH)
        length, _, after = rest.partition(b"\r\n")
        known = self._heads.get((before, after))
        # A length that is not a plain number is left to the parser, which refuses it.
        if known is None or not end or len(length) > MAX_DIGITS or not length.isdigit():
            self._strange += 1
            self._opening = head if end else b""
            self._feed(data)
            return
        missing, bounds = int(length) - len(body), self._server.bounds
        if missing or len(body) > bounds.body or known.size > bounds.head:
            self._begin_with_known_head(data, known, body, missing)
            return
        self._strange = 0
        self._begin(IncomingRequest("POST", known.path, known.query, known.headers, body, known))

    def _put_off(self, data: bytes) -> None:
        """Keep bytes until the request before them is answered."""
        if self._refused:
            return
        self._early.append(data)
        self._ahead += len(data)
        if self._ahead > _READ_AHEAD and self.transport is not None:
            self.transport.pause_reading()
            self._loop.call_later(_LOOK_SECONDS, self._check_connection)

    def _check_connection(self) -> None:
        """Abort the connection if the client has closed it (unread bytes hide the end of the connection); else check
        again later."""
        transport = self.transport
        if transport is None or not self._early:
            return
        if has_left(transport):
            transport.abort()
        else:
            self._loop.call_later(_LOOK_SECONDS, self._check_connection)

    def _begin_with_known_head(self, data: bytes, head: KnownHead, body: bytes, missing: int) -> None:
        """Begin a request with a known head and an incomplete body."""
        bounds = self._server.bounds
        if missing < 0 or len(body) + missing > bounds.body or head.size > bounds.head:
            self._feed(data)  # several requests at once, or one that is refused
            return
        self._strange = 0
        self._known, self._missing = head, missing
        self._body.append(body)
        self._begun = self._parsing = True
        self._expect_body()
        self._count_body_bytes(len(body))

    def _go_on(self, data: bytes) -> None:
        """Take more bytes of a request that has begun."""
        head, pieces = self._known, self._body
        if head is None:
            if not self._refused:
                self._feed(data)
            return
        self._missing = missing = self._missing - len(data)
        pieces.append(data if missing >= 0 else data[:missing])
        if missing > 0:
            self._expect_body()
            self._count_body_bytes(len(data))
            return
        request = IncomingRequest("POST", head.path, head.query, head.headers, b"", head)
        self._give_body(request)
        self._begun = self._parsing = False
        self._known = None
        self._body_end = 0.0
        self._begin(request)
        if missing < 0:
            self._put_off(data[missing:])

    def _give_body(self, request: IncomingRequest) -> None:
        """Give a request its complete body, or the pieces of a large body."""
        pieces = self._body
        if len(pieces) > 1 and is_large(pieces):
            request.pieces = pieces.copy()
        else:
            request.body = b"".join(pieces)
        pieces.clear()

    def _count_body_bytes(self, size: int) -> None:
        """Count a piece of an incomplete body. Refuse the request if the bodies of all clients are too large
        together."""
        self._held += size
        held = self._server.held = self._server.held + size
        most = self._server.bounds.bodies
        if held > most and self._held > _ALWAYS and not self._refused:
            self._refuse(503, f"the gateway already holds {most} bytes of requests. Send the request again in a moment")

    def _uncount_body_bytes(self) -> None:
        """Stop counting the body against the limit for all bodies."""
        self._server.held -= self._held
        self._held = 0

    def _expect_body(self) -> None:
        bounds, now = self._server.bounds, self._loop.time()
        if not self._body_end:
            self._body_end = now + bounds.request_seconds
        left = min(bounds.body_seconds, self._body_end - now)
        if left <= 0:
            self._refuse(408, _LATE)
            return
        self._watched = False
        self._server.deadlines.expect(self, left)

    def _feed(self, data: bytes) -> None:
        bounds = self._server.bounds
        self._parsing = True
        self._fed += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._refuse_protocol_switch(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError as error:
            self._refusal = self._refusal or (400, f"the request is not HTTP: {error}")
        if self._refusal is not None and self._ready:
            self._begin(self._ready.popleft())  # the request before the refused one is answered first
        elif self._refusal is not None:  # an exception in a callback does not always stop the parser
            self._refuse(*self._refusal)
        # Requests that came together are answered one after the other, in their order (RFC 9112, 9.3.2, June 2022).
        elif self._ready:
            self._begin(self._ready.popleft())
        elif self._fed > bounds.head and (refusal := self._too_long_refusal()) is not None:
            self._refuse(*refusal)
        elif self._in_body:
            self._expect_body()
            self._count_body_bytes(len(data))

    def _refuse_protocol_switch(self, rest: bytes) -> None:
        """Ignore a client's offer to switch protocols: the gateway has no other protocol.

        A server may ignore Upgrade (RFC 9110, 7.8, June 2022). The parser skips the body of such a request. Java's
        client offers HTTP/2 with every request. So a request with a body is parsed again, without the offer.
        """
        request = self._ready[-1]
        headers = request.headers
        if request.method != "CONNECT" and ("transfer-encoding" in headers or "content-length" in headers):
            self._ready.pop()
            where = f"{request.path}?{request.query}" if request.query else request.path
            kept = [f"{name}: {value}" for name, value in headers.items() if name not in _OFFER]
            head = "\r\n".join([f"{request.method} {where} HTTP/1.1", *kept, "", ""])
            self._parser = httptools.HttpRequestParser(self)
            self._feed(head.encode("latin-1") + rest)
        else:
            self._begin(self._ready.popleft())

    def _too_long_refusal(self) -> tuple[int, str] | None:
        """The refusal of a request that is already too long, or None. The parser does not report an unfinished header,
        nor the bytes around and after chunks. With chunks of one byte, these bytes are five times as long as the
        body."""
        bounds, pieces, read = self._server.bounds, self._body, self._reads
        if len(pieces) > read:  # Join the pieces of each read into one, however small the chunks are.
            pieces[read:] = [b"".join(pieces[read:])]
            self._reads += 1
            self._size += len(pieces[read])
        size = self._size
        if size > bounds.body:
            return 413, _too_long("body", bounds.body)
        return (431, _too_long("head", bounds.head)) if self._fed > bounds.head + 6 * size else None

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        self._begun = self._parsing = True
        self._behind = not self._fed

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:  # a trailer comes after the body, too late to change the request
            self._lines.append((name, value.strip(b" \t")))  # the parser does not remove blanks after a value

    def on_headers_complete(self) -> None:
        self._in_body = True
        lines, bounds = self._lines, self._server.bounds
        self._headers = headers = {lower_name(name): value.decode("latin-1") for name, value in lines}
        if len(headers) < len(lines):
            self._headers = headers = join_headers(lines)
        if self._behind or self._fed > bounds.head:
            size = len(self._url) + sum([len(name) + len(value) + 4 for name, value in lines])
            if size > bounds.head:
                self._refusal = (431, _too_long("head", bounds.head))
                raise _Stop
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > bounds.body:
            self._refusal = (413, _too_long("body", bounds.body))
            raise _Stop
        # The client waits for this answer before it sends the body (RFC 9110, 10.1.1, June 2022).
        if "expect" in headers and headers["expect"].lower() == "100-continue" and self.transport is not None:
            self.transport.write(_CONTINUE)

    def on_message_complete(self) -> None:
        parser = self._parser
        keep = parser.should_keep_alive() and not parser.should_upgrade()
        url = self._url
        path, query = split_url(url)
        if sum(map(len, self._body)) > self._server.bounds.body:
            self._refusal = (413, _too_long("body", self._server.bounds.body))
            raise _Stop
        asked, version, known = method_text(parser.get_method()), parser.get_http_version(), None
        if self._opening and keep and asked == "POST" and version == "1.1" and self._strange < _STRANGE:
            known = self._server.heads.learn(self._opening, url, self._lines, self._headers, path, query)
        request = IncomingRequest(asked, path, query, self._headers, b"", known, keep, version != "1.0")
        self._give_body(request)
        self._ready.append(request)
        self._reset()

    # Requests and replies.

    def _refuse(self, status: int, why: str) -> None:
        """Answer a request that is not read to its end, and close the connection."""
        self._refused = self._parsing = True
        known = self._known
        if known is not None:
            length = sum(map(len, self._body)) + self._missing
            self._url, self._headers = known.url, {**known.headers, "content-length": f"{length}"}
            self._known = None
        headers = self._headers or join_headers(self._lines)  # the headers that have come, where the head is incomplete
        path = self._url.partition(b"?")[0].decode("latin-1")
        self._begin(IncomingRequest("", path, "", headers, b"", keep_alive=False, refusal=(status, why)))

    def _begin(self, request: IncomingRequest) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            waiter.set_result(request)
        else:
            self.task = self._loop.create_task(self._serve(request))

    async def _serve(self, request: IncomingRequest) -> None:
        """Serve one request after the other. A task for each request would cost more than one task that waits."""
        server, loop, reply = self._server, self._loop, ReplyWriter(self)
        handler = server.handler
        try:
            while True:
                reply.status = 0
                reply.chunks = request.chunks
                if not request.keep_alive:
                    self.keep_alive = False
                if request.pieces is not None:
                    request.body, request.pieces = await join_pieces(request.pieces), None
                await handler(request, reply)
                if self._held:
                    self._uncount_body_bytes()
                transport = self.transport
                if transport is None or not reply.status or reply._open:
                    return
                if not self.keep_alive:
                    self._close_after_answer(transport)
                    return
                del request  # do not keep the body while the connection is idle
                self._waiter = waiter = loop.create_future()
                self._rested = loop.time()
                if not self._watched:
                    self._watched = True
                    server.deadlines.expect(self, server.bounds.idle_seconds)
                if self._ready or self._refusal is not None or self._early:
                    self._begin_next_request(transport)
                    await asyncio.sleep(0)  # let other clients have their turn between two requests that came together
                request = await waiter
        except ClientGone:
            pass  # the client has closed the connection
        except asyncio.CancelledError:
            if self.transport is not None:
                self.abort()
                raise
        except Exception:
            if self.transport is not None:
                self.transport.close()
            raise
        finally:
            self.task = self._waiter = None
            if not reply.ended:
                # also after a failure of the handler: the client must not wait for an end that never comes
                self.abort()

    def _close_after_answer(self, transport: asyncio.Transport) -> None:
        """Close the connection after its last answer."""
        # The client may still be sending. A reset would destroy the answer before the client reads it.
        if self._refused and not self._server.draining and transport.can_write_eof():
            transport.write_eof()
            self._watched = False
            self._server.deadlines.expect(self, _LINGER)
        else:
            transport.close()

    def _begin_next_request(self, transport: asyncio.Transport) -> None:
        """Begin the next request that came while another was being answered."""
        if self._ready:
            self._begin(self._ready.popleft())
        elif self._refusal is not None:
            self._refuse(*self._refusal)
        else:
            self._take_early(transport)

    def _take_early(self, transport: asyncio.Transport) -> None:
        """Read the bytes that came while a request was being answered, up to the next request."""
        early, before = self._early, self._ahead
        while early and not self.busy:
            data = early.popleft()
            self._ahead -= len(data)
            if not self._begun:
                # Old clients send an extra line end behind a request. A server should ignore it (RFC 9112, 2.2, June
                # 2022).
                data = data.lstrip(b"\r\n")
            if data:
                self.data_received(data)
        if before > _READ_AHEAD >= self._ahead:
            transport.resume_reading()

    async def drained(self) -> None:
        if self.full is not None:
            try:
                await asyncio.wait_for(asyncio.shield(self.full), self._server.bounds.drain_seconds)
            except TimeoutError:
                self.abort()
                raise ClientGone from None

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def on_deadline(self) -> None:
        """Called when the deadline has passed: refuse or close, unless an answer was sent since the deadline was
        set."""
        if self.transport is None:
            return
        seconds = self._server.bounds.idle_seconds
        left = seconds if self.busy else self._rested + seconds - self._loop.time() if self._watched else 0.0
        if left > 0:
            self._watched = True
            self._server.deadlines.expect(self, left)
        elif self._begun and not self._refused:
            self._refuse(408, _LATE)
        else:
            self.transport.close()


def _too_long(what: str, most: int) -> str:
    return f"the {what} of the request is longer than {most} bytes. Send less, or raise bounds.{what}."


class _Stop(Exception):
    """Stops the parser. `_refusal` holds the reason."""


class Server:
    """Listens, and gives requests to the handler."""

    def __init__(self, handler: Handler, bounds: ServerBounds | None = None) -> None:
        self.handler = handler
        self.bounds = bounds or ServerBounds()
        self.clients: set[_Client] = set()
        self.leaving: set[asyncio.Task[None]] = set()
        """Tasks that serve clients which have left, until each task has ended."""
        self.heads = KnownHeads()
        self.draining = False
        self.held = 0
        """Bytes of bodies that came in several pieces, until their requests are answered."""
        self.deadlines: Deadlines
        self._listening: asyncio.Server | None = None

    @property
    def busy(self) -> int:
        """Number of requests that are being answered."""
        return sum([client.busy for client in self.clients]) + len(self.leaving)

    async def start(self, host: str, port: int, *, reuse_port: bool = False) -> int:
        """Begin to listen. Returns the port; for 0 the system chooses one."""
        loop = asyncio.get_running_loop()
        self.deadlines = Deadlines(loop)
        self._listening = await loop.create_server(
            lambda: _Client(self), host, port, backlog=2048, reuse_port=reuse_port or None
        )
        found: socket.socket = self._listening.sockets[0]
        number: int = found.getsockname()[1]
        return number

    async def stop(self, seconds: float) -> bool:
        """Take no more connections, and let requests under way finish for `seconds`. False when some had to be broken
        off."""
        self.draining = True
        if self._listening is not None:
            self._listening.close()
        for client in list(self.clients):
            client.keep_alive = False
            if not client.busy and client.transport is not None:
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
