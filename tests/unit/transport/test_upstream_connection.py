"""One connection to an upstream: headers are those of a parser, time-outs are lazy, answers stay apart."""

from __future__ import annotations

import asyncio
import gzip
import random
from contextlib import suppress
from typing import Any

import httptools
import pytest

from dragoman.errors import TransportError
from dragoman.transport.http_client import Address, ConnectionLimits, Pool
from dragoman.transport.request_head_and_decompression import prepared
from dragoman.transport.response_head_reader import HeadReader
from dragoman.transport.upstream_answer import ConnectionAnswer
from dragoman.transport.upstream_connection import UpstreamConnection

from .test_http_client import answering, get, plain, read_request, run
from .test_http_fuzz import ADDRESS, Wire, result_of

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def test_a_compressed_body_that_is_cut_off_by_the_end_of_the_connection() -> None:
    body = gzip.compress(b"hello" * 99, mtime=0)
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n"
    assert result_of([head + body], ends=True)[0] == (200, b"hello" * 99)
    assert result_of([head, body[:-3]], ends=True)[0] == "upstream_bad"


@pytest.mark.parametrize("more", [b"H", b"HTTP/1.1 2", b"HTTP/1.1 200 OK\r\nx: y\r\n", plain(b"evil")])
def test_bytes_after_an_answer_are_not_read_as_the_next_answer(more: bytes) -> None:
    found, pool, wires = result_of([plain(b"mine") + more], ends=False)
    assert found == (200, b"mine")
    assert (pool._hosts[ADDRESS].free, wires[0].closed) == ([], True)


@pytest.mark.parametrize("status", [b"000", b"099"])
def test_an_answer_with_an_impossible_status_is_an_error(status: bytes) -> None:
    wire = b"HTTP/1.1 %b No\r\ncontent-length: 4\r\n\r\nevil" % status
    assert result_of([wire + plain(b"mine")], ends=False)[0] == "upstream_bad"


def test_long_framing_does_not_stop_the_reader() -> None:
    pieces = [HEAD, b"2;" + b"x" * 9, *[b"x" * 100_000] * 6, b"\r\nok\r\n0\r\n\r\n"]
    assert result_of(pieces, ends=False)[0] == (200, b"ok")


def test_a_body_is_measured_without_its_framing() -> None:
    chunks = [b"1\r\na\r\n"] * 10_000
    assert result_of([HEAD, *chunks, b"0\r\n\r\n"], ends=False)[0] == (200, b"a" * 10_000)
    assert result_of([HEAD, *chunks, b"1\r\na\r\n0\r\n\r\n"], ends=False)[0] == "upstream_bad"


