"""A stream to the client: when its head is sent, signs of life while the upstream is silent, and how it ends.

The head is sent with the first event, not before: until then a fault has its own status, and other places can be
tried. A client, or a proxy before it, that hears nothing for a minute gives up, though; so after `bounds.patience`
seconds the head goes out with a sign of life, and a fault that comes then is an event of the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from ...canon.events import Fault
from ...canon.losses import Loss
from ...context import Context
from ...dialects import get
from ...endpoints.records import Call
from ...errors import TransportError, WireError
from ...translate.stream_passthrough import PassThrough
from ...transport.client_interface import Answer
from ..config import Bounds
from ..http.answer_framing import array_frames, keep_alive, media_type
from ..http.server import Reply
from .fault_messages import unanswered
from .frame_secret_search import SecretSearch, has_error
from .recent_exchanges import Recording

BURST = 4096
"""Bytes of a stream that come at once, and then some."""
FIRST = 1024
"""Of these, what is translated first."""
SLICE = 64 * 1024
"""More than this is translated and sent in slices: a client that reads slowly then holds one slice, and other exchanges
have their turn in between."""


class Translator(Protocol):
    """Bytes of the upstream in, bytes for the client out."""

    fault: Fault | None
    note: str
    """How the upstream broke off once the answer was whole."""

    @property
    def losses(self) -> tuple[Loss, ...]: ...

    def feed(self, chunk: bytes, /) -> bytes: ...

    def close(self, fault: Fault | None = None) -> bytes: ...


class StreamReply:
    """The stream of one exchange, through all its attempts."""

    # What few streams set, and what they set late, is found in the class until they do.
    _frame: array_frames | None = None
    _timer: asyncio.TimerHandle | None = None
    _silent = False
    watch: SecretSearch | None = None
    """Finds frames of the upstream's own that may repeat a secret; None where all frames are written here."""

    def __init__(
        self,
        call: Call,
        reply: Reply,
        bounds: Bounds,
        headers: Callable[[str], list[tuple[str, str]]],
        redact: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """`redact` takes secrets out of frames, however they are spelled."""
        self._redact = redact
        self._dialect = call.dialect
        self._reply = reply
        self._bounds = bounds
        self._headers = headers
        self._media, self._beat = _framed(call.dialect, call.array)
        if call.array:
            self._frame = array_frames()
        elif self._beat and bounds.patience:
            self._timer = asyncio.get_running_loop().call_later(bounds.patience, self._out_of_patience)

    async def pour(
        self, answer: Answer, translator: Translator, answered: Recording, told: Recording, upstream: str = ""
    ) -> Fault | None:
        """The upstream's stream, as it comes: all events of one read in one write. Both tapes are new.

        Gives the fault that it broke off with, of which the client knows if anything has been sent to it.
        """
        reply, feed, most = self._reply, translator.feed, self._bounds.answer
        try:
            async for piece in answer.pieces(self._bounds.idle):
                answered.add(piece)
                if answered.size > most:
                    raise TransportError("upstream_bad", f"the stream is longer than {most} bytes")
                if not reply.started and len(piece) > BURST and type(translator) is not PassThrough:
                    # The first events need not wait until all the others are translated.
                    self._begin(feed(piece[:FIRST]), translator, told)
                    await asyncio.sleep(0)  # lets them go
                    piece = piece[FIRST:]
                if reply.started:
                    if len(piece) > SLICE:
                        piece = await self._most(piece, feed, told)
                    out = feed(piece)
                    if out:
                        self._tell(out, told)
                else:
                    self._begin(feed(piece), translator, told)
                    if not reply.started and translator.fault is not None:
                        return translator.fault
                await reply.drain()
            rest = translator.close()
        except TransportError as error:
            rest = translator.close(unanswered(error, upstream))
        except (WireError, RecursionError) as error:
            rest = translator.close(Fault("upstream_bad", f"the upstream sent a broken frame: {error}", 502))
        if translator.fault is None or reply.started:
            self.finish(rest, told)
        return translator.fault

    async def _most(self, piece: bytes, feed: Callable[[bytes], bytes], told: Recording) -> bytes:
        """Translate and send a long piece but for its last slice, which is given back."""
        at = 0
        while len(piece) - at > SLICE:
            out = feed(piece[at : at + SLICE])
            at += SLICE
            if out:
                self._tell(out, told)
            await self._reply.drain()
            await asyncio.sleep(0)  # others have their turn
        return piece[at:]

    def _begin(self, out: bytes, translator: Translator, told: Recording) -> None:
        """The first events. Those of a stream that begins with a fault are none: the fault is the answer."""
        if out and (self._reply.started or translator.fault is None):
            if not self._reply.started:
                self.open()
            self._tell(out, told)

    def _tell(self, out: bytes, told: Recording) -> None:
        self._silent = False
        watch = self.watch
        if has_error(out) if watch is None else watch.is_suspicious(out):
            out = self._redact(out)
        if self._frame is not None:
            out = self._frame.feed(out)
        told.add(out)
        self._reply.write(out)

    def open(self) -> None:
        """The head goes out, with whatever is written next. Nothing can be tried any more."""
        self.stop()
        self._reply.start(200, self._headers(self._media))
        if self._beat and self._bounds.keep_alive:
            self._timer = asyncio.get_running_loop().call_later(self._bounds.keep_alive / 2, self._tick)

    def finish(self, rest: bytes, told: Recording) -> None:
        """The last bytes."""
        self.stop()
        if not self._reply.started:
            self._reply.start(200, self._headers(self._media))
        watch = self.watch
        if rest and (has_error(rest) if watch is None else watch.is_suspicious(rest)):
            rest = self._redact(rest)
        if self._frame is not None:
            rest = self._frame.feed(rest) + self._frame.close()
        told.add(rest)
        self._reply.write(rest)
        self._reply.end()

    def fail(self, fault: Fault, told: Recording) -> None:
        """End a stream that has only been opened."""
        self.finish(get(self._dialect).writer(Context(self._dialect, self._dialect)).send(fault), told)

    def stop(self) -> None:
        """No more signs of life."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _out_of_patience(self) -> None:
        self.open()
        self._reply.write(self._beat)

    def _tick(self) -> None:
        # Twice in the time that may pass, so that nothing has to be written down for each piece but that it came.
        if self._silent:
            self._reply.write(self._beat)
        self._silent = True
        self._timer = asyncio.get_running_loop().call_later(self._bounds.keep_alive / 2, self._tick)


@lru_cache(maxsize=64)
def _framed(dialect: str, array: bool) -> tuple[str, bytes]:
    """The content type of a stream, and what is a sign of life in it."""
    return media_type(dialect, array=array), b"" if array else keep_alive(dialect)
