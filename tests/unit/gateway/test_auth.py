"""Keys for an upstream: the gateway's key, the client's own key, Google's tokens, each in the header of the dialect."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bench import payloads

from dragoman.dialects import endpoints, names
from dragoman.gateway.config import Config, Route, Target, Upstream
from dragoman.gateway.exchange.upstream_headers_and_key import headers, join_address
from dragoman.gateway.http.server import IncomingRequest
from dragoman.transport.account_projects import AccountProjects
from dragoman.transport.google_credentials import EARLY, LATE, NoToken, Tokens

from .gateway_and_upstreams import Received, Scripted, ask, through

DIALECTS = sorted(names())
PLACES = {
    "anthropic": "/v1/messages",
    "code-assist": "/v1internal:generateContent",
    "gemini": "/v1beta/models/m:generateContent",
    "ollama": "/api/chat",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "openrouter": "/api/v1/chat/completions",
}
SHOWN: dict[str, dict[str, str]] = {
    "anthropic": {"x-api-key": "secret-1"},
    "code-assist": {"authorization": "Bearer secret-1"},
    "gemini": {"x-goog-api-key": "secret-1"},
    "ollama": {"authorization": "Bearer secret-1"},
    "openai-chat": {"authorization": "Bearer secret-1"},
    "openai-responses": {"authorization": "Bearer secret-1"},
    "openrouter": {"authorization": "Bearer secret-1"},
}
"""The header with the key in each dialect. Clients and upstreams use the same header."""
HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


def body_of(dialect: str) -> bytes:
    return payloads.request(dialect)


def keys(sent: Mapping[str, str]) -> dict[str, str]:
    return {name: sent[name] for name in HEADERS if name in sent}


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_a_client_s_key_goes_into_the_header_of_the_upstream_s_dialect(client: str, upstream: str) -> None:
    sent = headers(Upstream(upstream, "http://x", auth="client"), {}, client, SHOWN[client])
    assert keys(dict(sent)) == SHOWN[upstream]


def test_a_bearer_token_of_a_subscription_stays_a_bearer_token() -> None:
    shown = {"authorization": "Bearer sk-ant-oat01-x"}
    assert keys(dict(headers(Upstream("anthropic", "http://x", auth="client"), {}, "anthropic", shown))) == shown
    google = {"authorization": "Bearer ya29.x"}
    assert keys(dict(headers(Upstream("gemini", "http://x", auth="client"), {}, "code-assist", google))) == google


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_gateway_s_own_key_replaces_the_client_s_key(dialect: str) -> None:
    sent = headers(Upstream(dialect, "http://x", "KEY"), {"KEY": "secret-1"}, "openai-chat", {"x-api-key": "other"})
    assert keys(dict(sent)) == SHOWN[dialect]


def test_a_configured_header_wins_and_an_empty_one_removes_the_header() -> None:
    upstream = Upstream("anthropic", "http://x", headers={"Anthropic-Beta": "", "x-a": "b"})
    sent = dict(headers(upstream, {}, "anthropic", {"anthropic-beta": "c", "anthropic-version": "2026-10-21"}))
    assert "anthropic-beta" not in sent
    assert (sent["x-a"], sent["anthropic-version"]) == ("b", "2026-10-21")


def test_the_route_decides_whether_the_client_s_key_is_passed_on() -> None:
    upstream = Scripted(lambda request: (200, [], payloads.response("anthropic")))

    def config(places: list[str]) -> Config:
        row = Upstream("anthropic", places[0], "KEY")
        routes = (Route("own", (Target("u"),), client_key=True), Route("ours", (Target("u"),)))
        return Config(upstreams={"u": row}, routes=routes)

    def use(base: str) -> None:
        body: dict[str, Any] = {"messages": [{"role": "user", "content": "x"}]}
        for model in ("own", "ours"):
            received = ask(
                base, "POST", "/v1/chat/completions", {**body, "model": model}, {"authorization": "Bearer mine"}
            )
            assert received.status == 200

    through(use, config, upstream, environment={"KEY": "theirs"})
    assert [keys(request.headers) for request in upstream.seen] == [{"x-api-key": "mine"}, {"x-api-key": "theirs"}]


def test_a_key_in_the_address_is_passed_on_too() -> None:
    upstream = Scripted(lambda request: (200, [], payloads.response("gemini")))
    config = lambda places: Config(upstreams={"u": Upstream("gemini", places[0], auth="client", models=("*",))})  # noqa: E731
    received: Received = through(
        lambda base: ask(base, "POST", "/v1beta/models/m:generateContent?key=mine", body_of("gemini")), config, upstream
    )
    assert received.status == 200
    assert keys(upstream.seen[0].headers) == {"x-goog-api-key": "mine"}


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("/api/paas/v4", "/v1/chat/completions", "/api/paas/v4/chat/completions"),
        ("/v1beta/openai", "/v1/chat/completions", "/v1beta/openai/chat/completions"),
        ("/v1alpha", "/v1beta/models/m:generateContent", "/v1alpha/models/m:generateContent"),
        ("/v1beta1", "/v1/projects/p/locations/l/x", "/v1beta1/projects/p/locations/l/x"),
        ("/gateway", "/v1internal:loadCodeAssist", "/gateway/v1internal:loadCodeAssist"),
    ],
)
def test_a_version_in_the_base_address_wins(base: str, path: str, whole: str) -> None:
    assert join_address(base, path) == whole


# Google's tokens.


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def test_a_token_is_fetched_once_for_all_requests_and_renewed_early() -> None:
    clock = Clock()
    fetched: list[str] = []
    gate = threading.Event()

    def fetcher(file: str) -> Any:
        def fetch() -> tuple[str, float]:
            gate.wait(10)
            fetched.append(file)
            return f"token-{len(fetched)}", clock.time + 3600

        return fetch

    async def inner() -> None:
        tokens = Tokens(clock, fetcher)
        waiting = [asyncio.create_task(tokens.get("f")) for _ in range(5)]
        await asyncio.sleep(0)
        gate.set()
        assert await asyncio.gather(*waiting) == ["token-1"] * 5
        assert await tokens.get("f") == "token-1"
        clock.time += 3600 - EARLY + 1
        gate.clear()
        assert await tokens.get("f") == "token-1"  # still valid; the next token is being fetched
        gate.set()
        while len(fetched) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        assert await tokens.get("f") == "token-2"
        clock.time += 3600 - LATE + 1
        assert await tokens.get("f") == "token-3"
        assert await tokens.get("g") == "token-4"

    asyncio.run(inner())
    assert fetched == ["f", "f", "f", "g"]


def test_a_failed_fetch_is_an_error_and_the_next_request_fetches_again() -> None:
    calls = 0

    def fetcher(file: str) -> Any:
        def fetch() -> tuple[str, float]:
            nonlocal calls
            calls += 1
            if calls == 1:
                raise NoToken(file, "nobody is there")
            return "token", float("inf")

        return fetch

    async def inner() -> str:
        tokens = Tokens(Clock(), fetcher)
        with pytest.raises(NoToken, match="Google credentials of f: nobody is there"):
            await tokens.get("f")
        return await tokens.get("f")

    assert asyncio.run(inner()) == "token"


def service_account(folder: Path, token_uri: str) -> Path:
    """Write a credentials file with a new key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    file = folder / "account.json"
    info = {
        "type": "service_account",
        "project_id": "p",
        "private_key_id": "1",
        "private_key": pem,
        "client_email": "a@p.iam.gserviceaccount.com",
        "token_uri": token_uri,
    }
    file.write_text(json.dumps(info))
    return file


