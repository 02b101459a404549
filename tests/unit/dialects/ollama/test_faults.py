"""Ollama faults: one text, a status, and the fields that hosts add."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman.canon.events import Fault
from dragoman.dialects.ollama import DIALECT


@pytest.mark.parametrize(
    ("body", "status", "fault"),
    [
        (b'{"error":"model \'x\' not found"}', 404, Fault("not_found", "model 'x' not found", 404)),
        (b'{"error":"busy","status":503}', 503, Fault("overloaded", "busy", 503)),
        (
            b'{"error":"unauthorized","signin_url":"https://example.com/in"}',
            401,
            Fault("auth", "unauthorized", 401, extra={"ollama": {"signin_url": Raw(b'"https://example.com/in"')}}),
        ),
        (
            b'{"error":{"message":"no","type":"x"}}',
            400,
            Fault("invalid_request", "no", 400, extra={"ollama": {"error": Raw(b'{"message":"no","type":"x"}')}}),
        ),
        (b'{"error":7}', 400, Fault("invalid_request", '{"error":7}', 400)),
        (b'"just words"', 500, Fault("server", "just words", 500)),
        (b"<html>", 502, Fault("upstream_bad", "<html>", 502)),
    ],
)
def test_faults_are_read(body: bytes, status: int, fault: Fault) -> None:
    assert DIALECT.read_fault(body, status, {}) == fault


def test_a_status_that_is_no_number_is_kept() -> None:
    fault = DIALECT.read_fault(b'{"error":"a","status":"odd"}', 429, {"retry-after": "7"})
    assert fault == Fault("rate_limit", "a", 429, retry_after=7, extra={"ollama": {"status": Raw(b'"odd"')}})


def test_faults_are_written() -> None:
    body, status, headers = DIALECT.write_fault(Fault("rate_limit", "slow", 429, "code", "param", 2.5))
    assert (msgspec.json.decode(body), status, headers) == ({"error": "slow"}, 429, {"retry-after": "3"})
    own = Fault("auth", "no", 401, extra={"ollama": {"signin_url": Raw(b'"u"')}, "gemini": {"x": Raw(b"1")}})
    assert msgspec.json.decode(DIALECT.write_fault(own)[0]) == {"error": "no", "signin_url": "u"}


def test_faults_are_translated() -> None:
    there = dragoman.translate_fault({"error": "no such model"}, status=404, source="ollama", target="openai-chat")
    assert (there.status, there.json()["error"]["message"]) == (404, "no such model")
    back = dragoman.translate_fault(there.body, status=404, source="openai-chat", target="ollama")
    assert (back.status, back.json()) == (404, {"error": "no such model"})
