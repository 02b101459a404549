"""The server's parser without sockets: any bytes, cut anywhere, give whole answers or a closed connection."""

from __future__ import annotations

import asyncio
import random
import re
from typing import Any

import pytest

from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server, ServerBounds, _Client
from dragoman.transport.shared_deadline_timer import Deadlines

BOUNDS = ServerBounds(head=600, body=400)
_ANSWER = re.compile(
    rb"HTTP/1\.1 (\d{3}) [ -~]+\r\ncontent-length: (\d+)\r\n(?:[!-~]+: [ -~]*\r\n)*\r\n|HTTP/1\.1 100 Continue\r\n\r\n"
)


class Wire(asyncio.Transport):
    """A transport without a network."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = False
        self.paused = False

    def write(self, data: Any) -> None:
        if not self.closed:
            self.sent += data

    def close(self) -> None:
        self.closed = True

    abort = write_eof = close

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


async def echo(request: IncomingRequest, reply: ReplyWriter) -> None:
    if request.refusal is not None:
        reply.send(request.refusal[0], [], request.refusal[1].encode())
        return
    await asyncio.sleep(0)
    names = ",".join(sorted(request.all_headers()))
    reply.send(200, [], f"{request.method} {request.path} {names} ".encode() + request.body)


def exchange_bytes(pieces: list[bytes], bounds: ServerBounds = BOUNDS) -> tuple[Wire, Server]:
    """Send the pieces to a server. The transport has the answers. Pieces wait while the server does not read."""

    async def inner() -> tuple[Wire, Server]:
        loop = asyncio.get_running_loop()
        wrong: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: wrong.append(context))
        server = Server(echo, bounds)
        server.deadlines = Deadlines(loop)
        wire, client = Wire(), _Client(server)
        client.connection_made(wire)
        for piece in pieces:
            for _ in range(50):
                if not wire.paused:
                    break
                await asyncio.sleep(0)
            if wire.closed:
                break
            client.data_received(piece)
            await asyncio.sleep(0)
        for _ in range(50):
            await asyncio.sleep(0)
        client.connection_lost(None)
        await asyncio.sleep(0)
        server.deadlines.close()
        assert wrong == []
        return wire, server

    return asyncio.run(inner())


def answers(sent: bytes) -> list[tuple[int, bytes]]:
    """Split the bytes into answers. No byte may be left over."""
    found = []
    while sent:
        head = _ANSWER.match(sent)
        assert head is not None, sent[:200]
        if head[1] is None:
            sent = sent[head.end() :]
            continue
        end = head.end() + int(head[2])
        assert len(sent) >= end, "an answer is cut"
        found.append((int(head[1]), sent[head.end() : end]))
        sent = sent[end:]
    return found


def cut(data: bytes, draw: random.Random) -> list[bytes]:
    """The same bytes in pieces of any size."""
    most = draw.choice([1, 3, 20, 400])
    pieces = []
    while data:
        size = draw.randint(1, most)
        pieces.append(data[:size])
        data = data[size:]
    return pieces


def valid(draw: random.Random) -> tuple[bytes, bytes]:
    """A request, and the body of its answer."""
    method, body = draw.choice([("POST", b"x" * draw.randint(0, 90)), ("GET", b""), ("PUT", b"\r\n\r\n\0\xff")])
    path = "/" + "a" * draw.randint(0, 30)
    names = draw.sample(["X-One", "accept", "Authorization", "x-two"], draw.randint(0, 3))
    lines = [f"{method} {path} HTTP/1.1", *[f"{name}: {draw.choice(['v', '', 'a b: c'])}" for name in names]]
    if body and draw.random() < 0.5:
        lines.append("Transfer-Encoding: chunked")
        chunks = b"".join(b"%x;e=1\r\n%b\r\n" % (len(one), one) for one in cut(body, draw))
        wire, received = chunks + b"0\r\nx-late: 1\r\n\r\n", [*names, "transfer-encoding"]
    else:
        lines.append(f"content-length: {len(body)}")
        wire, received = body, [*names, "content-length"]
    seen = ",".join(sorted(name.lower() for name in received))
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + wire, f"{method} {path} {seen} ".encode() + body


@pytest.mark.parametrize("seed", range(40))
def test_requests_in_a_row_are_answered_in_order_with_any_cut(seed: int) -> None:
    draw = random.Random(seed)
    requests = [valid(draw) for _ in range(draw.randint(1, 6))]
    wire, server = exchange_bytes(cut(b"".join(sent for sent, _ in requests), draw))
    assert answers(wire.sent) == [(200, received) for _, received in requests]
    assert (server.busy, wire.closed, len(server.clients)) == (0, False, 0)


@pytest.mark.parametrize("seed", range(120))
def test_any_bytes_give_whole_answers_or_a_closed_connection(seed: int) -> None:
    draw = random.Random(seed)
    data = bytearray(b"".join(valid(draw)[0] for _ in range(2)))
    for _ in range(draw.randint(1, 6)):  # change a few bytes
        at = draw.randrange(len(data))
        data[at : at + draw.choice([0, 1, 5])] = draw.choice(
            [b"", b"\0", b"\r\n", b"\n", b":", draw.randbytes(draw.randint(1, 9)), b"HTTP/9.9", b"\x80", b"-1"]
        )
    if seed % 10 == 0:
        data = bytearray(draw.randbytes(300))
    wire, server = exchange_bytes(cut(bytes(data), draw))
    found = answers(wire.sent)
    assert all(status in (200, 400, 413, 431) for status, _ in found)
    assert [status for status, _ in found[:-1]] == [200] * len(found[:-1])  # nothing follows a refusal
    assert wire.closed or all(status == 200 for status, _ in found)
    assert server.busy == 0


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", [400]),
        (b"POST / HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", [400]),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", [400]),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + b"f" * 40, [400]),
        (b"POST / HTTP/1.1\r\ncontent-length: -5\r\n\r\n", [400]),
        (b"POST / HTTP/1.1\r\ncontent-length: 99999999999999999999999\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\r\nx y: z\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\r\n x: folded\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 700, [431]),
        (b"GET /" + b"y" * 700, [431]),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 110 + b"\r\n", [431]),
        (b"POST / HTTP/1.1\r\ncontent-length: 401\r\n\r\n", [413]),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 401 + b"0\r\n\r\n", [413]),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1;" + b"e" * 2000, [431]),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: " + b"e" * 2000, [431]),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 400 + b"0\r\n\r\n", [200]),
        (b"GET / HTTP/1.1\r\nconnection: close\r\n\r\nGET / HTTP/1.1\r\n\r\n", [200]),
        (b"\r\n\r\nGET / HTTP/1.1\r\n\r\n", [200]),
    ],
)
@pytest.mark.parametrize("step", [1, 17, 5000])
def test_known_attacks_on_a_parser_are_refused(sent: bytes, statuses: list[int], step: int) -> None:
    wire, server = exchange_bytes([sent[i : i + step] for i in range(0, len(sent), step)])
    assert [status for status, _ in answers(wire.sent)] == statuses
    assert wire.closed is (statuses != [200] or b"close" in sent)
    assert server.busy == 0


def test_a_trailer_changes_no_header() -> None:
    sent = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nauthorization: Bearer stolen\r\n\r\n"
    assert answers(exchange_bytes([sent])[0].sent) == [(200, b"POST / transfer-encoding x")]


_OFFER = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n"


@pytest.mark.parametrize("step", [1, 30, 500])
@pytest.mark.parametrize(
    ("sent", "body"),
    [
        (b"POST / HTTP/1.1\r\n" + _OFFER + b"content-length: 2\r\n\r\n{}", b"{}"),
        (b"POST / HTTP/1.1\r\n" + _OFFER + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", b"{}"),
        (b"GET / HTTP/1.1\r\n" + _OFFER + b"\r\n", b""),
    ],
)
def test_an_offer_to_switch_protocols_is_ignored(sent: bytes, body: bytes, step: int) -> None:
    """Java's client offers HTTP/2 with every request, also with a body."""
    wire, _ = exchange_bytes([sent[i : i + step] for i in range(0, len(sent), step)])
    ((status, received),) = answers(wire.sent)
    assert (status, received.rpartition(b" ")[2]) == (200, body)


