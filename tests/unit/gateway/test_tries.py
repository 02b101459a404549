"""Attempts one after the other: the state of one attempt does not change the next one."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from bench.streams import frames

from dragoman.gateway.config import Bounds, Route, Target
from dragoman.gateway.exchange.stream_reply import BURST
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from .helpers import Received, ScriptedUpstream, failing, gateway_to, request_body, run, silent, streaming, whole

GOOD = whole("openai-chat")


def test_after_a_time_out_the_next_upstream_has_its_own_retries() -> None:
    first, second = ScriptedUpstream(silent), ScriptedUpstream(failing(503), GOOD)

    async def scenario() -> Received:
        async with gateway_to(first, second, bounds=Bounds(first_byte=0.2), route={"retries": 1}) as front:
            return await front.generate("anthropic")

    assert run(scenario()).status == 200
    assert [len(first.seen), len(second.seen)] == [1, 2]


def test_after_an_upstream_with_too_many_losses_a_refusal_ends_the_exchange() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    lossy, refusing = ScriptedUpstream(GOOD), ScriptedUpstream(failing(400), dialect="anthropic")
    never = ScriptedUpstream(whole("anthropic"), dialect="anthropic")

    async def scenario() -> Received:
        async with gateway_to(lossy, refusing, never, route={"tolerance": "info"}) as front:
            return await front.ask("/v1/messages", json.dumps(body).encode())

    assert run(scenario()).status == 400
    assert [len(lossy.seen), len(refusing.seen), len(never.seen)] == [0, 1, 0]


def test_a_repaired_request_is_retried_like_any_other() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": calls}]
    body = json.dumps({"model": "m", "messages": [*turns, {"role": "user", "content": "never mind"}]}).encode()
    scripted = ScriptedUpstream(failing(503), failing(400), failing(503), failing(400), GOOD)

    async def scenario(retries: int) -> tuple[int, Any]:
        async with gateway_to(scripted, route={"retries": retries}) as front:
            received = await front.ask("/v1/chat/completions", body)
            return received.status, (await front.exchange(received))["attempts"]

    assert run(scenario(1)) == (400, 4)  # repaired only once
    assert scripted.seen[1].body == body
    assert scripted.seen[2].body != body and scripted.seen[3].body == scripted.seen[2].body


def test_a_failed_attempt_leaves_no_header_and_no_text_in_the_final_result() -> None:
    scripted = ScriptedUpstream(failing(503, ("x-request-id", "first")), GOOD)

    async def scenario() -> tuple[Received, Any]:
        async with gateway_to(scripted, route={"retries": 1}) as front:
            received = await front.generate("anthropic")
            return received, await front.exchange(received)

    received, exchange = run(scenario())
    assert received.headers["request-id"] != "first"
    assert exchange["attempts"] == 2
    assert [one["kind"] for one in exchange["tries"]] == ["overloaded"]
    assert "no luck" not in json.dumps({**exchange, "tries": []})


def test_two_routes_to_one_upstream_keep_their_own_settings() -> None:
    """The cached plan for an upstream belongs to one route."""
    body = {"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    scripted = ScriptedUpstream(GOOD)

    async def scenario() -> list[int]:
        async with gateway_to(scripted) as front:
            config = front.gateway.config
            to = (Target("a", "m"),)
            routes = (Route("strict", to, tolerance="info", retries=0), Route("lax", to, retries=0))
            front.gateway.reload(type(config)(upstreams=config.upstreams, routes=routes))
            bodies = [json.dumps({"model": name, **body}).encode() for name in ("lax", "strict", "lax", "strict")]
            return [(await front.ask("/v1/messages", one)).status for one in bodies]

    assert run(scenario()) == [200, 400, 200, 400]
    assert len(scripted.seen) == 2


def test_a_new_configuration_drops_cached_plans() -> None:
    old, new = ScriptedUpstream(GOOD), ScriptedUpstream(whole("anthropic"), dialect="anthropic")

    async def scenario() -> None:
        async with gateway_to(old) as one, gateway_to(new) as other:
            await one.generate("openai-chat")
            one.gateway.reload(other.gateway.config)
            assert (await one.generate("openai-chat")).status == 200

    run(scenario())
    assert [len(old.seen), len(new.seen)] == [1, 1]


def test_a_stream_in_one_piece_passes_in_one_piece() -> None:
    story = b"".join([frame if isinstance(frame, bytes) else frame.encode() for frame in frames("openai-chat")])
    assert len(story) > BURST
    late = b'data: {"error": {"message": "busy", "type": "server_error", "code": 503}}\n\n'

    async def scenario(frames: bytes) -> Received:
        async with gateway_to(ScriptedUpstream(streaming([frames]))) as front:
            return await front.ask("/v1/chat/completions", request_body("openai-chat", stream=True))

    received = run(scenario(story))
    assert (received.status, received.body) == (200, story)
    received = run(scenario(story + late))  # a fault long after the beginning does not set the status
    assert (received.status, received.body) == (200, story + late)
    assert run(scenario(late)).status == 503


@pytest.mark.parametrize("kind", ["text/event-stream", "text/event-stream; charset=utf-8", "Text/Plain"])
def test_a_stream_may_have_any_text_content_type(kind: str) -> None:
    story = b"".join([frame if isinstance(frame, bytes) else frame.encode() for frame in frames("openai-chat")])

    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", kind)])
        reply.write(story)
        reply.end()
        await asyncio.sleep(0)

    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(step)) as front:
            return await front.generate("anthropic", stream=True)

    received = run(scenario())
    assert received.status == 200
    assert b"event: message_stop" in received.body


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat"])
def test_an_idle_connection_that_was_closed_is_no_attempt(dialect: str) -> None:
    async def cut(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.break_off()

    scripted = ScriptedUpstream(GOOD, cut, GOOD)

    async def scenario() -> list[Any]:
        async with gateway_to(scripted) as front:
            received = [await front.generate(dialect) for _ in range(2)]
            return [(one.status, (await front.exchange(one))["attempts"]) for one in received]

    assert run(scenario()) == [(200, 1), (200, 1)]
    assert len(scripted.seen) == 3
    assert scripted.seen[1].body == scripted.seen[2].body


def test_a_client_that_leaves_ends_the_upstream_request_on_any_connection() -> None:
    left = asyncio.Event()

    async def waiting(request: IncomingRequest, reply: ReplyWriter) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            left.set()

    async def scenario() -> list[bool]:
        found = []
        for steps in ((GOOD, waiting), (waiting,)):
            left.clear()
            async with gateway_to(ScriptedUpstream(*steps)) as front:
                if len(steps) > 1:
                    await front.generate("openai-chat")
                _, writer = await front.open("/v1/chat/completions", request_body("openai-chat"))
                await asyncio.sleep(0.1)
                writer.close()
                found.append(await asyncio.wait_for(left.wait(), 5))
        return found

    assert run(scenario()) == [True, True]
