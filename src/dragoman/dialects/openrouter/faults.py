"""Owns OpenRouter faults: `{"error": {code, message, metadata}}`, as a body, beside a choice, or in a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Fault, FaultKind
from ...codec import json_text
from ...codec.fault_kinds_statuses_and_error_object import (
    is_empty_field,
    kind_by_message,
    kind_of_status,
    retry_after,
    retry_headers,
    status_of_kind,
)
from ...codec.surrogates.documents import decode_tolerant
from ..openai_chat import faults as chat
from . import wire

_KINDS: dict[str, FaultKind] = {
    "context_length_exceeded": "context_too_long",
    "token_limit_exceeded": "context_too_long",
    "max_tokens_exceeded": "invalid_request",
    "string_too_long": "invalid_request",
    "authentication": "auth",
    "permission_denied": "permission",
    "payment_required": "billing",
    "rate_limit_exceeded": "rate_limit",
    "provider_overloaded": "overloaded",
    "provider_unavailable": "upstream_bad",
    "invalid_request": "invalid_request",
    "invalid_prompt": "invalid_request",
    "not_found": "not_found",
    "precondition_failed": "conflict",
    "payload_too_large": "too_large",
    "unprocessable": "unprocessable",
    "content_policy_violation": "permission",
    "refusal": "permission",
    "invalid_image": "invalid_request",
    "image_too_large": "too_large",
    "image_too_small": "invalid_request",
    "unsupported_image_format": "invalid_request",
    "image_not_found": "invalid_request",
    "image_download_failed": "invalid_request",
    "server": "server",
    "timeout": "timeout",
}
"""The kinds of fault by `metadata.error_type`, a stable enumeration (openrouter 1.3.84). `unmapped` gives no kind."""

# The enumeration has no type for a cancelled call; `unmapped` is its word for everything else (openrouter 1.3.84,
# 2026-11).
_TYPES: dict[FaultKind, str] = {
    "invalid_request": "invalid_request",
    "context_too_long": "context_length_exceeded",
    "auth": "authentication",
    "billing": "payment_required",
    "permission": "permission_denied",
    "not_found": "not_found",
    "conflict": "precondition_failed",
    "too_large": "payload_too_large",
    "unprocessable": "unprocessable",
    "rate_limit": "rate_limit_exceeded",
    "cancelled": "unmapped",
    "server": "server",
    "upstream_bad": "provider_unavailable",
    "overloaded": "provider_overloaded",
    "timeout": "timeout",
}
_OWN_STATUSES: dict[FaultKind, int] = {"timeout": 408, "conflict": 400, "cancelled": 400}
"""The kinds with another status at OpenRouter than at most hosts."""
_FIELDS = frozenset({"code", "message"})


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    """The fault in a body of OpenRouter, or of a proxy in front of it."""
    try:
        value = decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    # X-Generation-Id is the id of OpenRouter's own answers (openrouter 1.3.84, 2026-11). A proxy in front of OpenRouter
    # sends the other header.
    request_id = headers.get("x-generation-id", "") or headers.get("x-request-id", "")
    # A provider that fails late leaves its error in the choice, with status 200 (OpenRouter's docs, 2026-11).
    error = value.get("error") or _error_of_choice(value) or value if isinstance(value, dict) else value
    if isinstance(error, dict):
        return fault_from(error, status, headers, request_id)
    message = error if isinstance(error, str) else body[:2000].decode("utf-8", "replace")
    return Fault(kind_of_status(status), message, status, retry_after=retry_after(headers), request_id=request_id)


def fault_from(error: dict[str, Any], status: int, headers: Mapping[str, str], request_id: str = "") -> Fault:
    """The fault in an `error` object. Its `code` is the status, because a body with HTTP status 200 may contain an
    error (OpenRouter's docs, 2026-11).
    """
    code = error.get("code")
    if isinstance(code, str) and len(code) == 3 and code.isdigit():
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        status = code
    metadata = error.get("metadata")
    details = metadata if isinstance(metadata, dict) else {}
    type_ = details.get("error_type")
    kind = _KINDS.get(type_) if isinstance(type_, str) else None
    message = error.get("message")
    if kind is None:
        kind = kind_of_status(status if status >= 400 else 500)
        # A context that is too long was recorded without an error_type: only the message shows it (recorded 2026).
        kind = kind_by_message(kind, message) if isinstance(message, str) else kind
    # `provider_code` is the word of the model's own provider, which clients of that provider read (openrouter 1.3.84,
    # 2026-11).
    named = details.get("provider_code")
    word = named if isinstance(named, str) else code if isinstance(code, str) else type_
    rest = {name: json_text.raw(value) for name, value in error.items() if name not in _FIELDS}
    return Fault(
        kind,
        message if isinstance(message, str) else json_text.encode(error).decode(),
        status if status >= 400 else status_of_kind(kind, own=_OWN_STATUSES),
        word if isinstance(word, str) else "",
        "",
        retry_after(headers),
        request_id,
        {wire.NAME: rest} if rest else None,
    )


def write_fault(fault: Fault) -> tuple[bytes, int, dict[str, str]]:
    """Write a fault: its body, status and headers."""
    headers = retry_headers(fault)
    if fault.request_id:
        headers["x-generation-id"] = fault.request_id
    error = error_object(fault)
    return json_text.encode({"error": error}), int(error["code"]), headers


def error_object(fault: Fault) -> dict[str, Any]:
    """The value of `error`."""
    status = status_of_kind(fault.kind, own=_OWN_STATUSES)
    # One kind has several statuses here, such as 408 and 524 for a timeout (openrouter 1.3.84, 2026-11): the original
    # stays.
    if fault.status >= 400 and kind_of_status(fault.status) == fault.kind:
        status = fault.status
    out: dict[str, Any] = {"code": status, "message": fault.message}
    own: dict[str, Raw] = wire.own(fault.extra)
    if "metadata" not in own:
        out["metadata"] = {"error_type": _TYPES[fault.kind]}
        if fault.code and fault.code != _TYPES[fault.kind]:
            out["metadata"]["provider_code"] = fault.code
    out.update(own)
    return out


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer. If a provider failed, its error is in a choice, or
    beside choices without content.
    """
    choices = fields.get("choices")
    if choices is None or is_empty_field(choices):
        return False
    if b'"error"' not in bytes(choices):
        return chat.is_answer(fields)
    failed = not is_empty_field(fields.get("error"))
    return any(chat.has_content(one) or not (failed or one.get("error")) for one in chat.objects_in(choices))


def _error_of_choice(value: dict[str, Any]) -> Any:
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("error") if isinstance(first, dict) else None
