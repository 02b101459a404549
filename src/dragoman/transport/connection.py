"""One connection to an upstream, and the answer under way on it.

All that happens here happens for every request, and some of it for every piece of a stream: what counts is how little
that is. So the connection does itself to its answer what is to be done when something comes; what the parser has to say
goes straight into lists where that is enough; and headers are not told one by one (see `heading.py`).
"""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import AsyncIterator
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import httptools

from ..errors import TransportError
from .client import MAX_HEAD, Address, Headers, too_long
from .heading import NONE, Heading, Shapes
from .wire import Broken, Inflate, TooLarge, why

if TYPE_CHECKING:
    from .http import Pool

HIGH_WATER = 256 * 1024
"""Bytes of an answer held for a slow reader before the upstream is no longer listened to."""
_ONE = (None, None)
"""What the parser may tell of one answer: that it begins, and that it ends."""
AT_ONCE = 5.0
"""Seconds within which a connection that was closed while it was idle says so. Later the upstream may have worked on
what it was asked."""


class Host:
    """What the pool knows of one address."""

    __slots__ = ("address", "connections", "free", "opening", "queue", "shapes")

    def __init__(self, address: Address) -> None:
        self.address = address
        self.connections = 0
        self.opening = 0
        """How many are being opened."""
        self.free: list[Connection] = []
        """Those that serve nobody: open, and not for too long. The last that came back goes first."""
        self.queue: deque[asyncio.Future[None]] = deque()
        self.shapes = Shapes()

    def next(self) -> None:
        """A place is free: for the first who waits, if somebody does."""
        while self.queue:
            turn = self.queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return


class Connection(asyncio.Protocol):
    """One connection and its parser."""

    __slots__ = (
        "_due",
        "_head",
        "_keep",
        "_status",
        "answer",
        "full",
        "host",
        "idle_since",
        "loop",
        "on_body",
        "on_message_begin",
        "on_message_complete",
        "parser",
        "pieces",
        "pool",
        "transport",
        "watched",
    )

    def __init__(self, pool: Pool, host: Host) -> None:
        self.pool = pool
        self.host = host
        self.loop: asyncio.AbstractEventLoop = pool.loop
        self.transport: asyncio.Transport | None = None
        self.answer: Answer | None = None
        self.idle_since = 0.0  # 0: never yet
        self.watched = inf  # when the deadlines will ask for it
        self.full = False  # it takes no more for now of what is sent
        self._head = b""  # what has come of a head that is not whole
        self._status = 0  # of a head that has come and was not read
        self._keep = False
        # The parser calls these without a frame of ours: pieces of a body are gathered as they come (some upstreams
        # send every event of a stream as a chunk of its own), and an answer that nobody asked for finds nothing to pop,
        # which the parser takes for an error.
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append
        self._due: list[None] = []
        self.on_message_begin = self.on_message_complete = self._due.pop
        self.parser: Any = httptools.HttpResponseParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by name
        self.host.connections += 1

    def ask(self, message: bytes) -> Answer:
        """Send a request. Nobody else's answer may be under way."""
        self.answer = answer = Answer(self)
        self._due.extend(_ONE)
        transport = self.transport
        if transport is not None:
            transport.write(message)
        else:  # closed in the moment it was opened
            answer.lost(None)
        return answer

    def data_received(self, data: bytes) -> None:
        answer = self.answer
        if answer is None:  # bytes that nobody asked for: the connection is of no more use
            self.close()
            return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            answer.fail("upstream_bad", "the upstream switched protocols")
            return
        except httptools.HttpParserError as error:
            if self._due:
                cause = error.__context__ if isinstance(error.__context__, Broken) else error
                answer.fail("upstream_bad", f"the upstream's answer is not HTTP: {cause or error}")
                return
            self._keep = False  # more than one answer to one request: whatever comes next is not for us
        if not answer.status and not self._headed(answer, data):
            return
        if answer.inflate is not None and not answer.inflated(self.pieces, done=not self._due):
            return
        if self._due:  # more of it will come
            answer.held += len(data)
            if answer.held > HIGH_WATER:
                answer.pause()
        else:
            answer.done = True
            answer.waiting = answer.waiting.copy()  # this list is for the next answer
            self.pieces.clear()
            if answer.paused:
                answer.resume()
            self.leave(self._keep and not self.full)  # what it has not taken would stand before the next request
        waiter = answer.waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _headed(self, answer: Answer, data: bytes) -> bool:
        """Some of a head has come, or all of it; False when there is nothing yet for who waits for it."""
        head, status = self._head + data, self._status
        if not status:
            self._head = head
            if len(head) > MAX_HEAD:  # a header that does not end is not told by the parser
                answer.fail("upstream_bad", f"the head of the upstream's answer is longer than {MAX_HEAD} bytes")
            else:
                answer.more_time()
            return False
        self._head = b""
        self._status = 0
        answer.heading = found = self.host.shapes.read(head)
        if len(head) > MAX_HEAD and found.size() > MAX_HEAD:
            answer.fail("upstream_bad", "the upstream's answer is not HTTP: its head is too large")
            return False
        answer.status = status
        if found.shape.compressed:
            answer.decode()
        return True

    # What the parser tells.

    def on_headers_complete(self) -> None:
        parser = self.parser
        status = parser.get_status_code()
        if status >= 200:
            self._status = status
            self._keep = parser.should_keep_alive()
        elif status >= 100:  # an interim answer; the real one follows
            self._due.extend(_ONE)
        else:
            raise Broken(f"its status is {status}")

    @property
    def in_head(self) -> bool:
        """Some of a head has come."""
        return self._head != b""

    # What else happens to it.

    def eof_received(self) -> bool:
        if self.answer is None:
            self.close()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        host = self.host
        self.transport = None
        self.pool.deadlines.forget(self)
        if self.answer is not None:
            self.answer.lost(error)
        elif self in host.free:
            host.free.remove(self)
        host.connections -= 1
        host.next()
        self.parser = None  # it holds this object too

    def watch(self, seconds: float) -> None:
        """The deadlines are to ask for it by then. Once they will, they need not be told again before they do."""
        self.watched = self.loop.time() + seconds
        self.pool.deadlines.expect(self, seconds)

    def late(self) -> None:
        """Asked by the deadlines: whoever waits may have waited long enough."""
        self.watched = inf
        if self.answer is not None:
            self.answer.late()
            return
        left = self.idle_since + self.pool.limits.keep_alive - self.loop.time()
        if left > 0:
            self.watch(left)
        else:
            self.close()

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        if self.answer is not None:
            self.answer.more_time()

    def leave(self, keep: bool) -> None:
        """Nothing more will come: back to the others, to serve the next request, or closed."""
        self.answer = None
        host, pool = self.host, self.pool
        free, limits = host.free, pool.limits
        if not keep or pool.closed or len(free) >= limits.kept:
            self.close()
            return
        self.idle_since = now = self.loop.time()
        free.append(self)
        if now + limits.keep_alive < self.watched:
            self.watch(limits.keep_alive)
        if host.queue:
            host.next()

    def close(self) -> None:
        if self in self.host.free:
            self.host.free.remove(self)
        if self.transport is not None:
            self.transport.abort()


