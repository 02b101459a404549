"""Owns Gemini faults: `{"error": {code, message, status, details}}`, in an answer, in an array, or in a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Fault, FaultKind
from ...codec import json_text
from ...codec.fault_kinds_statuses_and_error_object import (
    is_empty_field,
    kind_of_status,
    retry_after,
    retry_headers,
    status_of_kind,
)
from ...codec.surrogates.documents import decode_tolerant
from . import wire

# `error.status` is a code of google.rpc.Code (googleapis, google/rpc/code.proto). Several codes have one meaning here.
_BY_STATUS: dict[str, FaultKind] = {
    "INVALID_ARGUMENT": "invalid_request",
    "FAILED_PRECONDITION": "invalid_request",
    "OUT_OF_RANGE": "invalid_request",
    "UNAUTHENTICATED": "auth",
    "PERMISSION_DENIED": "permission",
    "NOT_FOUND": "not_found",
    "ABORTED": "conflict",
    "ALREADY_EXISTS": "conflict",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "CANCELLED": "cancelled",
    "INTERNAL": "server",
    "UNKNOWN": "server",
    "DATA_LOSS": "server",
    "UNIMPLEMENTED": "server",
    "UNAVAILABLE": "overloaded",
    "DEADLINE_EXCEEDED": "timeout",
}
# No word of google.rpc.Code means an unpaid bill, a body that is too large or a prompt that is too long. Each gets the
# word that clients already handle for its status.
_STATUSES: dict[FaultKind, str] = {
    "invalid_request": "INVALID_ARGUMENT",
    "context_too_long": "INVALID_ARGUMENT",
    "auth": "UNAUTHENTICATED",
    "billing": "RESOURCE_EXHAUSTED",
    "permission": "PERMISSION_DENIED",
    "not_found": "NOT_FOUND",
    "conflict": "ABORTED",
    "too_large": "INVALID_ARGUMENT",
    "unprocessable": "INVALID_ARGUMENT",
    "rate_limit": "RESOURCE_EXHAUSTED",
    "cancelled": "CANCELLED",
    "server": "INTERNAL",
    "upstream_bad": "UNAVAILABLE",
    "overloaded": "UNAVAILABLE",
    "timeout": "DEADLINE_EXCEEDED",
}
_OWN_STATUS: dict[FaultKind, int] = {"billing": 429}
"""Kinds whose usual HTTP status differs from the status of their status word."""

# A 429 names the time to wait as retryDelay "12s" in a RetryInfo detail (googleapis/googleapis,
# google/rpc/error_details.proto, 2026-11).
_RETRY = "type.googleapis.com/google.rpc.RetryInfo"
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s\Z")
# A prompt that is too long has the status INVALID_ARGUMENT, as other mistakes have; only the message shows the kind
# (recorded 400 of Vertex).
_TOO_LONG = re.compile(r"token count.{0,60}exceeds|exceeds the maximum number of tokens", re.I | re.S)


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    """The fault in an error answer. Some errors are in an array of one element (google-genai 3.1.0 sources,
    2026-11)."""
    try:
        value = decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        # A proxy in front of the API may answer with HTML or with nothing. The text of the body is then the message.
        value = None
    # Google wraps some errors in a one-element array (google-genai 3.1.0 sources).
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        message = error if isinstance(error, str) else body[:2000].decode("utf-8", "replace")
        return Fault(kind_of_status(status), message, status, retry_after=retry_after(headers))
    return fault_from(error, status, headers)


def fault_from(error: dict[str, Any], status: int, headers: Mapping[str, str]) -> Fault:
    """The fault in an `error` object. `status` 0: unknown, as in a stream."""
    code, word, message = error.get("code"), error.get("status"), error.get("message")
    # A frame of a stream has no HTTP status of its own; `code` repeats the status that the fault would have had.
    if not status and isinstance(code, int) and 400 <= code < 600:
        status = code
    text = message if isinstance(message, str) else json_text.encode(error).decode()
    details = error.get("details")
    details = details if isinstance(details, list) else []
    kind = _kind(word, status, text, details)
    wait = next((delay for delay in map(_delay, details) if delay is not None), None)
    # `details` goes back to a client of this dialect unchanged: gemini-cli decides by its reasons whether to try again
    # (sources, 2026-08).
    rest = {name: json_text.raw(value) for name, value in error.items() if name not in ("code", "message")}
    return Fault(
        kind,
        text,
        status or status_of_kind(kind, own=_OWN_STATUS),
        word if isinstance(word, str) else "",
        retry_after=wait if wait is not None else retry_after(headers),
        extra={wire.NAME: rest} if rest else None,
    )


def _kind(word: Any, status: int, message: str, details: list[Any]) -> FaultKind:
    # Google answers a wrong key with 400 INVALID_ARGUMENT. The detail names the reason (recorded traffic).
    if any(isinstance(detail, dict) and detail.get("reason") == "API_KEY_INVALID" for detail in details):
        return "auth"
    if word in ("INVALID_ARGUMENT", None) and _TOO_LONG.search(message):
        return "context_too_long"
    if isinstance(word, str) and word in _BY_STATUS:
        # The word is more exact than the status: 400 is both INVALID_ARGUMENT and FAILED_PRECONDITION.
        return _BY_STATUS[word]
    return kind_of_status(status) if status else "server"


def _delay(detail: Any) -> float | None:
    """The seconds of a RetryInfo detail."""
    delay = detail.get("retryDelay") if isinstance(detail, dict) else None
    found = _DURATION.match(delay) if isinstance(delay, str) else None
    return float(found[1]) if found else None


def write_fault(fault: Fault) -> tuple[bytes, int, dict[str, str]]:
    """Body, status and headers of an error answer."""
    error = error_object(fault)
    return json_text.encode({"error": error}), error["code"], retry_headers(fault)


def error_object(fault: Fault) -> dict[str, Any]:
    """The content of the `error` object."""
    mine = fault.extra.get(wire.NAME) if fault.extra is not None else None
    if mine is not None:
        return {"code": fault.status, "message": fault.message, "status": _STATUSES[fault.kind], **mine}
    status = status_of_kind(fault.kind, own=_OWN_STATUS)
    out: dict[str, Any] = {"code": status, "message": fault.message, "status": _STATUSES[fault.kind]}
    if fault.retry_after is not None:
        # `retryDelay` is a Duration of protobuf in JSON: decimal seconds and the letter s, without zeros at the end.
        seconds = f"{fault.retry_after:.3f}".rstrip("0").rstrip(".")
        out["details"] = [{"@type": _RETRY, "retryDelay": f"{seconds}s"}]
    return out


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer: a candidate, or a reason to block the prompt."""
    return not (is_empty_field(fields.get("candidates")) and is_empty_field(fields.get("promptFeedback")))
