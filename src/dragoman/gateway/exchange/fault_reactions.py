"""Owns the table of reactions to faults. The gateway uses the table, and the docs show it.

A class is the origin of a fault and its kind. The table holds whether the same place is tried again, whether the next
place is tried, the reaction of the upstream's breaker, and the kind for the client. The statuses and types of a kind
belong to the client's dialect (`dialects/*/faults.py`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from ...canon.events import FaultKind

Origin = Literal["upstream", "client_key", "place", "gateway"]
"""The origin of a fault.

- upstream: its answer, or its broken connection. The gateway used its own key, or none.
- client_key: the same, where the gateway passed the client's key on.
- place: the gateway could not use this one place (no key for it; the route tolerates less loss).
- gateway: the gateway refused the request itself, for every place.
"""
Breaking = Literal["ignored", "counted", "rests"]
"""How a breaker reacts to a fault. counted: a failure, once another place has served the request. rests: the upstream
rests at once, unless the fault is about one request or one model only (`upstream_key_faults.serves_nothing`)."""

ORIGINS: tuple[Origin, ...] = get_args(Origin)
TITLES: dict[Origin, str] = {
    "upstream": "An upstream's answer or broken connection",
    "client_key": "The same, where the client's own key was passed on",
    "place": "A place that the gateway could not ask",
    "gateway": "The gateway's own refusals",
}
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


class FaultRow(NamedTuple):
    """The reaction to one class of fault."""

    retried: bool
    """The same place is tried again, within the limits of the route and the bounds."""
    next_place: bool
    """The next place of the route is tried."""
    breaker: Breaking
    sent_as: FaultKind
    """The kind under which the client receives the fault."""


KEY_REFUSED = "upstream_key_refused"
"""The code of faults about the gateway's own keys. Some clients misread the status of this kind, so their dialects
declare another status (`Served.statuses`). Claude Code asks for a login after a 401. Codex 0.166.0 repeats a request
after every 4xx but 400 (measured 2026-11-16; docs/how-to/run-the-gateway.md has the table)."""


def _row(
    kind: FaultKind, *, retried: bool = False, next_place: bool = False, breaker: Breaking = "ignored"
) -> FaultRow:
    return FaultRow(retried, next_place, breaker, kind)


_UPSTREAM: dict[FaultKind, FaultRow] = {
    # The request is wrong, and would be wrong at the next place too.
    "invalid_request": _row("invalid_request"),
    "unprocessable": _row("unprocessable"),
    "conflict": _row("conflict"),
    "cancelled": _row("cancelled"),
    # This place cannot serve the request. Another place perhaps can.
    "context_too_long": _row("context_too_long", next_place=True),
    "too_large": _row("too_large", next_place=True),
    "not_found": _row("not_found", next_place=True),
    "permission": _row("permission", next_place=True),
    # The gateway's key is refused, or its account has no credit. No request will be served here.
    "auth": FaultRow(False, True, "rests", "invalid_request"),
    "billing": _row("billing", next_place=True, breaker="rests"),
    # The upstream works, and demands fewer requests.
    "rate_limit": _row("rate_limit", retried=True, next_place=True),
    # The upstream does not work.
    "server": _row("server", retried=True, next_place=True, breaker="counted"),
    "upstream_bad": _row("upstream_bad", retried=True, next_place=True, breaker="counted"),
    "overloaded": _row("overloaded", retried=True, next_place=True, breaker="counted"),
    "timeout": _row("timeout", retried=True, next_place=True, breaker="counted"),
}
_CLIENT_KEY: dict[FaultKind, FaultRow] = {
    **_UPSTREAM,
    # The breaker ignores a refused key of a client, because other clients' keys may work.
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
