"""The batch files of OpenAI: requests to Chat Completions or Responses, and their results.

A line of the input has `custom_id`, `method`, `url` and `body`; a line of the output has `id`, `custom_id`, `response`
(`status_code`, `request_id`, `body`) and `error`. A request that never ran has an `error` with the code `batch_expired`
or `batch_cancelled` and no `response`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from ....codec import json_text
from ....dialects import get
from ....errors import WireError
from ..file_format_record import Ending, FileFormat, LineRecord, members, text_of, unknown_members

NAME = "openai-batch"
CHAT, RESPONSES = get("openai-chat"), get("openai-responses")
PATHS = {"/v1/chat/completions": CHAT, "/v1/responses": RESPONSES}
_INPUT = frozenset({"custom_id", "method", "url", "body"})
_OUTPUT = frozenset({"custom_id", "response", "error"})
_NULL, _EMPTY = Raw(b"null"), Raw(b'""')
ENDINGS: dict[str, Ending] = {"batch_expired": "expired", "batch_cancelled": "canceled"}
MESSAGES = {
    "expired": "The batch expired before this request ran.",
    "canceled": "The batch was cancelled before this request ran.",
}


def read(line: bytes) -> LineRecord:
    """Open one line of a batch's input or output."""
    found = members(line, NAME)
    if "body" in found:
        url = text_of(found, "url", NAME) or "/v1/chat/completions"
        if url not in PATHS:
            raise WireError(NAME, "/url", " or ".join(PATHS), url)
        method = text_of(found, "method", NAME) or "POST"
        if method != "POST":
            raise WireError(NAME, "/method", "POST", method)
        return LineRecord(
            "request",
            bytes(found["body"]),
            PATHS[url],
            text_of(found, "custom_id", NAME),
            "/body",
            unread=unknown_members(found, _INPUT),
        )
    if "response" not in found and "error" not in found:
        raise WireError(NAME, "", "body, or response and error")
    return _result(found)


def _result(found: dict[str, Raw]) -> LineRecord:
    identity, more = text_of(found, "custom_id", NAME), unknown_members(found, _OUTPUT)
    response = found.get("response", _NULL)
    if response == _NULL:
        error = members(bytes(found["error"]), NAME) if found.get("error", _NULL) != _NULL else {}
        code = text_of(error, "code", NAME) or ""
        if code in ENDINGS:
            return LineRecord("ended", b"", CHAT, identity, ending=ENDINGS[code], unread=more)
        body = json_text.encode({"error": found.get("error", _NULL)})
        return LineRecord("fault", body, CHAT, identity, "", 500, unread=more)
    inner = members(bytes(response), NAME)
    if "body" not in inner:
        raise WireError(NAME, "/response/body", "the body of an answer")
    more += tuple([f"/response/{key}" for key in inner if key not in ("status_code", "body") and inner[key] != _EMPTY])
    status = json_text.plain(inner["status_code"]) if "status_code" in inner else 200
    if type(status) is not int:
        raise WireError(NAME, "/response/status_code", "a whole number", repr(status))
    body = bytes(inner["body"])
    dialect = RESPONSES if _is_responses(body) else CHAT
    return LineRecord(
        "response" if status < 400 else "fault", body, dialect, identity, "/response/body", status, unread=more
    )


def _is_responses(body: bytes) -> bool:
    try:
        return "output" in members(body, NAME)
    except WireError:
        return False


def line_writer(url: str) -> Any:
    """The function that writes lines for one address."""

    def write(record: LineRecord) -> bytes:
        if record.kind == "request":
            return json_text.encode(
                {"custom_id": record.id, "method": "POST", "url": url, "body": Raw(record.body)},
            )
        error: Any = None
        response: Any = {"status_code": record.status, "request_id": "", "body": Raw(record.body)}
        if record.kind == "ended":
            code = next(code for code, ending in ENDINGS.items() if ending == record.ending)
            error, response = {"code": code, "message": MESSAGES[record.ending]}, None
        return json_text.encode(
            {"id": f"batch_req_{record.id}", "custom_id": record.id, "response": response, "error": error}
        )

    return write


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these."""
    if "custom_id" not in document:
        return ""
    if isinstance(document.get("body"), dict) and document.get("url", "/v1/chat/completions") != "/v1/responses":
        return "custom_id and body"
    return "custom_id, response and error" if "response" in document and "error" in document else ""


FORMAT = FileFormat(
    NAME,
    "OpenAI batch, for Chat Completions",
    "https://platform.openai.com/docs/guides/batch",
    "2026-11-18",
    CHAT,
    read,
    line_writer("/v1/chat/completions"),
    evidence,
    named=True,
)
