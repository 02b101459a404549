"""Owns Messages faults: `{type: error, error: {type, message, details}, request_id}`, in an answer or a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Fault, FaultKind
from ...codec import json_text
from ...codec.fault_kinds_statuses_and_error_object import (
    kind_by_message,
    kind_of_status,
    retry_after,
    retry_headers,
    status_of_kind,
)
from ...codec.surrogates.documents import decode_tolerant
from . import wire

# The types of an error object (docs "Errors", 2026-10; anthropic 2.9.0, 2026-11).
_BY_TYPE: dict[str, FaultKind] = {
    "invalid_request_error": "invalid_request",
    "authentication_error": "auth",
    "billing_error": "billing",
    "permission_error": "permission",
    "not_found_error": "not_found",
    "conflict_error": "conflict",
    "request_too_large": "too_large",
    "rate_limit_error": "rate_limit",
    "api_error": "server",
    "timeout_error": "timeout",
    "overloaded_error": "overloaded",
}
# A kind for which Anthropic has no type gets the nearest type: a client may decide about a retry by the type.
_TYPES: dict[FaultKind, str] = {
    "invalid_request": "invalid_request_error",
    "context_too_long": "invalid_request_error",
    "auth": "authentication_error",
    "billing": "billing_error",
    "permission": "permission_error",
    "not_found": "not_found_error",
    "conflict": "conflict_error",
    "too_large": "request_too_large",
    "unprocessable": "invalid_request_error",
    "rate_limit": "rate_limit_error",
    "cancelled": "invalid_request_error",
    "server": "api_error",
    "upstream_bad": "api_error",
    "overloaded": "overloaded_error",
    "timeout": "timeout_error",
}
# Anthropic answers an overload with 529 (docs "Errors", 2026-10), other providers with 503.
_STATUSES: dict[FaultKind, int] = {"overloaded": 529}
# A full context has no error code; this is the message of recorded answers (2026). Agents that shorten their history
# search for it.
_TOO_LONG = ("prompt is too long", "input length and `max_tokens` exceed context limit")


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    """The fault in an error answer, whatever form a host or a proxy gave it."""
    try:
        value = decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    # Every answer has this header (docs "Errors", 2026-10).
    request_id = headers.get("request-id", "")
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        message = error if isinstance(error, str) else body[:2000].decode("utf-8", "replace")
        return Fault(kind_of_status(status), message, status, retry_after=retry_after(headers), request_id=request_id)
    if isinstance(value, dict) and isinstance(value.get("request_id"), str):
        request_id = value["request_id"]
    return fault_from(error, status, headers, request_id)


def fault_from(error: dict[str, Any], status: int, headers: Mapping[str, str], request_id: str = "") -> Fault:
    """The fault in an `error` object. `status` 0: unknown, as in a stream."""
    type_, message, details = error.get("type"), error.get("message"), error.get("details")
    # A fault in a stream has no status: its type decides.
    kind = _BY_TYPE.get(str(type_)) or (kind_of_status(status) if status else "server")
    if kind == "invalid_request":
        if isinstance(message, str) and kind_by_message(kind, message) != kind:
            kind = "context_too_long"
        elif status and kind_of_status(status) != "server":
            kind = kind_of_status(status)
    # Anthropic's documentation: branch on details.error_code, never on the message (docs "Errors", 2026-10).
    code = details.get("error_code") if isinstance(details, dict) else None
    rest = {name: json_text.raw(value) for name, value in error.items() if name not in ("message", "type") and value}
    if isinstance(type_, str) and type_ != _TYPES[kind]:
        rest["type"] = json_text.raw(type_)
    return Fault(
        kind,
        message if isinstance(message, str) else json_text.encode(error).decode(),
        status or status_of_kind(kind, own=_STATUSES),
        code if isinstance(code, str) else "",
        "",
        retry_after(headers),
        request_id,
        {wire.NAME: rest} if rest else None,
    )


def write_fault(fault: Fault) -> tuple[bytes, int, dict[str, str]]:
    """Body, status and headers of an error answer."""
    headers = retry_headers(fault)
    if fault.request_id:
        headers["request-id"] = fault.request_id
    body = {**error_event(fault), "request_id": fault.request_id or None}
    return json_text.encode(body), status_of_kind(fault.kind, fault.status, _STATUSES), headers


def error_event(fault: Fault) -> dict[str, Any]:
    """The fault without the id of the request."""
    message = fault.message
    if fault.kind == "context_too_long" and not any(words in message.lower() for words in _TOO_LONG):
        message = f"{_TOO_LONG[0]}: {message}"
    error: dict[str, Any] = {"type": _TYPES[fault.kind], "message": message}
    if fault.extra is not None and wire.NAME in fault.extra:
        error.update(fault.extra[wire.NAME])
    return {"type": "error", "error": error}


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer. The content may be empty."""
    return bytes(fields.get("content", b"null")) != b"null"
