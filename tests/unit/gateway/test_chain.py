"""A gateway behind a gateway: the seals of the second gateway pass the first one, and come back to the second."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from dragoman.fast.continued_requests import RequestMemory
from dragoman.gateway.config import Config, Route, Target, Upstream, check_config
from dragoman.gateway.exchange import relay
from dragoman.gateway.http.server import Server
from tests.unit.gateway.helpers import Front, ScriptedUpstream, failing, gateway, run

MODEL = "back/rehearsal"
TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}


def request_body(messages: list[Any]) -> bytes:
    thinking = {"type": "enabled", "budget_tokens": 2000}
    body = {"model": MODEL, "max_tokens": 4000, "thinking": thinking, "tools": [TOOL], "messages": messages}
    return json.dumps(body).encode()


async def first_turn(front: Front) -> list[Any]:
    """The messages of a conversation after its first answer: a sealed thought, and a call with its result."""
    messages: list[Any] = [{"role": "user", "content": "Call look, please."}]
    received = await front.ask("/v1/messages", request_body(messages))
    assert received.status == 200, received.body
    content = received.json()["content"]
    kinds = [part["type"] for part in content]
    assert kinds[0] == "thinking" and kinds[-1] == "tool_use", content
    result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "nothing there"}
    return [*messages, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]


@asynccontextmanager
async def chained(*before: ScriptedUpstream) -> AsyncIterator[Front]:
    """A gateway whose route leads to other upstreams, which are tried first, and then to a second gateway."""
    async with AsyncExitStack() as stack:
        back = await stack.enter_async_context(gateway(check_config(Config(), "test"), {}))
        upstreams = {"back": Upstream("anthropic", f"http://127.0.0.1:{back.port}", auth="none")}
        for i, scripted in enumerate(before):
            server = Server(scripted.handle)
            port = await server.start("127.0.0.1", 0)
            stack.push_async_callback(server.stop, 0)
            upstreams[f"other{i}"] = Upstream(scripted.dialect, f"http://127.0.0.1:{port}", auth="none")
        names = [name for name in upstreams if name != "back"]
        targets = (*[Target(name, MODEL) for name in names], Target("back", "rehearsal"))
        config = Config(upstreams=upstreams, routes=(Route(MODEL, targets, retries=0, backoff=0.01),) if names else ())
        yield await stack.enter_async_context(gateway(check_config(config, "test"), {}))


def test_seals_of_the_second_gateway_come_back_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "INSTANCE", "two processes would have two")

    async def scenario() -> None:
        async with chained() as front:
            messages = await first_turn(front)
            # A client repeats a request after a fault. The memory of repeated requests keeps the seals, too.
            for _ in range(5):
                received = await front.ask("/v1/messages", request_body(messages))
                assert received.status == 200, received.body

    run(scenario())


def test_seals_come_back_in_a_conversation_that_the_memory_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "INSTANCE", "two processes would have two")
    monkeypatch.setattr(RequestMemory, "smallest", 0)

    async def scenario() -> None:
        # The translation for the first upstream brings the conversation into the memory.
        async with chained(ScriptedUpstream(failing(503))) as front:
            messages = await first_turn(front)
            for number in range(6):
                received = await front.ask("/v1/messages", request_body(messages))
                assert received.status == 200, (number, received.body)
                text = {"role": "assistant", "content": [{"type": "text", "text": f"Answer {number}."}]}
                messages += [text, {"role": "user", "content": f"Question {number}?"}]

    run(scenario())
