"""Owns Ollama faults: `{"error": "text"}`, as a body or as the last line of a stream. Such a line may have a `status`,
because the HTTP status is already 200 (server sources, 2026-08).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Fault
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


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    """The fault in an error answer."""
    try:
        value = decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    if not isinstance(value, dict):
        message = value if isinstance(value, str) else body[:2000].decode("utf-8", "replace")
        return Fault(kind_of_status(status), message, status, retry_after=retry_after(headers))
    return fault_from(value, status, headers)


def fault_from(fields: dict[str, Any], status: int, headers: Mapping[str, str]) -> Fault:
    """The fault in an object with `error`. `status` is 0 if it is unknown, as in a stream."""
    error = fields.get("error", fields.get("message"))
    rest = {name: json_text.raw(value) for name, value in fields.items() if name not in ("error", "status")}
    if isinstance(error, dict) and isinstance(error.get("message"), str) and error["message"].strip():
        # `error` is a text (server sources, 2026-08). An object comes from the server's OpenAI-compatible endpoints, or
        # from a proxy in front of the server.
        rest["error"] = json_text.raw(error)
        error = error["message"]
    status_field = fields.get("status")
    # The HTTP status is the surer one. A line of a stream has only this field.
    if isinstance(status_field, int) and 400 <= status_field < 600:
        status = status or status_field
    elif status_field is not None:
        rest["status"] = json_text.raw(status_field)
    message = error if isinstance(error, str) else json_text.encode(fields).decode()
    return Fault(
        kind_by_message(kind_of_status(status or 500), message),
        message,
        status or 500,
        retry_after=retry_after(headers),
        extra={wire.NAME: rest} if rest else None,
    )


def write_fault(fault: Fault) -> tuple[bytes, int, dict[str, str]]:
    """Write a fault: its body, status and headers."""
    return json_text.encode(_error(fault)), status_of_kind(fault.kind, fault.status), retry_headers(fault)


def _error(fault: Fault) -> dict[str, Any]:
    own = fault.extra.get(wire.NAME, {}) if fault.extra is not None else {}
    return {"error": fault.message, **own}


def error_line(fault: Fault) -> bytes:
    """The last line of a failed stream."""
    out = _error(fault)
    # The HTTP status was sent before the stream began, so the line is the only place for it (server sources, 2026-08).
    out.setdefault("status", status_of_kind(fault.kind, fault.status))
    return json_text.encode(out) + b"\n"


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer. The message of an answer may be empty."""
    return bytes(fields.get("message", b"null"))[:1] == b"{"
