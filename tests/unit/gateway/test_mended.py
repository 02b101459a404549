"""Within one dialect bytes pass untouched, also broken ones: they are mended when the upstream refuses them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .helpers import Behind, Received, between, failing, run, whole

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


def asked(behind: Behind, body: bytes, policy: str) -> Received:
    async def doing() -> Received:
        async with between(behind, route={"repair": policy}) as front:
            return await front.ask("/v1/chat/completions", body)

    received: Received = run(doing())
    return received


def bodies(behind: Behind) -> list[Any]:
    return [request.body for request in behind.seen]


def test_an_upstream_that_takes_it_gets_it_as_it_is() -> None:
    behind = Behind(whole("openai-chat"))
    received = asked(behind, BROKEN, "report")
    assert (received.status, bodies(behind)) == (200, [BROKEN])
    assert "dragoman-repairs" not in received.headers


def test_an_upstream_that_refuses_it_is_asked_again_with_what_was_mended() -> None:
    behind = Behind(failing(400), whole("openai-chat"))
    received = asked(behind, BROKEN, "report")
    assert received.status == 200
    assert received.headers["dragoman-repairs"]
    first, second = bodies(behind)
    assert first == BROKEN
    assert [message["role"] for message in json.loads(second)["messages"]] == ["user", "assistant", "tool", "user"]


@pytest.mark.parametrize(("body", "policy"), [(SOUND, "report"), (BROKEN, "off")])
def test_what_is_not_broken_or_not_to_be_mended_is_asked_once(body: bytes, policy: str) -> None:
    behind = Behind(failing(400), whole("openai-chat"))
    assert asked(behind, body, policy).status == 400
    assert bodies(behind) == [body]


def test_a_route_that_refuses_looks_first() -> None:
    behind = Behind(whole("openai-chat"))
    assert asked(behind, BROKEN, "refuse").status == 400
    assert bodies(behind) == []
