"""Decides in which order an exchange tries several places, and which failures count for the circuit breakers.

A place is one upstream and one model of a route.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from time import monotonic

from ...canon.events import Fault
from .circuit_breakers import Breaker, Breakers, request_digest
from .fault_reactions import FaultRow
from .recent_exchanges import FailedAttempt
from .routes import UpstreamChoice
from .upstream_headers_and_key import client_key
from .upstream_key_faults import serves_nothing


class Failover:
    """Places that replace each other. A route with one place needs no Failover, because its failures do not count."""

    def __init__(
        self, choices: list[UpstreamChoice], breakers: Breakers, headers: Mapping[str, str], body: bytes
    ) -> None:
        """`headers` and `body` belong to the client's request."""
        self._choices, self._breakers, self._headers, self._body = choices, breakers, headers, body
        self._failed: list[tuple[UpstreamChoice, Fault]] = []

    @cached_property
    def _client(self) -> str:
        """A digest of the client's key, so that no key is kept. All clients without a key count as one."""
        return request_digest(client_key(self._headers).encode("utf-8", "replace")).hex()

    def order_choices(self, tries: list[FailedAttempt]) -> list[UpstreamChoice]:
        """The places in the order in which they are tried: resting places last. The resting places are added to
        `tries`."""
        now, asked, resting = monotonic(), [], []
        for choice in self._choices:
            breaker = self._breakers[choice.name]
            if breaker.unwell and not breaker.admits(choice.upstream, self._client, now):
                resting.append(choice)
                tries.append(
                    FailedAttempt(choice.name, choice.model, "resting", 0, _why_last(choice.name, breaker, now))
                )
            else:
                asked.append(choice)
        return asked + resting

    def note_failure(self, choice: UpstreamChoice, fault: Fault, row: FaultRow) -> None:
        """Note that a place has not served the request."""
        if row.breaker == "counted":
            self._failed.append((choice, fault))
        elif row.breaker == "rests" and serves_nothing(fault):
            self._breakers[choice.name].note_refused_key(choice.upstream, fault, monotonic())

    def note_success(self) -> None:
        """Count the failures of earlier places: another place has served the request, so the request was sound."""
        for choice, fault in self._failed:
            breaker = self._breakers[choice.name]
            breaker.note_failure(choice.upstream, self._client, request_digest(self._body), fault, monotonic())


def _why_last(name: str, breaker: Breaker, now: float) -> str:
    # The last fault may quote another client's request. Administrators find it at /readyz.
    seconds = breaker.seconds_until_try(now)
    return f"{name} rests for {seconds:.0f} seconds and is tried last; /readyz shows administrators why"
