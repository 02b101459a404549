"""DNS rebinding: a request is served only with a host name of the gateway itself."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest
from bench import payloads

from dragoman.dialects import names
from dragoman.errors import ConfigError
from dragoman.gateway.config import Config, Listen, check_config
from dragoman.gateway.http.allowed_hosts import AllowedHosts, own_names

from ..gateway_and_upstreams import ask, through
from ..helpers import ScriptedUpstream, gateway_to, message_of, path_of, request, run, whole

OWN_NAMES = ["box.corp.example", "box", "box.local"]
ROUTES = [
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/"),
    ("GET", "/dragoman"),
    ("GET", "/dragoman/about"),
    ("POST", "/dragoman/translate"),
    ("GET", "/dragoman/exchanges"),
    ("GET", "/dragoman/exchanges/ex_1"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/m"),
    ("GET", "/v1beta/models"),
    ("GET", "/api/tags"),
    ("POST", "/api/show"),
    ("GET", "/api/version"),
    ("GET", "/api/ps"),
    ("GET", "/v1/responses/resp_1"),
    ("DELETE", "/v1/responses/resp_1"),
    ("POST", "/v1/conversations"),
    ("POST", "/v1/responses/compact"),
    ("POST", "/v1/responses/input_tokens"),
    ("POST", "/v1/messages/count_tokens"),
    ("POST", "/v1internal:loadCodeAssist"),
    ("OPTIONS", "/v1/messages"),
    ("HEAD", "/"),
    ("GET", "/nowhere"),
    ("PUT", "/v1/messages"),
    *[("POST", path_of(dialect)) for dialect in sorted(names())],
]


def config_with(**settings: Any) -> Any:
    return lambda places: Config(listen=Listen(**settings))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:8484",
        "10.1.2.3:1",
        "203.0.113.9",
        "[::1]",
        "[::1]:8484",
        "[fe80::1%eth0]:8484",
        "[::ffff:10.0.0.1]:80",
        "localhost",
        "LocalHost:8484",
        "localhost.:8484",
        "localhost:",
        "box",
        "BOX.corp.example:8484",
        "box.local",
        "listed.example",
        "Listed.Example.:9",
        "a.wild.example",
        "a.b.wild.example:443",
        "page.example",
    ],
)
def test_hosts_that_are_served(host: str) -> None:
    listen = Listen(hosts=("listed.example", "*.Wild.example"), origins=("https://page.example",))
    found = AllowedHosts(listen, OWN_NAMES)
    assert found.refusal(host) is None
    assert found.refusal(host) is None  # from the cache


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("rebound.example", 403),
        ("rebound.example:8484", 403),
        ("localhost.rebound.example", 403),
        ("127.0.0.1.rebound.example", 403),
        ("127-0-0-1.rebound.example", 403),
        ("wild.example", 403),
        ("notwild.example", 403),
        ("xlisted.example", 403),
        ("listed.example.rebound.example", 403),
        ("box.rebound.example", 403),
        ("2130706433", 403),
        ("0x7f000001", 403),
        ("127.1", 403),
        ("127.0.0.256", 403),
        ("localhost..", 400),
        (".localhost", 400),
        ("local host", 400),
        ("localhost, rebound.example", 400),
        ("rebound.example, localhost", 400),
        ("localhost@rebound.example", 400),
        ("rebound.example@localhost", 400),
        ("localhost:80@rebound.example", 400),
        ("localhost:http", 400),
        ("localhost:65536", 400),
        ("localhost:-1", 400),
        ("localhost:80:80", 400),
        ("localhost/", 400),
        ("localhost#", 400),
        ("localhost\\", 400),
        ("http://localhost", 400),
        ("::1", 400),
        ("[localhost]", 400),
        ("[::1", 400),
        ("[::1]x", 400),
        ("[::1].rebound.example", 400),
        ("[v1.a]", 400),
        ("loc\xe4lhost", 400),
        ("localhost%00", 400),
        ("*", 400),
        ("a" * 300, 400),
        ("", 400),
        (None, 400),
    ],
)
def test_hosts_that_are_refused(host: str | None, status: int) -> None:
    found = AllowedHosts(Listen(hosts=("listed.example", "*.wild.example")), OWN_NAMES)
    for _ in range(2):
        fault = found.refusal(host)
        assert fault is not None
        assert fault.status == status
        assert status == 400 or (repr(str(host).partition(":")[0]) in fault.message and "listen.hosts" in fault.message)


def test_a_star_switches_the_check_off_and_keeps_the_grammar() -> None:
    found = AllowedHosts(Listen(hosts=("*",)), OWN_NAMES)
    assert found.refusal("anything.example") is None
    assert found.refusal("two, hosts") is not None


def test_the_cache_of_verdicts_is_bounded() -> None:
    found = AllowedHosts(Listen(), OWN_NAMES)
    for i in range(2000):
        assert found.refusal(f"h{i}.example") is not None
    assert len(found._verdicts) <= 256


def test_the_machines_own_names_are_served() -> None:
    assert socket.gethostname().lower().removesuffix(".") in own_names()
    received = through(lambda base: ask(base, "GET", "/healthz", headers={"host": socket.gethostname()}), config_with())
    assert received.status == 200


def test_every_route_refuses_a_foreign_host_name() -> None:
    def use(base: str) -> None:
        for method, path in ROUTES:
            for more in ({}, {"origin": "http://rebound.example"}, {"sec-fetch-site": "same-origin"}):
                received = ask(base, method, path, b"{}", {"host": "rebound.example:8484", **more})
                assert received.status == 403, (method, path)
                assert "access-control-allow-origin" not in received.headers
                if method != "HEAD":
                    assert b"rebound.example" in received.body
                    assert b"listen.hosts" in received.body

    through(use, config_with())


@pytest.mark.parametrize("dialect", sorted(names()))
def test_the_refusal_is_in_the_clients_dialect(dialect: str) -> None:
    def use(base: str) -> Any:
        return ask(base, "POST", path_of(dialect), payloads.request(dialect), {"host": "gateway.example"})

    received = through(use, config_with())
    assert received.status == 403
    message = message_of(dialect, received.body)
    assert "'gateway.example'" in message
    assert "listen.hosts" in message
    assert through(use, config_with(hosts=("gateway.example",))).status == 200


def raw(base: str, *requests: bytes) -> list[int]:
    """The statuses of requests that are sent as raw bytes on one connection."""
    host, _, port = base.removeprefix("http://").partition(":")
    out = []
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        file = connection.makefile("rb")
        for request in requests:
            connection.sendall(request)
            out.append(int(file.readline().split()[1]))
            length = 0
            while (line := file.readline().strip().lower()) != b"":
                length = int(line.split()[1]) if line.startswith(b"content-length:") else length
            file.read(length)
    return out


def test_odd_spellings_of_the_host_are_refused_or_checked() -> None:
    def use(base: str) -> None:
        assert raw(base, b"GET /healthz HTTP/1.1\r\n\r\n") == [400]
        assert raw(base, b"GET /healthz HTTP/1.0\r\n\r\n") == [200]
        assert raw(base, b"GET /healthz HTTP/1.0\r\nhost: rebound.example\r\n\r\n") == [403]
        assert raw(base, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nHost: rebound.example\r\n\r\n") == [400]
        assert raw(base, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nHost: localhost\r\n\r\n") == [400]
        assert raw(base, b"GET http://rebound.example/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n") == [403]
        assert raw(base, b"GET http://u@localhost/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n") == [400]
        assert raw(base, b"GET http://localhost/healthz HTTP/1.1\r\nhost: rebound.example\r\n\r\n") == [403]

    through(use, config_with())


def test_a_known_head_is_checked_again_after_a_reload() -> None:

    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()

    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            sent = request("/v1/chat/completions", body).replace(b"host: 127.0.0.1", b"host: gateway.example")
            config = front.gateway.config
            listed = Config(listen=Listen(hosts=("gateway.example",)), upstreams=config.upstreams, routes=config.routes)

            async def status() -> list[int]:
                base = f"http://127.0.0.1:{front.port}"
                return await asyncio.to_thread(raw, base, sent, sent, sent)

            assert await status() == [403, 403, 403]
            front.gateway.reload(listed)
            assert await status() == [200, 200, 200]
            front.gateway.reload(config)
            assert await status() == [403, 403, 403]

    run(inner())


@pytest.mark.parametrize(
    ("origin", "settings", "status"),
    [
        ("https://app.example", {}, 403),
        ("https://app.example", {"hosts": ("app.example",)}, 200),
        ("https://app.example:8443", {"hosts": ("app.example",)}, 200),
        ("https://a.app.example", {"hosts": ("*.app.example",)}, 200),
        ("https://a.app.example", {"hosts": ("app.example",)}, 403),
        ("https://app.example", {"hosts": ("*",)}, 200),
        ("http://127.5.5.5:3000", {}, 200),
        ("http://203.0.113.7", {}, 403),
        ("http://[2001:db8::1]", {}, 403),
        ("http://localhost@app.example", {}, 403),
        ("http://app.example\\@localhost", {}, 403),
        ("http://localhost/x", {}, 403),
        ("vscode-webview://abc, http://app.example", {}, 403),
        ("http://localhost, http://app.example", {}, 403),
        (f"http://{socket.gethostname()}:3000", {}, 200),
    ],
)
def test_origins_are_checked_by_the_same_list(origin: str, settings: Any, status: int) -> None:
    def use(base: str) -> list[int]:
        body = payloads.request("openai-chat")
        asked = [
            ("GET", "/dragoman/exchanges", None),
            ("POST", "/v1/chat/completions", body),
            ("GET", "/healthz", None),
        ]
        return [ask(base, method, path, sent, {"origin": origin}).status for method, path, sent in asked]

    assert through(use, config_with(**settings)) == [status] * 3


@pytest.mark.parametrize(
    "name", ["http://app.example", "app.example:80", "a b", "", "app..example", "*.*", "x.*", "[::1]"]
)
def test_a_setting_that_is_no_host_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a host name"):
        check_config(Config(listen=Listen(hosts=(name,))), "test")


@pytest.mark.parametrize("name", ["app.example", "App.Example.", "*.example", "*", "box", "my_service"])
def test_host_names_that_may_be_listed(name: str) -> None:
    check_config(Config(listen=Listen(hosts=(name,))), "test")
