"""The HTTP server: requests with any cut, replies whole and in pieces, bounds, and clients that leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import Mock

import pytest

from dragoman.gateway.http.server import ClientGone, IncomingRequest, ReplyWriter, Server, ServerBounds, _Client

ClientSide = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]]


async def echo(request: IncomingRequest, reply: ReplyWriter) -> None:
    if request.refusal is not None:
        reply.send(request.refusal[0], [], request.refusal[1].encode())
        return
    body = f"{request.method} {request.path}?{request.query} ".encode() + request.body
    reply.send(200, [("x-seen", request.headers.get("x-a", ""))], body)


def run_with_server(client_side: ClientSide, handler: Any = echo, bounds: ServerBounds | None = None) -> Any:
    async def inner() -> Any:
        server = Server(handler, bounds)
        port = await server.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await asyncio.wait_for(client_side(reader, writer), 20)
        finally:
            writer.close()
            await server.stop(1)

    return asyncio.run(inner())


async def one_answer(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    size = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length"))
    return head.splitlines()[0], await reader.readexactly(size)


POST = b"POST /a%20b?c=d HTTP/1.1\r\nhost: x\r\nX-A: 1\r\nx-a: 2\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = b"POST /c HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_requests_are_read_with_any_cut(step: int) -> None:
    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[Any]:
        for i in range(0, len(POST), step):
            writer.write(POST[i : i + step])
            await writer.drain()
            await asyncio.sleep(0)
        first = await one_answer(reader)
        writer.write(CHUNKED)
        return [first, await one_answer(reader)]

    assert run_with_server(client_side) == [
        ("HTTP/1.1 200 OK", b"POST /a%20b?c=d hello"),
        ("HTTP/1.1 200 OK", b"POST /c? hello"),
    ]


def test_requests_sent_together_are_answered_in_order() -> None:
    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        writer.write(POST + CHUNKED)
        await asyncio.sleep(0.05)
        writer.write(POST)
        return [(await one_answer(reader))[1] for _ in range(3)]

    assert run_with_server(client_side) == [b"POST /a%20b?c=d hello", b"POST /c? hello", b"POST /a%20b?c=d hello"]


def test_expect_is_answered_and_http_1_0_clients_get_no_chunks() -> None:
    async def stream(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [])
        reply.write(b"a")
        await reply.drain()
        reply.write(b"b")
        reply.end()

    async def expecting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(POST[:-5].replace(b"host: x", b"expect: 100-continue\r\nhost: x"))
        received = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"hello")
        await one_answer(reader)
        return received

    async def old(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        return await reader.read()

    assert run_with_server(expecting) == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert run_with_server(old, stream).endswith(b"\r\n\r\nab")


def test_pieces_leave_at_once_as_chunks() -> None:
    async def stream(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", "text/event-stream")])
        reply.write(b"one")
        await asyncio.sleep(0.05)
        reply.write(b"two")
        reply.end()

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        writer.write(POST)
        await reader.readuntil(b"\r\n\r\n")
        return [await reader.readuntil(b"\r\n") for _ in range(6)]

    assert run_with_server(client_side, stream) == [b"3\r\n", b"one\r\n", b"3\r\n", b"two\r\n", b"0\r\n", b"\r\n"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 3000, 431),
        (b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 400 + b"\r\n", 431),
        (b"POST / HTTP/1.1\r\ncontent-length: 5000\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + (b"400\r\n" + b"z" * 1024 + b"\r\n") * 2, 413),
        (b"POST / HTTP/1.1\r\ncontent-length: 50\r\n\r\nhalf", 408),
        (b"POST / HT", 408),
    ],
)
def test_a_request_that_is_too_large_too_late_or_no_http_is_refused(sent: bytes, status: int) -> None:
    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(sent)
        return await reader.read()

    seconds = 0.3 if status == 408 else 20.0
    bounds = ServerBounds(head=2000, body=1500, head_seconds=seconds, body_seconds=seconds)
    assert run_with_server(client_side, bounds=bounds).startswith(b"HTTP/1.1 %d " % status)


@pytest.mark.parametrize("head", [b"", b"x: y\r\n" * 400])
def test_a_refusal_uses_the_headers_that_have_arrived(head: bytes) -> None:
    seen: list[dict[str, str]] = []

    async def note(request: IncomingRequest, reply: ReplyWriter) -> None:
        seen.append(request.headers)
        reply.send(request.refusal[0] if request.refusal else 200, [], b"")

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"POST / HTTP/1.1\r\nanthropic-version: 1\r\n" + head + b"z: " + b"z" * 3000)
        return await reader.read()

    assert run_with_server(client_side, note, bounds=ServerBounds(head=2000)).startswith(b"HTTP/1.1 431 ")
    assert seen[0]["anthropic-version"] == "1"


def test_a_silent_connection_is_closed_without_an_answer() -> None:
    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(POST)
        await one_answer(reader)
        return await reader.read()

    assert run_with_server(client_side, bounds=ServerBounds(idle_seconds=0.05)) == b""


def test_a_client_that_leaves_cancels_its_request_at_once() -> None:
    left = asyncio.Event()

    async def slow(request: IncomingRequest, reply: ReplyWriter) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            left.set()
            raise

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(POST)
        await asyncio.sleep(0.05)
        writer.transport.abort()
        await asyncio.wait_for(left.wait(), 1)
        return True

    assert run_with_server(client_side, slow)


def test_the_wait_for_a_slow_reader_is_limited() -> None:
    sent = 0
    ended: list[str] = []

    async def flood(request: IncomingRequest, reply: ReplyWriter) -> None:
        nonlocal sent
        reply.start(200, [])
        try:
            for _ in range(10_000):
                reply.write(bytes(65536))
                sent += 65536
                await reply.drain()
        except ClientGone:
            ended.append("gone")
            raise

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        writer.write(POST)
        while not ended:
            await asyncio.sleep(0.05)
        return sent

    assert run_with_server(client_side, flood, ServerBounds(drain_seconds=0.2)) < 10_000 * 65536 / 2


def test_an_answer_that_is_not_finished_breaks_the_connection() -> None:
    async def half(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [])
        reply.write(b"half")

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(POST)
        try:
            return await reader.read()
        except ConnectionResetError:
            return b"reset"

    assert not run_with_server(client_side, half).endswith(b"0\r\n\r\n")


def test_each_request_of_a_connection_has_a_fresh_reply() -> None:
    """The earlier answer is whole, in pieces, or for an HTTP/1.0 client with keep-alive."""
    started: list[tuple[int, bool, bool]] = []

    async def either(request: IncomingRequest, reply: ReplyWriter) -> None:
        started.append((reply.status, reply.started, reply.ended))
        if request.path == "/whole":
            reply.send(201, [], b"")
            return
        reply.start(202, [])
        assert (reply.started, reply.ended) == (True, False)
        reply.write(b"piece")
        reply.end()
        assert reply.ended

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        statuses = []
        old = b"GET /whole HTTP/1.0\r\nconnection: keep-alive\r\n\r\n"
        known = [b"POST /%b HTTP/1.1\r\ncontent-length: 0\r\n\r\n" % name for name in (b"whole", b"parts")]
        for sent in (*known, *known, old, *known, old, *known):
            writer.write(sent)
            head = await reader.readuntil(b"\r\n\r\n")
            if b"chunked" in head:
                await reader.readuntil(b"\r\n0\r\n\r\n")
            statuses.append(head.split()[1] + (b" chunked" if b"chunked" in head else b""))
        return statuses

    pair = [b"201", b"202 chunked"]
    assert run_with_server(client_side, either) == [*pair, *pair, b"201", *pair, b"201", *pair]
    assert started == [(0, False, False)] * 10


def test_an_answer_while_draining_closes_its_connection() -> None:
    async def inner() -> bytes:
        started, received = asyncio.Event(), asyncio.Event()

        async def waiting(request: IncomingRequest, reply: ReplyWriter) -> None:
            started.set()
            await received.wait()
            reply.send(200, [], b"done")

        server = Server(waiting)
        reader, writer = await asyncio.open_connection("127.0.0.1", await server.start("127.0.0.1", 0))
        writer.write(POST)
        await started.wait()
        stopping = asyncio.ensure_future(server.stop(5))
        await asyncio.sleep(0.05)
        received.set()
        answer = await reader.read()
        assert await stopping
        writer.close()
        return answer

    assert b"\r\nconnection: close\r\n\r\ndone" in asyncio.run(inner())


def test_a_connection_that_opens_while_draining_serves_one_request() -> None:
    async def inner() -> bool:
        server = Server(echo)
        await server.start("127.0.0.1", 0)
        client = _Client(server)
        await server.stop(1)  # after the system accepted the connection, and before the server has it
        client.connection_made(Mock())
        return client.keep_alive

    assert not asyncio.run(inner())


def test_draining_lets_requests_finish() -> None:
    async def slow(request: IncomingRequest, reply: ReplyWriter) -> None:
        await asyncio.sleep(0.1)
        reply.send(200, [], b"done")

    async def inner() -> tuple[bool, bytes]:
        server = Server(slow)
        port = await server.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(POST)
        await asyncio.sleep(0.02)
        clean = await server.stop(5)
        received = await reader.read()
        writer.close()
        return clean, received

    clean, received = asyncio.run(inner())
    assert clean
    assert received.endswith(b"done")


# A client that leaves, and a client that never finishes its request.


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "following",
    [b"", b"\r\n", b"\r\n\r\n", b"junk", POST, POST[:40], POST * 3000],
    ids=["nothing", "a line end", "two", "junk", "a request", "half a request", "requests beyond what is read ahead"],
)
def test_a_client_that_leaves_is_noticed_with_any_bytes_after_its_request(following: bytes, known: bool) -> None:
    started, left = asyncio.Event(), asyncio.Event()

    async def waiting(request: IncomingRequest, reply: ReplyWriter) -> None:
        if request.path == "/first":
            reply.send(200, [], b"")
            return
        started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            left.set()
            raise

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if known:  # a cached head takes another path
            writer.write(b"POST /first HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nab" * 2)
            await one_answer(reader)
            await one_answer(reader)
        writer.write(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nab")
        await started.wait()
        writer.write(following)
        await asyncio.sleep(0.05)
        writer.close()
        await asyncio.wait_for(left.wait(), 5)

    run_with_server(client_side, waiting)


def test_a_line_end_after_a_request_is_no_part_of_the_next() -> None:
    async def slow(request: IncomingRequest, reply: ReplyWriter) -> None:
        await asyncio.sleep(0.05)
        await echo(request, reply)

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[Any]:
        answers = []
        for _ in range(3):
            writer.write(POST)
            await asyncio.sleep(0.01)
            writer.write(b"\r\n")
            answers.append(await one_answer(reader))
        return answers

    assert [status for status, _ in run_with_server(client_side, slow)] == ["HTTP/1.1 200 OK"] * 3


DRIPS = {
    "a body": (b"POST / HTTP/1.1\r\ncontent-length: 50000\r\n\r\n", b"x"),
    "chunks": (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "trailers": (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"a: b\r\n"),
    "a head": (b"POST / HTTP/1.1\r\n", b"a: b\r\n"),
}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("what", DRIPS)
def test_a_slow_request_has_a_total_time_limit(what: str, known: bool) -> None:
    """Each piece arrives in time, but the whole request does not."""
    begin, drop = DRIPS[what]

    async def client_side(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, bytes]:
        if known:
            writer.write(begin.replace(b"50000", b"1") + b"x" if what == "a body" else POST)
            await one_answer(reader)
        writer.write(begin)
        answered = asyncio.ensure_future(one_answer(reader))
        while not answered.done():
            writer.write(drop)
            await asyncio.wait([answered], timeout=0.05)
        return answered.result()

    bounds = ServerBounds(head_seconds=0.5, body_seconds=5, request_seconds=0.5, idle_seconds=0.5)
    status, why = run_with_server(client_side, echo, bounds)
    assert status.startswith("HTTP/1.1 408 ")
    assert b"in time" in why
