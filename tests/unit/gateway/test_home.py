"""Probes, the front page, and unknown addresses: the faults list the valid addresses."""

from __future__ import annotations

import pytest

from dragoman.gateway.config import Config

from .gateway_and_upstreams import Received, ask, through


def rehearsing(places: list[str]) -> Config:
    return Config()


def received(method: str, path: str, **headers: str) -> Received:
    found: Received = through(lambda base: ask(base, method, path, headers=headers), rehearsing)
    return found


def test_the_front_page_describes_the_gateway() -> None:
    page = received("GET", "/")
    assert page.status == 200
    assert page.body.startswith(b"dragoman ")
    assert b"POST /v1/messages" in page.body


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/healthz", 200), ("/api/tags", 200), ("/nowhere", 404)])
def test_a_probe_gets_no_body(path: str, status: int) -> None:
    answer = received("HEAD", path)
    assert (answer.status, answer.body) == (status, b"")


@pytest.mark.parametrize(
    ("path", "headers", "where", "named"),
    [
        ("/v1/embeddings", {}, ("error", "message"), "POST /v1/chat/completions"),
        ("/v1/files", {"anthropic-version": "1"}, ("error", "message"), "POST /v1/messages"),
        ("/v1beta/files", {}, ("error", "message"), "POST /v1beta/models/MODEL:generateContent"),
        ("/v1internal/x:y/z", {}, ("error", "message"), "POST /v1internal:generateContent"),
        ("/api/generate", {}, ("error",), "POST /api/chat"),
        ("/api/v1/embeddings", {}, ("error", "message"), "POST /api/v1/chat/completions"),
    ],
)
def test_an_unknown_address_is_a_fault_with_valid_addresses_in_the_client_s_dialect(
    path: str, headers: dict[str, str], where: tuple[str, ...], named: str
) -> None:
    answer = received("POST", path, **headers)
    assert answer.status == 404
    message = answer.json()
    for name in where:
        message = message[name]
    assert f"no endpoint has POST {path}" in message
    assert named in message


def test_a_wrong_method_is_a_fault_with_the_right_one() -> None:
    answer = received("GET", "/v1/chat/completions")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["message"] == "/v1/chat/completions takes POST, not GET"
    assert received("GET", "/v1beta/models/m:generateContent").status == 404
