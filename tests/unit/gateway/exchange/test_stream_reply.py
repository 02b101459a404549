"""Streams: frames leave as fast as the client reads, pauses have keep-alives, cut streams end with a fault."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from bench.streams import frames

from dragoman.canon.events import Fault, Finish
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.gateway.config import Bounds
from dragoman.gateway.endpoints.endpoint_table import EndpointCall
from dragoman.gateway.exchange.recent_exchanges import Recording
from dragoman.gateway.exchange.stream_reply import SLICE, StreamReply
from dragoman.gateway.http.server import ClientGone, IncomingRequest, ReplyWriter
from dragoman.translate.stream_passthrough import PassThrough

from ..helpers import (
    DIALECTS,
    Front,
    Received,
    ScriptedUpstream,
    chunks,
    failing,
    gateway_to,
    path_of,
    request_body,
    run,
    streaming,
)


def story(dialect: str) -> list[bytes]:
    return [frame if isinstance(frame, bytes) else frame.encode() for frame in frames(dialect)]


def received_by(*scripted: ScriptedUpstream, client: str, **settings: Any) -> Received:
    async def scenario() -> Received:
        async with gateway_to(*scripted, **settings) as front:
            return await front.generate(client, stream=True)

    received: Received = run(scenario())
    return received


def events(dialect: str, body: bytes) -> list[Any]:
    reader = get(dialect).reader(Context(dialect, dialect))
    return [*reader.feed(body), *reader.close()]


async def begin(front: Front, dialect: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, str]:
    """Open a stream and read its head."""
    reader, writer = await front.open(path_of(dialect, stream=True), request_body(dialect, stream=True))
    return reader, writer, (await reader.readuntil(b"\r\n\r\n")).decode()


@pytest.mark.parametrize("client", ["anthropic", "openai-chat"])
def test_each_frame_leaves_at_once(client: str) -> None:
    seen = asyncio.Event()

    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", "text/event-stream")])
        for frame in story("openai-chat"):
            reply.write(frame)
            if b"The" in frame:
                await seen.wait()  # the upstream sends no more before the client has this frame
        reply.end()

    async def scenario() -> tuple[str, bytes]:
        async with gateway_to(ScriptedUpstream(step)) as front:
            reader, writer, head = await begin(front, client)
            body = b""
            async for piece in chunks(reader):
                body += piece
                if b"The" in body:
                    seen.set()
            writer.close()
            return head, body

    head, body = run(scenario())
    assert "cache-control: no-cache, no-transform" in head
    assert "x-accel-buffering: no" in head
    assert isinstance(events(client, body)[-1], Finish)


@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
def test_a_slow_client_slows_the_upstream_and_a_leaving_client_ends_it(client: str) -> None:
    written = 0
    left = asyncio.Event()
    frame = next(frame for frame in story("openai-chat") if b"The" in frame)

    async def flood(request: IncomingRequest, reply: ReplyWriter) -> None:
        nonlocal written
        reply.start(200, [("content-type", "text/event-stream")])
        try:
            while written < 200_000_000:
                reply.write(frame * 100)
                written += len(frame) * 100
                await reply.drain()
                await asyncio.sleep(0)
        except (ClientGone, asyncio.CancelledError):
            left.set()
            raise

    async def scenario() -> tuple[int, int, Any]:
        async with gateway_to(ScriptedUpstream(flood)) as front:
            reader, writer, _ = await begin(front, client)
            reader._limit = 1  # type: ignore[attr-defined]  # nothing is read ahead
            before = -1
            while before != written:
                before = written
                await asyncio.sleep(0.5)
            writer.transport.abort()
            await asyncio.wait_for(left.wait(), 1)
            await asyncio.sleep(0.05)
            listed = (await front.ask("/dragoman/exchanges")).json()["exchanges"]
            name = listed[0]["id"]
            return before, written, (await front.ask(f"/dragoman/exchanges/{name}")).json()

    stood, _, exchange = run(scenario())
    assert stood < 100_000_000
    assert exchange["error"] == "the client left"
    assert exchange["usage"]["partial"] is True
    assert exchange["usage"]["estimated"] is True
    assert exchange["usage"]["output"] > 0


def test_a_client_that_leaves_before_the_answer_ends_the_upstream_request() -> None:
    left = asyncio.Event()

    async def thinking(request: IncomingRequest, reply: ReplyWriter) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            left.set()
            raise

    async def scenario() -> bool:
        scripted = ScriptedUpstream(thinking)
        async with gateway_to(scripted) as front:
            _, writer = await front.open("/v1/messages", request_body("anthropic"))
            while not scripted.seen:
                await asyncio.sleep(0.01)
            writer.transport.abort()
            await asyncio.wait_for(left.wait(), 1)
            return True

    assert run(scenario())


def test_the_counts_of_the_upstream_are_recorded_when_the_client_leaves() -> None:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", "text/event-stream")])
        for frame in story("anthropic")[:30]:
            reply.write(frame)
        await asyncio.sleep(30)

    async def scenario() -> Any:
        async with gateway_to(ScriptedUpstream(step, dialect="anthropic")) as front:
            reader, writer, head = await begin(front, "openai-chat")
            async for piece in chunks(reader):
                if b"The" in piece:
                    break
            writer.transport.abort()
            await asyncio.sleep(0.2)
            name = next(line.split(": ")[1] for line in head.split("\r\n") if line.startswith("dragoman-exchange"))
            return (await front.ask(f"/dragoman/exchanges/{name}")).json()["usage"]

    usage = run(scenario())
    assert usage["input"] > 100
    assert usage["partial"] is True


# Keep-alives.

BEATS = {
    "anthropic": b"event: ping",
    "openai-chat": b": keep-alive",
    "openai-responses": b": keep-alive",
    "openrouter": b": OPENROUTER PROCESSING\n\n",
    "gemini": b"\r\n\r\n",
    "code-assist": b"\r\n\r\n",
}


@pytest.mark.parametrize("client", BEATS)
def test_a_client_gets_keep_alives_while_the_upstream_is_silent(client: str) -> None:
    beaten = asyncio.Event()

    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", "text/event-stream")])
        pieces = story("openai-chat")
        for frame in pieces[:5]:
            reply.write(frame)
        await beaten.wait()
        for frame in pieces[5:]:
            reply.write(frame)
        reply.end()

    async def scenario() -> tuple[bytes, int]:
        async with gateway_to(ScriptedUpstream(step), bounds=Bounds(keep_alive=0.2)) as front:
            reader, writer, _ = await begin(front, client)
            body = b""
            async for piece in chunks(reader):
                body += piece
                if piece.strip() == BEATS[client].strip() or (
                    piece.startswith(BEATS[client]) and BEATS[client].strip()
                ):
                    beaten.set()
            writer.close()
            return body, len(body)

    body, _ = run(scenario())
    assert isinstance(events(client, body)[-1], Finish)


@pytest.mark.parametrize("client", BEATS)
def test_a_fault_after_an_early_head_is_an_event_of_the_stream(client: str) -> None:
    opened = asyncio.Event()

    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        await opened.wait()
        reply.send(503, [("content-type", "application/json")], b'{"error": {"message": "too busy"}}')

    scripted = ScriptedUpstream(step)

    async def scenario() -> tuple[str, bytes]:
        async with gateway_to(
            scripted, ScriptedUpstream(step), bounds=Bounds(patience=0.1), route={"retries": 3}
        ) as front:
            reader, writer, head = await begin(front, client)
            opened.set()
            body = b"".join([piece async for piece in chunks(reader)])
            writer.close()
            return head, body

    head, body = run(scenario())
    assert head.startswith("HTTP/1.1 200 ")
    assert BEATS[client] in body
    received = events(client, body)
    assert [type(event) for event in received] == [Fault]
    assert received[0].message == "too busy (upstream 'a', status 503)"
    assert len(scripted.seen) == 1


def test_a_late_answer_continues_the_stream_that_was_opened() -> None:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        await asyncio.sleep(0.3)
        await streaming(story("openai-chat"))(request, reply)

    received = received_by(ScriptedUpstream(step), client="anthropic", bounds=Bounds(patience=0.1))
    assert received.body.startswith(b"event: ping")
    assert isinstance(events("anthropic", received.body)[-1], Finish)


# Faults at the beginning, in the middle, at the end.

OVERLOADED = {
    "anthropic": b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
    "openai-chat": b'data: {"error":{"message":"busy","type":"server_error","code":503}}\n\n',
    "gemini": b'data: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}\r\n\r\n',
    "ollama": b'{"error":"busy","status":503}\n',
}


@pytest.mark.parametrize("upstream", OVERLOADED)
@pytest.mark.parametrize("client", DIALECTS)
def test_a_fault_instead_of_the_first_event_sets_the_status(client: str, upstream: str) -> None:
    received = received_by(ScriptedUpstream(streaming([OVERLOADED[upstream]]), dialect=upstream), client=client)
    assert received.status in (500, 502, 503, 529)
    assert "busy" in received.body.decode()
    assert received.headers["content-type"] == "application/json"


@pytest.mark.parametrize("upstream", OVERLOADED)
@pytest.mark.parametrize("client", ["anthropic", "openai-chat"])
def test_a_stream_that_begins_with_a_fault_is_tried_again(client: str, upstream: str) -> None:
    scripted = ScriptedUpstream(streaming([OVERLOADED[upstream]]), streaming(story(upstream)), dialect=upstream)
    received = received_by(scripted, client=client, route={"retries": 1})
    assert received.status == 200
    assert isinstance(events(client, received.body)[-1], Finish)


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_a_cut_stream_ends_with_one_fault_and_is_not_tried_again(client: str, upstream: str) -> None:
    pieces = story(upstream)
    half = [*pieces[: len(pieces) // 2], pieces[len(pieces) // 2][:20]]
    scripted = ScriptedUpstream(streaming(half, ReplyWriter.break_off), dialect=upstream)
    received = received_by(scripted, client=client, route={"retries": 2})
    assert received.status == 200
    found = events(client, received.body)
    assert [type(event) for event in found].count(Fault) == 1
    assert isinstance(found[-1], Fault)
    assert len(scripted.seen) == 1


@pytest.mark.parametrize("upstream", DIALECTS)
def test_a_stream_that_ends_too_early_ends_with_a_fault(upstream: str) -> None:
    """The connection ends without an error, but the answer has no end."""
    for client in ("anthropic", upstream):
        received = received_by(ScriptedUpstream(streaming(story(upstream)[:40]), dialect=upstream), client=client)
        assert isinstance(events(client, received.body)[-1], Fault)


@pytest.mark.parametrize("upstream", DIALECTS)
def test_no_fault_follows_the_end_of_an_answer(upstream: str) -> None:
    """The upstream cuts the connection after the end, as with a too large Content-Length. The record has a note."""

    async def scenario(client: str) -> tuple[Received, Any]:
        async with gateway_to(
            ScriptedUpstream(streaming(story(upstream), ReplyWriter.break_off), dialect=upstream)
        ) as front:
            received = await front.generate(client, stream=True)
            return received, (await front.ask(f"/dragoman/exchanges/{received.headers['dragoman-exchange']}")).json()

    for client in ("anthropic", upstream):
        received, exchange = run(scenario(client))
        found = events(client, received.body)
        assert isinstance(found[-1], Finish)
        assert Fault not in [type(event) for event in found]
        assert client != upstream or received.body == b"".join(story(upstream))
        assert (exchange["error"], exchange["tries"]) == ("", [])
        assert "broke off" in exchange["note"] or "closed" in exchange["note"], exchange["note"]


@pytest.mark.parametrize("client", ["anthropic", "openai-chat", "gemini"])
def test_a_stream_that_becomes_silent_ends_with_a_fault(client: str) -> None:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", "text/event-stream")])
        for frame in story("openai-chat")[:20]:
            reply.write(frame)
        await asyncio.sleep(30)

    received = received_by(ScriptedUpstream(step), client=client, bounds=Bounds(idle=0.2))
    last = events(client, received.body)[-1]
    assert isinstance(last, Fault)
    assert "sent nothing within 0.2 seconds" in last.message


@pytest.mark.parametrize("client", ["anthropic", "openai-chat"])
def test_a_stream_that_is_too_long_or_too_slow_is_ended(client: str) -> None:
    long = received_by(
        ScriptedUpstream(streaming(story("openai-chat"), pause=0.001)), client=client, bounds=Bounds(answer=5000)
    )
    last = events(client, long.body)[-1]
    assert "longer than 5000 bytes" in last.message
    slow = received_by(
        ScriptedUpstream(streaming(story("openai-chat"), pause=0.1)), client=client, bounds=Bounds(total=0.5)
    )
    assert "took more than 0.5 seconds" in events(client, slow.body)[-1].message


def test_a_cut_array_is_complete_json() -> None:
    async def scenario(then: Any) -> Received:
        async with gateway_to(ScriptedUpstream(streaming(story("openai-chat")[:40], then))) as front:
            return await front.ask("/v1beta/models/m:streamGenerateContent", request_body("gemini"))

    members = run(scenario(ReplyWriter.break_off)).json()
    assert "error" in members[-1]
    assert "candidates" in members[0]


def test_a_failing_upstream_before_a_stream_is_a_plain_answer() -> None:
    received = received_by(ScriptedUpstream(failing(429, ("retry-after", "3"))), client="openai-responses")
    assert (received.status, received.headers["retry-after"]) == (429, "3")
    assert received.json()["error"]["message"] == "no luck (upstream 'a', status 429)"


# Same dialect: bytes as they are.


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("step", [1, 7, 100, 100_000])
def test_frames_pass_unchanged_and_whole_with_any_cut(dialect: str, step: int) -> None:
    whole = b"".join(story(dialect))
    passing = PassThrough(dialect)
    ends = b"\n"
    out = []
    for at in range(0, len(whole), step):
        piece = passing.feed(whole[at : at + step])
        assert not piece or piece.endswith(ends)
        out.append(piece)
    assert b"".join(out) + passing.close() == whole
    assert passing.fault is None


def test_an_incomplete_frame_does_not_pass() -> None:
    passing = PassThrough("openai-chat")
    assert passing.feed(b'data: {"a":1}\n\ndata: {"b"') == b'data: {"a":1}\n\n'
    rest = passing.close(Fault("timeout", "late", 504))
    assert rest.startswith(b"data: {") and json.loads(rest.split(b"\n")[0][6:])["error"]["message"] == "late"


@pytest.mark.parametrize("dialect", OVERLOADED)
@pytest.mark.parametrize("cut", [10, 20])
def test_a_fault_at_the_beginning_is_found_with_any_cut(dialect: str, cut: int) -> None:
    frame = OVERLOADED[dialect]
    passing = PassThrough(dialect)
    assert passing.feed(frame[:cut]) == b""
    passing.feed(frame[cut:])
    assert passing.fault is not None
    assert passing.fault.message == "busy"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("body", [b"<html>sorry</html>", b'{"error": {"message": "sorry", "code": 500}}'])
def test_a_body_that_is_no_stream_is_a_fault(dialect: str, body: bytes) -> None:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(200, [("content-type", "text/event-stream")], body)

    received = received_by(ScriptedUpstream(step, dialect=dialect), client=dialect)
    assert received.status >= 500
    assert "sorry" in received.body.decode()


class _SlowClient:
    """A reply that counts the bytes written before each drain."""

    started = False

    def __init__(self) -> None:
        self.held: list[int] = [0]
        self.delivered = b""

    def start(self, status: int, headers: Any) -> None:
        self.started = True

    def write(self, data: bytes) -> None:
        self.held[-1] += len(data)
        self.delivered += data

    async def drain(self) -> None:
        self.held.append(0)

    def end(self) -> None:
        pass


class _Burst:
    """An upstream whose whole stream arrives in one piece."""

    def __init__(self, piece: bytes) -> None:
        self._piece = piece

    async def pieces(self, timeout: float, take: Any) -> Any:
        yield self._piece


def test_a_client_that_reads_slowly_holds_one_slice_of_a_long_piece() -> None:
    frame = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"word"}}]}\n\n'
    stream = frame * (1_000_000 // len(frame)) + b"data: [DONE]\n\n"
    client = _SlowClient()

    async def scenario() -> None:
        call = EndpointCall("generate", "openai-chat")
        stream_reply = StreamReply(call, client, Bounds(), lambda kind: [])  # type: ignore[arg-type]
        await stream_reply.relay(_Burst(frame), PassThrough("openai-chat"), Recording(), Recording())  # type: ignore[arg-type]
        client.delivered, client.held = b"", [0]
        await stream_reply.relay(_Burst(stream), PassThrough("openai-chat"), Recording(), Recording())  # type: ignore[arg-type]

    run(scenario())
    assert client.delivered == stream
    assert max(client.held) <= 2 * SLICE


class _Steps:
    """A reply that records its steps, and that is not ready after the second piece."""

    started = False

    def __init__(self) -> None:
        self.steps: list[str] = []

    @property
    def ready(self) -> bool:
        return self.steps.count("write") != 2

    def start(self, status: int, headers: Any) -> None:
        self.started = True

    def write(self, data: bytes) -> None:
        self.steps.append("write")

    async def drain(self) -> None:
        self.steps.append("drain")

    def end(self) -> None:
        self.steps.append("end")


def test_a_piece_waits_only_while_the_client_is_not_ready() -> None:
    frame = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"word"}}]}\n\n'
    client, taken = _Steps(), []

    class Upstream:
        async def pieces(self, timeout: float, take: Any) -> Any:
            for _ in range(4):
                taken.append(take(frame))
                if not taken[-1]:
                    yield frame

    async def scenario() -> None:
        stream_reply = StreamReply(EndpointCall("generate", "openai-chat"), client, Bounds(), lambda kind: [])  # type: ignore[arg-type]
        await stream_reply.relay(Upstream(), PassThrough("openai-chat"), Recording(), Recording())  # type: ignore[arg-type]

    run(scenario())
    assert taken == [
        False,
        True,
        False,
        True,
    ]  # the first piece begins the answer, the third piece waits for the client
    assert client.steps[:6] == ["write", "drain", "write", "drain", "write", "drain"]
