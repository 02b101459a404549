"""Which upstreams are left alone for a while because they failed again and again. One breaker for each upstream.

A breaker never refuses a request. It decides the order of the places: an upstream that rests is asked last, when no
other place has served the request. So a route with one place asks that place whatever its breaker says.

A failure counts only when another place has then served the same request: the request was sound, and the upstream was
not. A request that fails everywhere says nothing of anybody. Failures are counted by distinct requests: a request that
a client repeats counts once. The failures of one client alone close the upstream for that client alone.

Closed: everybody asks the upstream. Open, after `trip` failures in a row or a refused key: it rests. The first rest has
`rest` seconds, each further one twice as many, never quite the same for several gateways, and never less than the
upstream's own `retry-after`. Half-open, after the rest: one request at a time tries. If the upstream serves it, the
breaker closes; if not, the upstream rests again.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from typing import Literal

from ...canon.events import Fault
from ..config import Upstream

State = Literal["closed", "open", "half-open"]

MAX_REST = 600.0
"""Seconds of the longest rest that grows by doubling."""
MAX_RETRY_AFTER = 3600.0
"""Seconds of an upstream's `retry-after` that are believed."""
PROBE_SECONDS = 10.0
"""For so long the others leave an upstream alone while one request tries it. A long stream does not hold them up."""
MAX_COUNTED = 100
"""Failed requests that a breaker remembers."""


def request_digest(body: bytes) -> bytes:
    """What tells distinct requests apart."""
    return hashlib.blake2b(body, digest_size=16).digest()


class Breaker:
    """The breaker of one upstream. Times are those of one clock, in seconds."""

    __slots__ = ("_failed", "_key_refused", "_probe_until", "_rests", "_until", "last", "unwell")

    def __init__(self) -> None:
        self.unwell = False
        """Something is counted against the upstream."""
        self.last = ""
        """The message of the last fault that counted."""
        self._failed: dict[tuple[str, bytes], None] = {}  # (client, digest of the request), in a row
        self._key_refused = False
        self._rests = 0
        self._until = 0.0
        self._probe_until = 0.0

    @property
    def failures(self) -> int:
        """Distinct requests that failed in a row."""
        return len(self._failed)

    def admits(self, upstream: Upstream, client: str, now: float) -> bool:
        """Whether a client's request asks the upstream in its usual turn. The one that tries it after a rest does."""
        if not self._open_for(upstream, client):
            return True
        if now < self._until or now < self._probe_until:
            return False
        self._probe_until = now + PROBE_SECONDS
        return True

    def passed(self) -> None:
        """The upstream has answered as one that works."""
        self.unwell, self.last = False, ""
        self._failed.clear()
        self._key_refused, self._rests = False, 0
        self._until = self._probe_until = 0.0

    def failed(self, upstream: Upstream, client: str, digest: bytes, fault: Fault, now: float) -> None:
        """A request failed here that another place has served."""
        if len(self._failed) < MAX_COUNTED:
            self._failed[client, digest] = None
        self._note(upstream, client, fault, now)

    def key_refused(self, upstream: Upstream, fault: Fault, now: float) -> None:
        """The upstream takes the gateway's key no more, or the account has no credit: no request will be served."""
        self._key_refused = True
        self._note(upstream, "", fault, now)

    def _note(self, upstream: Upstream, client: str, fault: Fault, now: float) -> None:
        self.unwell, self.last = True, fault.message
        # Requests that were under way when the rest began do not make it longer.
        if self._open_for(upstream, client) and now >= self._until:
            seconds = min(upstream.rest * 2.0 ** min(self._rests, 20), max(MAX_REST, upstream.rest))
            seconds *= random.uniform(0.9, 1.1)
            if fault.retry_after is not None:
                seconds = max(seconds, min(fault.retry_after, MAX_RETRY_AFTER))
            self._rests += 1
            self._until, self._probe_until = now + seconds, 0.0

    def _open_for(self, upstream: Upstream, client: str) -> bool:
        if not upstream.trip or not self.unwell:
            return False
        if self._key_refused:
            return True
        if len(self._failed) < upstream.trip:
            return False
        clients = {one for one, _ in self._failed}
        return len(clients) > 1 or client in clients

    def state(self, upstream: Upstream, now: float) -> State:
        """The state, as it is for a client whose requests failed."""
        if not upstream.trip or not (self._key_refused or len(self._failed) >= upstream.trip):
            return "closed"
        return "open" if now < self._until else "half-open"

    def wait(self, now: float) -> float:
        """Seconds until a request may try."""
        return max(0.0, self._until - now)


class Breakers(dict[str, Breaker]):
    """The breakers by the names of their upstreams. They outlive a change of the configuration."""

    def __missing__(self, name: str) -> Breaker:
        self[name] = found = Breaker()
        return found

    def forget_changed(self, before: Mapping[str, Upstream], after: Mapping[str, Upstream]) -> None:
        """Drop the breakers of upstreams that a new configuration describes otherwise: their key or address is new."""
        for name in [name for name in self if before.get(name) != after.get(name)]:
            del self[name]

    def report(self, upstreams: Mapping[str, Upstream], now: float) -> dict[str, dict[str, object]]:
        """The upstreams that are not well: state, failures in a row, the last one."""
        out: dict[str, dict[str, object]] = {}
        for name, breaker in self.items():
            if breaker.unwell and name in upstreams:
                state = breaker.state(upstreams[name], now)
                out[name] = {"state": state, "failures": breaker.failures, "last": breaker.last}
                if state == "open":
                    out[name]["retry_after"] = round(breaker.wait(now), 3)
        return out
