"""Sends a stream to the client: its head, its events, keep-alives while the upstream is silent, and its end.

The head is sent with the first event, not before. Until then a fault has its own status, and other places can be tried.
But many clients and proxies give up after a minute without a byte. So after `bounds.patience` seconds the head is sent
with a keep-alive, and a later fault is an event of the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from ...canon.events import Fault
from ...canon.losses import Loss
from ...codec.cache_memory_budget import lookup_cache
from ...context import Context
from ...dialect.endpoints_record import EndpointCall
from ...dialects import get
from ...errors import TransportError, WireError
from ...translate.stream_passthrough import PassThrough
from ...transport.http_client_interface import UpstreamAnswer
from ..config import Bounds
from ..http.server import ReplyWriter
from .client_stream_framing import array_frames, keep_alive, media_type
from .recent_exchanges import Recording
from .secrets_in_passed_frames import SecretSearch, has_error
from .upstream_fault_messages import unanswered_request

BURST = 4096
"""Bytes of a piece that is translated in two steps when a stream begins."""
FIRST = 1024
"""Bytes of such a piece that are translated first."""
SLICE = 64 * 1024
"""Bytes. A longer piece is translated and sent in slices. So a slow client holds only one slice in memory, and other
exchanges have their turn in between."""


class Translator(Protocol):
    """Bytes of the upstream in, bytes for the client out."""

    fault: Fault | None
    note: str
    """How the upstream broke off after the complete answer."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far."""
        ...

    def feed(self, chunk: bytes, /) -> bytes:
        """The client's bytes for a piece of the upstream's stream."""
        ...

    def close(self, fault: Fault | None = None) -> bytes:
        """The last bytes for the client; with `fault`, the stream ends with that fault."""
        ...


