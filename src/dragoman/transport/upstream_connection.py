"""One connection to an upstream. `upstream_answer.py` owns the answer that is being received.

This code runs for every request, and parts of it for every piece of a stream, so it does as little as possible. The
connection changes the state of its answer directly. The parser's callbacks append to lists where that is enough.
Headers are not reported one by one (`response_head_reader.py`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from math import inf
from typing import TYPE_CHECKING, Any, cast

import httptools

from .http_client_interface import MAX_HEAD, Address
from .request_head_and_decompression import BrokenAnswer
from .response_head_reader import HeadReader
from .upstream_answer import HIGH_WATER, ConnectionAnswer

if TYPE_CHECKING:
    from .http_client import Pool

_ONE = (None, None)
"""The parser's two callbacks for one answer: its beginning and its end."""


class AddressConnections:
    """The connections of the pool to one address."""

    __slots__ = ("address", "connections", "free", "heads", "opening", "queue")

    def __init__(self, address: Address) -> None:
        self.address = address
        self.connections = 0
        self.opening = 0
        """Number of connections that are being opened."""
        self.free: list[UpstreamConnection] = []
        """Idle connections, open and not too old. The last one that came back is used first."""
        self.queue: deque[asyncio.Future[None]] = deque()
        self.heads = HeadReader()

    def continue_waiting(self) -> None:
        """Let the first waiting request continue, because a connection is free."""
        while self.queue:
            turn = self.queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return