class TokenEndpoint(Scripted):
    """A token endpoint that counts the tokens that it gives."""

    def __init__(self, status: int = 200) -> None:
        super().__init__(self._answer)
        self._status = status

    def _answer(self, request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        if self._status != 200:
            return self._status, [], b'{"error":"invalid_grant","error_description":"no such account"}'
        received = {"access_token": f"ya29.{len(self.seen)}", "expires_in": 3600, "token_type": "Bearer"}
        return 200, [("content-type", "application/json")], json.dumps(received).encode()


@pytest.mark.parametrize("dialect", ["gemini", "code-assist"])
def test_google_s_credentials_give_the_token(dialect: str, tmp_path: Path) -> None:
    pytest.importorskip("google.auth")
    upstream = Scripted(lambda request: (200, [], payloads.response(dialect)))
    tokens = TokenEndpoint()

    def config(places: list[str]) -> Config:
        file = service_account(tmp_path, f"{places[1]}/token")
        row = Upstream(dialect, places[0], models=("*",), project="p", location="eu", credentials=str(file))
        return Config(upstreams={"u": row})

    def use(base: str) -> None:
        for _ in range(2):
            assert ask(base, "POST", "/v1/messages", body_of("anthropic")).status == 200

    through(use, config, upstream, tokens)
    assert [request.headers["authorization"] for request in upstream.seen] == ["Bearer ya29.1"] * 2
    assert len(tokens.seen) == 1
    assert b"assertion=" in tokens.seen[0].body
    if dialect == "gemini":
        assert upstream.seen[0].path.startswith("/v1/projects/p/locations/eu/publishers/google/models/")
    else:
        assert [body["project"] for body in upstream.bodies()] == ["p", "p"]


def test_the_default_credentials_of_the_user_give_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    google = pytest.importorskip("google.oauth2.credentials")
    upstream = Scripted(lambda request: (200, [], payloads.response("gemini")))
    tokens = TokenEndpoint()
    file = tmp_path / "user.json"
    info = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
    file.write_text(json.dumps(info))

    def config(places: list[str]) -> Config:
        monkeypatch.setattr(google, "_GOOGLE_OAUTH2_TOKEN_ENDPOINT", f"{places[1]}/token")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))  # the default credentials of the application
        return Config(upstreams={"u": Upstream("gemini", places[0], models=("*",), project="p")})

    received: Received = through(
        lambda base: ask(base, "POST", "/v1/messages", body_of("anthropic")), config, upstream, tokens
    )
    assert received.status == 200
    assert upstream.seen[0].headers["authorization"] == "Bearer ya29.1"
    assert b"refresh_token=r" in tokens.seen[0].body


