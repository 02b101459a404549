"""Chat faults: kinds are read from code, status or type, and written back."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.events import Fault, FaultKind
from dragoman.codec.fault_kinds_statuses_and_error_object import kind_of_status
from dragoman.dialects.openai_chat import DIALECT
from tests.unit.dialects.openai_chat.helpers import CHAT


def _read(body: Any, status: int, headers: dict[str, str] | None = None) -> Fault:
    return DIALECT.read_fault(body if isinstance(body, bytes) else msgspec.json.encode(body), status, headers or {})


def _error(message: str = "no", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("fields", "status", "kind"),
    [
        ({"type": "invalid_request_error"}, 400, "invalid_request"),
        ({"code": "context_length_exceeded"}, 400, "context_too_long"),
        ({"code": "invalid_api_key"}, 401, "auth"),
        ({"code": "insufficient_quota"}, 429, "billing"),
        ({}, 403, "permission"),
        ({"code": "model_not_found"}, 404, "not_found"),
        ({}, 409, "conflict"),
        ({}, 413, "too_large"),
        ({}, 422, "unprocessable"),
        ({"code": "rate_limit_exceeded"}, 429, "rate_limit"),
        ({"type": "tokens"}, 429, "rate_limit"),
        ({}, 500, "server"),
        ({}, 502, "upstream_bad"),
        ({}, 503, "overloaded"),
        ({}, 504, "timeout"),
    ],
)
def test_the_kind_is_read_from_the_code_or_the_status(fields: dict[str, Any], status: int, kind: FaultKind) -> None:
    fault = _read(_error(**fields), status)
    assert (fault.kind, fault.status, fault.message) == (kind, status, "no")


@pytest.mark.parametrize(
    ("type_", "kind", "status"),
    [
        ("invalid_request_error", "invalid_request", 400),
        ("authentication_error", "auth", 401),
        ("permission_error", "permission", 403),
        ("not_found_error", "not_found", 404),
        ("requests", "rate_limit", 429),
        ("insufficient_quota", "billing", 402),
        ("overloaded_error", "overloaded", 503),
        ("timeout_error", "timeout", 504),
        ("odd", "server", 500),
        (None, "server", 500),
    ],
)
def test_without_a_status_the_type_decides(type_: str | None, kind: FaultKind, status: int) -> None:
    fault = _read(_error(type=type_), 0)
    assert (fault.kind, fault.status) == (kind, status)


@pytest.mark.parametrize(
    ("code", "kind", "status"), [(429, "rate_limit", 429), (7, "server", 500), (True, "server", 500)]
)
def test_a_code_may_be_a_status(code: int, kind: FaultKind, status: int) -> None:
    fault = _read(_error(code=code), 0)
    assert (fault.kind, fault.status, fault.code) == (kind, status, str(code))


def test_everything_in_a_fault_is_read() -> None:
    fault = _read(
        _error("bad", type="odd_error", param="tools[0]", code="unsupported_value", misalignment={"a": 1}),
        400,
        {"retry-after": "7", "x-request-id": "req_1"},
    )
    extra = {CHAT: {"misalignment": Raw(b'{"a":1}'), "type": Raw(b'"odd_error"')}}
    assert fault == Fault("invalid_request", "bad", 400, "unsupported_value", "tools[0]", 7.0, "req_1", extra)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>bad gateway</html>", "<html>bad gateway</html>"),
        (b"", "no message came with the error (status 502)"),
        (b"\xff", "\ufffd"),
        (b'{"a":"\xff"}', '{"a":"\ufffd"}'),
        (b'{"error":"plain words"}', "plain words"),
        (b'"just words"', "just words"),
        (b"[1]", "[1]"),
        (b'{"detail":"not found"}', "not found"),
        (b'{"message":"flat","code":"x"}', "flat"),
        (b'{"error":{"message":["a"]}}', '{"message":["a"]}'),
        (b"[" * 99_999, "[" * 2000),
    ],
)
def test_any_body_of_a_failed_upstream_is_a_fault(body: bytes, message: str) -> None:
    fault = _read(body, 502)
    assert (fault.kind, fault.message, fault.status) == ("upstream_bad", message, 502)


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_every_kind_is_written_and_read_back(kind: FaultKind) -> None:
    body, status, headers = DIALECT.write_fault(Fault(kind, "no", 599, param="p", retry_after=1.5, request_id="req_1"))
    assert headers == {"retry-after": "2", "x-request-id": "req_1"}
    read_back = _read(body, status, headers)
    assert (read_back.kind, read_back.message, read_back.param, read_back.request_id) == (kind, "no", "p", "req_1")
    assert read_back.extra is None


def test_a_fault_is_written() -> None:
    assert DIALECT.write_fault(Fault("context_too_long", "long", 413)) == (
        b'{"error":{"message":"long","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}',
        400,
        {},
    )


def test_an_unknown_code_and_type_survive_a_round_trip() -> None:
    body = _error("no", type="odd", param=None, code="own_code", x=1)
    written, status, _ = DIALECT.write_fault(_read(body, 400))
    assert (msgspec.json.decode(written), status) == (body, 400)


def test_a_billing_fault_has_the_status_that_openai_uses() -> None:
    _, status, _ = DIALECT.write_fault(Fault("billing", "pay", 402))
    assert (status, kind_of_status(status)) == (429, "rate_limit")
