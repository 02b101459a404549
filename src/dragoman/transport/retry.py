"""When an upstream that failed is asked again: after which faults, and how long to wait."""

from __future__ import annotations

import random
from email.utils import parsedate_to_datetime

from ..canon.events import Fault, FaultKind
from ..errors import TransportError

RETRIED: frozenset[FaultKind] = frozenset({"rate_limit", "overloaded", "server", "upstream_bad", "timeout"})
"""Faults after which the same place may be asked again."""


def wait(fault: Fault, backoff: float, attempt: int) -> float:
    """Seconds until a place is asked again: what it says, else longer each time. Never the same for all who wait."""
    if fault.retry_after is not None:
        return fault.retry_after * random.uniform(1.0, 1.1)
    return backoff * float(2**attempt) * random.uniform(0.5, 1.0)


def until(date: str, now: float) -> float | None:
    """Seconds until an HTTP date."""
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now) if date else None
    except ValueError:
        return None


def no_answer(error: TransportError) -> Fault:
    """What an upstream's silence is, as a fault."""
    if error.kind == "timeout":
        return Fault("timeout", str(error), 504)
    return Fault("upstream_bad", str(error), 502)
