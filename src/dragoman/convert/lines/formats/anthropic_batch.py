"""The batch files of Anthropic: the requests of a Message Batch, one on each line, and its results.

A line of the input has `custom_id` and `params` (the elements of `requests` in the call that creates the batch); a line
of the results has `custom_id` and `result` (`succeeded` with `message`, `errored` with `error`, `canceled`, `expired`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from ....codec import json_text
from ....dialects import get
from ....errors import WireError
from ..file_format_record import Ending, FileFormat, LineRecord, members, text_of, unknown_members

NAME = "anthropic-batch"
DIALECT = get("anthropic")
_INPUT = frozenset({"custom_id", "params"})
_OUTPUT = frozenset({"custom_id", "result"})
ENDINGS: dict[str | None, Ending] = {"canceled": "canceled", "expired": "expired"}
_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch


def read(line: bytes) -> LineRecord:
    """Open one line of a batch's requests or results."""
    found = members(line, NAME)
    identity = text_of(found, "custom_id", NAME)
    if "params" in found:
        return LineRecord(
            "request", bytes(found["params"]), DIALECT, identity, "/params", unread=unknown_members(found, _INPUT)
        )
    if "result" not in found:
        raise WireError(NAME, "", "params or result")
    result = members(bytes(found["result"]), NAME)
    kind, more = text_of(result, "type", NAME), unknown_members(found, _OUTPUT)
    if kind == "succeeded" and "message" in result:
        return LineRecord("response", bytes(result["message"]), DIALECT, identity, "/result/message", unread=more)
    if kind == "errored" and "error" in result:
        body = bytes(result["error"])
        return LineRecord("fault", body, DIALECT, identity, "/result/error", _status(body), unread=more)
    if kind in ENDINGS:
        return LineRecord("ended", b"", DIALECT, identity, ending=ENDINGS[kind], unread=more)
    raise WireError(NAME, "/result/type", "succeeded, errored, canceled or expired", str(kind))


STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
}
"""The HTTP status of each error, which a result does not hold (platform.claude.com/docs/en/api/errors, 2026-11)."""


def _status(body: bytes) -> int:
    found = members(body, NAME)
    inner = members(bytes(found["error"]), NAME) if "error" in found else {}
    return STATUSES.get(text_of(inner, "type", NAME) or "", 500)


def write(record: LineRecord) -> bytes:
    """Write one line of a batch's requests or results."""
    if record.kind == "request":
        return json_text.encode({"custom_id": record.id, "params": Raw(record.body)})
    if record.kind == "response":
        result: dict[str, Any] = {"type": "succeeded", "message": Raw(record.body)}
    elif record.kind == "fault":
        result = {"type": "errored", "error": Raw(record.body)}
    else:
        result = {"type": record.ending}
    return json_text.encode({"custom_id": record.id, "result": result})


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these."""
    if "custom_id" not in document:
        return ""
    if isinstance(document.get("params"), dict):
        return "custom_id and params"
    return "custom_id and result" if isinstance(document.get("result"), dict) else ""


FORMAT = FileFormat(
    NAME,
    "Anthropic message batch",
    "https://platform.claude.com/docs/en/build-with-claude/batch-processing",
    "2026-11-18",
    DIALECT,
    read,
    write,
    evidence,
    named=True,
    legal_id=lambda identity: _LEGAL(identity) is not None,
)
