"""Owns fault kinds, HTTP statuses, retry-after, and the error object that several dialects share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ..canon.events import Fault, FaultKind
from ..canon.parts import Path
from . import json_text
from .surrogates.documents import decode_tolerant

_KINDS: dict[int, FaultKind] = {
    400: "invalid_request",
    401: "auth",
    402: "billing",
    403: "permission",
    404: "not_found",
    405: "invalid_request",
    408: "timeout",
    409: "conflict",
    412: "conflict",
    413: "too_large",
    422: "unprocessable",
    429: "rate_limit",
    # CANCELLED in Google's RPC error model.
    499: "cancelled",
    500: "server",
    501: "server",
    502: "upstream_bad",
    503: "overloaded",
    504: "timeout",
    # OpenRouter lists 524 and 529 (openrouter 1.3.84); Anthropic answers an overload with 529 (docs "Errors", 2026-10).
    524: "timeout",
    529: "overloaded",
}

_STATUSES: dict[FaultKind, int] = {
    "invalid_request": 400,
    "context_too_long": 400,
    "auth": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "unprocessable": 422,
    "rate_limit": 429,
    "cancelled": 499,
    "server": 500,
    "upstream_bad": 502,
    "overloaded": 503,
    "timeout": 504,
}


def kind_of_status(status: int) -> FaultKind:
    """The fault kind of an HTTP status."""
    if status in _KINDS:
        return _KINDS[status]
    # A status below 400 with an error body comes from a broken host. The request is not to blame.
    return "server" if status >= 500 or status < 400 else "invalid_request"


def status_of_kind(kind: FaultKind, given: int = 0, own: Mapping[FaultKind, int] | None = None) -> int:
    """The status to answer with: `given` if it has the same kind, else the dialect's own, else the usual one."""
    usual = (own or {}).get(kind, _STATUSES[kind])
    # A dialect with its own table has a fixed status for each kind, so the upstream's does not count.
    if given and kind_of_status(given) == kind and own is None:
        return given
    return usual


# Texts of "the context is full" that Anthropic, OpenAI and compatible hosts send without a code.
_FULL = re.compile(
    r"(?:prompt|input) is too long"
    r"|maximum context length is"
    r"|(?:exceed\w*|longer than|too large for|overflow\w*)\b[^.\n]{0,80}?\bcontext[ _-](?:length|limit|size|window)"
    r"|\bcontext[ _-](?:length|limit|size|window)\b[^.\n]{0,30}?\bexceeded",
    re.I,
)
# Only these kinds are vague. A full context is never a problem of authority or of speed.
_BLURRED: frozenset[FaultKind] = frozenset({"invalid_request", "unprocessable", "too_large"})


