"""The cache of request heads: a cached head gives the same request as the parser, with any bytes and any cut."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from bench import payloads
from msgspec.structs import replace

from dragoman.fast.repeated_request_heads import MAX_KNOWN, MAX_LENGTH
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream, checked
from dragoman.gateway.http import server as serving
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server, ServerBounds, _Client
from dragoman.transport.shared_deadline_timer import Deadlines

from ..helpers import ScriptedUpstream, gateway, gateway_to, request, run, whole
from ..test_server_fuzz import Wire, answers, cut

BOUNDS = ServerBounds(head=400, body=200)
Seen = list[tuple[Any, ...]]


class ServerHarness:
    """A server with clients without a network. It keeps the requests."""

    def __init__(self, bounds: ServerBounds = BOUNDS, handler: Any = None) -> None:
        self.seen: Seen = []
        self.server = Server(handler or self._echo, bounds)
        self.server.deadlines = Deadlines(asyncio.get_running_loop())
        self.known = 0

    async def _echo(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        if request.refusal is not None:
            reply.send(request.refusal[0], [], request.refusal[1].encode())
            return
        self.known += request.known is not None
        headers = {name: _counted(name, value) for name, value in request.all_headers().items()}
        self.seen.append((request.method, request.path, request.query, headers, request.body))
        await asyncio.sleep(0)
        reply.send(200, [], request.path.encode() + request.body)

    async def client(self, pieces: list[bytes]) -> Wire:
        """Run one connection from its beginning to its end."""
        wire, client = Wire(), _Client(self.server)
        client.connection_made(wire)
        for piece in pieces:
            for _ in range(100):
                if not wire.paused:
                    break
                await asyncio.sleep(0)
            if wire.closed:
                break
            client.data_received(piece)
            await asyncio.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
        client.connection_lost(None)
        for _ in range(3):
            await asyncio.sleep(0)
        assert (self.server.busy, len(self.server.clients)) == (0, 0)
        return wire


def _counted(name: str, value: str) -> str:
    """The value of a header; a length without leading zeros. With a cached head the length is computed."""
    return value.lstrip("0") or "0" if name == "content-length" else value


def run_with_harness(
    scenario: Callable[[ServerHarness], Any], bounds: ServerBounds = BOUNDS, handler: Any = None
) -> Any:
    async def inner() -> Any:
        wrong: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
        harness = ServerHarness(bounds, handler)
        try:
            return await scenario(harness)
        finally:
            harness.server.deadlines.close()
            assert wrong == []

    return asyncio.run(inner())


def post(body: bytes = b"hello", *lines: str, path: str = "/a?b=c", length: str | None = None) -> bytes:
    received = f"Content-Length: {len(body)}" if length is None else length
    return "\r\n".join([f"POST {path} HTTP/1.1", "host: x", *lines, received, "", ""]).encode("latin-1") + body


def results_of(connections: list[list[bytes]], bounds: ServerBounds = BOUNDS) -> tuple[Seen, list[Any], int]:
    """The requests and answers of one server for some connections in a row, and the number of cached heads used."""

    async def scenario(harness: ServerHarness) -> tuple[Seen, list[Any], int]:
        wires = [await harness.client(pieces) for pieces in connections]
        return harness.seen, [(answers(wire.sent), wire.closed) for wire in wires], harness.known

    found: tuple[Seen, list[Any], int] = run_with_harness(scenario, bounds)
    return found


def results_without_cache(connections: list[list[bytes]], bounds: ServerBounds = BOUNDS) -> tuple[Seen, list[Any]]:
    """The same results from a server that caches no heads."""
    patch = pytest.MonkeyPatch()
    with patch.context() as changed:
        changed.setattr(serving, "_STRANGE", 0)
        seen, answered, known = results_of(connections, bounds)
    assert known == 0
    return seen, answered


def test_requests_that_differ_only_in_their_length_share_one_head() -> None:
    async def scenario(harness: ServerHarness) -> Any:
        await harness.client([post(), post(b"one more"), post(b""), post(b"x" * 150)])
        await harness.client([post(b"elsewhere")])
        await harness.client([post(b"other", path="/b")])
        return harness.seen, harness.known, len(harness.server.heads.known)

    seen, known, heads = run_with_harness(scenario)
    bodies = [b"hello", b"one more", b"", b"x" * 150, b"elsewhere", b"other"]
    assert [one[4] for one in seen] == bodies
    assert [one[3] for one in seen] == [{"host": "x", "content-length": str(len(body))} for body in bodies]
    assert (known, heads) == (6, 2)


VARIANTS = [
    post(b"12345", length="content-length: 5"),
    post(b"12345", length="CONTENT-LENGTH: 5"),
    post(b"12345", length="Content-Length:5"),
    post(b"12345", length="Content-Length:  5"),
    post(b"12345", length="Content-Length: 5 "),
    post(b"12345", length="Content-Length: 05"),
    post(b"12345", length="Content-Length: 0000000000000000000000005"),
    post(b"12345", length="Content-Length: +5"),
    post(b"12345", length="Content-Length: 5_0"),
    post(b"12345", length="Content-Length: \xb2"),
    post(b"12345", length="Content-Length: "),
    post(b"12345", length="Content-Length: 0x5"),
    post(b"12345", length="Content-Length: 5, 5"),
    post(b"12345", length="Content-Length: 5;"),
    post(b"12345", length="Content-Length: -5"),
    post(b"12345", length="Content-Length: 201"),
    post(b"12345", length="Content-Length: 99999999999999999999999"),
    post(b"12345", length="Content-Length: 5\r\nContent-Length: 5"),
    post(b"12345", length="Content-Length: 5\r\nContent-Length: 4"),
    post(b"12345", length="Content-Length: 5\r\nTransfer-Encoding: chunked"),
    post(b"5\r\nhello\r\n0\r\n\r\n", length="Transfer-Encoding: chunked"),
    post(b"5\r\nhello\r\n0\r\n\r\n", length="Transfer-Encoding: chunked\r\nContent-Length: 5"),
    post(b"12345", length="Content-Length: 5\nx: y"),
    post(b"12345", length="Content-Length: 5\r x: y"),
    post(b"12345", length="Content-Length: 5\r\n x: y"),
    post(b"12345", length="Content-Length : 5"),
    post(b"12345", length="X-Strength: 5\r\nContent-Length: 5"),
    post(b"12345", length="X-Content-Length: 3\r\nContent-Length: 5"),
    post(b"12345", length="Content-Length: 5\r\nX-Strength: 3"),
    post(b"12345", length="Content-Length: 5\r\nx: y\0"),
    post(b"12345", length="Content-Length: 5\r\nx: "),
    post(b"12345", length="Content-Length: 5\r\nx:"),
    post(b"12345", length="Content-Length: 5\r\nx: y "),
    post(b"12345", length="Content-Length: 5\r\nconnection: close"),
    post(b"12345", length="Content-Length: 5\r\nconnection: Keep-Alive"),
    post(b"12345", length="Content-Length: 5\r\nconnection: keep-alive, x"),
    post(b"12345", length="Content-Length: 5\r\nproxy-connection: close"),
    post(b"12345", length="Content-Length: 5\r\nconnection: upgrade\r\nupgrade: h2c"),
    post(b"12345", length="Content-Length: 5\r\nupgrade: h2c"),
    post(b"12345", length="Content-Length: 5\r\nexpect: 100-continue"),
    post(b"12345").replace(b"HTTP/1.1", b"HTTP/1.0"),
    post(b"12345", "connection: keep-alive").replace(b"HTTP/1.1", b"HTTP/1.0"),
    post(b"12345").replace(b"POST", b"PUT"),
    post(b"12345").replace(b"POST", b"GET"),
    post(b"12345").replace(b"POST /a?b=c", b"POST  /a?b=c"),
    post(b"12345").replace(b"\r\n", b"\n"),
    post(b"12345").replace(b"\r\n\r\n", b"\n\n"),
    post(b"12345").replace(b"\r\n\r\n", b"\r\n\n"),
    b"\r\n" + post(b"12345"),
    post(b"12345") + b"\r\n",
    post(b"GET / HTTP/1.1\r\n\r\n"),
    post(b"\r\n\r\nContent-Length: 5\r\n\r\n"),
    post(b"12345", "x: " + "y" * 400),
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_head_with_another_meaning_is_not_found_in_the_cache(variant: bytes) -> None:
    """The variant comes between requests with a known head, then twice after such a request, then twice alone."""
    plain = post(b"plain")
    connections = [[plain, variant, plain], [plain + variant + plain], [variant, variant], [plain, variant + variant]]
    seen, answered, known = results_of(connections)
    assert (seen, answered) == results_without_cache(connections)
    assert known > 0


def strange(draw: random.Random) -> bytes:
    """A random request of few kinds. Most are correct."""
    chosen = draw.random()
    if chosen < 0.1:
        return draw.choice(VARIANTS)
    body = draw.choice([b"", b"{}", b"x" * draw.randint(0, 60), b"\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n"])
    lines = draw.choice([[], ["accept: */*"], ["Authorization: Bearer k", "x-length: 1"]])
    sent = post(body, *lines, path=draw.choice(["/", "/a?b=c"]))
    if draw.random() < 0.5:  # the length before the other headers
        head, _, rest = sent.partition(b"\r\n\r\n")
        first, *others = head.split(b"\r\n")
        sent = b"\r\n".join([first, others[-1], *others[:-1]]) + b"\r\n\r\n" + rest
    if chosen < 0.2:
        at = draw.randrange(len(sent))
        sent = (
            sent[:at] + draw.choice([b"", b"\r", b"\n", b"0", b" ", b":", b"\xff"]) + sent[at + draw.choice([0, 1]) :]
        )
    return sent


@pytest.mark.parametrize("seed", range(150))
def test_known_heads_and_the_parser_give_the_same_requests(seed: int) -> None:
    """Random requests in random pieces give the same requests, answers and refusals with and without the cache."""
    draw = random.Random(seed)
    connections, plain = [], []
    for _ in range(draw.randint(1, 3)):
        sent = [strange(draw) for _ in range(draw.randint(1, 7))]
        data = b"".join(sent)
        plain.append([data])
        connections.append(sent if draw.random() < 0.4 else cut(data, draw))
    seen, answered, _ = results_of(connections)
    assert (seen, answered) == results_without_cache(connections)
    assert (seen, answered) == results_without_cache(plain)


@pytest.mark.parametrize("sizes", [[1], [5], [1, 1, 1, 1, 1], [2, 2], [4, 1], [0, 5]])
def test_a_body_may_arrive_in_pieces_and_with_the_next_request(sizes: list[int]) -> None:
    data, first = post(b"hello") + post(b"more"), post(b"plain")
    pieces, at = [first], data.find(b"\r\n\r\n") + 4
    for size in sizes:
        pieces, data, at = [*pieces, data[: at + size]], data[at + size :], 0
    seen, _, known = results_of([[*pieces, data]])
    assert [one[4] for one in seen] == [b"plain", b"hello", b"more"]
    assert known == 3


def test_a_missing_body_after_a_known_head_has_the_same_time_limit() -> None:
    seen: list[IncomingRequest] = []

    async def note(request: IncomingRequest, reply: ReplyWriter) -> None:
        seen.append(request)
        reply.send(request.refusal[0] if request.refusal else 200, [], b"")

    async def scenario(harness: ServerHarness) -> tuple[bytes, float]:
        wire, client = Wire(), _Client(harness.server)
        client.connection_made(wire)
        client.data_received(post())
        await asyncio.sleep(0.02)
        client.data_received(post(b"some of it", length="Content-Length: 90"))
        await asyncio.sleep(0.3)
        client.data_received(b"and more")
        began = asyncio.get_running_loop().time()
        while not wire.closed:
            await asyncio.sleep(0.01)
        took = asyncio.get_running_loop().time() - began
        client.data_received(b"too late")
        client.connection_lost(None)
        return wire.sent, took

    sent, took = run_with_harness(scenario, ServerBounds(body_seconds=0.8), note)
    assert [status for status, _ in answers(sent)] == [200, 408]
    assert 0.6 < took < 10
    assert (seen[1].path, seen[1].headers, seen[1].body) == ("/a", {"host": "x", "content-length": "90"}, b"")


def test_an_idle_connection_is_closed_in_time_and_a_busy_one_is_not() -> None:
    async def scenario(harness: ServerHarness) -> tuple[bool, float, int]:
        wire, client = Wire(), _Client(harness.server)
        client.connection_made(wire)
        for _ in range(8):
            client.data_received(post())
            await asyncio.sleep(0.12)
        open_so_far, began = not wire.closed, asyncio.get_running_loop().time()
        while not wire.closed:
            await asyncio.sleep(0.01)
        took = asyncio.get_running_loop().time() - began
        client.connection_lost(None)
        return open_so_far, took, len(answers(wire.sent))

    still_open, took, answered = run_with_harness(scenario, ServerBounds(idle_seconds=0.7))
    assert (still_open, answered) == (True, 8)
    assert 0.4 < took < 10


def test_only_a_few_and_only_short_heads_are_cached() -> None:
    async def scenario(harness: ServerHarness) -> list[int]:
        sizes = []
        for i in range(MAX_KNOWN + 5):
            await harness.client([post(path=f"/{i}")])
            sizes.append(len(harness.server.heads.known))
        await harness.client([post(b"", "x: " + "y" * MAX_LENGTH)] * 2)
        return [max(sizes), sizes[-1], len(harness.server.heads.known)]

    assert run_with_harness(scenario, ServerBounds()) == [MAX_KNOWN, 5, 5]


def test_a_connection_whose_heads_all_differ_fills_no_memory() -> None:
    async def scenario(harness: ServerHarness) -> tuple[int, int]:
        await harness.client([post(path=f"/{i}") for i in range(50)])
        return len(harness.server.heads.known), len(harness.seen)

    assert run_with_harness(scenario) == (serving._STRANGE - 1, 50)


def test_narrower_bounds_also_apply_to_known_heads() -> None:
    async def scenario(harness: ServerHarness) -> list[int]:
        sent = post(b"x" * 50, "x: " + "y" * 100)
        answered = []
        for bounds in (BOUNDS, replace(BOUNDS, body=40), replace(BOUNDS, head=100), BOUNDS):
            harness.server.bounds = bounds
            answered += answers((await harness.client([sent])).sent)
        return [status for status, _ in answered]

    assert run_with_harness(scenario) == [200, 413, 431, 200]


def test_a_head_after_another_request_has_the_same_size_limit() -> None:
    data, at = post() + post(b"", "x: " + "y" * 400), len(post()) + 200
    (statuses,) = [[status for status, _ in answered] for answered, _ in results_of([[data[:at], data[at:]]])[1]]
    assert statuses == [200, 431]


def test_many_requests_at_once_do_not_block_the_event_loop() -> None:
    turns = 0

    async def hasty(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(200, [], b"%d" % turns)

    async def scenario(harness: ServerHarness) -> list[bytes]:
        nonlocal turns
        wire, client = Wire(), _Client(harness.server)
        client.connection_made(wire)
        client.data_received(post() * 20)
        for _ in range(60):
            turns += 1
            await asyncio.sleep(0)
        client.connection_lost(None)
        return [body for _, body in answers(wire.sent)]

    answered = run_with_harness(scenario, handler=hasty)
    assert len(answered) == 20
    assert len(set(answered)) > 10


@pytest.mark.parametrize("before", [[], [post()]])
def test_a_client_that_leaves_right_after_its_request_is_removed(before: list[bytes]) -> None:
    async def scenario(harness: ServerHarness) -> tuple[int, int]:
        client = _Client(harness.server)
        client.connection_made(Wire())
        for sent in before:
            client.data_received(sent)
            for _ in range(5):
                await asyncio.sleep(0)
        client.data_received(post())
        client.connection_lost(None)
        for _ in range(5):
            await asyncio.sleep(0)
        return harness.server.busy, len(harness.server.clients)

    assert run_with_harness(scenario) == (0, 0)


def test_a_handler_that_fails_after_its_answer_closes_the_connection() -> None:
    async def failing(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(200, [], b"said")
        raise RuntimeError

    async def scenario(harness: ServerHarness) -> tuple[bytes, bool]:
        wire, client = Wire(), _Client(harness.server)
        client.connection_made(wire)
        client.data_received(post())
        task = client.task
        assert task is not None
        with pytest.raises(RuntimeError):
            await task
        client.connection_lost(None)
        return wire.sent, wire.closed

    sent, closed = run_with_harness(scenario, handler=failing)
    assert (answers(sent), closed) == ([(200, b"said")], True)


# Facts about a head that the gateway caches.


def locked(key: str, port: int) -> tuple[Config, dict[str, str]]:
    upstream = Upstream("openai-chat", f"http://127.0.0.1:{port}", auth="none")
    config = Config(Listen(key_env=f"KEY_{key}"), upstreams={"a": upstream}, routes=(Route("*", (Target("a"),)),))
    return checked(config, "test"), {"KEY_one": "one", "KEY_two": "two"}


async def statuses_in_a_row(port: int, *sent: Callable[[], bytes]) -> list[int]:
    """The statuses of requests on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answered = []
    for one in sent:
        writer.write(one())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length"))
        await reader.readexactly(length)
        answered.append(int(head.split()[1]))
    writer.close()
    return answered