class StreamReply:
    """The stream of one exchange, through all its attempts."""

    # Attributes that few streams set have their defaults in the class.
    _frame: array_frames | None = None
    _timer: asyncio.TimerHandle | None = None
    _silent = False
    watch: SecretSearch | None = None
    """Finds frames of the upstream that may repeat a secret; None where the gateway writes all frames itself."""

    def __init__(
        self,
        call: EndpointCall,
        reply: ReplyWriter,
        bounds: Bounds,
        headers: Callable[[str], list[tuple[str, str]]],
        redact: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """`redact` removes secrets from frames, in every spelling."""
        self._redact = redact
        self._dialect = call.dialect
        self._reply = reply
        self._bounds = bounds
        self._headers = headers
        self._media, self._beat = _type_and_keep_alive(call.dialect, call.array)
        if call.array:
            # A JSON array has no form for a keep-alive between its elements.
            self._frame = array_frames()
        elif self._beat and bounds.patience:
            self._timer = asyncio.get_running_loop().call_later(bounds.patience, self._out_of_patience)

    async def relay(
        self,
        answer: UpstreamAnswer,
        translator: Translator,
        answered: Recording,
        delivered: Recording,
        upstream: str = "",
    ) -> Fault | None:
        """Send the upstream's stream without delay: all events of one read in one write. Both recordings are new.

        Returns the fault that ended the stream. If any byte was sent, the client has got the fault too.
        """
        reply, feed, most = self._reply, translator.feed, self._bounds.answer

        def take(piece: bytes) -> bool:
            """Translate and send a piece at once. False: the piece needs a wait or an error, so nothing was done."""
            # Only the loop below can wait (for a slow client, for a long piece) or raise (for an answer that is too
            # long).
            if not reply.started or not reply.ready or len(piece) > SLICE or answered.size + len(piece) > most:
                return False
            answered.add(piece)
            out = feed(piece)
            if out:
                self._write(out, delivered)
            return True

        try:
            async for piece in answer.pieces(self._bounds.idle, take):
                if reply.started:
                    await reply.drain()  # the client may have fallen behind since the last piece
                answered.add(piece)
                if answered.size > most:
                    raise TransportError("upstream_bad", f"the stream is longer than {most} bytes")
                if not reply.started and len(piece) > BURST and type(translator) is not PassThrough:
                    # The first events do not wait until all others are translated.
                    self._begin(feed(piece[:FIRST]), translator, delivered)
                    await asyncio.sleep(0)  # sends the first events
                    piece = piece[FIRST:]
                if reply.started:
                    if len(piece) > SLICE:
                        piece = await self._send_all_but_last_slice(piece, feed, delivered)
                    out = feed(piece)
                    if out:
                        self._write(out, delivered)
                else:
                    self._begin(feed(piece), translator, delivered)
                    if not reply.started and translator.fault is not None:
                        return translator.fault
                await reply.drain()
            rest = translator.close()
        except TransportError as error:
            rest = translator.close(unanswered_request(error, upstream))
        except (WireError, RecursionError) as error:
            rest = translator.close(Fault("upstream_bad", f"the upstream sent a broken frame: {error}", 502))
        if translator.fault is None or reply.started:
            self.finish(rest, delivered)
        return translator.fault

    async def _send_all_but_last_slice(
        self, piece: bytes, feed: Callable[[bytes], bytes], delivered: Recording
    ) -> bytes:
        """Translate and send a long piece, except for its last slice, which is returned."""
        at = 0
        while len(piece) - at > SLICE:
            out = feed(piece[at : at + SLICE])
            at += SLICE
            if out:
                self._write(out, delivered)
            await self._reply.drain()
            await asyncio.sleep(0)  # let other exchanges have their turn
        return piece[at:]

    def _begin(self, out: bytes, translator: Translator, delivered: Recording) -> None:
        """Send the first events. If the stream begins with a fault, nothing is sent, and the fault is handled like a
        fault without a stream."""
        if out and (self._reply.started or translator.fault is None):
            if not self._reply.started:
                self.send_head()
            self._write(out, delivered)

    def _write(self, out: bytes, delivered: Recording) -> None:
        self._silent = False
        watch = self.watch
        if has_error(out) if watch is None else watch.is_suspicious(out):
            out = self._redact(out)
        if self._frame is not None:
            out = self._frame.feed(out)
        delivered.add(out)
        self._reply.write(out)

    def send_head(self) -> None:
        """Send the head with the next bytes. From now on no other place can be tried."""
        self.stop()
        self._reply.start(200, self._headers(self._media))
        if self._beat and self._bounds.keep_alive:
            self._timer = asyncio.get_running_loop().call_later(self._bounds.keep_alive / 2, self._send_keep_alive)

    def finish(self, rest: bytes, delivered: Recording) -> None:
        """Send the last bytes."""
        self.stop()
        if not self._reply.started:
            self._reply.start(200, self._headers(self._media))
        watch = self.watch
        if rest and (has_error(rest) if watch is None else watch.is_suspicious(rest)):
            rest = self._redact(rest)
        if self._frame is not None:
            rest = self._frame.feed(rest) + self._frame.close()
        delivered.add(rest)
        self._reply.write(rest)
        self._reply.end()

    def fail(self, fault: Fault, delivered: Recording) -> None:
        """End a stream that has only a head, with a fault."""
        self.finish(get(self._dialect).writer(Context(self._dialect, self._dialect)).send(fault), delivered)

    def stop(self) -> None:
        """Send no more keep-alives."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _out_of_patience(self) -> None:
        self.send_head()
        self._reply.write(self._beat)

    def _send_keep_alive(self) -> None:
        # The timer runs twice in each period. So sending a piece costs only the reset of a flag.
        if self._silent:
            self._reply.write(self._beat)
        self._silent = True
        self._timer = asyncio.get_running_loop().call_later(self._bounds.keep_alive / 2, self._send_keep_alive)


@lookup_cache(64)
def _type_and_keep_alive(dialect: str, array: bool) -> tuple[str, bytes]:
    """The content type of a stream, and its keep-alive bytes."""
    return media_type(dialect, array=array), b"" if array else keep_alive(dialect)
