"""An upstream's answer as it comes: `upstream_connection.py` adds bytes and errors, the relay reads them."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING

from ..errors import TransportError
from .http_client_interface import Headers, Take, too_long
from .large_body_joining import is_large, join_pieces
from .request_head_and_decompression import Inflate, TooLarge, reason_text
from .response_head_reader import NONE, ResponseHead

if TYPE_CHECKING:
    from .upstream_connection import UpstreamConnection

# Enough for a fast stream. With a slow client the upstream has to wait, and our memory does not grow.
HIGH_WATER = 64 * 1024
"""Bytes of an answer that are held for a slow reader before reading from the upstream is paused."""
AT_ONCE = 5.0
"""Seconds within which a closed idle connection shows that it is closed. After a longer time the upstream may have
worked on the request."""


class ConnectionAnswer:
    """An upstream's answer: its head at once, its body as it comes. Read the answer to its end, or close it."""

    __slots__ = (
        "_end",
        "_error",
        "_late",
        "_patience",
        "_total",
        "buffered",
        "connection",
        "done",
        "heading",
        "inflate",
        "paused",
        "status",
        "take",
        "waiter",
        "waiting",
    )

    _late: float  # the deadline of the reader that waits
    _total: float  # the time limit of the whole answer, for the message

    def __init__(self, connection: UpstreamConnection) -> None:
        self.connection = connection
        self.waiting = connection.pieces
        """Pieces that have come and were not read. The list belongs to the connection until its next answer."""
        self.status = self.buffered = 0
        """`status` 0: the head has not come yet. `buffered`: bytes that have come and were not read, counted as they
        came, chunked and compressed."""
        self.heading: ResponseHead = NONE
        self.done = self.paused = False
        """`done`: the whole answer has come. `paused`: reading from the upstream is paused."""
        self.inflate: Inflate | None = None
        """The decompressor of a compressed body."""
        self.waiter: asyncio.Future[None] | None = None
        self.take: Take | None = None
        """Set while the reader waits, and need not wake for every piece."""
        self._error: TransportError | None = None
        self._patience = 0.0
        self._end = inf

    # Called by the connection.

    def decode(self) -> None:
        """Prepare for a compressed body, if the head announces one."""
        encoding = self.header("content-encoding").lower()
        if encoding in ("gzip", "x-gzip", "deflate"):
            self.inflate = Inflate(zlib.MAX_WBITS | (16 if "gzip" in encoding else 0))
            # Decompressed bytes must not go into the connection's own list.
            self.waiting = []

    def decompress(self, pieces: list[bytes], *, done: bool) -> bool:
        """Take more of a compressed body; False when it cannot be decompressed."""
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
            self.buffered += len(data)
        return True

    def give_pieces(self, take: Take) -> bool:
        """Give the pieces that have come to `take`. False: they wait, and the reader has to wake."""
        now, waiter = self.connection.loop.time(), self.waiter
        # A reader that was woken goes on by itself. An error of `take` would not reach that reader.
        # A reader that is due must see the time limit itself.
        if waiter is None or waiter.done() or now >= self._end:
            return False
        waiting = self.waiting
        try:
            if not take(waiting[0] if len(waiting) == 1 else b"".join(waiting)):
                return False
        except Exception as error:  # noqa: BLE001 (it belongs to the reader, and not to the event loop)
            self.take = None
            if not waiter.done():
                waiter.set_exception(error)
        waiting.clear()
        self.buffered = 0
        self._late = min(now + self._patience, self._end)
        return True

    def pause(self) -> None:
        """Pause reading from the upstream: more has come than is to be held."""
        transport = self.connection.transport
        if not self.waiting:  # Only sizes of chunks and the like have come, which nobody reads.
            self.buffered = 0
        elif not self.paused and transport is not None:
            self.paused = True
            transport.pause_reading()

    def resume(self) -> None:
        """Read from the upstream again."""
        self.paused = False
        transport = self.connection.transport
        if transport is not None and self.connection.answer is self:
            transport.resume_reading()

    def end_by_closed_connection(self, error: Exception | None) -> None:
        """End the answer, because the connection was closed."""
        if self.status and not self.header("content-length") and "chunked" not in self.header("transfer-encoding"):
            if self.inflate is not None and not self.decompress([], done=True):
                return
            self.done = True  # A body without a length ends with the connection (RFC 9112, 6.3, June 2022).
        else:
            what = "in the middle of its answer" if self.began else "before it answered"
            self._error = TransportError("closed", f"the upstream closed the connection {what}" + reason_text(error))
        self.connection.end_answer(False)
        self._wake()

    def on_deadline(self) -> None:
        """End the answer if a reader waits for it and its time is over."""
        if self.waiter is None or self.waiter.done():
            return
        now = self.connection.loop.time()
        if now < self._late:  # Bytes that came meanwhile were in time, and renewed the deadline.
            self.connection.check_in(self._late - now)
            return
        what = (
            "sent nothing" if self.status else "did not take the request" if self.connection.full else "did not answer"
        )
        over = now >= self._end
        self.fail(
            "timeout", too_long(self._total) if over else f"the upstream {what} within {self._patience:g} seconds"
        )

    def more_time(self) -> None:
        """Renew the deadline after something that the reader does not see."""
        self._late = min(self.connection.loop.time() + self._patience, self._end)

    # Called by the reader.

    @property
    def began(self) -> bool:
        """Whether a byte of the answer has come."""
        return self.status > 0 or self.connection.in_head

    @property
    def headers(self) -> Headers:
        """Names in lower case, and values."""
        return list(self.heading)

    def header(self, name: str) -> str:
        """The first header of a name; "" where there is none."""
        return self.heading.header(name)

    def raise_if_not_repeatable(self) -> None:
        """For an answer that ended before its head came: raises the error, unless the request may be sent again.

        The request may be sent again if not one byte came, on a connection that had been idle and turned out to be
        closed at once. Then all other idle connections may be closed too. So they are dropped, and the next request
        uses a new one.
        """
        assert self._error is not None
        connection = self.connection
        asked = self._late - self._patience
        if self._error.kind != "closed" or self.began or not connection.idle_since:
            raise self._error
        # After a longer time the upstream may have worked on the request, and may have counted it.
        if connection.loop.time() > asked + AT_ONCE:
            raise self._error
        for one in connection.host.free.copy():
            one.close()

    def limit_time(self, seconds: float, total: float) -> None:
        """Give up after `seconds` more. `total` is the time limit for the whole answer, for the message."""
        self._end = self.connection.loop.time() + seconds
        self._total = total

    async def pieces(self, timeout: float | None = None, take: Take | None = None) -> AsyncIterator[bytes]:
        """The body as it comes: all bytes that have come so far in one piece. `take` gets each piece first, in the
        callback of the connection, while the reader waits. Only pieces for which `take` returns False are yielded.
        """
        limit = self.connection.pool.limits.idle if timeout is None else timeout
        while True:
            if self.waiting:
                if self.connection.loop.time() >= self._end:
                    self.fail("timeout", too_long(self._total))
            elif self.done:
                return
            else:
                self.take = take
                try:
                    await self.wait_for_head(limit)
                finally:
                    self.take = None
                if not self.waiting:
                    continue
            waiting = self.waiting  # As in _taken, whose call would cost time for every piece.
            data = b"".join(waiting)
            waiting.clear()
            self.buffered = 0
            yield data
            if self.paused:  # Not earlier: while the reader is slow, one piece is held, not two.
                self.resume()

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        """The whole body, of at most `limit` bytes."""
        await self._read_all(limit, self.connection.pool.limits.idle if timeout is None else timeout)
        if sum(map(len, self.waiting)) > limit:
            raise self._too_long(limit)
        return await join_pieces(self.waiting)

    def whole(self, limit: int) -> bytes | None:
        """The whole body, if all of it has come and it is not large; else None."""
        if not self.done or is_large(self.waiting):
            return None
        body = b"".join(self.waiting)
        if len(body) > limit:
            raise self._too_long(limit)
        return body

    async def _read_all(self, limit: int, seconds: float) -> None:
        found: list[bytes] = []
        size = 0
        while not self.done:
            # The answer may not grow beyond the limit while nobody reads it.
            if self.paused or size + self.buffered > limit:
                found.append(self._take_pieces())
                size += len(found[-1])
                if size > limit:
                    raise self._too_long(limit)
            await self.wait_for_head(seconds)
        self.waiting[:0] = found

    def _too_long(self, limit: int) -> TransportError:
        self.close()
        return TransportError("upstream_bad", f"the upstream's answer is longer than {limit} bytes")

    def close(self) -> None:
        """Drop the rest of the answer. The connection is closed at once, unless the whole answer has come."""
        if not self.done:
            self.fail("closed", "the gateway closed the connection before the end of the answer")

    async def __aenter__(self) -> ConnectionAnswer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take_pieces(self) -> bytes:
        waiting = self.waiting
        data = b"".join(waiting)
        waiting.clear()
        self.buffered = 0
        if self.paused:
            self.resume()
        return data

    def wait_for_head(self, seconds: float) -> asyncio.Future[None]:
        """Done when the head or more of the body has come, or when nothing more will come. Raises the error that ended
        the answer."""
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
        """Have the deadlines check this answer sooner."""
        now = self.connection.loop.time()
        if now >= self._end:
            self.fail("timeout", too_long(self._total))
            assert self._error is not None
            raise self._error
        self.connection.check_in(self._late - now)

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def fail(self, kind: str, message: str) -> None:
        """Give up with an error, which the reader gets."""
        self._error = self._error or TransportError(kind, message)
        if self.connection.answer is self:
            self.connection.end_answer(False)
        self._wake()