@pytest.mark.parametrize("seed", range(200))
def test_headers_are_equal_to_those_of_the_parser(seed: int) -> None:
    draw = random.Random(seed)
    lines = [f"HTTP/1.{draw.choice('1110')} {draw.choice(['200 OK', '200', '404 a: b', '500 x', '999 x'])}"]
    for _ in range(draw.randint(0, 6)):
        name = "".join(draw.choices("abzAZ09-_.!#$%&'*+^`|~", k=draw.randint(1, 5)))
        value = "".join(draw.choices('ab:; \t,\xa0\x85\xe9\xff\x80="', k=draw.randint(0, 9)))
        lines.append(f"{name}:{draw.choice(['', ' ', chr(9) + ' '])}{value}")
    before = draw.choice(["", "", "\r\n", "\r\n\r\n", "HTTP/1.1 103 Early\r\nlink: x\r\n\r\n"])
    head = (before + "\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    known = HeadReader()
    for _ in range(2):  # at the second time the shape may be cached
        assert list(known.read(head + b"y: 1\r\nz: 2\r\n\r\n")) == headers_by_parser(head)


def headers_by_parser(head: bytes) -> list[tuple[str, str]]:
    """The headers that a parser of httptools finds."""

    class Collector:
        headers: list[tuple[str, str]] = []

        def on_message_begin(self) -> None:
            self.headers = []

        def on_header(self, name: bytes, value: bytes) -> None:
            self.headers.append((name.decode().lower(), value.decode("latin-1")))

    collector = Collector()
    with suppress(httptools.HttpParserError):
        httptools.HttpResponseParser(collector).feed_data(head)
    return collector.headers


def test_every_head_reads_the_same_with_any_cut() -> None:
    early = b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n"
    wire = plain(b"ok", "X-Twice: 1", "x-twice: 2", "Content-Type:  a/b; C=D ", "x-empty:")
    expected = [("content-length", "2"), ("x-twice", "1"), ("x-twice", "2")]
    expected += [("content-type", "a/b; C=D "), ("x-empty", "")]

    async def ask(pieces: list[bytes]) -> ConnectionAnswer:
        pool = Pool()
        connection = UpstreamConnection(pool, pool._new(ADDRESS))
        connection.connection_made(Wire(connection, [], False))
        answer = connection.ask(b"")
        for piece in pieces:
            connection.data_received(piece)
        return answer

    for whole in (wire, early + wire, early * 2 + wire, b"\r\n" + wire):
        for at in range(len(whole)):
            answer = asyncio.run(ask([whole[:at], whole[at:]] if at else [whole]))
            assert (answer.status, answer.headers, answer.done) == (200, expected, True)
            assert [answer.header(name) for name in ("x-twice", "x-none")] == ["1", ""]


def test_an_unread_answer_does_not_mix_with_the_next_on_its_connection() -> None:
    async def use(pool: Pool, address: Address) -> tuple[bytes, bytes, int]:
        first = await pool.request(address, "POST", "/", [], b"{}")
        second = await pool.request(address, "POST", "/", [], b"{}")
        return await second.read(100), await first.read(100), pool._hosts[address].connections

    assert run(answering(plain(b"first"), plain(b"second")), use) == (b"second", b"first", 1)
    assert run(answering(plain(b""), plain(b"second")), use) == (b"second", b"", 1)


def test_an_idle_connection_is_closed_in_its_time_and_not_before() -> None:
    gone: list[float] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await read_request(reader)
                writer.write(plain(b"ok"))
                await writer.drain()
        finally:
            gone.append(asyncio.get_running_loop().time())

    async def use(pool: Pool, address: Address) -> tuple[int, int, float]:
        for _ in range(6):  # longer than the time limit of an idle connection, but with shorter pauses
            await get(pool, address)
            await asyncio.sleep(0.1)
        last, before = asyncio.get_running_loop().time(), len(gone)
        while not gone:
            await asyncio.sleep(0.01)
        return before, len(pool._hosts[address].free), gone[0] - last

    before, free, idle = run(handler, use, ConnectionLimits(keep_alive=0.4))
    assert (before, free) == (0, 0)
    assert idle > 0.2


def _slowly(pieces: int) -> Any:
    """An upstream that sends this number of pieces, one after the other, and then nothing more."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD)
        for number in range(pieces):
            writer.write(b"1\r\n%d\r\n" % number)
            await writer.drain()
            await asyncio.sleep(0.05)
        await reader.read()

    return handler


def test_a_piece_that_is_taken_at_once_is_not_yielded_and_extends_the_time() -> None:
    taken: list[bytes] = []

    def take(piece: bytes) -> bool:
        if piece in b"147":
            return False
        taken.append(piece)
        return True

    async def use(pool: Pool, address: Address) -> tuple[bytes, str]:
        body = b""
        answer = await pool.request(address, "POST", "/", [], b"{}", first_byte=5)
        with pytest.raises(TransportError) as caught:
            async for piece in answer.pieces(0.4, take):
                body += piece
        return body, str(caught.value)

    body, message = run(_slowly(10), use)
    assert message == "the upstream sent nothing within 0.4 seconds"
    assert body.lstrip(b"0") == b"147"  # the first piece may have arrived with the head
    assert b"".join(taken).lstrip(b"0") == b"235689"


def test_an_error_while_a_piece_is_taken_reaches_the_reader() -> None:
    def take(piece: bytes) -> bool:
        raise LookupError(piece.decode())

    async def use(pool: Pool, address: Address) -> tuple[str, bool]:
        answer = await pool.request(address, "POST", "/", [], b"{}", first_byte=5)
        with pytest.raises(LookupError) as caught:
            async for _ in answer.pieces(5, take):
                pass
        answer.close()
        return str(caught.value), answer.take is None

    found, cleared = run(_slowly(3), use)
    assert found in ("0", "1")
    assert cleared


def test_no_piece_is_taken_after_the_reader_was_woken() -> None:
    def take(piece: bytes) -> bool:
        raise LookupError(piece.decode())

    async def use(pool: Pool, address: Address) -> tuple[bool, list[bytes]]:
        answer = await pool.request(address, "POST", "/", [], b"{}", first_byte=5)
        answer.waiting[:] = [b"whole"]
        answer.waiter = asyncio.get_running_loop().create_future()
        answer.waiter.set_result(None)
        found = answer.taken(take), list(answer.waiting)
        answer.close()
        return found

    assert run(_slowly(3), use) == (False, [b"whole"])


def test_the_total_time_also_ends_while_pieces_are_taken() -> None:
    async def use(pool: Pool, address: Address) -> str:
        answer = await pool.request(address, "POST", "/", [], b"{}", first_byte=5, within=(0.3, 0.3))
        with pytest.raises(TransportError) as caught:
            async for _ in answer.pieces(5, lambda piece: True):
                pass
        return str(caught.value)

    assert run(_slowly(40), use) == "the answer took more than 0.3 seconds"


def test_the_idle_time_restarts_with_every_piece() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD)
        for _ in range(12):
            writer.write(b"1\r\na\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)
        await reader.read()

    async def use(pool: Pool, address: Address) -> tuple[bytes, str]:
        body = b""
        answer = await pool.request(address, "POST", "/", [], b"{}", first_byte=5)
        with pytest.raises(TransportError) as caught:
            async for piece in answer.pieces(0.4):
                body += piece
        return body, str(caught.value)

    assert run(handler, use) == (b"a" * 12, "the upstream sent nothing within 0.4 seconds")


def test_requests_that_wait_for_a_connection_fail_when_the_pool_closes() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        await asyncio.sleep(0.1)
        writer.write(plain(b"ok"))
        await writer.drain()
        await reader.read()

    async def use(pool: Pool, address: Address) -> list[Any]:
        tasks = [asyncio.create_task(get(pool, address)) for _ in range(5)]
        await asyncio.sleep(0.05)
        pool.close()
        found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        assert (pool._hosts[address].free, list(pool._hosts[address].queue)) == ([], [])
        return [str(one) if isinstance(one, TransportError) else one for one in found]

    assert run(handler, use, ConnectionLimits(per_host=2)) == [(200, b"ok")] * 2 + ["the pool is closed"] * 3


POST = prepared(ADDRESS, "/", (("x-a", "b"),))


def test_a_request_begins_at_once_only_with_a_free_connection() -> None:
    async def use(pool: Pool, address: Address) -> tuple[Any, ...]:
        post = prepared(address, "/", (("x-a", "b"),))
        before = pool.begin(post, b"{}")
        await get(pool, address)
        answer = pool.begin(post, b"{}")
        assert answer is not None
        taken = pool.begin(post, b"{}")
        await answer.coming(5)
        return before, answer.status, answer.done, answer.whole(10), taken, len(pool._hosts[address].free)

    assert run(answering(plain(b"one"), plain(b"two")), use) == (None, 200, True, b"two", None, 1)


def answer_on_used_connection(pieces: list[bytes], *, ends: bool) -> ConnectionAnswer:
    """An answer on a connection that has served an earlier request. The upstream sends these pieces."""

    async def inner() -> ConnectionAnswer:
        pool = Pool()
        connection = UpstreamConnection(pool, pool._new(ADDRESS))
        connection.connection_made(Wire(connection, [plain(b"ok")], False))
        await connection.ask(b"").coming(5)
        connection.transport = Wire(connection, pieces, ends)
        answer = pool.begin(POST, b"{}")
        assert answer is not None
        await answer.coming(5)
        return answer

    return asyncio.run(inner())


def test_a_request_is_repeated_only_if_no_byte_of_an_answer_arrived() -> None:
    answer_on_used_connection([], ends=True).unheard()
    for pieces, ends in (([b"HTTP/1.1 2"], True), ([b"HTTP/1.1 100 X\r\n\r\n"], True), ([b"\0\0"], False)):
        with pytest.raises(TransportError):
            answer_on_used_connection(pieces, ends=ends).unheard()


def test_one_wait_is_enough_for_a_head_in_pieces() -> None:
    wire = plain(b"ok")
    answer = answer_on_used_connection([wire[at : at + 1] for at in range(len(wire) - 2)], ends=False)
    assert (answer.status, answer.done) == (200, False)


def test_the_idle_time_restarts_with_every_piece_of_a_head() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        for piece in (b"HTTP/1.1 ", b"200 OK\r\n", b"x: y\r\n", b"content-length: 0\r\n", b"\r\n"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.15)

    async def use(pool: Pool, address: Address) -> tuple[int, bytes]:
        return await get(pool, address, first_byte=0.4)

    assert run(handler, use) == (200, b"")


@pytest.mark.parametrize("size", [1, 10])
def test_the_time_for_sending_a_request_is_limited(size: int) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.6 if size == 1 else 5)
        if size == 1:
            await read_request(reader)
            writer.write(plain(b"taken"))
            await writer.drain()

    async def use(pool: Pool, address: Address) -> Any:
        try:
            answer = await pool.request(address, "POST", "/", [], bytes(size * 6_000_000), first_byte=2.0 / size)
        except TransportError as error:
            return error.kind, str(error)
        return await answer.read(10)

    wanted: Any = ("timeout", "the upstream did not take the request within 0.2 seconds") if size == 10 else b"taken"
    assert run(handler, use) == wanted
