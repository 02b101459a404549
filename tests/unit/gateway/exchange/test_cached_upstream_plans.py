"""The cache of upstream plans: cached headers and keys of one client never reach the upstream for another client."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dragoman import fast
from dragoman.errors import ConfigError
from dragoman.fast.repeated_request_heads import KnownHead, KnownHeads
from dragoman.gateway.config import Route
from dragoman.gateway.exchange import upstream_headers_and_key
from dragoman.gateway.exchange.cached_upstream_plans import HOPS, INSTANCE, MAX_KNOWN, MAX_POSTS, UpstreamPlans
from dragoman.gateway.exchange.routes import UpstreamChoice
from dragoman.transport.response_head_reader import listed
from dragoman.transport.upstream_record_and_environment import Auth, Upstream

ENVIRONMENT = {"KEY": "the upstream's own"}
NAMES = (
    *("authorization", "x-api-key", "x-goog-api-key", "api-key", "anthropic-beta", "anthropic-version", "openai-beta"),
    *("x-request-id", "traceparent", "user-agent", "content-type", "cookie", HOPS),
)


def choice(dialect: str, auth: Auth, url: str, *, pass_key: bool = False) -> UpstreamChoice:
    upstream = Upstream(dialect, url, "KEY" if auth == "auto" else "", auth)
    return UpstreamChoice("up", upstream, "some-model", Route("*", (), client_key=pass_key))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://example.test"])
@pytest.mark.parametrize("pass_key", [False, True])
@pytest.mark.parametrize("auth", ["auto", "client", "none"])
@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "gemini"])
def test_headers_of_one_client_never_reach_the_upstream_for_another(
    dialect: str, auth: Auth, pass_key: bool, url: str
) -> None:
    draw = random.Random(f"{dialect} {auth} {pass_key}")
    place, plans = choice(dialect, auth, url, pass_key=pass_key), UpstreamPlans(ENVIRONMENT)
    for number in range(300):
        client_headers = {name: f"value {draw.randrange(4)}" for name in draw.sample(NAMES, draw.randrange(len(NAMES)))}
        client = draw.choice(["anthropic", "openai-chat", "gemini"])
        plan = plans[place, client, bool(number % 2), *client_headers]
        wanted = upstream_headers_and_key.headers(
            place.upstream, ENVIRONMENT, client, client_headers, pass_key=pass_key
        )
        if url.startswith("http:"):
            wanted.append((HOPS, f"{client_headers.get(HOPS, '')} {INSTANCE}".strip()))
        assert list(plan.post(client_headers).headers) == wanted
        assert plan.stream is bool(number % 2)


def test_each_request_has_the_current_token() -> None:
    place = UpstreamChoice("up", Upstream("code-assist", "https://example.test"), "some-model")
    plan = UpstreamPlans({})[place, "code-assist", False]
    assert plan.google
    received = [dict(plan.post({}, token).headers)["authorization"] for token in ("a", "b", "a")]
    assert received == ["Bearer a", "Bearer b", "Bearer a"]


def test_headers_are_reused_only_if_no_header_of_the_client_varies() -> None:
    place, plans = choice("anthropic", "auto", "https://example.test"), UpstreamPlans(ENVIRONMENT)
    still, varying = plans[place, "openai-chat", False, "host"], plans[place, "anthropic", False, "anthropic-beta"]
    assert still.post({"host": "a"}) is still.post({"host": "b"})
    received = [dict(varying.post({"anthropic-beta": beta}).headers)["anthropic-beta"] for beta in "aba"]
    assert received == ["a", "b", "a"]


def test_the_cache_of_plans_is_bounded() -> None:
    place, plans = choice("openai-chat", "auto", "https://example.test"), UpstreamPlans(ENVIRONMENT)
    for number in range(3 * MAX_KNOWN):
        plans[place, "openai-chat", False, f"x-{number}"]
    plan = plans[place, "openai-chat", False, "x-request-id"]
    for number in range(3 * MAX_KNOWN):
        assert ("x-request-id", f"r{number}") in plan.post({"x-request-id": f"r{number}"}).headers
    plan.post({"x-request-id": "r" * 10_000})
    long = UpstreamChoice("up", place.upstream, "m" * 10_000)
    assert plans[long, "gemini", False].options.model == "m" * 10_000
    assert plans[place, "openai-chat", False, "n" * 10_000].same_dialect
    assert len(plans) <= MAX_KNOWN
    assert len(plan._made) <= MAX_POSTS
    assert all(kind[0] is place and len(kind[-1]) < 100 for kind in plans)
    assert all("r" * 100 not in str(received) for received in plan._made)


def learned_head() -> KnownHead:
    lines, headers = [(b"content-length", b"1")], {"content-length": "1"}
    found = KnownHeads().learn(b"POST / HTTP/1.1\r\ncontent-length: 1", b"/", lines, headers, "/", "")
    assert found is not None
    return found


def test_a_learned_head_has_its_plan_and_its_request_in_the_cache() -> None:
    places = [choice("anthropic", "auto", "https://example.test") for _ in range(2)]
    plans, heads = UpstreamPlans(ENVIRONMENT), [learned_head() for _ in range(2)]
    for place in places:
        for stream in (False, True):
            for beta, head in zip("ab", heads, strict=True):
                client_headers = {"anthropic-beta": beta}
                plan, post = plans.find(place, "anthropic", stream, client_headers, head)
                assert plans.known[place, stream, head] == (plan, post)
                assert (plan.choice, plan.stream) == (place, stream)
                assert post is not None and post is plan.post(client_headers)
                assert dict(post.headers)["anthropic-beta"] == beta
                assert f"anthropic-beta: {beta}\r\n".encode() in post.head
    assert len(plans.known) == 8
    assert plans.find(places[0], "anthropic", False, {}, None)[1] is not None
    assert len(plans.known) == 8


def test_no_prepared_head_is_kept_while_the_fast_paths_are_off() -> None:
    place, plans = choice("openai-chat", "auto", "https://example.test"), UpstreamPlans(ENVIRONMENT)
    fast.off()
    try:
        plan, post = plans.find(place, "openai-chat", False, {"x-request-id": "r1"}, None)
        assert post is not None and ("x-request-id", "r1") in post.headers
        assert not plan._made
    finally:
        fast.on()


def test_the_cache_by_heads_is_bounded() -> None:
    place, plans = choice("openai-chat", "auto", "https://example.test"), UpstreamPlans(ENVIRONMENT)
    for _ in range(3 * MAX_KNOWN):
        plans.find(place, "openai-chat", False, {}, learned_head())
    assert 0 < len(plans.known) <= MAX_KNOWN
    plans.known.clear()
    plans.find(UpstreamChoice("up", place.upstream, "m" * 10_000), "openai-chat", False, {}, learned_head())
    assert plans.known == {}


def test_plans_with_changing_tokens_or_mistakes_are_not_cached() -> None:
    google = UpstreamChoice("up", Upstream("code-assist", "https://example.test"), "some-model")
    keyless, odd = choice("openai-chat", "auto", "https://example.test"), choice("openai-chat", "none", "https://a b")
    plans = UpstreamPlans({})
    for place in (google, keyless, odd):
        plan, post = plans.find(place, "openai-chat", False, {}, learned_head())
        assert (plan.choice, post) == (place, None)
    assert plans.known == {}


def test_a_missing_key_is_an_error_for_every_request() -> None:
    place, plans = choice("openai-chat", "auto", "https://example.test"), UpstreamPlans({})
    plan = plans[place, "openai-chat", False]
    for _ in range(2):
        with pytest.raises(ConfigError, match="KEY is empty"):
            plan.post({})


class AnswerOfKind:
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
def test_the_content_type_decides_whether_an_answer_is_a_stream(
    dialect: str, stream: bool, kind: str, streams: bool
) -> None:
    plan = UpstreamPlans({})[choice(dialect, "none", "http://127.0.0.1:9"), "anthropic", stream]
    answer: Any = AnswerOfKind(kind)
    assert plan.streams(answer) is streams
    if answer.heading.values[answer.heading.shape.kind] == plan.kind:
        assert streams is plan.stream


@pytest.mark.parametrize(
    ("client", "upstream", "setting", "stream", "values"),
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
def test_values_of_the_stream_field_that_need_no_change(
    client: str, upstream: str, setting: Any, stream: bool, values: tuple[Any, ...]
) -> None:
    place = UpstreamChoice("up", Upstream(upstream, "http://127.0.0.1:9", stream=setting), "some-model")
    assert UpstreamPlans({})[place, client, stream].stream_values == values
