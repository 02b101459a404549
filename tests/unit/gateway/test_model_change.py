"""Routes that change the model within one dialect: fields that the new model refuses are not sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conformance.source.documents import reply

from dragoman.gateway.config import Config, Route, Target, Upstream
from dragoman.gateway.http.server import IncomingRequest

from .gateway_and_upstreams import Scripted, ask, through

MESSAGES = b'{"model": "%b",  "max_tokens": 100000, "top_k": 5, "messages": [{"role": "user", "content": "hi"}]}'
CONTENTS = (
    b'{"contents": [{"role": "user", "parts": [{"text": "hi"}]}],  "generationConfig": {"maxOutputTokens": 60000}}'
)


def routed(dialect: str, *targets: Target) -> Any:
    def config(places: list[str]) -> Config:
        rows = {f"u{i}": Upstream(dialect, place, auth="none") for i, place in enumerate(places)}
        return Config(upstreams=rows, routes=(Route("*", targets, retries=0),))

    return config


def good(dialect: str) -> Scripted:
    answer = json.dumps(reply(dialect, "ok", ())).encode()
    return Scripted(lambda request: (200, [("content-type", "application/json")], answer))


@pytest.mark.parametrize("model", [b"claude-opus-5", b"fast"])
def test_a_route_to_another_model_edits_the_request_and_reports_losses(model: bytes) -> None:
    upstream = good("anthropic")
    body = MESSAGES % model

    def use(base: str) -> Any:
        received = ask(base, "POST", "/v1/messages", body)
        return ask(base, "GET", f"/dragoman/exchanges/{received.headers['dragoman-exchange']}").json()

    exchange = through(use, routed("anthropic", Target("u0", "claude-opus-4-1")), upstream)
    assert upstream.seen[0].body == body.replace(model, b"claude-opus-4-1").replace(b"100000", b"32000")
    assert [(loss["code"], loss["path"]) for loss in exchange["losses"]] == [("limit.lowered", "/max_tokens")]


def test_a_model_in_the_address_is_compared_with_the_route_s_model() -> None:
    upstream = good("gemini")

    def use(base: str) -> None:
        ask(base, "POST", "/v1beta/models/gemini-2.0-flash:generateContent", CONTENTS)
        ask(base, "POST", "/v1beta/models/gemini-2.5-flash:generateContent", CONTENTS)

    through(use, routed("gemini", Target("u0", "gemini-2.0-flash")), upstream)
    same, changed = [request.body for request in upstream.seen]
    assert same == CONTENTS
    assert changed == CONTENTS.replace(b"60000", b"8192")


def test_a_second_upstream_with_another_model_gets_only_fields_it_accepts() -> None:
    def failing(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return 503, [], b"{}"

    first, second = Scripted(failing), good("anthropic")
    body = MESSAGES % b"claude-opus-4-1"
    targets = (Target("u0", "claude-opus-4-1"), Target("u1", "claude-opus-5"))
    received = through(
        lambda base: ask(base, "POST", "/v1/messages", body), routed("anthropic", *targets), first, second
    )
    assert received.status == 200
    assert first.seen[0].body == body
    assert json.loads(second.seen[0].body) == {
        "model": "claude-opus-5",
        "max_tokens": 100000,
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_a_model_with_the_same_rules_gets_the_client_s_bytes() -> None:
    upstream = good("anthropic")
    body = MESSAGES % b"claude-opus-4-1-20250805"
    through(
        lambda base: ask(base, "POST", "/v1/messages", body),
        routed("anthropic", Target("u0", "claude-opus-4-1")),
        upstream,
    )
    assert upstream.seen[0].body == body.replace(b"claude-opus-4-1-20250805", b"claude-opus-4-1")
