"""The live stream: exchanges as server-sent events, when they begin and when they end, to every watcher.

Without a watcher no rows are made. With watchers, rows are made for at most a fifth of the time, so that a busy gateway
stays quick. Further rows are left out, and their number is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic, time
from typing import Any

from ...codec import json_text
from ..config import Config
from ..exchange.exchange_row import exchange_row
from ..exchange.recent_exchanges import Exchange, Exchanges, Watcher
from ..http.exchanges_of_other_workers import EVERYBODY
from ..http.server import ReplyWriter

MOST_WATCHERS = 32
"""Streams that one worker serves at once."""
MOST_OF_ONE = 8
"""Streams of one worker that one client may have at once."""
TICK = 0.25
"""Seconds between two searches for new exchanges."""
BUSY = TICK / 5
"""Seconds of each `TICK` in which rows are made."""
BEAT = 15.0
"""Seconds of silence after which a comment is sent, to show that the stream is alive."""
MOST_OF_PEER = 50
"""Rows in one answer of a worker to another worker."""
PEERS = 1.0
"""Seconds between two requests to the other workers."""
_HEADERS = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    # nginx holds an answer back unless the answer has this header.
    ("x-accel-buffering", "no"),
]

AskPeers = Callable[[str, str], Awaitable[list[bytes]]]


def is_full(exchanges: Exchanges, viewer: str) -> bool:
    """Whether no more streams are served, to anybody or to this viewer."""
    own = [one for one in exchanges.watchers if one.viewer == viewer]
    return len(exchanges.watchers) >= MOST_WATCHERS or len(own) >= MOST_OF_ONE


async def stream_exchanges(
    exchanges: Exchanges,
    viewer: str,
    keys: Callable[[], list[str]],
    config: Callable[[], Config],
    reply: ReplyWriter,
    goes_on: Callable[[], bool],
    peers: AskPeers | None = None,
) -> None:
    """Send rows until the viewer leaves, or until `goes_on` is false. `keys` gives the secrets of the gateway, and
    `config` its configuration."""
    watcher = Watcher(viewer, EVERYBODY)
    exchanges.watchers.append(watcher)
    reply.start(200, _HEADERS)
    reply.write(_event("hello", {"sees": "all" if viewer == EVERYBODY else "own"}))
    stream = _Stream(exchanges, watcher, keys, config, peers)
    quiet = 0.0
    try:
        while goes_on():
            out = await stream.next_events()
            quiet = 0.0 if out else quiet + TICK
            if quiet >= BEAT:
                out, quiet = b": nothing happened\n\n", 0.0
            reply.write(out)
            await reply.drain()
            await asyncio.sleep(TICK)
        reply.end()
    finally:
        exchanges.watchers.remove(watcher)
        # Ended exchanges leave this list only while someone watches.
        if not exchanges.watchers:
            exchanges.running.clear()


class _Stream:
    """The events for one watcher."""

    def __init__(
        self,
        exchanges: Exchanges,
        watcher: Watcher,
        keys: Callable[[], list[str]],
        config: Callable[[], Config],
        peers: AskPeers | None,
    ) -> None:
        self._exchanges = exchanges
        self._watcher = watcher
        self._keys = keys
        self._config = config
        self._peers = peers
        self._announced: set[str] = set()
        self._asked = time()
        self._due = 0.0

    async def next_events(self) -> bytes:
        """The events since the last call."""
        out = [self._begun(), *self._ended()]
        if self._peers is not None and monotonic() >= self._due:
            out += await self._ended_in_other_workers(self._peers)
        if self._watcher.missed:
            out.append(_event("missed", {"count": self._watcher.missed}))
            self._watcher.missed = 0
        return b"".join(out)

    def _begun(self) -> bytes:
        """Exchanges that have been under way for a moment. Shorter ones are shown when they have ended."""
        running, now, keys = self._exchanges.running, time(), self._keys()
        self._announced &= running.keys()
        found = [
            one
            for one in running.values()
            if one.id not in self._announced and now - one.began > TICK and self._watcher.may_see(one)
        ]
        self._announced.update([one.id for one in found])
        return b"".join([_event("begun", _begun_row(one, self._config(), keys)) for one in found])

    def _ended(self) -> list[bytes]:
        waiting, out = self._watcher.waiting, []
        if waiting:
            keys, end = self._keys(), monotonic() + BUSY
            kept = {one.id: one for one in self._exchanges.all()}
            while waiting and monotonic() < end:
                exchange = kept.get(waiting.popleft())
                if exchange is None:  # already dropped, because of the limits on kept exchanges
                    self._watcher.missed += 1
                else:
                    out.append(_event("row", exchange_row(exchange, self._config(), keys)))
        return out

    async def _ended_in_other_workers(self, ask: AskPeers) -> list[bytes]:
        """Rows of the other workers. A row may come twice: the page knows rows by their id."""
        since, self._asked = self._asked - PEERS, time()
        answers = await ask(self._watcher.viewer, f">{since:.3f}")
        self._due = monotonic() + PEERS
        return [_event("row", one) for answer in answers for one in json_text.decode(answer)]


def _begun_row(exchange: Exchange, config: Config, keys: list[str]) -> dict[str, Any]:
    return {**exchange_row(exchange, config, keys), "running": True}


def _event(name: str, value: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), json_text.encode(value))
