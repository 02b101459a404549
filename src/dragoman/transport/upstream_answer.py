"""An upstream's answer as it comes: the connection (`connection.py`) tells it what happens, the relay reads it."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING

from ..errors import TransportError
from .body_joining import is_large, join_pieces
from .client_interface import Headers, too_long
from .http_bytes import Inflate, TooLarge, why
from .known_response_heads import NONE, ResponseHead

if TYPE_CHECKING:
    from .connection import Connection

HIGH_WATER = 64 * 1024
"""Bytes of an answer held for a slow reader before the upstream is no longer listened to."""
AT_ONCE = 5.0
"""Seconds within which a connection that was closed while it was idle says so. Later the upstream may have worked on
what it was asked."""


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
        self.heading: ResponseHead = NONE
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
            yield data
            if self.paused:  # not before: while its reader is slow, one piece is held, not two
                self.resume()

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        """The whole body, of at most `limit` bytes."""
        await self._all(limit, self.connection.pool.limits.idle if timeout is None else timeout)
        if sum(map(len, self.waiting)) > limit:
            raise self._too_long(limit)
        return await join_pieces(self.waiting)

    def whole(self, limit: int) -> bytes | None:
        """The same, if all of it has come and it is not large."""
        if not self.done or is_large(self.waiting):
            return None
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
