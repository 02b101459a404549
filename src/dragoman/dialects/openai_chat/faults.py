"""Chat Completions faults: `{"error": {message, type, param, code}}`, as an answer or in the middle of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...canon.events import Fault, FaultKind
from ...codec import jsontext
from ...codec.faults import kind_of_status, retry_after, retry_headers, status_of_kind
from . import wire

_BY_CODE: dict[str, FaultKind] = {
    "context_length_exceeded": "context_too_long",
    "insufficient_quota": "billing",
    "invalid_api_key": "auth",
    "model_not_found": "not_found",
    "rate_limit_exceeded": "rate_limit",
    "server_error": "server",
}
_BY_TYPE: dict[str, FaultKind] = {
    "invalid_request_error": "invalid_request",
    "authentication_error": "auth",
    "permission_error": "permission",
    "not_found_error": "not_found",
    "rate_limit_error": "rate_limit",
    "requests": "rate_limit",
    "tokens": "rate_limit",
    "insufficient_quota": "billing",
    "server_error": "server",
    "api_error": "server",
    "overloaded_error": "overloaded",
    "timeout_error": "timeout",
}
_TYPES: dict[FaultKind, tuple[str, str | None]] = {
    "invalid_request": ("invalid_request_error", None),
    "context_too_long": ("invalid_request_error", "context_length_exceeded"),
    "auth": ("authentication_error", "invalid_api_key"),
    "billing": ("insufficient_quota", "insufficient_quota"),
    "permission": ("permission_error", None),
    "not_found": ("invalid_request_error", "model_not_found"),
    "conflict": ("invalid_request_error", None),
    "too_large": ("invalid_request_error", None),
    "unprocessable": ("invalid_request_error", None),
    "rate_limit": ("rate_limit_error", "rate_limit_exceeded"),
    "cancelled": ("invalid_request_error", None),
    "server": ("server_error", None),
    "upstream_bad": ("server_error", None),
    "overloaded": ("server_error", "overloaded"),
    "timeout": ("server_error", "timeout"),
}
_STATUSES: dict[FaultKind, int] = {"billing": 429}


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    try:
        value = jsontext.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    error = value.get("error", value) if isinstance(value, dict) else value
    request_id = headers.get("x-request-id", "")
    if not isinstance(error, dict):
        message = error if isinstance(error, str) else body[:2000].decode("utf-8", "replace")
        return Fault(kind_of_status(status), message, status, retry_after=retry_after(headers), request_id=request_id)
    return fault_from(error, status, headers, request_id)


def fault_from(error: dict[str, Any], status: int, headers: Mapping[str, str], request_id: str = "") -> Fault:
    """A fault from the inside of an `error` object. `status` 0: not known, as in a stream."""
    code, type_ = error.get("code"), error.get("type")
    if not status and isinstance(code, int) and 400 <= code < 600:
        status = code
    code = str(code) if isinstance(code, str | int) else ""
    kind = _BY_CODE.get(code) or (kind_of_status(status) if status else _BY_TYPE.get(str(type_), "server"))
    message = error.get("message")
    known = {"message", "type", "param", "code"}
    rest = {name: jsontext.raw(value) for name, value in error.items() if name not in known}
    if isinstance(type_, str) and type_ != _TYPES[kind][0]:
        rest["type"] = jsontext.raw(type_)
    return Fault(
        kind,
        message if isinstance(message, str) else jsontext.encode(error).decode(),
        status or status_of_kind(kind),
        code,
        str(error.get("param") or ""),
        retry_after(headers),
        request_id,
        {wire.NAME: rest} if rest else None,
    )


def write_fault(fault: Fault) -> tuple[bytes, int, dict[str, str]]:
    headers = retry_headers(fault)
    if fault.request_id:
        headers["x-request-id"] = fault.request_id
    return jsontext.encode({"error": error_object(fault)}), status_of_kind(fault.kind, own=_STATUSES), headers


def error_object(fault: Fault) -> dict[str, Any]:
    type_, code = _TYPES[fault.kind]
    out: dict[str, Any] = {
        "message": fault.message,
        "type": type_,
        "param": fault.param or None,
        "code": fault.code or code,
    }
    if fault.extra is not None and wire.NAME in fault.extra:
        out.update(fault.extra[wire.NAME])
    return out
