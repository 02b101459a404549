"""Responses faults: an `error` object as an answer, `response.failed` or an `error` event in a stream."""

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
    "usage_not_included": "billing",
    "invalid_api_key": "auth",
    "model_not_found": "not_found",
    "previous_response_not_found": "not_found",
    "rate_limit_exceeded": "rate_limit",
    "server_error": "server",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "overloaded": "overloaded",
    "timeout": "timeout",
    "vector_store_timeout": "timeout",
    "data_residency_mismatch": "permission",
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
    "server": ("server_error", "server_error"),
    "upstream_bad": ("server_error", "server_error"),
    "overloaded": ("server_error", "overloaded"),
    "timeout": ("server_error", "timeout"),
}
_STATUSES: dict[FaultKind, int] = {"billing": 429}
# Codes of `response.error`: what coding agents look at when a stream fails.
_STREAM_CODES: dict[FaultKind, str] = {
    "context_too_long": "context_length_exceeded",
    "billing": "insufficient_quota",
    "rate_limit": "rate_limit_exceeded",
    "invalid_request": "invalid_prompt",
    "too_large": "invalid_prompt",
    "unprocessable": "invalid_prompt",
}
_OWN_CODES = frozenset(
    {
        "server_error",
        "rate_limit_exceeded",
        "invalid_prompt",
        "data_residency_mismatch",
        "bio_policy",
        "misalignment_policy_violation",
        "vector_store_timeout",
        "context_length_exceeded",
        "insufficient_quota",
    }
)
_POLICIES = ("invalid_", "image_", "bio_", "misalignment_", "unsupported_", "empty_image", "failed_to_download")


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    try:
        value = jsontext.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    error = value.get("error", value) if isinstance(value, dict) else value
    request_id = headers.get("x-request-id", "")
    if isinstance(error, str) and isinstance(value, dict):
        # xAI writes the message where others write the object, and the code beside it.
        error = {**{name: field for name, field in value.items() if name != "error"}, "message": error}
    elif isinstance(error, dict) and isinstance(error.get("detail"), str) and "message" not in error:
        # ChatGPT's own back end writes the message as `detail`, and nothing else.
        error = {**{name: field for name, field in error.items() if name != "detail"}, "message": error["detail"]}
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
    kind = _BY_CODE.get(code) or (kind_of_status(status) if status else _kind_in_stream(code, str(type_)))
    message = error.get("message")
    known = {"message", "type", "param", "code"}
    rest = {name: jsontext.raw(value) for name, value in error.items() if name not in known}
    if isinstance(type_, str) and type_ not in ("error", _TYPES[kind][0]):
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


def _kind_in_stream(code: str, type_: str) -> FaultKind:
    if code.startswith(_POLICIES):
        return "invalid_request"
    return _BY_TYPE.get(type_, "server")


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


def error_event(fault: Fault, number: int) -> dict[str, Any]:
    """The flat `error` event, for faults before there is a response."""
    return {
        "type": "error",
        "sequence_number": number,
        "code": fault.code or _TYPES[fault.kind][1],
        "message": fault.message,
        "param": fault.param or None,
    }


def response_error(fault: Fault) -> dict[str, Any]:
    """`response.error` of a response that failed on the way."""
    code = fault.code if fault.code in _OWN_CODES else _STREAM_CODES.get(fault.kind, "server_error")
    return {"code": code, "message": fault.message}
