"""Reused connections: the requests that may be sent twice, and the connections that are not reused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dragoman.errors import TransportError
from dragoman.transport.http_client import Address, ConnectionLimits, Pool

Upstream = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


def with_upstream(upstream: Upstream, use: Callable[[Pool, Address], Awaitable[None]], first_byte: float = 5) -> None:
    async def inner() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await upstream(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                pass  # the pool is closed
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        pool = Pool(ConnectionLimits(first_byte=first_byte))
        try:
            await use(pool, Address(False, "127.0.0.1", server.sockets[0].getsockname()[1]))
        finally:
            pool.close()
            server.close()

    asyncio.run(inner())


async def status_of(pool: Pool, place: Address, body: bytes = b"") -> int:
    answer = await pool.request(place, "POST", "/", [], body)
    await answer.read(99)
    return answer.status


def test_a_request_is_sent_at_most_twice_with_any_number_of_idle_connections() -> None:
    requests: list[str] = []
    dying = asyncio.Event()

    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            requests.append("request")
            if dying.is_set():
                return
            await asyncio.sleep(0.01)  # so that all requests are open at the same time
            writer.write(OK)

    async def use(pool: Pool, place: Address) -> None:
        await asyncio.gather(*[status_of(pool, place) for _ in range(5)])
        requests.clear()
        dying.set()
        with pytest.raises(TransportError):
            await status_of(pool, place)
        assert len(requests) == 2

    with_upstream(upstream, use)


def test_a_connection_with_an_incomplete_request_is_not_reused() -> None:
    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}")
        await asyncio.Event().wait()

    async def use(pool: Pool, place: Address) -> None:
        assert [await status_of(pool, place, b"x" * size) for size in (30_000_000, 5)] == [413, 413]

    with_upstream(upstream, use)


def test_a_slow_head_has_no_more_time_than_the_whole_answer() -> None:
    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(3000):
            writer.write(b"x: y\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)
        writer.write(b"content-length: 0\r\n\r\n")

    async def use(pool: Pool, place: Address) -> None:
        with pytest.raises(TransportError, match="took more than 2 seconds"):
            await pool.request(place, "POST", "/", [], b"{}", within=(0.3, 2))

    with_upstream(upstream, use)
