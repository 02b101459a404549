"""The client's parser and pool: any bytes, cut anywhere, give an answer or one error, and connections are freed."""

from __future__ import annotations

import asyncio
import gzip
import random
import socket
from typing import Any

import pytest

from dragoman.errors import TransportError
from dragoman.transport.http_client import Address, ConnectionLimits, Pool
from dragoman.transport.shared_deadline_timer import Deadlines
from dragoman.transport.upstream_connection import AddressConnections, UpstreamConnection

from .test_http_client import answering, get, plain, read_request, run

ADDRESS = Address(False, "upstream.test", 80)


class Wire(asyncio.Transport):
    """A transport without a network. After a request, the upstream sends the given pieces."""

    def __init__(self, connection: UpstreamConnection, pieces: list[bytes], ends: bool) -> None:
        super().__init__()
        self.closed = False
        self._connection = connection
        self._pieces = pieces
        self._ends = ends

    def write(self, data: Any) -> None:
        asyncio.get_running_loop().call_soon(self._answer)

    def _answer(self) -> None:
        for piece in self._pieces:
            if self.closed:
                return
            self._connection.data_received(piece)
        if self._ends and not self.closed:
            self.closed = True
            self._connection.connection_lost(None)

    def abort(self) -> None:
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().call_soon(self._connection.connection_lost, None)

    close = abort

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


def result_of(pieces: list[bytes], ends: bool) -> tuple[Any, Pool, list[Wire]]:
    """The result of one request: status and body, or the kind of the error; with the pool and its transports."""

    async def inner() -> tuple[Any, Pool, list[Wire]]:
        wrong: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
        pool, wires = Pool(ConnectionLimits(first_byte=0.05, idle=0.05)), []

        async def connect(host: AddressConnections) -> UpstreamConnection:
            connection = UpstreamConnection(pool, host)
            wires.append(Wire(connection, pieces, ends))
            connection.connection_made(wires[-1])
            return connection

        pool._connect = connect  # type: ignore[method-assign]
        try:
            answer = await pool.request(ADDRESS, "POST", "/", [], b"{}")
            found: Any = (answer.status, await answer.read(10_000))
        except TransportError as error:
            found = error.kind
        await asyncio.sleep(0)
        assert wrong == []
        host = pool._hosts[ADDRESS]
        assert host.connections == len(host.free)
        return found, pool, wires

    return asyncio.run(inner())


def cut(data: bytes, draw: random.Random) -> list[bytes]:
    most = draw.choice([1, 4, 30, 1000])
    out = []
    while data:
        size = draw.randint(1, most)
        out.append(data[:size])
        data = data[size:]
    return out


def valid(draw: random.Random) -> tuple[bytes, bytes]:
    body = draw.randbytes(draw.randint(0, 200))
    sent, more = (body, "") if draw.random() < 0.7 else (gzip.compress(body, mtime=0), "content-encoding: gzip\r\n")
    early = b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" * draw.choice([0, 0, 1, 2])
    if draw.random() < 0.5:
        head = f"HTTP/1.1 200 OK\r\n{more}content-length: {len(sent)}\r\n\r\n"
        return early + head.encode() + sent, body
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in cut(sent, draw))
    return early + f"HTTP/1.1 200 OK\r\n{more}transfer-encoding: chunked\r\n\r\n".encode() + chunks + b"0\r\n\r\n", body


@pytest.mark.parametrize("seed", range(40))
def test_answers_are_read_with_any_cut_and_the_connection_is_kept(seed: int) -> None:
    draw = random.Random(seed)
    wire, body = valid(draw)
    found, pool, wires = result_of(cut(wire, draw), ends=False)
    assert found == (200, body)
    assert (len(pool._hosts[ADDRESS].free), wires[0].closed) == (1, False)


@pytest.mark.parametrize("seed", range(100))
def test_any_bytes_give_an_answer_or_one_error(seed: int) -> None:
    draw = random.Random(seed)
    data = bytearray(valid(draw)[0] if seed % 8 else draw.randbytes(200))
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data))
        data[at : at + draw.choice([0, 1, 9])] = draw.choice([b"", b"\r\n", b"\0", b"HTTP/2", draw.randbytes(3)])
    found, pool, _ = result_of(cut(bytes(data), draw), ends=bool(seed % 3))
    assert found in ("closed", "upstream_bad", "timeout") or found[0] >= 200
    assert all(not connection.transport.is_closing() for connection in pool._hosts[ADDRESS].free)


@pytest.mark.parametrize(
    "more", [b"x", b"\r\nHTTP/1.1 200 OK\r\nx-evil: 1\r\ncontent-length: 4\r\n\r\nevil", b"\0" * 99]
)
def test_bytes_after_an_answer_are_not_read_and_the_connection_is_closed(more: bytes) -> None:
    async def use(pool: Pool, address: Address) -> list[Any]:
        found = []
        for _ in range(2):
            answer = await pool.request(address, "POST", "/", [], b"{}")
            found.append((answer.status, answer.headers, await answer.read(100)))
        return found

    assert run(answering(plain(b"mine") + more), use) == [(200, [("content-length", "4")], b"mine")] * 2


