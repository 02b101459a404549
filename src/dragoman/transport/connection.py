"""One connection to an upstream. The answer under way on it is in `upstream_answer.py`.

All that happens here happens for every request, and some of it for every piece of a stream: what counts is how little
that is. So the connection does itself to its answer what is to be done when something comes; what the parser has to say
goes straight into lists where that is enough; and headers are not told one by one (see `known_response_heads.py`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from math import inf
from typing import TYPE_CHECKING, Any, cast

import httptools

from .client_interface import MAX_HEAD, Address
from .http_bytes import Broken
from .known_response_heads import HeadShapes
from .upstream_answer import HIGH_WATER, Answer

if TYPE_CHECKING:
    from .http_client import Pool

_ONE = (None, None)
"""What the parser may tell of one answer: that it begins, and that it ends."""


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
        self.shapes = HeadShapes()

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
        if hasattr(transport, "max_size"):  # asyncio's: what one read may bring, a quarter of a megabyte unless set
            transport.max_size = HIGH_WATER
        self.host.connections += 1

    def ask(self, head: bytes, body: bytes = b"") -> Answer:
        """Send a request: all of it in `head`, or the body apart. Nobody else's answer may be under way."""
        self.answer = answer = Answer(self)
        self._due.extend(_ONE)
        transport = self.transport
        if transport is not None:
            if body:
                transport.writelines((head, body))
            else:
                transport.write(head)
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
