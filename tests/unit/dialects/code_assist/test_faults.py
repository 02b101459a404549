"""Code Assist faults have the form of Gemini faults; the reason decides the kind."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.canon.events import Fault
from dragoman.dialects.code_assist import DIALECT

from .helpers import NAME


def body(reason: str, *more: Any) -> bytes:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}, *more]
    error = {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": details}
    return msgspec.json.encode({"error": error})


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("RATE_LIMIT_EXCEEDED", "rate_limit"),
        ("QUOTA_EXHAUSTED", "billing"),
        ("INSUFFICIENT_G1_CREDITS_BALANCE", "billing"),
        ("MODEL_CAPACITY_EXHAUSTED", "overloaded"),
        ("MODEL_CAPACITY_EXCEEDED", "overloaded"),
        ("VALIDATION_REQUIRED", "permission"),
        ("SECURITY_POLICY_VIOLATED", "permission"),
        ("SOMETHING_ELSE", "rate_limit"),
    ],
)
def test_the_reason_decides_the_kind(reason: str, kind: str) -> None:
    fault = DIALECT.read_fault(body(reason), 429, {})
    assert (fault.kind, fault.message, fault.status, fault.code) == (kind, "m", 429, "RESOURCE_EXHAUSTED")


def test_the_retry_delay_is_read_and_translated() -> None:
    raw = body("RATE_LIMIT_EXCEEDED", {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"})
    assert DIALECT.read_fault(raw, 429, {}).retry_after == 12.5
    done = dragoman.translate_fault(raw, status=429, source=NAME, target="anthropic")
    assert done.headers["retry-after"] == "13"
    assert ("field.dropped", "/error/details") in [(loss.code, loss.path) for loss in done.losses]


@pytest.mark.parametrize(
    ("delay", "words", "seconds"),
    [
        ("373.801628ms", "", 0.373801628),
        ("1h16m0.667s", "", 4560.667),
        ("5m", "", 300.0),
        ("soon", "Your quota will reset after 2h1m.", 7260.0),
        (None, "Your quota will reset after 39s. Try later.", 39.0),
        (None, "Your quota will reset after a while.", None),
        ("", "", None),
    ],
)
def test_the_retry_delay_is_found_without_retry_info(delay: str | None, words: str, seconds: float | None) -> None:
    metadata = {} if delay is None else {"quotaResetDelay": delay}
    detail = {"reason": "RATE_LIMIT_EXCEEDED", "metadata": metadata}
    error = {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": [detail]}
    found = DIALECT.read_fault(msgspec.json.encode({"error": error}), 429, {}).retry_after
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_doubled_commas_are_read_as_one() -> None:
    raw = b'{"error":{"code":429,,"message":"a,,b", ,"status":"RESOURCE_EXHAUSTED"}}'
    fault = DIALECT.read_fault(raw, 429, {})
    assert (fault.kind, fault.status) == ("rate_limit", 429)
    whole = b'{"error":{"code":429,"message":"a,,b","status":"RESOURCE_EXHAUSTED"}}'
    assert DIALECT.read_fault(whole, 429, {}).message == "a,,b"


@pytest.mark.parametrize("raw", [b"", b"<html>", b'{"error":', b'"text"', b"[]", b'{"error":{"details":7}}'])
def test_anything_else_is_a_fault_of_its_status(raw: bytes) -> None:
    assert DIALECT.read_fault(raw, 503, {}).kind == "overloaded"


def test_a_fault_is_written_in_gemini_shape() -> None:
    raw, status, _ = DIALECT.write_fault(Fault("invalid_request", "m", 400))
    assert msgspec.json.decode(raw) == {"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}
    assert status == 400


def test_details_are_translated_between_gemini_and_code_assist() -> None:
    raw = body("QUOTA_EXHAUSTED")
    for source, target in ((NAME, "gemini"), ("gemini", NAME)):
        done = dragoman.translate_fault(raw, status=429, source=source, target=target)
        assert (done.json(), done.status) == (msgspec.json.decode(raw), 429)
