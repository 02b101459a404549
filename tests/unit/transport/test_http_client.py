"""The HTTP client, against servers with correct, broken, slow and missing answers."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dragoman.errors import TransportError
from dragoman.transport.http_client import HIGH_WATER, Address, ConnectionLimits, Pool

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def with_server(handler: Handler, use: Callable[[Address], Awaitable[Any]], **options: Any) -> Any:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client closed the connection, as some of these tests do
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, **options)
    host, port = server.sockets[0].getsockname()[:2]
    async with server:
        return await asyncio.wait_for(use(Address(bool(options), host, port)), 20)


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    size = next((int(line.split(":")[1]) for line in head.lower().splitlines() if line.startswith("content-length")), 0)
    return head, await reader.readexactly(size)


def answering(*answers: bytes) -> Handler:
    """One answer for each request on a connection, then the end of the connection."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await read_request(reader)
            writer.write(answer)
            await writer.drain()

    return handler


def plain(body: bytes, *more: str, status: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def get(pool: Pool, address: Address, **options: Any) -> tuple[int, bytes]:
    answer = await pool.request(address, "POST", "/p", [("x-a", "b")], b"{}", **options)
    return answer.status, await answer.read(10_000_000)


def run(
    handler: Handler, use: Callable[[Pool, Address], Awaitable[Any]], limits: ConnectionLimits | None = None
) -> Any:
    async def inner(address: Address) -> Any:
        pool = Pool(limits)
        try:
            return await use(pool, address)
        finally:
            pool.close()

    return asyncio.run(with_server(handler, inner))


@pytest.mark.parametrize(
    "wire",
    [
        plain(b"hello"),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nt: v\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + plain(b"hello"),
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        plain(gzip.compress(b"hello", mtime=0), "content-encoding: gzip"),
        plain(zlib.compress(b"hello"), "content-encoding: deflate"),
    ],
)
@pytest.mark.parametrize("step", [0, 1])
def test_bodies_of_every_kind_are_read(wire: bytes, step: int) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        for i in range(0, len(wire), step or len(wire)):
            writer.write(wire[i : i + (step or len(wire))])
            await writer.drain()

    assert run(handler, lambda pool, address: get(pool, address)) == (200, b"hello")


def test_the_request_has_the_expected_bytes() -> None:
    seen: list[tuple[str, bytes]] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await read_request(reader))
        writer.write(plain(b""))
        await writer.drain()

    run(handler, lambda pool, address: get(pool, address))
    ((head, body),) = seen
    lines = head.strip().splitlines()
    assert lines[0] == "POST /p HTTP/1.1"
    assert lines[1].startswith("host: 127.0.0.1:")
    assert lines[2:] == ["x-a: b", "content-length: 2"]
    assert body == b"{}"


def test_connections_are_reused_and_a_stale_one_is_replaced() -> None:
    connections = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        for _ in range(2):
            await read_request(reader)
            writer.write(plain(b"ok"))
            await writer.drain()

    async def use(pool: Pool, address: Address) -> list[Any]:
        out = []
        for _ in range(5):
            out.append(await get(pool, address))
        return out

    assert run(handler, use) == [(200, b"ok")] * 5
    assert connections == 3


def test_a_new_connection_that_is_closed_is_not_tried_again() -> None:
    requests = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        await read_request(reader)
        requests += 1

    with pytest.raises(TransportError, match="before it answered") as caught:
        run(handler, lambda pool, address: get(pool, address))
    assert (caught.value.kind, requests) == ("closed", 1)


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", "closed"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", "closed"),
        (b"SSH-2.0-OpenSSH\r\n", "upstream_bad"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000, "upstream_bad"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000 + b"\r\n", "upstream_bad"),
        (plain(b"not gzip", "content-encoding: gzip"), "upstream_bad"),
        (plain(gzip.compress(bytes(40_000_000), mtime=0), "content-encoding: gzip"), "upstream_bad"),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nrest", "upstream_bad"),
        (plain(bytes(10_000_001)), "upstream_bad"),
    ],
)
def test_a_broken_or_too_large_answer_is_an_error(wire: bytes, kind: str) -> None:
    with pytest.raises(TransportError) as caught:
        run(answering(wire), lambda pool, address: get(pool, address))
    assert caught.value.kind == kind


