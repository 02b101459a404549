"""Fault kinds, HTTP statuses and retry-after: the part of faults that is the same in every dialect."""

from __future__ import annotations

from collections.abc import Mapping

from ..canon.events import Fault, FaultKind

_KINDS: dict[int, FaultKind] = {
    400: "invalid_request",
    401: "auth",
    402: "billing",
    403: "permission",
    404: "not_found",
    405: "invalid_request",
    408: "timeout",
    409: "conflict",
    412: "conflict",
    413: "too_large",
    422: "unprocessable",
    429: "rate_limit",
    499: "cancelled",
    500: "server",
    501: "server",
    502: "upstream_bad",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}

_STATUSES: dict[FaultKind, int] = {
    "invalid_request": 400,
    "context_too_long": 400,
    "auth": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "unprocessable": 422,
    "rate_limit": 429,
    "cancelled": 499,
    "server": 500,
    "upstream_bad": 502,
    "overloaded": 503,
    "timeout": 504,
}


def kind_of_status(status: int) -> FaultKind:
    if status in _KINDS:
        return _KINDS[status]
    return "server" if status >= 500 or status < 400 else "invalid_request"


def status_of_kind(kind: FaultKind, given: int = 0, own: Mapping[FaultKind, int] | None = None) -> int:
    """The status to answer with: `given` when it means the same kind, else the dialect's own, else the usual one."""
    usual = (own or {}).get(kind, _STATUSES[kind])
    if given and kind_of_status(given) == kind and own is None:
        return given
    return usual


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or a numeric `retry-after`. Dates are left alone: there is no clock."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = next((v for k, v in headers.items() if k.lower() == name), "")
        try:
            seconds = float(value) / scale
        except ValueError:
            continue
        if 0 <= seconds < 1e9:
            return seconds
    return None


def retry_headers(fault: Fault) -> dict[str, str]:
    if fault.retry_after is None:
        return {}
    whole = int(fault.retry_after)
    return {"retry-after": str(whole if whole == fault.retry_after else whole + 1)}