def test_a_tunnel_is_not_opened() -> None:
    wire, server = exchange_bytes(
        [b"CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n", b"\x16\x03\x01 hello"]
    )
    assert len(answers(wire.sent)) == 1
    assert (wire.closed, server.busy) == (True, 0)


def test_a_slow_head_ends_with_a_time_out() -> None:
    """Every byte arrives in time, but the end of the head does not."""

    async def inner() -> bytes:
        server = Server(echo, ServerBounds(head_seconds=0.3))
        port = await server.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def trickle() -> None:
            for byte in b"GET / HTTP/1.1\r\nx: " + b"y" * 1000:
                writer.write(bytes([byte]))
                await asyncio.sleep(0.02)

        sending = asyncio.ensure_future(trickle())
        try:
            return await asyncio.wait_for(reader.read(), 15)
        finally:
            sending.cancel()
            writer.close()
            await server.stop(0)

    assert asyncio.run(inner()).startswith(b"HTTP/1.1 408 ")


def test_a_refused_client_can_send_its_whole_body_and_read_the_reason() -> None:
    async def inner() -> bytes:
        server = Server(echo, ServerBounds(body=1000))
        port = await server.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\ncontent-length: 8000000\r\n\r\n")
        for _ in range(8):
            writer.write(bytes(1_000_000))
            await writer.drain()
        try:
            return await asyncio.wait_for(reader.read(), 15)
        finally:
            writer.close()
            await server.stop(0)

    assert asyncio.run(inner()).startswith(b"HTTP/1.1 413 ")


def test_a_header_with_a_line_break_is_not_sent() -> None:
    async def inner() -> bytes:
        server = Server(echo, BOUNDS)
        server.deadlines = Deadlines(asyncio.get_running_loop())
        wire, client = Wire(), _Client(server)
        client.connection_made(wire)
        with pytest.raises(ValueError, match="line break"):
            ReplyWriter(client).send(200, [("x", "a\r\nset-cookie: b")], b"")
        server.deadlines.close()
        return wire.sent

    assert asyncio.run(inner()) == b""
