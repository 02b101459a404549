"""What the gateway does with each class of fault: one table, read by the code and written into the docs.

A class is where a fault comes from and its kind. The table says whether the same place is asked again, whether the next
place is asked, what the breaker of the upstream makes of it, and as which kind the client receives it. Statuses and
types of a kind are those of the client's dialect: `dialects/*/faults.py` has them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from ...canon.events import FaultKind

Origin = Literal["upstream", "client_key", "place", "gateway"]
"""Where a fault comes from.

- upstream: its answer, or its broken connection. The gateway asked with its own key, or with none.
- client_key: the same, where the gateway passed the client's key on.
- place: the gateway could not ask this one place (no key for it; the route tolerates less loss).
- gateway: the gateway refused the request itself, whatever the place.
"""
Breaking = Literal["ignored", "counted", "rests"]
"""What a breaker makes of a fault. counted: a failure, once another place has served the request; rests: the upstream
rests at once, unless the fault is about one request or one model only (`upstream_keys.serves_nothing`)."""

ORIGINS: tuple[Origin, ...] = get_args(Origin)
TITLES: dict[Origin, str] = {
    "upstream": "An upstream's answer or broken connection",
    "client_key": "The same, where the client's own key was passed on",
    "place": "A place that the gateway could not ask",
    "gateway": "The gateway's own refusals",
}
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


class FaultRow(NamedTuple):
    """What the gateway does with one class of fault."""

    retried: bool
    """The same place is asked again, as often and as long as the route and the bounds allow."""
    next_place: bool
    """The next place of the route is asked."""
    breaker: Breaking
    told_as: FaultKind
    """The kind under which the client receives the fault."""


KEY_REFUSED = "upstream_key_refused"
"""The code of faults about the gateway's own keys. Dialects whose clients misread the status of the kind declare
another one (`Served.statuses`): Claude Code asks for a login after a 401, Codex 0.166.0 repeats a request after every
4xx but 400 (measured 2026-11-16: docs/how-to/run-the-gateway.md has the table)."""


def _row(
    kind: FaultKind, *, retried: bool = False, next_place: bool = False, breaker: Breaking = "ignored"
) -> FaultRow:
    return FaultRow(retried, next_place, breaker, kind)


_UPSTREAM: dict[FaultKind, FaultRow] = {
    # The request is at fault: it would be at the next place too.
    "invalid_request": _row("invalid_request"),
    "unprocessable": _row("unprocessable"),
    "conflict": _row("conflict"),
    "cancelled": _row("cancelled"),
    # This place cannot serve the request, another one perhaps can.
    "context_too_long": _row("context_too_long", next_place=True),
    "too_large": _row("too_large", next_place=True),
    "not_found": _row("not_found", next_place=True),
    "permission": _row("permission", next_place=True),
    # The gateway's key, or the account behind it: no request will be served here.
    "auth": FaultRow(False, True, "rests", "invalid_request"),
    "billing": _row("billing", next_place=True, breaker="rests"),
    # The upstream works, and wants fewer requests.
    "rate_limit": _row("rate_limit", retried=True, next_place=True),
    # The upstream does not work.
    "server": _row("server", retried=True, next_place=True, breaker="counted"),
    "upstream_bad": _row("upstream_bad", retried=True, next_place=True, breaker="counted"),
    "overloaded": _row("overloaded", retried=True, next_place=True, breaker="counted"),
    "timeout": _row("timeout", retried=True, next_place=True, breaker="counted"),
}
_CLIENT_KEY: dict[FaultKind, FaultRow] = {
    **_UPSTREAM,
    # One client's key says nothing of the others'.
    "auth": _row("auth", next_place=True),
    "billing": _row("billing", next_place=True),
}

TABLE: dict[tuple[Origin, FaultKind], FaultRow] = {
    **{("upstream", kind): row for kind, row in _UPSTREAM.items()},
    **{("client_key", kind): row for kind, row in _CLIENT_KEY.items()},
    **{("place", kind): _row(kind, next_place=True) for kind in KINDS},
    ("place", "auth"): FaultRow(False, True, "ignored", "invalid_request"),
    **{("gateway", kind): _row(kind) for kind in KINDS},
}
"""Every class of fault."""
