"""The batch files of Gemini: requests with a key, and their results.

A line of the input has `key` and `request` (a GenerateContentRequest); Vertex leaves `key` out. A line of the results
has `key` and either `response` or `error` (a status with `code` and `message`). Vertex repeats the request in its
results, and adds `status` and `processed_time`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from ....codec import json_text
from ....dialects import get
from ....errors import WireError
from ..file_format_record import Ending, FileFormat, LineRecord, members, text_of, unknown_members

NAME = "gemini-batch"
DIALECT = get("gemini")
_EMPTY = (Raw(b"null"), Raw(b"{}"))
_INPUT = frozenset({"key", "request"})
_OUTPUT = frozenset({"key", "response", "error"})
# google.rpc.Code: the number, its name and the HTTP status (googleapis, google/rpc/code.proto, 2026-11).
CODES = {
    1: ("CANCELLED", 499),
    2: ("UNKNOWN", 500),
    3: ("INVALID_ARGUMENT", 400),
    4: ("DEADLINE_EXCEEDED", 504),
    5: ("NOT_FOUND", 404),
    7: ("PERMISSION_DENIED", 403),
    8: ("RESOURCE_EXHAUSTED", 429),
    9: ("FAILED_PRECONDITION", 400),
    10: ("ABORTED", 409),
    12: ("UNIMPLEMENTED", 501),
    13: ("INTERNAL", 500),
    14: ("UNAVAILABLE", 503),
    16: ("UNAUTHENTICATED", 401),
}
_CANCELLED, _DEADLINE, _INTERNAL = 1, 4, 13
_ENDINGS: dict[int, Ending] = {_CANCELLED: "canceled", _DEADLINE: "expired"}


def read(line: bytes) -> LineRecord:
    """Open one line of a batch's input or output."""
    found = members(line, NAME)
    identity = text_of(found, "key", NAME)
    if "response" in found and found["response"] not in _EMPTY:
        more = unknown_members(found, _OUTPUT)
        return LineRecord("response", bytes(found["response"]), DIALECT, identity, "/response", unread=more)
    if "error" in found:
        return _failed(found, identity)
    if "request" not in found:
        raise WireError(NAME, "", "request, response or error")
    return LineRecord(
        "request", bytes(found["request"]), DIALECT, identity, "/request", unread=unknown_members(found, _INPUT)
    )


def _failed(found: dict[str, Raw], identity: str | None) -> LineRecord:
    status = members(bytes(found["error"]), NAME)
    code = json_text.plain(status["code"]) if "code" in status else _INTERNAL
    if type(code) is not int:
        raise WireError(NAME, "/error/code", "a whole number", repr(code))
    more = unknown_members(found, _OUTPUT)
    if code in _ENDINGS:
        return LineRecord("ended", b"", DIALECT, identity, ending=_ENDINGS[code], unread=more)
    name, http = CODES.get(code, ("INTERNAL", code if 400 <= code < 600 else 500))
    # The API answers with the HTTP status in `code`, and a batch with the number of google.rpc.Code.
    body = json_text.encode({"error": status | {"code": json_text.raw(http), "status": json_text.raw(name)}})
    return LineRecord("fault", body, DIALECT, identity, "", http, unread=more)


def write(record: LineRecord) -> bytes:
    """Write one line of a batch's input or output."""
    if record.kind == "request":
        return json_text.encode({"key": record.id, "request": Raw(record.body)})
    if record.kind == "response":
        return json_text.encode({"key": record.id, "response": Raw(record.body)})
    if record.kind == "ended":
        code = _CANCELLED if record.ending == "canceled" else _DEADLINE
        words = "the request was cancelled" if record.ending == "canceled" else "the batch expired"
        return json_text.encode({"key": record.id, "error": {"code": code, "message": words}})
    error = members(bytes(members(record.body, NAME)["error"]), NAME)
    name = text_of(error, "status", NAME)
    code = next((code for code, (known, _) in CODES.items() if known == name), _INTERNAL)
    kept = {key: value for key, value in error.items() if key != "status"}
    return json_text.encode({"key": record.id, "error": kept | {"code": json_text.raw(code)}})


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these."""
    request = document.get("request")
    if isinstance(request, dict) and "contents" in request and "response" not in document:
        return "request with contents"
    if "key" in document and ("response" in document or "error" in document):
        return "key and a response or an error"
    return ""


FORMAT = FileFormat(
    NAME,
    "Gemini batch",
    "https://ai.google.dev/gemini-api/docs/batch-api",
    "2026-11-18",
    DIALECT,
    read,
    write,
    evidence,
    named=True,
    id_member="key",
    has_model=False,
)
