"""Responses faults in answers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.canon import Fault, FaultKind
from dragoman.dialects.openai_responses.faults import error_event, read_fault, response_error, write_fault
from tests.oracles.body_verdict import check_event, check_fault
from tests.unit.dialects.openai_responses.helpers import NAME, extra_fields


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (
            400,
            {
                "error": {
                    "message": "long",
                    "type": "invalid_request_error",
                    "param": "input",
                    "code": "context_length_exceeded",
                }
            },
            Fault("context_too_long", "long", 400, "context_length_exceeded", "input"),
        ),
        (
            401,
            {"error": {"message": "key", "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}},
            Fault("auth", "key", 401, "invalid_api_key", extra=extra_fields(type="invalid_request_error")),
        ),
        (
            429,
            {"error": {"message": "pay", "type": "insufficient_quota", "code": "insufficient_quota"}, "status": 429},
            Fault("billing", "pay", 429, "insufficient_quota"),
        ),
        (
            400,
            {"code": "invalid-argument", "error": "no key"},
            Fault("invalid_request", "no key", 400, "invalid-argument"),
        ),
        (401, {"detail": "sign in"}, Fault("auth", "sign in", 401)),
        (500, {"error": "boom"}, Fault("server", "boom", 500)),
        (404, {"error": {"message": "m", "hint": 1}}, Fault("not_found", "m", 404, extra=extra_fields(hint=1))),
        (503, ["?"], Fault("overloaded", '["?"]', 503)),
    ],
)
def test_faults_of_the_dialect_and_its_hosts(status: int, body: Any, fault: Fault) -> None:
    assert read_fault(msgspec.json.encode(body), status, {}) == fault


def test_bodies_that_are_no_json() -> None:
    assert read_fault(b"<html>bad gateway", 502, {}) == Fault("upstream_bad", "<html>bad gateway", 502)
    assert read_fault(b"\xff", 500, {}).kind == "server"


def test_waiting_times_and_request_ids_are_translated() -> None:
    headers = {"retry-after": "7", "x-request-id": "req_1"}
    fault = read_fault(b'{"error":{"message":"slow","code":"rate_limit_exceeded"}}', 429, headers)
    assert fault == Fault("rate_limit", "slow", 429, "rate_limit_exceeded", "", 7.0, "req_1")
    body, status, out = write_fault(fault)
    assert msgspec.json.decode(body) == {
        "error": {"message": "slow", "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}
    }
    assert (status, out) == (429, headers)


@pytest.mark.parametrize("kind", FaultKind.__args__)  # type: ignore[attr-defined]
def test_every_kind_is_legal(kind: FaultKind) -> None:
    body, status, _ = write_fault(Fault(kind, "m", 418, param="p"))
    assert check_fault(NAME, body) == []
    assert 400 <= status < 600
    assert check_event(NAME, msgspec.json.encode(error_event(Fault(kind, "m"), 0))) == []
    assert response_error(Fault(kind, "m"))["message"] == "m"


def test_codes_of_responses_are_kept() -> None:
    assert response_error(Fault("invalid_request", "m", code="bio_policy"))["code"] == "bio_policy"
    assert response_error(Fault("invalid_request", "m", code="something"))["code"] == "invalid_prompt"