def test_a_trailer_is_no_header() -> None:
    async def use(pool: Pool, address: Address) -> Any:
        answer = await pool.request(address, "POST", "/", [], b"{}")
        return await answer.read(100), answer.headers

    wire = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nretry-after: 9\r\n\r\n"
    assert run(answering(wire), use) == (b"ok", [("transfer-encoding", "chunked")])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (gzip.compress(b"hello", mtime=0) + gzip.compress(b" again", mtime=0), b"hello again"),
        (gzip.compress(b"hello", mtime=0)[:-3], "upstream_bad"),
    ],
)
def test_a_compressed_body_may_have_several_members_and_a_cut_one_is_an_error(body: bytes, kind: Any) -> None:
    found, _, _ = result_of([plain(body, "content-encoding: gzip")], ends=False)
    assert found == ((200, kind) if isinstance(kind, bytes) else kind)


@pytest.mark.parametrize("seed", range(6))
def test_every_request_frees_its_connection(seed: int) -> None:
    """Requests that are served, fail or are cancelled. At the end the pool has the same free connections."""
    draw = random.Random(seed)

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            _, body = await read_request(reader)
            if body == b"cut":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
                return
            if body == b"slow":
                await asyncio.sleep(0.05)
            writer.write(plain(b"ok", "connection: close") if body == b"last" else plain(b"ok"))
            await writer.drain()
            if body == b"last":
                return

    async def use(pool: Pool, address: Address) -> tuple[int, int, bool]:
        async def one(word: bytes) -> None:
            async with await pool.request(address, "POST", "/", [], word) as answer:
                if word != b"left":
                    await answer.read(100)

        tasks = []
        for _ in range(60):
            tasks.append(asyncio.create_task(one(draw.choice([b"ok", b"cut", b"slow", b"last", b"left"]))))
            if draw.random() < 0.3:
                await asyncio.sleep(0.001 * draw.randint(0, 5))
                draw.choice(tasks).cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        host = pool._hosts[address]
        good = await get(pool, address) == (200, b"ok")
        await asyncio.sleep(0.01)
        return host.connections - len(host.free), len([turn for turn in host.queue if not turn.done()]), good

    assert run(handler, use, ConnectionLimits(per_host=4)) == (0, 0, True)


def test_an_idle_connection_that_was_closed_is_skipped() -> None:
    async def use(pool: Pool, address: Address) -> list[Any]:
        first = await get(pool, address)
        await asyncio.sleep(0.05)  # during this time the upstream closes the connection
        return [first, await get(pool, address)]

    assert run(answering(plain(b"ok")), use) == [(200, b"ok")] * 2


def test_an_upstream_on_ipv6() -> None:
    async def inner() -> Any:
        heads = []

        async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heads.append((await read_request(reader))[0])
            writer.write(plain(b"six"))
            await writer.drain()
            writer.close()

        try:
            server = await asyncio.start_server(handler, "::1", 0, family=socket.AF_INET6)
        except OSError:
            pytest.skip("this machine has no IPv6")
        async with server:
            port = server.sockets[0].getsockname()[1]
            found = await get(Pool(), Address(False, "::1", port))
        return found, heads[0].splitlines()[1] == f"host: [::1]:{port}"

    assert asyncio.run(inner()) == ((200, b"six"), True)


@pytest.mark.parametrize("target", ["/a b", "/a\r\nx: y", "/a\nb"])
def test_a_broken_path_is_not_sent(target: str) -> None:
    async def use(pool: Pool, address: Address) -> str:
        with pytest.raises(TransportError) as caught:
            await pool.request(address, "POST", target, [], b"{}")
        return caught.value.kind

    assert run(answering(), use) == "connect"


class Waiter:
    def __init__(self, name: str, expired: list[str]) -> None:
        self._name = name
        self._expired = expired

    def on_deadline(self) -> None:
        self._expired.append(self._name)


def test_one_timer_keeps_moves_and_removes_deadlines() -> None:
    async def inner() -> list[str]:
        expired: list[str] = []
        deadlines = Deadlines(asyncio.get_running_loop())
        a, b, c, d = [Waiter(name, expired) for name in "abcd"]
        deadlines.expect(a, 0.08)
        deadlines.expect(b, 0.02)  # earlier than the first deadline
        deadlines.expect(c, 0.04)
        deadlines.expect(c, 0.12)  # moved
        deadlines.expect(d, 0.03)
        deadlines.forget(d)
        deadlines.forget(d)
        while len(expired) < 3:
            await asyncio.sleep(0.01)
        deadlines.expect(d, 0.01)
        deadlines.close()
        await asyncio.sleep(0.05)
        return expired

    assert asyncio.run(asyncio.wait_for(inner(), 20)) == ["b", "a", "c"]


def test_the_time_of_the_whole_answer_is_limited() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(500):
            writer.write(b"1\r\na\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    async def use(pool: Pool, address: Address) -> tuple[str, str]:
        answer = await pool.request(address, "POST", "/", [], b"{}")
        answer.limit_time(0.1, 0.1)
        with pytest.raises(TransportError) as caught:
            async for _ in answer.pieces(5):
                pass
        return caught.value.kind, str(caught.value)

    assert run(handler, use) == ("timeout", "the answer took more than 0.1 seconds")
