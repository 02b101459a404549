"""Messages faults: kinds, statuses, retry-after, and round trips."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.events import Fault, FaultKind
from dragoman.dialects.anthropic import DIALECT
from tests.unit.dialects.anthropic.helpers import MESSAGES


def _body(type_: str, message: str = "m", **more: object) -> bytes:
    return msgspec.json.encode(
        {"type": "error", "error": {"type": type_, "message": message, **more}, "request_id": "r"}
    )


@pytest.mark.parametrize(
    ("status", "type_", "kind"),
    [
        (400, "invalid_request_error", "invalid_request"),
        (401, "authentication_error", "auth"),
        (402, "billing_error", "billing"),
        (403, "permission_error", "permission"),
        (404, "not_found_error", "not_found"),
        (409, "conflict_error", "conflict"),
        (413, "request_too_large", "too_large"),
        (429, "rate_limit_error", "rate_limit"),
        (500, "api_error", "server"),
        (504, "timeout_error", "timeout"),
        (529, "overloaded_error", "overloaded"),
    ],
)
def test_each_type_is_read_as_a_kind_and_written_back(status: int, type_: str, kind: FaultKind) -> None:
    fault = DIALECT.read_fault(_body(type_), status, {})
    assert fault == Fault(kind, "m", status, request_id="r")
    assert DIALECT.write_fault(fault) == (_body(type_), status, {"request-id": "r"})


def test_a_prompt_that_is_too_long_has_its_own_kind() -> None:
    fault = DIALECT.read_fault(_body("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), 400, {})
    assert (fault.kind, fault.status) == ("context_too_long", 400)


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ("The input exceeds the context window.", "prompt is too long: The input exceeds the context window."),
        ("Prompt is too long", "Prompt is too long"),
    ],
)
def test_a_full_context_is_reported_in_the_words_that_agents_search_for(message: str, sent: str) -> None:
    body, status, _ = DIALECT.write_fault(Fault("context_too_long", message))
    assert (msgspec.json.decode(body)["error"], status) == ({"type": "invalid_request_error", "message": sent}, 400)


def test_details_and_retry_after_are_kept() -> None:
    body = _body("rate_limit_error", details={"error_code": "slow", "x": 1})
    fault = DIALECT.read_fault(body, 429, {"retry-after": "7"})
    assert fault == Fault(
        "rate_limit",
        "m",
        429,
        "slow",
        retry_after=7.0,
        request_id="r",
        extra={MESSAGES: {"details": Raw(b'{"error_code":"slow","x":1}')}},
    )
    written, status, headers = DIALECT.write_fault(fault)
    assert msgspec.json.decode(written) == msgspec.json.decode(body)
    assert (status, headers) == (429, {"retry-after": "7", "request-id": "r"})


def test_an_unknown_type_gets_its_kind_from_the_status_and_is_kept() -> None:
    fault = DIALECT.read_fault(_body("teapot_error"), 422, {})
    assert fault.kind == "unprocessable"
    assert msgspec.json.decode(DIALECT.write_fault(fault)[0])["error"] == {"type": "teapot_error", "message": "m"}


@pytest.mark.parametrize("body", [b"upstream on fire", b'"upstream on fire"', b'{"error": "upstream on fire"}'])
def test_any_other_body_is_the_message(body: bytes) -> None:
    assert DIALECT.read_fault(body, 503, {}) == Fault("overloaded", "upstream on fire", 503)


def test_without_a_message_the_json_of_the_error_is_the_message() -> None:
    assert DIALECT.read_fault(b'{"error":{"a":1}}', 500, {}).message == '{"a":1}'


@pytest.mark.parametrize(
    ("kind", "type_", "status"),
    [
        ("unprocessable", "invalid_request_error", 422),
        ("cancelled", "invalid_request_error", 499),
        ("upstream_bad", "api_error", 502),
        ("overloaded", "overloaded_error", 529),
    ],
)
def test_kinds_without_an_own_type_use_another_type(kind: FaultKind, type_: str, status: int) -> None:
    body, written_status, headers = DIALECT.write_fault(Fault(kind, "m"))
    assert msgspec.json.decode(body) == {"type": "error", "error": {"type": type_, "message": "m"}, "request_id": None}
    assert (written_status, headers) == (status, {})
