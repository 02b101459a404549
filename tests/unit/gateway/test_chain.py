"""A gateway behind a gateway: the seals of the second gateway pass the first one, and come back to the second."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.gateway.config import Config, Upstream, checked
from dragoman.gateway.exchange import relay
from tests.unit.gateway.helpers import gateway, run

MODEL = "back/rehearsal"
TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}


def request_body(messages: list[Any]) -> bytes:
    thinking = {"type": "enabled", "budget_tokens": 2000}
    body = {"model": MODEL, "max_tokens": 4000, "thinking": thinking, "tools": [TOOL], "messages": messages}
    return json.dumps(body).encode()


def test_seals_of_the_second_gateway_come_back_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "INSTANCE", "two processes would have two")

    async def scenario() -> None:
        async with gateway(checked(Config(), "test"), {}) as back:
            upstream = Upstream("anthropic", f"http://127.0.0.1:{back.port}", auth="none")
            async with gateway(checked(Config(upstreams={"back": upstream}), "test"), {}) as front:
                messages: list[Any] = [{"role": "user", "content": "Call look, please."}]
                received = await front.ask("/v1/messages", request_body(messages))
                assert received.status == 200, received.body
                content = received.json()["content"]
                kinds = [part["type"] for part in content]
                assert kinds[0] == "thinking" and kinds[-1] == "tool_use", content
                result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "nothing there"}
                messages += [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
                received = await front.ask("/v1/messages", request_body(messages))
                assert received.status == 200, received.body

    run(scenario())
