"""Gemini faults: kinds, retry delays, faults inside an array, and faults of other dialects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.canon import Fault
from dragoman.canon.events import FaultKind
from dragoman.dialects.gemini import DIALECT
from tests.oracles.body_verdict import check_fault

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}


def read(body: Any, status: int = 0, **headers: str) -> Fault:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return DIALECT.read_fault(raw, status, {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    ("code", "status", "message", "kind"),
    [
        (400, "INVALID_ARGUMENT", "no", "invalid_request"),
        (400, "FAILED_PRECONDITION", "no", "invalid_request"),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens.",
            "context_too_long",
        ),
        (401, "UNAUTHENTICATED", "no", "auth"),
        (403, "PERMISSION_DENIED", "no", "permission"),
        (404, "NOT_FOUND", "no", "not_found"),
        (409, "ABORTED", "no", "conflict"),
        (429, "RESOURCE_EXHAUSTED", "no", "rate_limit"),
        (499, "CANCELLED", "no", "cancelled"),
        (500, "INTERNAL", "no", "server"),
        (503, "UNAVAILABLE", "no", "overloaded"),
        (504, "DEADLINE_EXCEEDED", "no", "timeout"),
        (413, "TOO_NEW", "no", "too_large"),
    ],
)
def test_kinds(code: int, status: str, message: str, kind: FaultKind) -> None:
    body = {"error": {"code": code, "message": message, "status": status}}
    fault = read(body, code)
    assert (fault.kind, fault.message, fault.status, fault.code) == (kind, message, code, status)
    assert (msgspec.json.decode(DIALECT.write_fault(fault)[0]), DIALECT.write_fault(fault)[1]) == (body, code)
    assert read([body]) == fault


def test_a_bad_key_is_an_authentication_fault() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    body = {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT", "details": details}}
    fault = read(body, 400)
    assert fault.kind == "auth"
    assert msgspec.json.decode(DIALECT.write_fault(fault)[0]) == body


def test_retry_delays() -> None:
    body = {"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED", "details": [RETRY]}}
    assert read(body, 429).retry_after == 12.5
    assert read({"error": {"message": "no"}}, 429, retry_after="3").retry_after == 3.0
    written, status, headers = DIALECT.write_fault(Fault("rate_limit", "no", 429, retry_after=12.5))
    assert msgspec.json.decode(written) == body
    assert (status, headers) == (429, {"retry-after": "13"})


@pytest.mark.parametrize("body", [b"<html>", b'"gone"', b"\xff", b"[]", b'{"a":"\xff"}'])
def test_bodies_that_are_no_error_object(body: bytes) -> None:
    fault = read(body, 502)
    assert (fault.kind, fault.status) == ("upstream_bad", 502)
    assert fault.message == ("gone" if body == b'"gone"' else body.decode("utf-8", "replace"))


def test_an_error_without_a_message() -> None:
    fault = read({"error": {"odd": 1}})
    assert fault == Fault("server", '{"odd":1}', 500, extra={"gemini": {"odd": fault.extra["gemini"]["odd"]}})  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "status", "word"),
    [
        ("billing", 429, "RESOURCE_EXHAUSTED"),
        ("overloaded", 503, "UNAVAILABLE"),
        ("upstream_bad", 502, "UNAVAILABLE"),
        ("context_too_long", 400, "INVALID_ARGUMENT"),
        ("too_large", 413, "INVALID_ARGUMENT"),
    ],
)
def test_faults_of_other_dialects(kind: FaultKind, status: int, word: str) -> None:
    body, written, headers = DIALECT.write_fault(Fault(kind, "no", 529))
    assert msgspec.json.decode(body) == {"error": {"code": status, "message": "no", "status": word}}
    assert (written, headers) == (status, {})
    assert check_fault("gemini", body) == []
