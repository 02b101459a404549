"""Circuit breakers: which upstreams are tried last for a while, because they failed again and again.

A breaker never refuses a request. It decides the order of the places of a route. An upstream that rests is tried last,
when no other place has served the request. So a route with one place uses that place, whatever its breaker's state.

A failure counts only when another place has then served the same request: the request was sound, and the upstream was
not. A request that fails at every place is not evidence against an upstream. Failures are counted by distinct requests:
a request that a client repeats counts once. The failures of one client alone open the breaker for that client alone.

Closed: all requests use the upstream. Open, after `trip` failures in a row or a refused key: the upstream rests. The
first rest lasts `rest` seconds, each further one twice as long. The length of a rest varies by chance, so that several
gateways do not try at once. A rest is never shorter than the upstream's own `retry-after`. Half-open, after the rest:
one request at a time tries the upstream. If the upstream serves that request, the breaker closes; if not, the upstream
rests again.
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
"""Seconds of the longest rest that doubling may reach."""
MAX_RETRY_AFTER = 3600.0
"""Seconds of an upstream's `retry-after` that are respected. A longer time is cut to this."""
PROBE_SECONDS = 10.0
"""Seconds for which other requests wait while one request tries an upstream. Even a long stream does not make the other
requests wait longer."""
MAX_COUNTED = 100
"""Number of failed requests that a breaker remembers."""


def request_digest(body: bytes) -> bytes:
    """A digest that distinguishes requests."""
    # The request itself is not kept: it holds the client's conversation.
    return hashlib.blake2b(body, digest_size=16).digest()


class Breaker:
    """The breaker of one upstream. All times come from one clock, in seconds."""

    __slots__ = ("_failed", "_key_refused", "_probe_until", "_rests", "_until", "last", "unwell")

    def __init__(self) -> None:
        self.unwell = False
        """Some failure is counted against the upstream."""
        self.last = ""
        """The message of the last fault that counted."""
        self._failed: dict[tuple[str, bytes], None] = {}  # (client, digest of the request) of failures in a row
        self._key_refused = False
        self._rests = 0
        self._until = 0.0
        self._probe_until = 0.0

    @property
    def failures(self) -> int:
        """Number of distinct requests that failed in a row."""
        return len(self._failed)

    def admits(self, upstream: Upstream, client: str, now: float) -> bool:
        """Whether a client's request uses the upstream in the usual order. After a rest, this holds for the one request
        that tries the upstream."""
        if not self._open_for(upstream, client):
            # A healthy upstream is the usual case, and costs one comparison.
            return True
        if now < self._until or now < self._probe_until:
            return False
        # Only one request tries the upstream. The others wait for the result, or go to the next place.
        self._probe_until = now + PROBE_SECONDS
        return True

    def note_success(self) -> None:
        """Close the breaker: the upstream has answered properly."""
        self.unwell, self.last = False, ""
        self._failed.clear()
        self._key_refused, self._rests = False, 0
        self._until = self._probe_until = 0.0

    def note_failure(self, upstream: Upstream, client: str, digest: bytes, fault: Fault, now: float) -> None:
        """Count a request that failed here and that another place has served."""
        # A bound for a client that sends different requests again and again.
        if len(self._failed) < MAX_COUNTED:
            self._failed[client, digest] = None
        self._note(upstream, client, fault, now)

    def note_refused_key(self, upstream: Upstream, fault: Fault, now: float) -> None:
        """Let the upstream rest, because it refuses the gateway's key or the account has no credit. No request would be
        served."""
        self._key_refused = True
        self._note(upstream, "", fault, now)

    def _note(self, upstream: Upstream, client: str, fault: Fault, now: float) -> None:
        self.unwell, self.last = True, fault.message
        # Requests that were under way when the rest began do not prolong the rest.
        if self._open_for(upstream, client) and now >= self._until:
            # At most 20 doublings: beyond them the number has no meaning, and a float would overflow.
            seconds = min(upstream.rest * 2.0 ** min(self._rests, 20), max(MAX_REST, upstream.rest))
            # Several gateways that failed at the same moment must not come back at the same moment.
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
        # All requests of one client may be broken in the same way, so that client alone must not open the breaker for
        # all clients.
        clients = {one for one, _ in self._failed}
        return len(clients) > 1 or client in clients

    def state(self, upstream: Upstream, now: float) -> State:
        """The state of the breaker for a client with failed requests."""
        if not upstream.trip or not (self._key_refused or len(self._failed) >= upstream.trip):
            return "closed"
        return "open" if now < self._until else "half-open"

    def seconds_until_try(self, now: float) -> float:
        """Seconds until a request may try the upstream."""
        return max(0.0, self._until - now)


class Breakers(dict[str, Breaker]):
    """The breakers by the names of their upstreams. They survive a change of the configuration."""

    def __missing__(self, name: str) -> Breaker:
        self[name] = found = Breaker()
        return found

    def forget_changed(self, before: Mapping[str, Upstream], after: Mapping[str, Upstream]) -> None:
        """Drop the breakers of upstreams whose settings a new configuration changes: the key or the address may be
        new."""
        for name in [name for name in self if before.get(name) != after.get(name)]:
            del self[name]

    def report(self, upstreams: Mapping[str, Upstream], now: float) -> dict[str, dict[str, object]]:
        """The upstreams with failures: state, number of failures in a row, and the last message."""
        out: dict[str, dict[str, object]] = {}
        for name, breaker in self.items():
            if breaker.unwell and name in upstreams:
                state = breaker.state(upstreams[name], now)
                out[name] = {"state": state, "failures": breaker.failures, "last": breaker.last}
                if state == "open":
                    out[name]["retry_after"] = round(breaker.seconds_until_try(now), 3)
        return out
