"""Code Assist faults: Gemini's shape, with reasons in the details that decide whether to try again."""

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
"""ErrorInfo.reason: the status word says RESOURCE_EXHAUSTED of limits that pass, and of quotas that are used up."""

_COMMAS = re.compile(rb",(?:\s*,)+")
_SPAN = re.compile(r"(?=\d)(?:(\d{1,5})h)?(?:(\d{1,5})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)(m?s))?")
_WORDS = re.compile(r"quota will reset after (\S{1,40}?)\.?(?:\s|\Z)")


def read_fault(body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
    return refined(gemini.read_fault(mended(body) or body, status, headers))


def mended(body: bytes) -> bytes | None:
    """A body that became JSON when its doubled commas were made one, as Code Assist has sent them; None otherwise."""
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


def refined(fault: Fault) -> Fault:
    """A fault of Gemini's reader with what the reason says. Its fields are those of both dialects."""
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
                wait = _seconds(metadata.get("quotaResetDelay") if isinstance(metadata, dict) else None)
            break
    if wait is None:
        # Many of its answers have no RetryInfo.
        said = _WORDS.search(fault.message[:2000])
        wait = _seconds(said[1]) if said else None
    return msgspec.structs.replace(fault, kind=kind, retry_after=wait, extra={wire.GEMINI: mine, wire.NAME: mine})


def _seconds(span: Any) -> float | None:
    """A time as Go writes it: 373.8ms, 39s, 1h16m0.667s."""
    found = _SPAN.fullmatch(span) if isinstance(span, str) else None
    if found is None:
        return None
    hours, minutes, rest, unit = found.groups()
    seconds = float(rest or 0) / (1000 if unit == "ms" else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds


write_fault = gemini.write_fault


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer: its envelope has Gemini's answer in it."""
    inner = fields.get("response")
    return inner is not None and json_text.is_object(inner) and gemini.is_answer(json_text.fields(inner))
