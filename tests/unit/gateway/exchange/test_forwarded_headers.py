"""Headers that are sent to the upstream and back to the client, headers that are reported as lost, and request ids."""

from __future__ import annotations

import json

import pytest
from bench import payloads

from dragoman.gateway.config import Config, Upstream
from dragoman.gateway.exchange.forwarded_headers import not_forwarded, to_client, to_upstream
from dragoman.transport.response_head_reader import ResponseHead, head_of_headers
from dragoman.transport.secret_redaction import Redactor

from ..gateway_and_upstreams import Scripted, ask, through
from ..test_auth import PLACES

NO_SECRETS = Redactor([])
CLIENT = {
    "host": "x",
    "connection": "keep-alive",
    "transfer-encoding": "chunked",
    "te": "trailers",
    "cookie": "c",
    "authorization": "Bearer k",
    "x-goog-api-key": "k",
    "x-goog-api-client": "gl-python",
    "user-agent": "agent",
    "x-stainless-lang": "python",
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "context-1m",
    "openai-beta": "assistants=v2",
    "openai-organization": "org",
    "http-referer": "https://app.example",
    "x-title": "App",
    "x-goog-user-project": "p",
    "x-codex-turn-state": "t",
    "x-request-id": "mine",
    "traceparent": "00-1-1-01",
}
ALL = {"x-request-id", "traceparent"}


@pytest.mark.parametrize(
    ("upstream", "client", "taken", "dropped"),
    [
        (
            "anthropic",
            "anthropic",
            {"anthropic-version", "anthropic-beta"},
            {"openai-beta", "openai-organization", "http-referer", "x-title", "x-goog-user-project"},
        ),
        (
            "anthropic",
            "openai-chat",
            {"anthropic-beta"},
            {"openai-beta", "openai-organization", "http-referer", "x-title", "x-goog-user-project"},
        ),
        (
            "openai-chat",
            "openai-responses",
            {"openai-beta", "openai-organization", "x-codex-turn-state"},
            {"anthropic-beta", "http-referer", "x-title", "x-goog-user-project"},
        ),
        (
            "code-assist",
            "gemini",
            {"x-goog-user-project"},
            {"anthropic-beta", "openai-beta", "openai-organization", "http-referer", "x-title"},
        ),
        (
            "openrouter",
            "openai-chat",
            {"http-referer", "x-title"},
            {"anthropic-beta", "openai-beta", "openai-organization", "x-goog-user-project"},
        ),
        (
            "ollama",
            "anthropic",
            set(),
            {"anthropic-beta", "openai-beta", "openai-organization", "http-referer", "x-title", "x-goog-user-project"},
        ),
    ],
)
def test_headers_go_only_to_upstreams_of_their_provider(
    upstream: str, client: str, taken: set[str], dropped: set[str]
) -> None:
    assert set(to_upstream(upstream, client, CLIENT)) == taken | ALL
    received = not_forwarded(upstream, client, CLIENT)
    assert {loss.detail.partition(":")[0] for loss in received} == dropped
    assert {loss.code for loss in received} == {"header.dropped"}
    severities = {loss.detail.partition(":")[0]: loss.severity for loss in received}
    assert severities.get("openai-beta", "warning") == "warning"
    assert severities.get("anthropic-beta", "info") == "info"


def head_of(answer: list[tuple[str, str]]) -> ResponseHead:
    return head_of_headers([(name.encode(), value.encode()) for name, value in answer])


ANSWER = [
    ("content-type", "application/json"),
    ("transfer-encoding", "chunked"),
    ("set-cookie", "c"),
    ("x-ratelimit-remaining-requests", "9"),
    ("anthropic-ratelimit-tokens-remaining", "8"),
    ("openai-processing-ms", "7"),
    ("x-request-id", "theirs"),
]


