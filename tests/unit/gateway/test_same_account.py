"""The route setting `same_account`: without it, OpenAI's seals do not cross from OpenRouter's details to Responses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .helpers import Received, ScriptedUpstream, gateway_to, run, whole

DETAIL = {"type": "reasoning.encrypted", "data": "c2VhbGVk", "format": "openai-responses-v1", "id": "rs_1", "index": 0}
REQUEST = {
    "model": "gpt-5.2",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "So.", "reasoning_details": [DETAIL]},
        {"role": "user", "content": "go on"},
    ],
}


@pytest.mark.parametrize("route", [{"same_account": True}, {}])
def test_a_seal_crosses_only_if_the_route_allows_it(route: dict[str, Any]) -> None:
    scripted = ScriptedUpstream(whole("openai-responses"), dialect="openai-responses")

    async def scenario() -> Received:
        async with gateway_to(scripted, route=route) as front:
            return await front.ask("/api/v1/chat/completions", json.dumps(REQUEST).encode())

    received = run(scenario())
    assert received.status == 200
    sealed = [item.get("encrypted_content") for item in json.loads(scripted.seen[0].body)["input"]]
    assert ("c2VhbGVk" in sealed) is bool(route)
    assert ("seal.dropped" in received.headers["dragoman-losses"]) is not bool(route)