def test_a_known_head_is_checked_again_after_a_change_of_keys() -> None:
    sent = request("/v1/chat/completions", payloads.request("openai-chat"), {"authorization": "Bearer one"})

    async def scenario() -> tuple[list[int], list[int]]:
        scripted = ScriptedUpstream(whole("openai-chat"))
        upstream = Server(scripted.handle)
        port = await upstream.start("127.0.0.1", 0)
        config, environment = locked("one", port)
        async with gateway(config, environment) as front:

            def after(name: str) -> Callable[[], bytes]:
                def reloaded() -> bytes:
                    front.gateway.reload(locked(name, port)[0])
                    return sent

                return reloaded

            ways = [lambda: sent, lambda: sent, after("two"), lambda: sent, after("one"), lambda: sent]
            answered = await statuses_in_a_row(front.port, *ways)
            wrong = sent.replace(b"Bearer one", b"Bearer uno")
            strangers = await statuses_in_a_row(front.port, *[lambda: wrong] * 3)
        await upstream.stop(0)
        return answered, strangers

    assert run(scenario()) == ([200, 200, 401, 401, 200, 200], [401, 401, 401])


def test_requests_with_one_head_share_headers_and_keep_their_own_length() -> None:
    seen: list[IncomingRequest] = []

    async def note(request: IncomingRequest, reply: ReplyWriter) -> None:
        seen.append(request)
        reply.send(200, [], b"")

    async def scenario(harness: ServerHarness) -> None:
        await harness.client([post(), post(b"one more"), post(b""), post(b"other", "x: y")])
        await harness.client([post(b"elsewhere")])

    run_with_harness(scenario, handler=note)
    lengths = [len(one.body) for one in seen]
    assert [one.all_headers().get("content-length") for one in seen] == [str(length) for length in lengths]
    first, second, third, other, elsewhere = seen
    assert second.headers is third.headers is elsewhere.headers
    assert first.known is second.known is not other.known
    assert second.headers == {"host": "x"}
    assert other.headers == {"host": "x", "x": "y", "content-length": "5"}


