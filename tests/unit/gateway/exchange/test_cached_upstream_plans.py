"""How a place is asked: what is remembered of one client never reaches the upstream for another."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dragoman.errors import ConfigError
from dragoman.gateway.config import Route
from dragoman.gateway.exchange import upstream_headers_and_key
from dragoman.gateway.exchange.cached_upstream_plans import HOPS, INSTANCE, MAX_KNOWN, MAX_POSTS, UpstreamPlans
from dragoman.gateway.exchange.routes import Choice
from dragoman.gateway.http.request_head_cache import KnownHead, KnownHeads
from dragoman.transport.response_head_reader import listed
from dragoman.transport.upstream_config import Auth, Upstream

ENVIRONMENT = {"KEY": "the upstream's own"}
NAMES = (
    *("authorization", "x-api-key", "x-goog-api-key", "api-key", "anthropic-beta", "anthropic-version", "openai-beta"),
    *("x-request-id", "traceparent", "user-agent", "content-type", "cookie", HOPS),
)


def choice(dialect: str, auth: Auth, url: str, *, pass_key: bool = False) -> Choice:
    upstream = Upstream(dialect, url, "KEY" if auth == "auto" else "", auth)
    return Choice("up", upstream, "some-model", Route("*", (), client_key=pass_key))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://example.test"])
@pytest.mark.parametrize("pass_key", [False, True])
@pytest.mark.parametrize("auth", ["auto", "client", "none"])
@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "gemini"])
def test_headers_are_those_of_this_very_client(dialect: str, auth: Auth, pass_key: bool, url: str) -> None:
    draw = random.Random(f"{dialect} {auth} {pass_key}")
    place, known = choice(dialect, auth, url, pass_key=pass_key), UpstreamPlans(ENVIRONMENT)
    for number in range(300):
        asked = {name: f"value {draw.randrange(4)}" for name in draw.sample(NAMES, draw.randrange(len(NAMES)))}
        client = draw.choice(["anthropic", "openai-chat", "gemini"])
        plan = known[place, client, bool(number % 2), *asked]
        wanted = upstream_headers_and_key.headers(place.upstream, ENVIRONMENT, client, asked, pass_key=pass_key)
        if url.startswith("http:"):
            wanted.append((HOPS, f"{asked.get(HOPS, '')} {INSTANCE}".strip()))
        assert list(plan.post(asked).headers) == wanted
        assert plan.stream is bool(number % 2)


def test_a_token_is_the_one_of_now() -> None:
    place = Choice("up", Upstream("code-assist", "https://example.test"), "some-model")
    plan = UpstreamPlans({})[place, "code-assist", False]
    assert plan.google
    told = [dict(plan.post({}, token).headers)["authorization"] for token in ("a", "b", "a")]
    assert told == ["Bearer a", "Bearer b", "Bearer a"]


def test_headers_stay_as_they_are_only_where_nothing_varies() -> None:
    place, known = choice("anthropic", "auto", "https://example.test"), UpstreamPlans(ENVIRONMENT)
    still, varying = known[place, "openai-chat", False, "host"], known[place, "anthropic", False, "anthropic-beta"]
    assert still.post({"host": "a"}) is still.post({"host": "b"})
    told = [dict(varying.post({"anthropic-beta": beta}).headers)["anthropic-beta"] for beta in "aba"]
    assert told == ["a", "b", "a"]


def test_what_is_remembered_is_bounded() -> None:
    place, known = choice("openai-chat", "auto", "https://example.test"), UpstreamPlans(ENVIRONMENT)
    for number in range(3 * MAX_KNOWN):
        known[place, "openai-chat", False, f"x-{number}"]
    plan = known[place, "openai-chat", False, "x-request-id"]
    for number in range(3 * MAX_KNOWN):
        assert ("x-request-id", f"r{number}") in plan.post({"x-request-id": f"r{number}"}).headers
    plan.post({"x-request-id": "r" * 10_000})
    long = Choice("up", place.upstream, "m" * 10_000)
    assert known[long, "gemini", False].options.model == "m" * 10_000
    assert known[place, "openai-chat", False, "n" * 10_000].same_dialect
    assert len(known) <= MAX_KNOWN
    assert len(plan._made) <= MAX_POSTS
    assert all(kind[0] is place and len(kind[-1]) < 100 for kind in known)
    assert all("r" * 100 not in str(told) for told in plan._made)


def known_head() -> KnownHead:
    lines, headers = [(b"content-length", b"1")], {"content-length": "1"}
    found = KnownHeads().learn(b"POST / HTTP/1.1\r\ncontent-length: 1", b"/", lines, headers, "/", "")
    assert found is not None
    return found


def test_how_requests_with_a_known_head_are_sent_is_known() -> None:
    places = [choice("anthropic", "auto", "https://example.test") for _ in range(2)]
    known, heads = UpstreamPlans(ENVIRONMENT), [known_head() for _ in range(2)]
    for place in places:
        for stream in (False, True):
            for beta, head in zip("ab", heads, strict=True):
                asked = {"anthropic-beta": beta}
                plan, post = known.find(place, "anthropic", stream, asked, head)
                assert known.known[place, stream, head] == (plan, post)
                assert (plan.choice, plan.stream) == (place, stream)
                assert post is not None and post is plan.post(asked)
                assert dict(post.headers)["anthropic-beta"] == beta
                assert f"anthropic-beta: {beta}\r\n".encode() in post.head
    assert len(known.known) == 8
    assert known.find(places[0], "anthropic", False, {}, None)[1] is not None
    assert len(known.known) == 8


def test_what_is_known_by_heads_is_bounded() -> None:
    place, known = choice("openai-chat", "auto", "https://example.test"), UpstreamPlans(ENVIRONMENT)
    for _ in range(3 * MAX_KNOWN):
        known.find(place, "openai-chat", False, {}, known_head())
    assert 0 < len(known.known) <= MAX_KNOWN
    known.known.clear()
    known.find(Choice("up", place.upstream, "m" * 10_000), "openai-chat", False, {}, known_head())
    assert known.known == {}


def test_what_depends_on_the_hour_or_cannot_be_made_is_not_known() -> None:
    google = Choice("up", Upstream("code-assist", "https://example.test"), "some-model")
    keyless, odd = choice("openai-chat", "auto", "https://example.test"), choice("openai-chat", "none", "https://a b")
    known = UpstreamPlans({})
    for place in (google, keyless, odd):
        plan, post = known.find(place, "openai-chat", False, {}, known_head())
        assert (plan.choice, post) == (place, None)
    assert known.known == {}


def test_a_key_that_is_missing_is_missed_every_time() -> None:
    place, known = choice("openai-chat", "auto", "https://example.test"), UpstreamPlans({})
    plan = known[place, "openai-chat", False]
    for _ in range(2):
        with pytest.raises(ConfigError, match="KEY is empty"):
            plan.post({})


class Saying:
    """An answer with a content type."""

    def __init__(self, kind: str) -> None:
        self.heading = listed([(b"date", b"now"), (b"content-type", kind.encode())])

    def header(self, name: str) -> str:
        return self.heading.header(name)


@pytest.mark.parametrize(
    ("dialect", "stream", "kind", "streams"),
    [
        ("openai-chat", False, "application/json", False),
        ("openai-chat", False, "application/json; charset=utf-8", False),
        ("openai-chat", False, "text/event-stream", True),
        ("openai-chat", False, "application/x-ndjson", True),
        ("openai-chat", False, "", False),
        ("openai-chat", True, "text/event-stream; charset=utf-8", True),
        ("openai-chat", True, "text/event-stream", True),
        ("openai-chat", True, "application/json", False),
        ("openai-chat", True, "", True),
        ("ollama", True, "application/x-ndjson", True),
        ("ollama", True, "application/json", True),
    ],
)
def test_an_answer_is_a_stream_or_not_whatever_was_asked_for(
    dialect: str, stream: bool, kind: str, streams: bool
) -> None:
    plan = UpstreamPlans({})[choice(dialect, "none", "http://127.0.0.1:9"), "anthropic", stream]
    answer: Any = Saying(kind)
    assert plan.streams(answer) is streams
    if answer.heading.values[answer.heading.shape.kind] == plan.kind:
        assert streams is plan.stream


@pytest.mark.parametrize(
    ("client", "upstream", "setting", "stream", "said"),
    [
        ("anthropic", "openai-chat", "auto", True, (True,)),
        ("anthropic", "openai-chat", "auto", False, (None, False)),
        ("anthropic", "openai-chat", "always", False, (True,)),
        ("openai-chat", "openai-chat", "auto", False, (None, False, True)),
        ("openai-chat", "openai-chat", "never", True, (None, False)),
        ("ollama", "ollama", "always", False, (None, True)),
        ("ollama", "ollama", "never", True, (False,)),
        ("anthropic", "ollama", "auto", False, (None, False)),
        ("anthropic", "gemini", "always", False, (None, False, True)),
    ],
)
def test_what_a_body_may_say_about_a_stream(
    client: str, upstream: str, setting: Any, stream: bool, said: tuple[Any, ...]
) -> None:
    place = Choice("up", Upstream(upstream, "http://127.0.0.1:9", stream=setting), "some-model")
    assert UpstreamPlans({})[place, client, stream].stream_values == said