def test_headers_of_an_answer_go_only_to_clients_of_their_provider() -> None:
    assert dict(to_client("openai-chat", "openai-responses", head_of(ANSWER), "ex", [], NO_SECRETS)) == {
        "x-ratelimit-remaining-requests": "9",
        "anthropic-ratelimit-tokens-remaining": "8",
        "openai-processing-ms": "7",
        "x-request-id": "theirs",
    }
    assert dict(to_client("anthropic", "openai-chat", head_of(ANSWER), "ex", [], NO_SECRETS)) == {
        "x-request-id": "theirs",
        "request-id": "theirs",
    }


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_every_limit_header_comes_back_in_every_answer(count: int) -> None:
    for value in ("1", "2"):
        limits = [(f"x-ratelimit-{number}", value) for number in range(count)]
        answer = [("date", value), *limits, ("x-request-id", ""), ("request-id", f"r{value}")]
        own = [("content-type", "a/b"), ("x-request-id", f"r{value}")]
        assert to_client("openai-chat", "openai-chat", head_of(answer), "ex", own[:1], NO_SECRETS) == [*own, *limits]
        assert to_client("gemini", "openai-chat", head_of(answer), "ex", own[:1], NO_SECRETS) == own


def test_the_request_id_is_the_upstream_s_or_else_the_client_s() -> None:
    def request_id(answer: list[tuple[str, str]]) -> str:
        return dict(to_client("openai-chat", "anthropic", head_of(answer), "mine", [], NO_SECRETS))["x-request-id"]

    assert request_id([("request-id", "req_1")]) == "req_1"
    assert request_id([("x-request-id", ""), ("request-id", "req_1")]) == "req_1"
    assert request_id([("request-id", "")]) == "mine"
    assert request_id([]) == "mine"


def test_headers_cross_a_gateway_in_both_directions() -> None:
    answer = [("request-id", "req_1"), ("anthropic-ratelimit-requests-remaining", "3"), ("x-other", "y")]
    upstream = Scripted(lambda request: (200, answer, payloads.response("anthropic")))

    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("anthropic", places[0], auth="none", models=("*",))})

    def use(base: str) -> None:
        shown = {"openai-beta": "a=b", "x-request-id": "mine", "connection": "keep-alive, x-hop", "x-hop": "1"}
        received = ask(base, "POST", "/v1/chat/completions", payloads.request("openai-chat"), shown)
        assert received.headers["x-request-id"] == "req_1"
        assert "anthropic-ratelimit-requests-remaining" not in received.headers
        assert "header.dropped;warning" in received.headers["dragoman-losses"]
        exchange = ask(base, "GET", f"/dragoman/exchanges/{received.headers['dragoman-exchange']}").json()
        assert "openai-beta: a=b" in [loss["detail"] for loss in exchange["losses"]]
        same = ask(base, "POST", "/v1/messages", payloads.request("anthropic"), {"anthropic-beta": "b1,b2"})
        assert same.headers["request-id"] == "req_1"
        assert same.headers["anthropic-ratelimit-requests-remaining"] == "3"
        assert "x-other" not in same.headers

    through(use, config, upstream)
    first, second = [request.headers for request in upstream.seen]
    assert first["x-request-id"] == "mine"
    assert "openai-beta" not in first
    assert "x-hop" not in first
    assert second["anthropic-beta"] == "b1,b2"


@pytest.mark.parametrize("client", ["anthropic", "openai-chat", "gemini"])
def test_a_fault_keeps_its_request_id_and_its_retry_after(client: str) -> None:
    fault = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}, "request_id": "req_9"}
    answer = [("request-id", "req_9"), ("retry-after", "77"), ("anthropic-ratelimit-requests-remaining", "0")]
    upstream = Scripted(lambda request: (429, answer, json.dumps(fault).encode()))

    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("anthropic", places[0], auth="none", models=("*",))})

    received = through(lambda base: ask(base, "POST", PLACES[client], payloads.request(client)), config, upstream)
    assert received.status == 429
    assert received.headers["x-request-id"] == "req_9"
    assert received.headers["retry-after"] == "77"
    assert received.headers["dragoman-exchange"].startswith("ex_")
    assert received.headers.get("anthropic-ratelimit-requests-remaining") == ("0" if client == "anthropic" else None)
    assert received.headers.get("request-id") == ("req_9" if client == "anthropic" else None)
    if client == "anthropic":
        assert received.json() == fault
