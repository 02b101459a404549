"""Beta headers that a translated request needs are sent with it, together with the headers of the configuration."""

from __future__ import annotations

import json
from typing import Any

from dragoman.transport.upstream_url_and_headers import merge_headers

from .helpers import ScriptedUpstream, gateway_to, run, whole

REQUEST: dict[str, Any] = {
    "model": "m",
    "input": "Hi",
    "tools": [
        {"type": "mcp", "server_label": "s", "server_url": "https://mcp.example/", "require_approval": "never"},
    ],
}


def test_lists_of_betas_are_joined() -> None:
    assert merge_headers([("a", "1"), ("anthropic-beta", "x")], {"anthropic-beta": "y,z"}) == [
        ("a", "1"),
        ("anthropic-beta", "x,y,z"),
    ]
    assert merge_headers([("a", "1")], {"anthropic-beta": "y"}) == [("a", "1"), ("anthropic-beta", "y")]


def test_the_beta_that_an_mcp_server_needs_is_sent() -> None:
    scripted = ScriptedUpstream(whole("anthropic"), whole("anthropic"), dialect="anthropic")

    async def scenario() -> None:
        async with gateway_to(scripted) as front:
            assert (await front.ask("/v1/responses", json.dumps(REQUEST).encode())).status == 200
            plain = {name: value for name, value in REQUEST.items() if name != "tools"}
            assert (await front.ask("/v1/responses", json.dumps(plain).encode())).status == 200

    run(scenario())
    first, second = scripted.seen
    assert first.headers["anthropic-beta"] == "mcp-client-2025-11-20"
    assert "anthropic-beta" not in second.headers
