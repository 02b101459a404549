"""Retries: after which faults an upstream is tried again, and how long to wait before."""

from __future__ import annotations

import random
from email.utils import parsedate_to_datetime

from ..canon.events import Fault, FaultKind
from ..errors import TransportError

# The other kinds would fail again: the request or the key is wrong.
RETRIED: frozenset[FaultKind] = frozenset({"rate_limit", "overloaded", "server", "upstream_bad", "timeout"})
"""Faults after which the same place may be tried again."""


def seconds_before_retry(fault: Fault, backoff: float, attempt: int) -> float:
    """Seconds until a place is tried again: the upstream's own time, or else longer each time. The time is varied by
    chance, so that clients do not try again all at once."""
    if fault.retry_after is not None:
        # Never earlier than the upstream demands.
        return fault.retry_after * random.uniform(1.0, 1.1)
    return backoff * float(2**attempt) * random.uniform(0.5, 1.0)


def seconds_until_date(date: str, now: float) -> float | None:
    """Seconds until an HTTP date (RFC 9110, 5.6.7, June 2022)."""
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now) if date else None
    except ValueError:
        return None


def no_answer(error: TransportError) -> Fault:
    """The fault for an upstream that gave no answer."""
    if error.kind == "timeout":
        return Fault("timeout", str(error), 504)
    return Fault("upstream_bad", str(error), 502)