def test_exchanges_with_one_head_show_their_own_requests() -> None:
    async def scenario() -> list[Any]:
        async with gateway_to(ScriptedUpstream(whole("openai-chat")), environment={}) as front:
            bodies = [payloads.request("openai-chat") + b" " * i for i in range(4)]
            received = [await front.ask("/v1/chat/completions", body) for body in bodies]
            shown = [await front.exchange(one) for one in received]
            assert [one["request"].encode() for one in shown] == bodies
            return [int(one["headers"]["content-length"]) - len(body) for one, body in zip(shown, bodies, strict=True)]

    assert run(scenario()) == [0] * 4


def test_origins_and_keys_in_addresses_are_checked_for_every_request() -> None:
    body = payloads.request("openai-chat")

    async def scenario() -> list[Any]:
        async with gateway_to(ScriptedUpstream(whole("openai-chat")), environment={}) as front:
            paths = [("/v1/chat/completions", {"origin": "http://localhost:1"}), ("/v1/chat/completions", {})]
            answered = [(await front.ask(path, body, headers)).headers for path, headers in paths * 3]
            google = payloads.request("gemini")
            keyed = [(await front.ask("/v1beta/models/m:generateContent?key=k", google)) for _ in range(3)]
            shown = [(await front.exchange(received))["headers"] for received in keyed]
            sizes = [len(google)] * 3
            assert [int(one["content-length"]) for one in shown] == sizes
            return [
                ["access-control-allow-origin" in headers for headers in answered],
                ["x-goog-api-key" in one for one in shown],
            ]

    assert run(scenario()) == [[True, False] * 3, [True] * 3]
