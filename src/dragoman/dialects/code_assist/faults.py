"""Owns Code Assist faults: Gemini's shape. A reason in the details decides whether a retry can help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Fault, FaultKind
from ...codec import json_text
from ...codec.surrogates.documents import decode_tolerant
from ..gemini import faults as gemini
from . import wire

_REASONS: dict[str, FaultKind] = {
    "RATE_LIMIT_EXCEEDED": "rate_limit",
    "QUOTA_EXHAUSTED": "billing",
    "INSUFFICIENT_G1_CREDITS_BALANCE": "billing",
    "MODEL_CAPACITY_EXHAUSTED": "overloaded",
    "MODEL_CAPACITY_EXCEEDED": "overloaded",
    "VALIDATION_REQUIRED": "permission",
    "SECURITY_POLICY_VIOLATED": "permission",
}
"""The kinds of fault by `ErrorInfo.reason`. The status word alone is ambiguous: RESOURCE_EXHAUSTED means a temporary
rate limit or a used-up quota (gemini-cli 0.56, 2026-08).
"""

_COMMAS = re.compile(rb",(?:\s*,)+")
# The number of digits is bounded: the text comes from outside, and int() of a very long one is slow.
_SPAN = re.compile(r"(?=\d)(?:(\d{1,5})h)?(?:(\d{1,5})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)(m?s))?")
_WORDS = re.compile(r"quota will reset after (\S{1,40}?)\.?(?:\s|\Z)")


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    """The fault in an error answer."""
    # A fault has no envelope (gemini-cli 0.56, 2026-08), so Gemini's reader reads the body as it is.
    return with_kind_of_reason(gemini.read_fault(with_single_commas(body) or body, status, headers))


def with_single_commas(body: bytes) -> bytes | None:
    """The body with doubled commas made single; None if the body needs no repair or stays broken. Code Assist has sent
    doubled commas in error JSON, and gemini-cli repairs them too (0.56, 2026-08).
    """
    try:
        decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    else:
        return None
    out = _COMMAS.sub(b",", body)
    try:
        decode_tolerant(out)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return out


def with_kind_of_reason(fault: Fault) -> Fault:
    """A fault of Gemini's reader, with the kind and the wait that its reason gives. The extra fields are kept under the
    names of both dialects.
    """
    mine = fault.extra.get(wire.GEMINI) if fault.extra is not None else None
    if mine is None:
        return fault
    kind, wait = fault.kind, fault.retry_after
    details: Any = json_text.plain(mine["details"]) if "details" in mine else None
    for detail in details if isinstance(details, list) else ():
        reason = detail.get("reason") if isinstance(detail, dict) else None
        if isinstance(reason, str) and reason in _REASONS:
            kind = _REASONS[reason]
            if wait is None:
                metadata = detail.get("metadata")
                # RetryInfo.retryDelay was read before by Gemini's reader, and counts first (gemini-cli 0.56, 2026-08).
                wait = _seconds(metadata.get("quotaResetDelay") if isinstance(metadata, dict) else None)
            break
    if wait is None:
        # Many Code Assist answers have no RetryInfo; the wait is then in the message text.
        match = _WORDS.search(fault.message[:2000])
        wait = _seconds(match[1]) if match else None
    # Clients of both dialects read `details`: a fault has no envelope (gemini-cli 0.56, 2026-08).
    return msgspec.structs.replace(fault, kind=kind, retry_after=wait, extra={wire.GEMINI: mine, wire.NAME: mine})


def _seconds(span: Any) -> float | None:
    """The seconds of a duration in Go's notation: 373.8ms, 39s, 1h16m0.667s."""
    found = _SPAN.fullmatch(span) if isinstance(span, str) else None
    if found is None:
        return None
    hours, minutes, rest, unit = found.groups()
    seconds = float(rest or 0) / (1000 if unit == "ms" else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds


write_fault = gemini.write_fault


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer: an envelope with a Gemini answer."""
    inner = fields.get("response")
    return inner is not None and json_text.is_object(inner) and gemini.is_answer(json_text.fields(inner))