class Answer:
    """An upstream's answer: its head at once, its body as it comes. Read it to its end, or close it."""

    __slots__ = (
        "_end",
        "_error",
        "_late",
        "_patience",
        "_total",
        "connection",
        "done",
        "heading",
        "held",
        "inflate",
        "paused",
        "status",
        "waiter",
        "waiting",
    )

    _late: float  # when whoever waits has waited long enough
    _total: float  # what all of it may take, where that is bounded

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.waiting = connection.pieces
        """What has come and was not taken: the connection's own list, until it serves the next."""
        self.status = self.held = 0
        """0: its head is not there yet. `held`: bytes that have come and were not taken, in chunks and compressed as
        they may be."""
        self.heading: Heading = NONE
        self.done = self.paused = False
        """All of it has come; the upstream is not listened to."""
        self.inflate: Inflate | None = None
        """Where the body is compressed."""
        self.waiter: asyncio.Future[None] | None = None
        self._error: TransportError | None = None
        self._patience = 0.0
        self._end = inf

    # What the connection tells.

    def decode(self) -> None:
        """There may be something to be done to its body."""
        encoding = self.header("content-encoding").lower()
        if encoding in ("gzip", "x-gzip", "deflate"):
            self.inflate = Inflate(zlib.MAX_WBITS | (16 if "gzip" in encoding else 0))
            self.waiting = []

    def inflated(self, pieces: list[bytes], *, done: bool) -> bool:
        """More of a compressed body; False when it cannot be read."""
        assert self.inflate is not None
        try:
            data = self.inflate.feed(b"".join(pieces))
            if done:
                self.inflate.close()
        except (TooLarge, zlib.error) as error:
            self.fail("upstream_bad", f"the upstream's answer is not HTTP: {error}")
            return False
        finally:
            pieces.clear()
        if data:
            self.waiting.append(data)
            self.held += len(data)
        return True

    def pause(self) -> None:
        """More has come than is to be held."""
        transport = self.connection.transport
        if not self.waiting:  # it was all chunks' sizes and the like, and nobody will take it
            self.held = 0
        elif not self.paused and transport is not None:
            self.paused = True
            transport.pause_reading()

    def resume(self) -> None:
        """There is room again."""
        self.paused = False
        transport = self.connection.transport
        if transport is not None and self.connection.answer is self:
            transport.resume_reading()

    def lost(self, error: Exception | None) -> None:
        if self.status and not self.header("content-length") and "chunked" not in self.header("transfer-encoding"):
            if self.inflate is not None and not self.inflated([], done=True):
                return
            self.done = True  # a body that ends with the connection
        else:
            what = "in the middle of its answer" if self.began else "before it answered"
            self._error = TransportError("closed", f"the upstream closed the connection {what}" + why(error))
        self.connection.leave(False)
        self._wake()

    def late(self) -> None:
        """It did not come in time, if somebody waits for it."""
        if self.waiter is None or self.waiter.done():
            return
        now = self.connection.loop.time()
        if now < self._late:  # what came meanwhile was in time, and there is time again
            self.connection.watch(self._late - now)
            return
        what = (
            "fell silent" if self.status else "did not take the request" if self.connection.full else "did not answer"
        )
        over = now >= self._end
        self.fail(
            "timeout", too_long(self._total) if over else f"the upstream {what} within {self._patience:g} seconds"
        )

    def more_time(self) -> None:
        """Something happened that whoever waits need not know: it may take as long again."""
        self._late = min(self.connection.loop.time() + self._patience, self._end)

    # What the reader asks.

    @property
    def began(self) -> bool:
        """A byte of it has come."""
        return self.status > 0 or self.connection.in_head

    @property
    def headers(self) -> Headers:
        return list(self.heading)

    def header(self, name: str) -> str:
        return self.heading.header(name)

    def unheard(self) -> None:
        """Of an answer that has ended before its head came: raises the error that it ended with, unless it may be asked
        for again. So it is where not one byte of it came on a connection that had been idle, and was closed meanwhile,
        which shows at once. Then so may all the others be: the next one asked is new."""
        assert self._error is not None
        connection = self.connection
        asked = self._late - self._patience
        if self._error.kind != "closed" or self.began or not connection.idle_since:
            raise self._error
        if connection.loop.time() > asked + AT_ONCE:
            raise self._error
        for one in connection.host.free.copy():
            one.close()

    def within(self, seconds: float, total: float) -> None:
        """Give it up when the rest of it takes longer; `total` is what all of it may take."""
        self._end = self.connection.loop.time() + seconds
        self._total = total

    async def pieces(self, timeout: float | None = None) -> AsyncIterator[bytes]:
        """The body as it comes: everything that has come by now in one piece."""
        limit = self.connection.pool.limits.idle if timeout is None else timeout
        while True:
            if self.waiting:
                if self.connection.loop.time() >= self._end:
                    self.fail("timeout", too_long(self._total))
            elif self.done:
                return
            else:
                await self.coming(limit)
                if not self.waiting:
                    continue
            waiting = self.waiting  # as in _taken, which would be a call more for every piece
            data = b"".join(waiting)
            waiting.clear()
            self.held = 0
            if self.paused:
                self.resume()
            yield data

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        """The whole body, of at most `limit` bytes."""
        if not self.done:
            await self._all(limit, self.connection.pool.limits.idle if timeout is None else timeout)
        return self.whole(limit)

    def whole(self, limit: int) -> bytes:
        """The same, of one that is done."""
        body = b"".join(self.waiting)
        if len(body) > limit:
            raise self._too_long(limit)
        return body

    async def _all(self, limit: int, seconds: float) -> None:
        found: list[bytes] = []
        size = 0
        while not self.done:
            if self.paused or size + self.held > limit:
                found.append(self._taken())
                size += len(found[-1])
                if size > limit:
                    raise self._too_long(limit)
            await self.coming(seconds)
        self.waiting[:0] = found

    def _too_long(self, limit: int) -> TransportError:
        self.close()
        return TransportError("upstream_bad", f"the upstream's answer is longer than {limit} bytes")

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
        waiting = self.waiting
        data = b"".join(waiting)
        waiting.clear()
        self.held = 0
        if self.paused:
            self.resume()
        return data

    def coming(self, seconds: float) -> asyncio.Future[None]:
        """Done when more of it has come than some of its head, or nothing more will. Raises the error that it ended
        with."""
        if self._error is not None:
            raise self._error
        connection = self.connection
        loop = connection.loop
        self._patience = seconds
        late = loop.time() + seconds
        if late > self._end:
            late = self._end
        self._late = late
        if late < connection.watched:
            self._watch()
        self.waiter = waiter = loop.create_future()
        return waiter

    def _watch(self) -> None:
        """The deadlines are to look sooner than they would."""
        now = self.connection.loop.time()
        if now >= self._end:
            self.fail("timeout", too_long(self._total))
            assert self._error is not None
            raise self._error
        self.connection.watch(self._late - now)

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def fail(self, kind: str, message: str) -> None:
        """Give it up for a reason, which its reader is told."""
        self._error = self._error or TransportError(kind, message)
        if self.connection.answer is self:
            self.connection.leave(False)
        self._wake()
