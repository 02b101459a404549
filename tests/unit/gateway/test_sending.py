"""How a place is asked: what is remembered of one client never reaches the upstream for another."""

from __future__ import annotations

import random

import pytest

from dragoman.errors import ConfigError
from dragoman.gateway import upstreams
from dragoman.gateway.routes import Choice
from dragoman.gateway.upstreams import HOPS, INSTANCE, MAX_KNOWN, Sendings
from dragoman.transport.upstream import Auth, Upstream

ENVIRONMENT = {"KEY": "the upstream's own"}
NAMES = (
    *("authorization", "x-api-key", "x-goog-api-key", "api-key", "anthropic-beta", "anthropic-version", "openai-beta"),
    *("x-request-id", "traceparent", "user-agent", "content-type", "cookie", HOPS),
)


def choice(dialect: str, auth: Auth, url: str) -> Choice:
    return Choice("up", Upstream(dialect, url, "KEY" if auth == "auto" else "", auth), "some-model")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://example.test"])
@pytest.mark.parametrize("pass_key", [False, True])
@pytest.mark.parametrize("auth", ["auto", "client", "none"])
@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "gemini"])
def test_headers_are_those_of_this_very_client(dialect: str, auth: Auth, pass_key: bool, url: str) -> None:
    draw = random.Random(f"{dialect} {auth} {pass_key}")
    place, known = choice(dialect, auth, url), Sendings(ENVIRONMENT)
    for number in range(300):
        asked = {name: f"value {draw.randrange(4)}" for name in draw.sample(NAMES, draw.randrange(len(NAMES)))}
        client = draw.choice(["anthropic", "openai-chat", "gemini"])
        sending = known.get(place, client, asked, stream=bool(number % 2), pass_key=pass_key)
        wanted = upstreams.headers(place.upstream, ENVIRONMENT, client, asked, pass_key=pass_key)
        if url.startswith("http:"):
            wanted.append((HOPS, f"{asked.get(HOPS, '')} {INSTANCE}".strip()))
        assert list(sending.headers(asked)) == wanted
        assert sending.stream is bool(number % 2)


def test_a_token_is_the_one_of_now() -> None:
    place = Choice("up", Upstream("code-assist", "https://example.test"), "some-model")
    sending = Sendings({}).get(place, "code-assist", {}, stream=False, pass_key=False)
    assert sending.google
    told = [dict(sending.headers({}, token))["authorization"] for token in ("a", "b", "a")]
    assert told == ["Bearer a", "Bearer b", "Bearer a"]


def test_what_is_remembered_is_bounded() -> None:
    place, known = choice("openai-chat", "auto", "https://example.test"), Sendings(ENVIRONMENT)
    for number in range(3 * MAX_KNOWN):
        known.get(place, "openai-chat", {f"x-{number}": "a"}, stream=False, pass_key=False)
    sending = known.get(place, "openai-chat", {"x-request-id": ""}, stream=False, pass_key=False)
    for number in range(3 * MAX_KNOWN):
        assert ("x-request-id", f"r{number}") in sending.headers({"x-request-id": f"r{number}"})
    sending.headers({"x-request-id": "r" * 10_000})
    assert len(known._known) <= MAX_KNOWN
    assert len(sending._made) <= MAX_KNOWN
    assert sum(len(value) for told in sending._made for value in told) < 10_000


def test_a_key_that_is_missing_is_missed_every_time() -> None:
    place, known = choice("openai-chat", "auto", "https://example.test"), Sendings({})
    sending = known.get(place, "openai-chat", {}, stream=False, pass_key=False)
    for _ in range(2):
        with pytest.raises(ConfigError, match="KEY is empty"):
            sending.headers({})