def kind_by_message(kind: FaultKind, message: str) -> FaultKind:
    """The kind, or context_too_long if only the message reveals it. Most hosts have no code for a full context, and
    agents shorten their history when they get this kind.
    """
    # The pattern looks at the beginning only: some hosts repeat the whole prompt in the message.
    return "context_too_long" if kind in _BLURRED and _FULL.search(message[:2000]) else kind


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or a numeric `retry-after`. Dates are ignored, because this layer has no
    clock.
    """
    # OpenAI's SDK also reads retry-after-ms (openai 3.49.0).
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = next((v for k, v in headers.items() if k.lower() == name), "")
        try:
            seconds = float(value) / scale
        except ValueError:
            continue
        # 1e9 seconds are 30 years. A larger number is an error or a date in seconds.
        if 0 <= seconds < 1e9:
            return seconds
    return None


def retry_headers(fault: Fault) -> dict[str, str]:
    """The `retry-after` header of a fault, in whole seconds, rounded up."""
    if fault.retry_after is None:
        return {}
    whole = int(fault.retry_after)
    # Rounded up: a client that waits too short a time is refused again.
    return {"retry-after": str(whole if whole == fault.retry_after else whole + 1)}


_ENDED = "the upstream's stream ended before the answer did"
_MAX_QUOTED = 200
"""The largest number of quoted characters."""


def broken_off(stray: bytes, read: Callable[[dict[str, Any]], Fault]) -> Fault:
    """The fault of a stream that ended before its answer. `stray`: bytes outside of frames. An error object in them is
    read as a fault; of anything else, the beginning is quoted.
    """
    # 4000 bytes are enough for every error page, and keep the work small for a stream of megabytes.
    words = " ".join(stray[:4000].decode("utf-8", "replace").split())
    if not words:
        return Fault("upstream_bad", _ENDED, 502)
    try:
        value = decode_tolerant(stray)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    # Google puts some errors into a list with one element (google-genai 3.1.0, 2026-11).
    value = value[0] if isinstance(value, list) and value else value
    error = value.get("error") or _unwrapped_error(value) if isinstance(value, dict) else None
    if isinstance(error, str):
        error = {"message": error}
    if isinstance(error, dict) and error:
        return read(error)
    return Fault("upstream_bad", f"{_ENDED}; it sent: {words[:_MAX_QUOTED]}", 502)


def _unwrapped_error(value: dict[str, Any]) -> dict[str, Any] | None:
    """An error object without `error` around it, as some hosts write it."""
    message = value.get("message") or value.get("detail")
    if not isinstance(message, str):
        return None
    return {**{name: field for name, field in value.items() if name not in ("message", "detail")}, "message": message}


_NOTHING = (b"null", b"[]", b"{}", b'""', b"false")


def is_empty_field(value: Raw | None) -> bool:
    """Whether a field is absent, null or empty: `"error": null` is not an error, and `"choices": []` is not an
    answer."""
    return value is None or bytes(value) in _NOTHING or bytes(value).translate(None, b" \t\r\n") in _NOTHING


def missing_fields(fault: Fault, source: str, written: bytes, document: bytes = b"") -> list[Path]:
    """The paths of a fault's fields that are missing in the bytes written for it (body and headers).

    `document`: the source of the fault. Without it, as in a stream, the fields are assumed to be in `error`.
    """
    whole = _decoded_fault(document)
    error = whole.get("error")
    mine: dict[str, Raw] = (fault.extra or {}).get(source, {})
    fields = dict(mine)
    own_values = b"".join(mine.values())
    for name, value in (("code", fault.code), ("param", fault.param)):
        # A value inside a kept field is counted there. A code that equals the status is translated as the status.
        # A search for the value in all fields would be slow for each of them, so the kept fields are joined once.
        if value and name not in mine and json_text.string(value) not in own_values and value != str(fault.status):
            if json_text.string(value) not in written:
                fields[name] = Raw(b"")
    lost: list[Path] = []
    found = _Written(written, len(fields) + len(whole))
    for name, raw in fields.items():
        if bytes(raw) != b"null" and (not raw or not found.has_field(name, bytes(raw))):
            inside = isinstance(error, dict) and name in error
            lost.append((name,) if name in whole and not inside else ("error", name))
    if not document and fault.request_id and json_text.string(fault.request_id) not in written:
        lost.append(("request_id",))
    if isinstance(error, dict):
        beside = [name for name, value in whole.items() if name not in ("error", "type") and value is not None]
        for name in beside:
            # A text (an id) may have another name, or may be in a header. For other values an equal value would be
            # chance.
            spelled = json_text.encode(whole[name])
            has = found.has_text(spelled) if isinstance(whole[name], str) else found.has_field(name, spelled)
            if name not in mine and not has:
                lost.append((name,))
    return lost


_FEW = 16
"""Up to this number of fields, single searches are faster than a table; but each search reads all bytes."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


class _Written:
    """Finds fields and texts in written JSON. The bytes are read once if there are many to find."""

    __slots__ = ("_places", "_written")

    def __init__(self, written: bytes, count: int) -> None:
        self._written = written
        self._places: dict[bytes, list[int]] | None = None
        if count > _FEW:
            self._places = {}
            for found in _STRING.finditer(written):
                self._places.setdefault(found[0], []).append(found.end())

    def has_field(self, name: str, value: bytes) -> bool:
        """Whether a member with this name and value was written."""
        member = json_text.string(name)
        if self._places is None:
            return member + b":" + value in self._written
        return any(self._written.startswith(b":" + value, place) for place in self._places.get(member, ()))

    def has_text(self, spelled: bytes) -> bool:
        """Whether this JSON string was written."""
        return spelled in (self._written if self._places is None else self._places)


def _decoded_fault(document: bytes) -> dict[str, Any]:
    try:
        value = decode_tolerant(document) if document else None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return {}
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, dict) else {}


# Words of the `error` object of OpenAI's endpoints and of the many hosts that follow them (openai 3.49.0,
# 2026-11).
_BY_CODE: dict[str, FaultKind] = {
    "context_length_exceeded": "context_too_long",
    "data_residency_mismatch": "permission",
    "insufficient_quota": "billing",
    "invalid_api_key": "auth",
    "model_max_prompt_tokens_exceeded": "context_too_long",
    "model_not_found": "not_found",
    "overloaded": "overloaded",
    "previous_response_not_found": "not_found",
    "rate_limit_exceeded": "rate_limit",
    "server_error": "server",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "timeout": "timeout",
    "usage_not_included": "billing",
    "vector_store_timeout": "timeout",
}
_BY_TYPE: dict[str, FaultKind] = {
    "api_error": "server",
    "authentication_error": "auth",
    "insufficient_quota": "billing",
    "invalid_request_error": "invalid_request",
    "not_found_error": "not_found",
    "overloaded_error": "overloaded",
    "permission_error": "permission",
    "rate_limit_error": "rate_limit",
    "requests": "rate_limit",
    "server_error": "server",
    "timeout_error": "timeout",
    "tokens": "rate_limit",
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
    "server": ("server_error", None),
    "upstream_bad": ("server_error", None),
    "overloaded": ("server_error", "overloaded"),
    "timeout": ("server_error", "timeout"),
}
# OpenAI answers an exhausted quota with 429 and the code insufficient_quota, not with 402 (as of 2026-11).
_OWN_STATUSES: dict[FaultKind, int] = {"billing": 429}
# First letters of codes in a stream which mean that the request, not the server, was wrong (openai 3.49.0,
# 2026-11).
_POLICIES = ("invalid_", "image_", "bio_", "misalignment_", "unsupported_", "empty_image", "failed_to_download")
_FIELDS = frozenset({"message", "type", "param", "code"})


