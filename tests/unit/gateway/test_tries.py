"""Attempts one after the other: what one of them leaves behind does not decide the next."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from bench.streams import frames

from dragoman.gateway.config import Bounds, Route, Target
from dragoman.gateway.exchange.stream_reply import BURST
from dragoman.gateway.http.server import IncomingRequest, Reply

from .helpers import Behind, Received, asking, between, failing, run, silent, streaming, whole

GOOD = whole("openai-chat")


def test_after_one_that_had_its_time_the_next_is_tried_again_as_ever() -> None:
    first, second = Behind(silent), Behind(failing(503), GOOD)

    async def doing() -> Received:
        async with between(first, second, bounds=Bounds(first_byte=0.2), route={"retries": 1}) as front:
            return await front.generate("anthropic")

    assert run(doing()).status == 200
    assert [len(first.seen), len(second.seen)] == [1, 2]


def test_after_one_that_loses_too_much_a_refusal_is_a_refusal() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    lossy, refusing = Behind(GOOD), Behind(failing(400), dialect="anthropic")
    never = Behind(whole("anthropic"), dialect="anthropic")

    async def doing() -> Received:
        async with between(lossy, refusing, never, route={"tolerance": "info"}) as front:
            return await front.ask("/v1/messages", json.dumps(body).encode())

    assert run(doing()).status == 400
    assert [len(lossy.seen), len(refusing.seen), len(never.seen)] == [0, 1, 0]


def test_a_request_that_is_mended_is_tried_again_like_any() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": calls}]
    body = json.dumps({"model": "m", "messages": [*turns, {"role": "user", "content": "never mind"}]}).encode()
    behind = Behind(failing(503), failing(400), failing(503), failing(400), GOOD)

    async def doing(retries: int) -> tuple[int, Any]:
        async with between(behind, route={"retries": retries}) as front:
            received = await front.ask("/v1/chat/completions", body)
            return received.status, (await front.exchange(received))["attempts"]

    assert run(doing(1)) == (400, 4)  # mended once, and no more
    assert behind.seen[1].body == body
    assert behind.seen[2].body != body and behind.seen[3].body == behind.seen[2].body


def test_what_an_attempt_before_was_told_is_not_in_the_record() -> None:
    behind = Behind(failing(503, ("x-request-id", "first")), GOOD)

    async def doing() -> tuple[Received, Any]:
        async with between(behind, route={"retries": 1}) as front:
            received = await front.generate("anthropic")
            return received, await front.exchange(received)

    received, exchange = run(doing())
    assert received.headers["request-id"] != "first"
    assert exchange["attempts"] == 2
    assert [one["kind"] for one in exchange["tries"]] == ["overloaded"]
    assert "no luck" not in json.dumps({**exchange, "tries": []})


def test_two_ways_to_one_place_are_each_gone_as_they_say() -> None:
    """What is remembered of how a place is asked belongs to the route that leads there."""
    body = {"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    behind = Behind(GOOD)

    async def doing() -> list[int]:
        async with between(behind) as front:
            config = front.gateway.config
            to = (Target("a", "m"),)
            routes = (Route("strict", to, tolerance="info", retries=0), Route("lax", to, retries=0))
            front.gateway.reload(type(config)(upstreams=config.upstreams, routes=routes))
            asked = [json.dumps({"model": name, **body}).encode() for name in ("lax", "strict", "lax", "strict")]
            return [(await front.ask("/v1/messages", one)).status for one in asked]

    assert run(doing()) == [200, 400, 200, 400]
    assert len(behind.seen) == 2


def test_a_new_configuration_forgets_how_places_were_asked() -> None:
    old, new = Behind(GOOD), Behind(whole("anthropic"), dialect="anthropic")

    async def doing() -> None:
        async with between(old) as one, between(new) as other:
            await one.generate("openai-chat")
            one.gateway.reload(other.gateway.config)
            assert (await one.generate("openai-chat")).status == 200

    run(doing())
    assert [len(old.seen), len(new.seen)] == [1, 1]


def test_within_one_dialect_a_stream_that_comes_at_once_leaves_at_once() -> None:
    story = b"".join([frame if isinstance(frame, bytes) else frame.encode() for frame in frames("openai-chat")])
    assert len(story) > BURST
    late = b'data: {"error": {"message": "busy", "type": "server_error", "code": 503}}\n\n'

    async def doing(frames: bytes) -> Received:
        async with between(Behind(streaming([frames]))) as front:
            return await front.ask("/v1/chat/completions", asking("openai-chat", stream=True))

    received = run(doing(story))
    assert (received.status, received.body) == (200, story)
    received = run(doing(story + late))  # a fault far behind the beginning is not the answer's status
    assert (received.status, received.body) == (200, story + late)
    assert run(doing(late)).status == 503


@pytest.mark.parametrize("kind", ["text/event-stream", "text/event-stream; charset=utf-8", "Text/Plain"])
def test_a_stream_is_one_whatever_it_says_of_its_letters(kind: str) -> None:
    story = b"".join([frame if isinstance(frame, bytes) else frame.encode() for frame in frames("openai-chat")])

    async def step(request: IncomingRequest, reply: Reply) -> None:
        reply.start(200, [("content-type", kind)])
        reply.write(story)
        reply.end()
        await asyncio.sleep(0)

    async def doing() -> Received:
        async with between(Behind(step)) as front:
            return await front.generate("anthropic", stream=True)

    received = run(doing())
    assert received.status == 200
    assert b"event: message_stop" in received.body


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat"])
def test_a_connection_that_was_closed_while_it_was_idle_is_no_attempt(dialect: str) -> None:
    async def gone(request: IncomingRequest, reply: Reply) -> None:
        reply.cut()

    behind = Behind(GOOD, gone, GOOD)

    async def doing() -> list[Any]:
        async with between(behind) as front:
            received = [await front.generate(dialect) for _ in range(2)]
            return [(one.status, (await front.exchange(one))["attempts"]) for one in received]

    assert run(doing()) == [(200, 1), (200, 1)]
    assert len(behind.seen) == 3
    assert behind.seen[1].body == behind.seen[2].body


def test_a_client_that_leaves_takes_its_upstream_along_whether_or_not_the_connection_is_new() -> None:
    left = asyncio.Event()

    async def waiting(request: IncomingRequest, reply: Reply) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            left.set()

    async def doing() -> list[bool]:
        found = []
        for steps in ((GOOD, waiting), (waiting,)):
            left.clear()
            async with between(Behind(*steps)) as front:
                if len(steps) > 1:
                    await front.generate("openai-chat")
                _, writer = await front.open("/v1/chat/completions", asking("openai-chat"))
                await asyncio.sleep(0.1)
                writer.close()
                found.append(await asyncio.wait_for(left.wait(), 5))
        return found

    assert run(doing()) == [True, True]