def test_the_time_of_silence_is_limited() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, _ = await read_request(reader)
        if "x-half" in head:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        await reader.read()

    async def use(pool: Pool, address: Address) -> list[str]:
        kinds = []
        with pytest.raises(TransportError, match="did not answer within") as caught:
            await get(pool, address, first_byte=0.05)
        kinds.append(caught.value.kind)
        answer = await pool.request(address, "POST", "/", [("x-half", "1")], b"{}")
        with pytest.raises(TransportError, match="sent nothing") as caught:
            await answer.read(100, 0.05)
        kinds.append(caught.value.kind)
        return kinds

    assert run(handler, use) == ["timeout", "timeout"]


def test_a_closed_port_and_a_header_with_a_line_break_are_errors() -> None:
    async def use(pool: Pool, address: Address) -> None:
        with pytest.raises(TransportError, match="no connection") as caught:
            await get(pool, Address(False, "127.0.0.1", 1))
        assert caught.value.kind == "connect"
        with pytest.raises(TransportError, match="cannot be sent"):
            await pool.request(address, "GET", "/", [("x", "a\r\nevil: 1")])

    run(answering(), use)


def test_a_slow_reader_slows_the_upstream() -> None:
    sent = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(400):
            writer.write(b"10000\r\n" + bytes(65536) + b"\r\n")
            await writer.drain()
            sent += 65536
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def use(pool: Pool, address: Address) -> tuple[int, int]:
        answer = await pool.request(address, "POST", "/", [], b"{}")
        while True:  # until no more bytes are sent
            before = sent
            await asyncio.sleep(0.1)
            if sent == before:
                break
        held = sent
        return held, len(await answer.read(100_000_000))

    held, size = run(handler, use)
    assert size == 400 * 65536
    assert held < size / 2
    assert size / 4 > HIGH_WATER


def test_a_closed_answer_closes_its_connection() -> None:
    gone = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, _ = await read_request(reader)
        if "GET" in head:
            writer.write(plain(b"next"))
            await writer.drain()
            return
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n")
        await reader.read()
        gone.set()

    async def use(pool: Pool, address: Address) -> Any:
        async with await pool.request(address, "POST", "/", [], b"{}") as answer:
            async for piece in answer.pieces():
                assert piece == b"a"
                break
        await asyncio.wait_for(gone.wait(), 5)
        later = await pool.request(address, "GET", "/", [])
        return await later.read(100)

    assert run(handler, use, ConnectionLimits(per_host=1)) == b"next"


def test_more_requests_than_connections_wait_their_turn() -> None:
    most = now = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most, now
        while True:
            await read_request(reader)
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.01)
            now -= 1
            writer.write(plain(b"ok"))
            await writer.drain()

    async def use(pool: Pool, address: Address) -> list[Any]:
        return await asyncio.gather(*[get(pool, address) for _ in range(12)])

    assert run(handler, use, ConnectionLimits(per_host=3)) == [(200, b"ok")] * 12
    assert most <= 3


def test_a_cancelled_request_frees_its_connection() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, _ = await read_request(reader)
        if "GET" in head:
            writer.write(plain(b"ok"))
            await writer.drain()
        await reader.read()

    async def use(pool: Pool, address: Address) -> bytes:
        task = asyncio.create_task(get(pool, address))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await (await pool.request(address, "GET", "/", [])).read(10)

    assert run(handler, use, ConnectionLimits(per_host=1)) == b"ok"


def test_certificates_are_verified(tmp_path: Any) -> None:
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def use(address: Address) -> tuple[Any, str]:
        received = await get(Pool(tls=trusting), address)
        with pytest.raises(TransportError) as caught:
            await get(Pool(), address)
        return received, str(caught.value)

    received, refused = asyncio.run(with_server(answering(plain(b"sealed")), use, ssl=server))
    assert received == (200, b"sealed")
    assert "certificate" in refused.lower()