class ErrorObjects:
    """Reads and writes faults of the form `{"error": {message, type, param, code}}`. Make one for each dialect with
    this form.
    """

    __slots__ = ("_codes", "_dialect")

    def __init__(self, dialect: str, codes: Mapping[FaultKind, str] | None = None) -> None:
        """`codes`: the dialect's own codes, if they differ from the usual."""
        self._dialect = dialect
        self._codes = codes or {}

    def read(self, body: bytes, status: int, headers: Mapping[str, str]) -> Fault:
        """The fault in a whole answer, whatever form a host or a proxy gave it."""
        try:
            value = decode_tolerant(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            value = None
        error = value.get("error", value) if isinstance(value, dict) else value
        # OpenAI and most compatible hosts put the request's id here (openai 3.49.0, 2026-11).
        request_id = headers.get("x-request-id", "")
        if isinstance(error, str) and isinstance(value, dict):
            # xAI writes the message in place of the object, and the code beside it.
            error = {**{name: field for name, field in value.items() if name != "error"}, "message": error}
        elif isinstance(error, dict) and isinstance(error.get("detail"), str) and "message" not in error:
            # ChatGPT's own back end writes the message as `detail`, without other fields.
            error = {**{name: field for name, field in error.items() if name != "detail"}, "message": error["detail"]}
        if isinstance(error, dict):
            return self.read_object(error, status, headers, request_id)
        # Proxies answer with HTML pages. 2000 bytes are enough to identify a page.
        message = error if isinstance(error, str) else body[:2000].decode("utf-8", "replace")
        return Fault(kind_of_status(status), message, status, retry_after=retry_after(headers), request_id=request_id)

    def read_object(
        self, error: dict[str, Any], status: int, headers: Mapping[str, str], request_id: str = ""
    ) -> Fault:
        """The fault in an `error` object. `status` 0: unknown, as in a stream."""
        code, type_ = error.get("code"), error.get("type")
        # Some hosts send the HTTP status as the code in a stream, because the status was already sent.
        if not status and isinstance(code, int) and 400 <= code < 600:
            status = code
        code = str(code) if isinstance(code, str | int) else ""
        # The code is more exact than the status: 429 is both a rate limit and an empty account.
        kind = _BY_CODE.get(code) or (kind_of_status(status) if status else _kind_in_stream(code, str(type_)))
        message = error.get("message")
        rest = {name: json_text.raw(value) for name, value in error.items() if name not in _FIELDS}
        if isinstance(message, str) and kind_by_message(kind, message) != kind:
            kind = "context_too_long"
            if code:
                # The code is less precise than the message. Clients look for the code that fits the message.
                rest["code"], code = json_text.raw(error["code"]), ""
        if isinstance(type_, str) and type_ not in ("error", _TYPES[kind][0]):
            rest["type"] = json_text.raw(type_)
        return Fault(
            kind,
            message if isinstance(message, str) else json_text.encode(error).decode(),
            status or status_of_kind(kind),
            code,
            str(error.get("param") or ""),
            retry_after(headers),
            request_id,
            {self._dialect: rest} if rest else None,
        )

    def write(self, fault: Fault) -> tuple[bytes, int, dict[str, str]]:
        """Body, status and headers of an answer."""
        headers = retry_headers(fault)
        if fault.request_id:
            headers["x-request-id"] = fault.request_id
        body = json_text.encode({"error": self.write_object(fault)})
        return body, status_of_kind(fault.kind, own=_OWN_STATUSES), headers

    def write_object(self, fault: Fault) -> dict[str, Any]:
        """The content of the `error` object."""
        out: dict[str, Any] = {
            "message": fault.message,
            "type": _TYPES[fault.kind][0],
            "param": fault.param or None,
            "code": self.code(fault),
        }
        if fault.extra is not None and self._dialect in fault.extra:
            out.update(fault.extra[self._dialect])
        return out

    def code(self, fault: Fault) -> str | None:
        """The code to write."""
        return fault.code or self._codes.get(fault.kind) or _TYPES[fault.kind][1]


def _kind_in_stream(code: str, type_: str) -> FaultKind:
    # Only the beginning is compared: the list of codes grows with each release (openai 3.49.0, 2026-11).
    if code.startswith(_POLICIES):
        return "invalid_request"
    return _BY_TYPE.get(type_, "server")
