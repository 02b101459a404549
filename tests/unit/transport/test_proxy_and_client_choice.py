"""The choice of a proxy, and requests through a CONNECT proxy of this file with a TLS upstream behind the proxy."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from dragoman.errors import ConfigError, TransportError
from dragoman.transport.http_client import Pool
from dragoman.transport.http_client_interface import Address, ConnectionLimits, UpstreamClient
from dragoman.transport.proxy_and_client_choice import ProxySettings, client
from dragoman.transport.request_head_and_decompression import prepare_post

pytest.importorskip("aiohttp", reason="the extra `proxy` is not installed")

from dragoman.transport.aiohttp_client import AiohttpClient

from .test_http_client import answering, plain, read_request

SECURE, PLAIN = Address(True, "api.example.com", 443), Address(False, "example.com", 8080)
NAME = "upstream.test"


@pytest.mark.parametrize(
    ("environment", "address", "proxy"),
    [
        ({}, SECURE, None),
        ({"HTTPS_PROXY": "http://p:3128"}, SECURE, "http://p:3128"),
        ({"https_proxy": "p:3128"}, SECURE, "http://p:3128"),
        ({"HTTPS_PROXY": "http://p:3128"}, PLAIN, None),
        ({"HTTP_PROXY": "http://q", "HTTPS_PROXY": "http://p"}, PLAIN, "http://q"),
        ({"ALL_PROXY": "http://a"}, SECURE, "http://a"),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "example.com"}, SECURE, None),
        ({"HTTPS_PROXY": "http://p", "no_proxy": " other.org , .example.com"}, SECURE, None),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "*.example.com:443"}, SECURE, None),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "example.com:444,ample.com,api"}, SECURE, "http://p"),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, SECURE, None),
        ({"HTTPS_PROXY": "http://p"}, Address(True, "127.0.0.1", 443), None),
        ({"HTTPS_PROXY": "http://p"}, Address(True, "::1", 443), None),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "[2001:db8::1]"}, Address(True, "2001:db8::1", 443), None),
    ],
)
def test_which_proxy_an_environment_names(environment: dict[str, str], address: Address, proxy: str | None) -> None:
    assert ProxySettings(environment).proxy_for(address) == proxy


def test_a_proxy_of_another_kind_is_refused_without_its_password() -> None:
    with pytest.raises(ConfigError) as caught:
        ProxySettings({"HTTPS_PROXY": "socks5://me:secret@p:1080"})
    assert "socks5" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_without_a_proxy_dragoman_s_own_client_is_used() -> None:
    proxied = {"HTTPS_PROXY": "http://p:1"}
    kinds = [
        client(ConnectionLimits(), {}),
        client(ConnectionLimits(), proxied, "own"),
        client(ConnectionLimits(), proxied),
    ]
    assert [type(kind) for kind in [*kinds, client(ConnectionLimits(), {}, "aiohttp")]] == [
        Pool,
        Pool,
        AiohttpClient,
        AiohttpClient,
    ]


class Tunnel:
    """A proxy that connects every CONNECT request to one port."""

    def __init__(self, port: int, status: int = 200) -> None:
        self.heads: list[str] = []
        self._port = port
        self._status = status

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        if self._status != 200:
            writer.write(f"HTTP/1.1 {self._status} No\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
        finally:
            back.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()


@asynccontextmanager
async def serving(handler: Callable[..., Awaitable[None]], tls: ssl.SSLContext | None = None) -> Any:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side closed the connection
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    server, trusting = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert(NAME).configure_cert(server)
    authority.configure_trust(trusting)
    return server, trusting


def run_through_proxy(
    handler: Callable[..., Awaitable[None]], use: Callable[[UpstreamClient, Address], Awaitable[Any]], status: int = 200
) -> tuple[Any, list[str]]:
    """Run `use` with a client behind the proxy. Returns the result of `use`, and the request heads at the proxy."""
    own, trusting = contexts()

    async def inner() -> tuple[Any, list[str]]:
        async with serving(handler, own) as upstream_port:
            tunnel = Tunnel(upstream_port, status)
            async with serving(tunnel) as port:
                proxies = ProxySettings({"HTTPS_PROXY": f"http://me:secret@127.0.0.1:{port}"})
                client = AiohttpClient(ConnectionLimits(), proxies, tls=trusting)
                try:
                    return await asyncio.wait_for(use(client, Address(True, NAME, 443)), 20), tunnel.heads
                finally:
                    client.close()
                    if client._closing is not None:
                        await client._closing

    return asyncio.run(inner())


async def read_answer(client: UpstreamClient, address: Address) -> tuple[int, str, bytes]:
    async with await client.request(address, "POST", "/a%2Fb?c=d", [("x-a", "b")], b"{}") as answer:
        return answer.status, answer.header("x-b"), await answer.read(1000)


def test_a_request_begins_without_waiting_only_if_no_proxy_is_set() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            await read_request(reader)
            writer.write(plain(b"hello", "X-B: c"))
            await writer.drain()

    async def use(proxies: ProxySettings, *, everywhere: bool) -> Any:
        async with serving(handler) as port:
            client, address = (
                AiohttpClient(ConnectionLimits(), proxies, everywhere=everywhere),
                Address(False, "127.0.0.1", port),
            )
            try:
                first = await read_answer(client, address)
                started = client.begin(prepare_post(address, "/", ()), b"{}")
                if started is not None:
                    await started.wait_for_head(5)
                    return first, started.status, started.header("x-b"), started.whole(10)
                return first
            finally:
                client.close()
                if client._closing is not None:
                    await client._closing

    answers = (200, "c", b"hello")
    assert asyncio.run(use(ProxySettings({}), everywhere=True)) == answers
    assert asyncio.run(use(ProxySettings({"HTTP_PROXY": "http://p:1"}), everywhere=False)) == (answers, *answers)


def test_a_request_reaches_the_upstream_through_the_proxy() -> None:
    seen: list[tuple[str, bytes]] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            seen.append(await read_request(reader))
            writer.write(plain(b"hello", "X-B: c"))
            await writer.drain()

    async def use(client: UpstreamClient, address: Address) -> list[Any]:
        return [await read_answer(client, address) for _ in range(2)]

    answers, heads = run_through_proxy(handler, use)
    assert answers == [(200, "c", b"hello")] * 2
    assert len(heads) == 1  # the tunnel is kept
    assert heads[0].startswith(f"CONNECT {NAME}:443 HTTP/1.1")
    assert base64.b64encode(b"me:secret").decode() in heads[0]
    assert [head.splitlines()[0] for head, _ in seen] == ["POST /a%2Fb?c=d HTTP/1.1"] * 2
    assert [body for _, body in seen] == [b"{}"] * 2
    assert "secret" not in seen[0][0]


def test_pieces_arrive_one_by_one() -> None:
    read = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
        await writer.drain()
        await read.wait()  # the second piece is sent only after the first one was read
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
        await writer.drain()

    async def use(client: UpstreamClient, address: Address) -> list[bytes]:
        found = []
        async with await client.request(address, "POST", "/", [], b"{}") as answer:
            async for piece in answer.pieces(10):
                found.append(piece)
                read.set()
        return found

    assert run_through_proxy(handler, use)[0] == [b"one", b"two"]


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        (b"", "closed"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", "closed"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", "closed"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "upstream_bad"),
        (plain(bytes(2000)), "upstream_bad"),
    ],
)
def test_a_broken_or_too_large_answer_is_an_error(wire: bytes, kind: str) -> None:
    async def use(client: UpstreamClient, address: Address) -> str:
        with pytest.raises(TransportError) as caught:
            await read_answer(client, address)
        return caught.value.kind

    assert run_through_proxy(answering(wire), use)[0] == kind


def test_the_time_of_silence_and_of_the_whole_answer_is_limited() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, _ = await read_request(reader)
        if "/half" in head:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        await reader.read()

    async def use(client: UpstreamClient, address: Address) -> list[tuple[str, str]]:
        faults = []

        async def refused(action: Awaitable[Any]) -> None:
            with pytest.raises(TransportError) as caught:
                await action
            faults.append((caught.value.kind, str(caught.value)))

        await refused(client.request(address, "POST", "/", [], b"{}", first_byte=0.3))
        await refused((await client.request(address, "POST", "/half", [], b"{}")).read(100, 0.1))
        late = await client.request(address, "POST", "/half", [], b"{}")
        late.limit_time(0.1, 0.1)
        await refused(late.read(100, 10))
        return faults

    kinds, words = zip(*run_through_proxy(handler, use)[0], strict=True)
    assert kinds == ("timeout",) * 3
    assert ["did not answer" in words[0], "sent nothing" in words[1], words[2]] == [
        True,
        True,
        "the answer took more than 0.1 seconds",
    ]


@pytest.mark.parametrize("status", [407, 502])
def test_a_refusal_of_the_proxy_is_a_connect_error(status: int) -> None:
    async def use(client: UpstreamClient, address: Address) -> tuple[str, str]:
        with pytest.raises(TransportError) as caught:
            await read_answer(client, address)
        return caught.value.kind, str(caught.value)

    (kind, words), _ = run_through_proxy(answering(), use, status)
    assert kind == "connect"
    assert "through the proxy 127.0.0.1" in words
    assert "secret" not in words


def test_certificates_are_verified_behind_a_proxy() -> None:
    async def use(client: UpstreamClient, address: Address) -> tuple[str, str]:
        with pytest.raises(TransportError) as caught:
            await read_answer(client, Address(True, "other.test", 443))
        return caught.value.kind, str(caught.value)

    (kind, words), _ = run_through_proxy(answering(plain(b"x")), use)
    assert kind == "connect"
    assert "no secure connection to other.test" in words
