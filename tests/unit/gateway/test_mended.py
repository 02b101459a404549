"""Within one dialect bytes pass unchanged, broken ones too. They are repaired only after the upstream refuses them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .helpers import Received, ScriptedUpstream, failing, gateway_to, run, whole

BROKEN = json.dumps(
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": "look it up"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
            },
            {"role": "user", "content": "never mind"},
        ],
    }
).encode()
SOUND = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()


def received_with(scripted: ScriptedUpstream, body: bytes, policy: str) -> Received:
    async def scenario() -> Received:
        async with gateway_to(scripted, route={"repair": policy}) as front:
            return await front.ask("/v1/chat/completions", body)

    received: Received = run(scenario())
    return received


def bodies(scripted: ScriptedUpstream) -> list[Any]:
    return [request.body for request in scripted.seen]


def test_an_upstream_that_accepts_a_broken_request_gets_it_unchanged() -> None:
    scripted = ScriptedUpstream(whole("openai-chat"))
    received = received_with(scripted, BROKEN, "report")
    assert (received.status, bodies(scripted)) == (200, [BROKEN])
    assert "dragoman-repairs" not in received.headers


def test_a_refused_broken_request_is_sent_again_after_a_repair() -> None:
    scripted = ScriptedUpstream(failing(400), whole("openai-chat"))
    received = received_with(scripted, BROKEN, "report")
    assert received.status == 200
    assert received.headers["dragoman-repairs"]
    first, second = bodies(scripted)
    assert first == BROKEN
    assert [message["role"] for message in json.loads(second)["messages"]] == ["user", "assistant", "tool", "user"]


@pytest.mark.parametrize(("body", "policy"), [(SOUND, "report"), (BROKEN, "off")])
def test_a_sound_request_or_a_route_without_repairs_is_sent_once(body: bytes, policy: str) -> None:
    scripted = ScriptedUpstream(failing(400), whole("openai-chat"))
    assert received_with(scripted, body, policy).status == 400
    assert bodies(scripted) == [body]


def test_a_route_that_refuses_repairs_sends_no_broken_request() -> None:
    scripted = ScriptedUpstream(whole("openai-chat"))
    assert received_with(scripted, BROKEN, "refuse").status == 400
    assert bodies(scripted) == []