class UpstreamConnection(asyncio.Protocol):
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

    def __init__(self, pool: Pool, host: AddressConnections) -> None:
        self.pool = pool
        self.host = host
        self.loop: asyncio.AbstractEventLoop = pool.loop
        self.transport: asyncio.Transport | None = None
        self.answer: ConnectionAnswer | None = None
        self.idle_since = 0.0  # 0: never idle yet
        self.watched = inf  # time of the next check by the deadlines
        self.full = False  # the system's send buffer is full
        self._head = b""  # the part of a head that has come so far
        self._status = 0  # status of a head that has come and is not read yet
        self._keep = False
        # The parser calls these without a Python frame of ours. Pieces of a body are appended as they come (some
        # upstreams send every event of a stream as a chunk of its own). An answer without a request finds an empty list
        # to pop from, which the parser treats as an error.
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append
        self._due: list[None] = []
        # The methods of lists are called by the parser directly, without Python code of ours.
        self.on_message_begin = self.on_message_complete = self._due.pop
        self.parser: Any = httptools.HttpResponseParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transport is not a subclass of asyncio.Transport
        if hasattr(transport, "max_size"):  # asyncio reads a quarter of a megabyte at once by default
            transport.max_size = HIGH_WATER
        self.host.connections += 1

    def ask(self, head: bytes, body: bytes = b"") -> ConnectionAnswer:
        """Send a request, whole in `head` or with its body apart. No other answer may be under way."""
        self.answer = answer = ConnectionAnswer(self)
        # Two entries for each answer: its beginning and its end.
        self._due.extend(_ONE)
        transport = self.transport
        if transport is not None:
            if body:
                # `writelines` avoids a copy of a large body.
                transport.writelines((head, body))
            else:
                transport.write(head)
        else:  # closed in the moment in which it was opened
            answer.end_by_closed_connection(None)
        return answer

    def data_received(self, data: bytes) -> None:
        """Parse bytes of the upstream, and wake the reader of the answer."""
        answer = self.answer
        if answer is None:  # Bytes without a request: the connection can no longer be used.
            self.close()
            return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            answer.fail("upstream_bad", "the upstream switched protocols")
            return
        except httptools.HttpParserError as error:
            if self._due:
                cause = error.__context__ if isinstance(error.__context__, BrokenAnswer) else error
                answer.fail("upstream_bad", f"the upstream's answer is not HTTP: {cause or error}")
                return
            self._keep = False  # More than one answer to one request: what follows does not belong to any request.
        if not answer.status and not self._read_head(answer, data):
            return
        if answer.inflate is not None and not answer.decompress(self.pieces, done=not self._due):
            return
        if self._due:  # more of the answer will come
            take = answer.take
            if take is not None and answer.waiting and answer.give_pieces(take):
                return
            answer.buffered += len(data)
            if answer.buffered > HIGH_WATER:
                answer.pause()
        else:
            answer.done = True
            answer.waiting = answer.waiting.copy()  # the connection's list is for the next answer
            self.pieces.clear()
            if answer.paused:
                answer.resume()
            # Unsent bytes of this request would come before the next request, so a full connection is not used again.
            self.end_answer(self._keep and not self.full)
        waiter = answer.waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _read_head(self, answer: ConnectionAnswer, data: bytes) -> bool:
        """Take bytes of a head. False as long as the reader has nothing to read."""
        head, status = self._head + data, self._status
        if not status:
            self._head = head
            if len(head) > MAX_HEAD:  # the parser does not report a header that never ends
                answer.fail("upstream_bad", f"the head of the upstream's answer is longer than {MAX_HEAD} bytes")
            else:
                answer.more_time()
            return False
        self._head = b""
        self._status = 0
        answer.heading = found = self.host.heads.read(head)
        if len(head) > MAX_HEAD and found.size() > MAX_HEAD:
            answer.fail("upstream_bad", "the upstream's answer is not HTTP: its head is too large")
            return False
        answer.status = status
        if found.shape.compressed:
            answer.decode()
        return True

    # Callbacks of the parser.

    def on_headers_complete(self) -> None:
        """Note the status of a final answer; expect another answer after an interim one."""
        parser = self.parser
        status = parser.get_status_code()
        if status >= 200:
            self._status = status
            self._keep = parser.should_keep_alive()
        elif status >= 100:  # An interim answer; the final one follows (RFC 9110, 15.2, June 2022).
            self._due.extend(_ONE)
        else:
            raise BrokenAnswer(f"its status is {status}")

    @property
    def in_head(self) -> bool:
        """Whether a part of a head has come."""
        return self._head != b""

    # Further callbacks of the transport and the deadlines.

    def eof_received(self) -> bool:
        """Close an idle connection whose other side has closed."""
        if self.answer is None:
            self.close()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """End the answer under way, and let the next waiting request continue."""
        host = self.host
        self.transport = None
        self.pool.deadlines.forget(self)
        if self.answer is not None:
            self.answer.end_by_closed_connection(error)
        elif self in host.free:
            host.free.remove(self)
        host.connections -= 1
        host.continue_waiting()
        self.parser = None  # the parser holds a reference to this object

    def check_in(self, seconds: float) -> None:
        """Have the deadlines check this connection in `seconds`. Until that check no other call is needed."""
        self.watched = self.loop.time() + seconds
        self.pool.deadlines.expect(self, seconds)

    def on_deadline(self) -> None:
        """Called when the deadline has passed: end the answer that is late, or close a connection that was idle for too
        long."""
        self.watched = inf
        if self.answer is not None:
            self.answer.on_deadline()
            return
        left = self.idle_since + self.pool.limits.keep_alive - self.loop.time()
        if left > 0:
            self.check_in(left)
        else:
            self.close()

    def pause_writing(self) -> None:
        """The send buffer is full."""
        self.full = True

    def resume_writing(self) -> None:
        """The send buffer has room again, so the upstream gets its time again."""
        self.full = False
        if self.answer is not None:
            self.answer.more_time()

    def end_answer(self, keep: bool) -> None:
        """End an answer: the connection goes back to the pool, or is closed."""
        self.answer = None
        host, pool = self.host, self.pool
        free, limits = host.free, pool.limits
        # A few idle connections are enough. The others only cost memory at both sides.
        if not keep or pool.closed or len(free) >= limits.kept:
            self.close()
            return
        self.idle_since = now = self.loop.time()
        free.append(self)
        if now + limits.keep_alive < self.watched:
            self.check_in(limits.keep_alive)
        if host.queue:
            host.continue_waiting()

    def close(self) -> None:
        """Close the connection at once."""
        if self in self.host.free:
            self.host.free.remove(self)
        if self.transport is not None:
            # `abort` does not wait for unsent bytes, which nobody needs any more.
            self.transport.abort()
