"""The gateway names the place of a mistake in a request that is not JSON, in the client's dialect."""

from __future__ import annotations

import pytest

from dragoman.gateway.config import Config, Upstream, check_config

from .helpers import DIALECTS, ScriptedUpstream, gateway_to, message_of, path_of, run, whole


@pytest.mark.parametrize("upstream", ["anthropic", "gemini"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_place_of_a_mistake_is_named(dialect: str, upstream: str) -> None:
    async def ask() -> None:
        async with gateway_to(ScriptedUpstream(whole(upstream), dialect=upstream)) as front:
            received = await front.ask(path_of(dialect), b'{"model": "m",\n "messages": [}')
            assert received.status == 400
            assert "not valid JSON: expecting value, found '}' at line 2, column 15" in message_of(
                dialect, received.body
            )

    run(ask())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[]", "is JSON, but not an object. Send a JSON object"),
        (b'"hello"', "is JSON, but not an object. Send a JSON object"),
        (b"\x1f\x8b\x08\x00abc", "is compressed. Send it as plain JSON"),
        (b"  ", "is empty. Send a JSON object"),
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_body_that_is_no_object_is_named(dialect: str, body: bytes, words: str) -> None:
    async def ask() -> None:
        async with gateway_to(ScriptedUpstream(whole("anthropic"), dialect="anthropic")) as front:
            received = await front.ask(path_of(dialect), body)
            assert received.status == 400
            assert f"The request body {words}" in message_of(dialect, received.body)

    run(ask())


def test_an_alias_of_a_dialect_is_accepted_in_the_configuration() -> None:
    config = check_config(Config(upstreams={"o": Upstream("openai", "http://127.0.0.1:1/v1")}), "test")
    assert config.upstreams["o"].dialect == "openai-chat"
