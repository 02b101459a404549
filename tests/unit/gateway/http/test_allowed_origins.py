"""Access to the gateway: clients with a key if keys are set, and web pages only from allowed origins."""

from __future__ import annotations

from typing import Any

import pytest
from bench import payloads

from dragoman.dialects import names
from dragoman.errors import ConfigError
from dragoman.gateway.config import Config, Listen
from dragoman.gateway.exchange.client_ownership import Identities

from ..gateway_and_upstreams import Received, ask, through
from ..test_auth import PLACES, SHOWN

DIALECTS = sorted(names())
LOCKED = {"KEYS": "secret-0, secret-1"}
FAULTS: dict[str, Any] = {
    "anthropic": lambda body: body["error"]["type"] == "authentication_error",
    "code-assist": lambda body: body["error"]["status"] == "UNAUTHENTICATED",
    "gemini": lambda body: body["error"]["status"] == "UNAUTHENTICATED",
    "ollama": lambda body: isinstance(body["error"], str),
    "openai-chat": lambda body: body["error"]["code"] == "invalid_api_key",
    "openai-responses": lambda body: body["error"]["code"] == "invalid_api_key",
    "openrouter": lambda body: body["error"]["code"] == 401,
}


def locked(places: list[str]) -> Config:
    return Config(listen=Listen(key_env="KEYS"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_key_opens_the_gateway_in_every_dialect(dialect: str) -> None:
    def use(base: str) -> list[Received]:
        place, body = PLACES[dialect], payloads.request(dialect)
        wrong = {name: value.replace("secret-1", "secret-2") for name, value in SHOWN[dialect].items()}
        return [ask(base, "POST", place, body, headers) for headers in (SHOWN[dialect], wrong, {})]

    good, wrong, none = through(use, locked, environment=LOCKED)
    assert good.status == 200
    assert (wrong.status, none.status) == (401, 401)
    assert FAULTS[dialect](wrong.json())
    assert "secret" not in wrong.body.decode()


def test_other_endpoints_need_a_key_too_and_health_needs_none() -> None:
    def use(base: str) -> list[int]:
        shown = {"authorization": "Bearer secret-0"}
        places = ["/healthz", "/readyz", "/", "/v1/models", "/dragoman/exchanges", "/v1beta/models?key=secret-0"]
        without = [ask(base, "GET", place).status for place in places]
        return [*without, *[ask(base, "GET", place, headers=shown).status for place in places]]

    assert through(use, locked, environment=LOCKED) == [200, 200, 200, 401, 401, 200, *[200] * 6]


def test_a_gateway_with_an_empty_list_of_keys_does_not_start() -> None:
    with pytest.raises(ConfigError, match="the variable KEYS is empty"):
        Identities(Config(listen=Listen(key_env="KEYS")), {"KEYS": " "}, bytes(32))


def open_to(*origins: str) -> Any:
    return lambda places: Config(listen=Listen(origins=origins))


@pytest.mark.parametrize(
    ("origin", "named", "status"),
    [
        ("http://localhost:3000", (), 200),
        ("http://127.0.0.1:5173", (), 200),
        ("http://[::1]:5173", (), 200),
        ("vscode-webview://abc", (), 200),
        ("tauri://localhost", (), 200),
        ("https://app.example", ("https://app.example",), 200),
        ("https://app.example", ("*",), 200),
        ("https://app.example", (), 403),
        ("https://localhost.app.example", (), 403),
        ("null", (), 403),
        ("http://[::1", (), 403),
        ("HTTPS://app.example", (), 403),
    ],
)
def test_pages_are_served_from_local_and_configured_origins(origin: str, named: Any, status: int) -> None:
    def use(base: str) -> tuple[Received, Received]:
        preflight = {
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type",
        }
        body = payloads.request("openai-chat")
        before = ask(base, "OPTIONS", "/v1/chat/completions", headers=preflight)
        return before, ask(base, "POST", "/v1/chat/completions", body, {"origin": origin})

    before, after = through(use, open_to(*named))
    assert (before.status, after.status) == (status, status)
    allowed = origin if status == 200 else None
    assert before.headers.get("access-control-allow-origin") == allowed
    assert after.headers.get("access-control-allow-origin") == allowed
    if status == 200:
        assert before.headers["access-control-allow-headers"] == "authorization,content-type"
        assert "dragoman-losses" in after.headers["access-control-expose-headers"]


def test_a_page_may_stream() -> None:
    def use(base: str) -> Received:
        body = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "x"}]}
        return ask(base, "POST", "/v1/messages", body, {"origin": "http://localhost:1"})

    received = through(use, open_to())
    assert received.headers["access-control-allow-origin"] == "http://localhost:1"
    assert received.body.rstrip().endswith(b'{"type":"message_stop"}')


@pytest.mark.parametrize(
    ("host", "status"), [("localhost:1", 200), ("127.0.0.1:1", 200), ("[::1]:1", 200), ("rebound.example", 403)]
)
def test_a_foreign_host_name_is_refused(host: str, status: int) -> None:
    shown = {"host": host, "sec-fetch-site": "same-origin"}
    received = through(lambda base: ask(base, "GET", "/dragoman/exchanges", headers=shown), open_to())
    assert received.status == status
    plain = through(lambda base: ask(base, "GET", "/dragoman/exchanges", headers={"host": host}), open_to())
    assert plain.status == status


@pytest.mark.parametrize(("host", "status"), [("192.168.1.5:1", 200), ("localhost:1", 200), ("rebound.example", 403)])
def test_the_gateway_s_own_page_is_served_from_every_allowed_host(host: str, status: int) -> None:
    shown = {"host": host, "origin": f"http://{host}"}
    tried = {"source": "openai-chat", "target": "gemini", "body": '{"model": "m", "messages": []}'}
    received = through(lambda base: ask(base, "POST", "/dragoman/translate", tried, shown), open_to())
    assert received.status == status


def test_options_without_an_origin_lists_the_methods() -> None:
    received = through(lambda base: ask(base, "OPTIONS", "/v1/messages"), open_to())
    assert (received.status, received.headers["allow"]) == (200, "GET, POST, DELETE, OPTIONS")
