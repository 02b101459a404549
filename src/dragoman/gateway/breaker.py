"""Which upstreams are left alone for a while because they failed again and again. One breaker for each upstream.

Closed: everybody may ask. Open, after `trip` failures in a row: nobody may, for `rest` seconds. Then half-open: one
request may try, as a probe. If it is served the breaker closes; if it fails it opens again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..canon.events import FaultKind
from .config import Upstream

State = Literal["closed", "open", "half-open"]

FAILURES: frozenset[FaultKind] = frozenset({"server", "upstream_bad", "overloaded", "timeout"})
"""Faults that say that an upstream is unwell. One that says "too many requests" works, and says how long to wait."""


class Breaker:
    """The breaker of one upstream. Times are those of one clock, in seconds."""

    __slots__ = ("_probing", "_until", "failures", "last")

    def __init__(self) -> None:
        self.failures = 0
        """In a row."""
        self.last = ""
        """What the last one was."""
        self._until = 0.0
        self._probing = False

    def admits(self, upstream: Upstream, now: float) -> bool:
        """Whether a request may go to the upstream. One that may is followed by `passed`, `failed` or `spared`."""
        if not upstream.trip or self.failures < upstream.trip:
            return True
        if self._probing or now < self._until:
            return False
        self._probing = True
        return True

    def passed(self) -> None:
        self.failures = 0
        self._probing = False

    def failed(self, upstream: Upstream, now: float, why: str) -> None:
        self.failures += 1
        self.last = why
        self._probing = False
        self._until = now + upstream.rest

    def spared(self) -> None:
        """The request ended without saying anything of the upstream: its client left, or asked for nonsense."""
        self._probing = False

    def state(self, upstream: Upstream, now: float) -> State:
        if not upstream.trip or self.failures < upstream.trip:
            return "closed"
        return "open" if now < self._until else "half-open"

    def wait(self, now: float) -> float:
        """Seconds until a request may try."""
        return max(0.0, self._until - now)


class Breakers(dict[str, Breaker]):
    """The breakers by the names of their upstreams; they outlive a change of the configuration."""

    def __missing__(self, name: str) -> Breaker:
        self[name] = found = Breaker()
        return found

    def report(self, upstreams: Mapping[str, Upstream], now: float) -> dict[str, dict[str, object]]:
        """The upstreams that are not well: state, failures in a row, the last one."""
        out: dict[str, dict[str, object]] = {}
        for name, breaker in self.items():
            if breaker.failures and name in upstreams:
                state = breaker.state(upstreams[name], now)
                out[name] = {"state": state, "failures": breaker.failures, "last": breaker.last}
                if state == "open":
                    out[name]["retry_after"] = round(breaker.wait(now), 3)
        return out
