"""Fault kinds, statuses and retry-after."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from dragoman import translate_fault
from dragoman.canon.events import Fault, FaultKind
from dragoman.codec.fault_kinds_statuses_and_error_object import (
    kind_by_message,
    kind_of_status,
    retry_after,
    retry_headers,
    status_of_kind,
)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request"),
        (401, "auth"),
        (402, "billing"),
        (403, "permission"),
        (404, "not_found"),
        (408, "timeout"),
        (409, "conflict"),
        (413, "too_large"),
        (418, "invalid_request"),
        (422, "unprocessable"),
        (429, "rate_limit"),
        (499, "cancelled"),
        (500, "server"),
        (502, "upstream_bad"),
        (503, "overloaded"),
        (504, "timeout"),
        (529, "overloaded"),
        (599, "server"),
        (200, "server"),
    ],
)
def test_the_kind_of_a_status(status: int, kind: FaultKind) -> None:
    assert kind_of_status(status) == kind


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8 tokens, and 9 came.",
        "This endpoint's maximum context length is 8 tokens.",
        "prompt is too long: 9 tokens > 8 maximum",
        "input length and `max_tokens` exceed context limit: 7 + 2 > 8",
        "Input is too long for it.",
        "The input (9 tokens) is longer than the context length (8).",
        "It exceeds the available context size.",
        "What was sent exceeds the context window.",
        "9 tokens are too large for a model with 8 maximum context length",
        "context length exceeded",
    ],
)
def test_a_full_context_is_recognised_by_its_message(message: str) -> None:
    assert kind_by_message("invalid_request", message) == "context_too_long"
    assert kind_by_message("rate_limit", message) == "rate_limit"


@pytest.mark.parametrize(
    "message",
    [
        "context_length must be positive",
        "The name of a tool is too long.",
        "The number of tools exceeds 128. See the context window docs.",
        "max_tokens is too large",
        "exceed " * 500,
    ],
)
def test_other_messages_are_no_full_context(message: str) -> None:
    assert kind_by_message("invalid_request", message) == "invalid_request"


def test_every_kind_has_a_status_of_that_kind_or_of_the_nearest_kind() -> None:
    back = {kind: kind_of_status(status_of_kind(kind)) for kind in get_args(FaultKind)}
    assert {kind: other for kind, other in back.items() if kind != other} == {"context_too_long": "invalid_request"}


@pytest.mark.parametrize(
    ("kind", "given", "own", "status"),
    [
        ("overloaded", 529, None, 529),
        ("overloaded", 500, None, 503),
        ("overloaded", 529, {"overloaded": 503}, 503),
        ("billing", 402, {"overloaded": 529}, 402),
        ("rate_limit", 0, None, 429),
    ],
)
def test_the_status_to_answer_with(kind: FaultKind, given: int, own: dict[FaultKind, int] | None, status: int) -> None:
    assert status_of_kind(kind, given, own) == status


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e12"}, None),
    ],
)
def test_seconds_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("seconds", "headers"),
    [(None, {}), (7.0, {"retry-after": "7"}), (1.2, {"retry-after": "2"}), (0.0, {"retry-after": "0"})],
)
def test_the_header_is_whole_seconds_and_never_too_short(seconds: float | None, headers: dict[str, str]) -> None:
    assert retry_headers(Fault("rate_limit", "slow down", retry_after=seconds)) == headers


@pytest.mark.parametrize("count", [3, 60])
def test_every_field_that_a_target_does_not_write_is_reported(count: int) -> None:
    names = [f"field{number}" for number in range(count)]
    error = {"message": "no", "type": "t", "param": "p", **dict.fromkeys(names, 1)}
    document = json.dumps({"error": error, "trace": "t-1", "flag": True}).encode()
    always = {f"/error/{name}" for name in names} | {"/error/type", "/trace", "/flag"}
    kept = translate_fault(document, status=400, source="openai-chat", target="openai-responses")
    assert {loss.path for loss in kept.losses} == always
    dropped = translate_fault(document, status=400, source="openai-chat", target="ollama")
    assert {loss.path for loss in dropped.losses} == always | {"/error/param"}
