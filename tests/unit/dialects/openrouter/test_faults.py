"""OpenRouter faults: the type decides the kind, then the code. OpenRouter has its own statuses."""

from __future__ import annotations

import json

import pytest

import dragoman
from dragoman.canon.events import Fault
from dragoman.dialects.openrouter import DIALECT
from dragoman.dialects.openrouter.attribution_headers import attribution
from dragoman.dialects.openrouter.faults import _KINDS, _TYPES


def fault(error: object, status: int = 0, **headers: str) -> Fault:
    return DIALECT.read_fault(json.dumps({"error": error}).encode(), status, headers)


@pytest.mark.parametrize(
    ("error", "status", "kind", "fault_status"),
    [
        ({"code": 401, "message": "m"}, 401, "auth", 401),
        ({"code": 402, "message": "m"}, 402, "billing", 402),
        ({"code": 429, "message": "m"}, 200, "rate_limit", 429),
        ({"code": 429, "message": "m"}, 502, "rate_limit", 429),
        (
            {"code": 400, "message": "m", "metadata": {"error_type": "context_length_exceeded"}},
            400,
            "context_too_long",
            400,
        ),
        ({"code": 400, "message": "The maximum context length is 9 tokens."}, 400, "context_too_long", 400),
        ({"code": 502, "message": "m", "metadata": {"error_type": "unmapped"}}, 502, "upstream_bad", 502),
        ({"code": 529, "message": "m"}, 529, "overloaded", 529),
        ({"code": "403", "message": "m"}, 0, "permission", 403),
        ({"message": "m"}, 0, "server", 500),
    ],
)
def test_kinds(error: object, status: int, kind: str, fault_status: int) -> None:
    found = fault(error, status)
    assert (found.kind, found.status) == (kind, fault_status)


def test_the_code_of_the_provider_is_the_code_of_the_fault() -> None:
    error = {"code": 400, "message": "m", "metadata": {"error_type": "invalid_request", "provider_code": "bad_thing"}}
    assert fault(error, 400).code == "bad_thing"
    assert json.loads(DIALECT.write_fault(fault(error, 400))[0]) == {"error": error}


@pytest.mark.parametrize("kind", list(_TYPES))
def test_every_kind_can_be_written_and_read(kind: str) -> None:
    body, status, headers = DIALECT.write_fault(Fault(kind, "m", retry_after=3.0))  # type: ignore[arg-type]
    error = json.loads(body)["error"]
    assert error["code"] == status
    assert 400 <= status < 600
    assert headers == {"retry-after": "3"}
    expected = {"cancelled": "invalid_request"}.get(kind, kind)
    assert DIALECT.read_fault(body, status, headers).kind == expected


def test_every_type_of_the_page_is_known() -> None:
    assert set(_TYPES.values()) - {"unmapped"} <= set(_KINDS)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"error":"down"}', b'{"error":{"message":7}}', b"\xff"])
def test_any_body_of_a_proxy_is_a_fault(body: bytes) -> None:
    found = DIALECT.read_fault(body, 503, {"retry-after": "7", "x-generation-id": "gen-1"})
    assert (found.kind, found.status, found.retry_after, found.request_id) == ("overloaded", 503, 7.0, "gen-1")


def test_a_fault_is_translated() -> None:
    body = {"error": {"code": 402, "message": "No credits", "metadata": {"x": 1}}}
    out = dragoman.translate_fault(body, status=402, source="openrouter", target="anthropic")
    assert out.json()["error"]["type"] == "billing_error"
    assert [loss.path for loss in out.losses if loss.code == "field.dropped"] == ["/error/metadata"]


def test_attribution_of_the_client_overrides_the_attribution_of_the_route() -> None:
    assert attribution() == {}
    assert attribution(referer="https://a.b", title="A") == {
        "HTTP-Referer": "https://a.b",
        "X-OpenRouter-Title": "A",
        "X-Title": "A",
    }
    client = {"http-referer": "https://c.d", "x-title": "C", "authorization": "secret"}
    assert attribution(client, referer="https://a.b", title="A") == {
        "HTTP-Referer": "https://c.d",
        "X-Title": "C",
        "X-OpenRouter-Title": "C",
    }


def test_a_fault_with_status_200_raises_an_error() -> None:
    with pytest.raises(dragoman.FaultError) as caught:
        dragoman.translate_response(
            {"error": {"code": 429, "message": "slow"}}, source="openrouter", target="anthropic"
        )
    assert (caught.value.fault.kind, caught.value.fault.status) == ("rate_limit", 429)
