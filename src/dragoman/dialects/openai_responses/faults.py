"""Owns Responses faults: an `error` object in an answer; `response.failed` or an `error` event in a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from ...canon.events import Fault, FaultKind
from ...codec.fault_kinds_statuses_and_error_object import ErrorObjects, is_empty_field
from . import wire

_ERRORS = ErrorObjects(wire.NAME, {"server": "server_error", "upstream_bad": "server_error"})

read_fault = _ERRORS.read
fault_from = _ERRORS.read_object
write_fault = _ERRORS.write

# Codes of `response.error`, which coding agents read when a stream fails (openai 3.49.0, 2026-11).
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


def error_event(fault: Fault, number: int) -> dict[str, Any]:
    """The flat `error` event, for a fault before the response has begun: code, message and param at the top level
    (openai 3.49.0, 2026-11).
    """
    return {
        "type": "error",
        "sequence_number": number,
        "code": _ERRORS.code(fault),
        "message": fault.message,
        "param": fault.param or None,
    }


def response_error(fault: Fault) -> dict[str, Any]:
    """`response.error` of a response that failed after its beginning."""
    code = fault.code if fault.code in _OWN_CODES else _STREAM_CODES.get(fault.kind, "server_error")
    return {"code": code, "message": fault.message}


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer. The output may be empty, unless the response failed."""
    if is_empty_field(fields.get("output")) and not is_empty_field(fields.get("error")):
        return False
    return bytes(fields.get("output", b"null")) != b"null"