@pytest.mark.parametrize("broken", ["file", "endpoint"])
def test_without_a_token_nothing_is_sent_and_the_client_gets_a_fault(broken: str, tmp_path: Path) -> None:
    pytest.importorskip("google.auth")
    upstream = Scripted(lambda request: (200, [], payloads.response("gemini")))
    tokens = TokenEndpoint(status=400)

    def config(places: list[str]) -> Config:
        file = service_account(tmp_path, f"{places[1]}/token") if broken == "endpoint" else tmp_path / "none.json"
        row = Upstream("gemini", places[0], models=("*",), project="p", credentials=str(file))
        return Config(upstreams={"u": row})

    received: Received = through(
        lambda base: ask(base, "POST", "/v1/messages", body_of("anthropic")), config, upstream, tokens
    )
    assert received.status == 424  # not the client's own login (docs/how-to/run-the-gateway.md)
    assert "Google credentials" in received.json()["error"]["message"]
    assert upstream.seen == []


@pytest.mark.parametrize("known", [True, False], ids=["a project", "a new one"])
def test_the_project_of_code_assist_is_requested_from_the_upstream(known: bool, tmp_path: Path) -> None:
    pytest.importorskip("google.auth")
    received = {
        "/v1internal:loadCodeAssist": {"currentTier": {"id": "free-tier"}, "cloudaicompanionProject": "given"}
        if known
        else {"allowedTiers": [{"id": "other"}, {"id": "free-tier", "isDefault": True}]},
        "/v1internal:onboardUser": {"done": True, "response": {"cloudaicompanionProject": {"id": "given"}}},
    }

    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        found = received.get(request.path)
        return 200, [], json.dumps(found).encode() if found else payloads.response("code-assist")

    upstream, tokens = Scripted(answers), TokenEndpoint()

    def config(places: list[str]) -> Config:
        file = service_account(tmp_path, f"{places[1]}/token")
        return Config(upstreams={"u": Upstream("code-assist", places[0], models=("*",), credentials=str(file))})

    def use(base: str) -> None:
        for _ in range(2):
            assert ask(base, "POST", "/v1/messages", body_of("anthropic")).status == 200
        own = {"model": "m", "project": "own", "request": {"contents": [{"role": "user", "parts": [{"text": "x"}]}]}}
        assert ask(base, "POST", PLACES["code-assist"], own).status == 200

    through(use, config, upstream, tokens)
    bodies = [json.loads(one.body) for one in upstream.seen if one.path == PLACES["code-assist"]]
    assert [body["project"] for body in bodies] == ["given", "given", "own"]
    assert len(upstream.seen) == 3 + (1 if known else 2)
    assert {request.headers["authorization"] for request in upstream.seen} == {"Bearer ya29.1"}
    onboarded = [json.loads(one.body)["tierId"] for one in upstream.seen if one.path.endswith("onboardUser")]
    assert onboarded == ([] if known else ["free-tier"])


def test_an_operation_is_polled_until_it_is_done() -> None:
    steps = iter([b"{}", b'{"name":"operations/o"}', b'{"name":"operations/o"}', b'{"done":true,"response":{}}'])
    requests: list[str] = []

    async def send(method: str, path: str, body: bytes) -> bytes:
        requests.append(f"{method} {path}")
        return next(steps)

    body = b'{"model":"m","request":{}}'
    form = endpoints("code-assist").upstream
    # No project was given: the body stays unchanged.
    assert asyncio.run(AccountProjects(step=0).with_project("a", body, form, send)) == body
    assert requests[2:] == ["GET /v1internal/operations/o"] * 2
