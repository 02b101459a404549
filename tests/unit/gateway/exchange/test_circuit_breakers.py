"""Breakers: the faults that count against an upstream, the faults that do not, and the length of a rest."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from bench.streams import frames

from dragoman.canon.events import Fault
from dragoman.gateway.config import Bounds, Upstream
from dragoman.gateway.exchange.circuit_breakers import MAX_REST, MAX_RETRY_AFTER, PROBE_SECONDS, Breaker
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from ..helpers import Front, Received, ScriptedUpstream, failing, gateway_to, run, streaming, whole

GOOD = whole("openai-chat")
FAULT = Fault("server", "x", 500)


async def ask(front: Front, words: str, *, stream: bool = False, headers: Mapping[str, str] | None = None) -> Received:
    body = {"model": "m", "messages": [{"role": "user", "content": words}], "stream": stream}
    return await front.ask("/v1/chat/completions", json.dumps(body).encode(), headers)


async def resting_upstreams(front: Front) -> Any:
    return (await front.ask("/readyz")).json()["upstreams"]


def statuses(scripted: list[ScriptedUpstream], words: list[str], **settings: Any) -> tuple[list[int], list[int], Any]:
    """The statuses of some requests, the requests at each upstream, and the upstreams that rest at the end."""

    async def scenario() -> tuple[list[int], list[int], Any]:
        async with gateway_to(*scripted, **settings) as front:
            received = [(await ask(front, one)).status for one in words]
            return received, [len(one.seen) for one in scripted], await resting_upstreams(front)

    found: tuple[list[int], list[int], Any] = run(scenario())
    return found


# Faults that count.


def test_a_failing_upstream_rests_and_then_one_request_tries_it() -> None:
    first, second = ScriptedUpstream(failing(500), failing(500), failing(500), GOOD), ScriptedUpstream(GOOD)

    async def scenario() -> list[Any]:
        async with gateway_to(first, second, upstream={"trip": 2, "rest": 0.3}) as front:
            seen: list[Any] = [(await ask(front, f"{n}")).status for n in range(3)]
            received = await ask(front, "3")
            state = (await resting_upstreams(front))["a"]
            exchange = await front.exchange(received)
            seen += [len(first.seen), state["state"], state["failures"], exchange["attempts"]]
            seen += [exchange["tries"][0]["upstream"], exchange["tries"][0]["kind"]]
            await asyncio.sleep(0.4)
            await ask(front, "4")  # one request tries the upstream, and fails
            await ask(front, "5")
            seen.append(len(first.seen))
            await asyncio.sleep(0.8)
            await ask(front, "6")  # one request tries the upstream, and succeeds
            await ask(front, "7")
            return [*seen, len(first.seen), await resting_upstreams(front)]

    assert run(scenario()) == [*[200, 200, 200], *[2, "open", 2, 1], *["a", "resting"], 3, 5, {}]


def test_the_only_upstream_of_a_route_always_gets_the_requests() -> None:
    scripted = ScriptedUpstream(failing(500))
    received, seen, state = statuses([scripted], [f"{n}" for n in range(9)], upstream={"trip": 2}, route={"retries": 1})
    assert (received, seen, state) == ([500] * 9, [18], {})


def test_a_broken_connection_counts() -> None:
    async def cut(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.break_off()

    received, seen, state = statuses(
        [ScriptedUpstream(cut), ScriptedUpstream(GOOD)], ["a", "b", "c", "d"], upstream={"trip": 2}
    )
    assert (received, seen, state["a"]["state"]) == ([200] * 4, [2, 4], "open")


def test_one_request_counts_once_with_any_number_of_attempts() -> None:
    settings: dict[str, Any] = {"upstream": {"trip": 2}, "route": {"retries": 2}}
    received, seen, state = statuses([ScriptedUpstream(failing(500)), ScriptedUpstream(GOOD)], ["same"] * 5, **settings)
    assert (received, seen, state["a"]["failures"], state["a"]["state"]) == ([200] * 5, [15, 5], 1, "closed")


def test_a_request_that_fails_at_both_upstreams_counts_for_neither() -> None:
    words = [f"{n}" for n in range(6)]
    received, seen, state = statuses(
        [ScriptedUpstream(failing(500)), ScriptedUpstream(failing(503))], words, upstream={"trip": 2}
    )
    assert (received, seen, state) == ([500] * 6, [6, 6], {})
    received, seen, state = statuses(
        [ScriptedUpstream(failing(500)), ScriptedUpstream(failing(400))], words, upstream={"trip": 2}
    )
    assert (received, seen, state) == ([500] * 6, [6, 6], {})


def test_a_good_answer_resets_the_count() -> None:
    first = ScriptedUpstream(failing(500), GOOD)
    first._steps = tuple([failing(500), GOOD] * 6)
    _, seen, state = statuses([first, ScriptedUpstream(GOOD)], [f"{n}" for n in range(12)], upstream={"trip": 2})
    assert (seen, state) == ([12, 6], {})


def test_failures_of_one_client_rest_the_upstream_for_that_client_only() -> None:
    async def bad(request: IncomingRequest, reply: ReplyWriter) -> None:
        if b"bad" in request.body:
            reply.send(500, [], b"")
        else:
            await GOOD(request, reply)

    first, second = ScriptedUpstream(bad), ScriptedUpstream(GOOD)

    async def scenario() -> list[int]:
        async with gateway_to(first, second, upstream={"trip": 2}) as front:
            for n in range(4):
                await ask(front, f"bad {n}", headers={"authorization": "Bearer one"})
            seen = [len(first.seen)]
            for n in range(3):
                await ask(front, f"good {n}", headers={"authorization": "Bearer two"})
            return [*seen, len(first.seen), len(second.seen)]

    assert run(scenario()) == [2, 5, 4]


def test_failures_of_two_clients_rest_the_upstream_for_all() -> None:
    first, second = ScriptedUpstream(failing(500)), ScriptedUpstream(GOOD)

    async def scenario() -> list[int]:
        async with gateway_to(first, second, upstream={"trip": 2}) as front:
            for client in ("one", "two", "three", "three"):
                await ask(front, "same words", headers={"x-api-key": client})
            return [len(first.seen), len(second.seen)]

    assert run(scenario()) == [2, 4]


def test_cut_streams_do_not_rest_an_upstream() -> None:
    story = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames("openai-chat")]
    odd = streaming(story[:3], ReplyWriter.break_off)
    first, second = ScriptedUpstream(odd, odd, odd, odd, odd, odd, GOOD), ScriptedUpstream(GOOD)

    async def scenario() -> list[Any]:
        async with gateway_to(first, second, upstream={"trip": 3}) as front:
            broken = [await ask(front, f"{n}", stream=True) for n in range(6)]
            assert all(b'"error"' in one.body for one in broken)
            good = [(await ask(front, f"good {n}")).status for n in range(20)]
            return [set(good), len(first.seen), len(second.seen), await resting_upstreams(front)]

    assert run(scenario()) == [{200}, 26, 0, {}]


@pytest.mark.parametrize("status", [400, 404, 413, 422, 429])
def test_faults_not_caused_by_the_upstream_move_no_breaker(status: int) -> None:
    _, seen, state = statuses(
        [ScriptedUpstream(failing(status)), ScriptedUpstream(GOOD)], [f"{n}" for n in range(4)], upstream={"trip": 1}
    )
    assert (seen[0], state) == (4, {})


@pytest.mark.parametrize("status", [401, 402])
def test_an_upstream_that_refuses_its_key_rests_at_once_if_there_is_another(status: int) -> None:
    words = ["a", "b", "c"]
    received, seen, state = statuses([ScriptedUpstream(failing(status)), ScriptedUpstream(GOOD)], words)
    assert (received, seen, state["a"]["state"]) == ([200] * 3, [1, 3], "open")
    received, seen, state = statuses([ScriptedUpstream(failing(status))], words)
    assert (seen, state) == ([3], {})


@pytest.mark.parametrize(
    ("dialect", "status", "error", "requests"),
    [
        ("openai-chat", 429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, 1),
        ("openrouter", 402, {"message": "Insufficient credits", "code": 402}, 1),
        ("openrouter", 402, {"message": "You requested up to 9 tokens, but can only afford 8.", "code": 402}, 3),
        ("code-assist", 429, {"message": "m", "code": 429, "details": [{"reason": "QUOTA_EXHAUSTED"}]}, 3),
    ],
)
def test_an_upstream_rests_for_its_account_only_if_the_account_serves_nothing(
    dialect: str, status: int, error: Any, requests: int
) -> None:
    body = json.dumps({"error": error}).encode()
    scripted = [ScriptedUpstream(failing(status, body=body), dialect=dialect), ScriptedUpstream(GOOD)]
    _, seen, _ = statuses(scripted, ["a", "b", "c"])
    assert seen == [requests, 3]


def test_a_refused_key_of_a_client_does_not_rest_the_upstream() -> None:
    words = ["a", "b", "c"]
    received, seen, state = statuses(
        [ScriptedUpstream(failing(401)), ScriptedUpstream(GOOD)], words, route={"client_key": True}
    )
    assert (received, seen, state) == ([200] * 3, [3, 3], {})


def test_a_resting_upstream_gets_a_request_that_no_other_serves() -> None:
    first, second = ScriptedUpstream(failing(500), GOOD), ScriptedUpstream(GOOD, failing(404))

    async def scenario() -> list[Any]:
        async with gateway_to(first, second, upstream={"trip": 1, "rest": 60}) as front:
            received = [(await ask(front, one)).status for one in ("a", "b", "c")]
            return [received, len(first.seen), len(second.seen), await resting_upstreams(front)]

    assert run(scenario()) == [[200, 200, 200], 3, 2, {}]


def test_a_new_configuration_keeps_the_rest_of_unchanged_upstreams() -> None:
    first, second = ScriptedUpstream(failing(500)), ScriptedUpstream(GOOD)

    async def scenario() -> list[Any]:
        async with gateway_to(first, second, upstream={"trip": 1, "rest": 60}) as front:
            await ask(front, "a")
            config = front.gateway.config
            front.gateway.reload(msgspec.structs.replace(config, bounds=Bounds(exchanges=1)))
            received = [(await ask(front, f"{n}")).status for n in range(3)]
            seen = len(first.seen)
            changed = {**config.upstreams, "a": msgspec.structs.replace(config.upstreams["a"], key_env="OTHER", trip=0)}
            front.gateway.reload(msgspec.structs.replace(config, upstreams=changed))
            return [received, seen, await resting_upstreams(front)]

    assert run(scenario()) == [[200, 200, 200], 1, {}]


# The length of a rest.


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: 1.0)


@pytest.mark.usefixtures("steady")
def test_a_rest_doubles_up_to_a_bound() -> None:
    upstream, breaker, now = Upstream("gemini", trip=1, rest=10), Breaker(), 0.0
    rests = []
    for n in range(9):
        breaker.note_failure(upstream, "c", b"%d" % n, FAULT, now)
        rests.append(breaker.seconds_until_try(now))
        now += breaker.seconds_until_try(now)
        assert breaker.admits(upstream, "c", now)
    assert rests == [10, 20, 40, 80, 160, 320, MAX_REST, MAX_REST, MAX_REST]
    breaker.note_success()
    breaker.note_failure(upstream, "c", b"", FAULT, now)
    assert breaker.seconds_until_try(now) == 10


@pytest.mark.usefixtures("steady")
def test_requests_sent_before_a_rest_do_not_extend_it() -> None:
    upstream, breaker = Upstream("gemini", trip=1, rest=10), Breaker()
    for n in range(50):
        breaker.note_failure(upstream, "c", b"%d" % n, FAULT, 0.0)
    assert breaker.seconds_until_try(0.0) == 10


def test_retry_after_is_the_shortest_rest_and_is_bounded() -> None:
    upstream = Upstream("gemini", trip=1, rest=10)
    for seconds_of_rest, found in ((45.0, 45.0), (1e8, MAX_RETRY_AFTER)):
        breaker = Breaker()
        breaker.note_failure(upstream, "c", b"", Fault("overloaded", "x", 503, retry_after=seconds_of_rest), 0.0)
        assert breaker.seconds_until_try(0.0) == found


def test_the_length_of_a_rest_is_random() -> None:
    upstream, rests = Upstream("gemini", trip=1, rest=10), set()
    for _ in range(20):
        breaker = Breaker()
        breaker.note_failure(upstream, "c", b"", FAULT, 0.0)
        rests.add(breaker.seconds_until_try(0.0))
    assert len(rests) > 10 and all(9 <= one <= 11 for one in rests)


@pytest.mark.usefixtures("steady")
def test_after_a_rest_one_request_at_a_time_tries_the_upstream() -> None:
    upstream, breaker = Upstream("gemini", trip=2, rest=10), Breaker()
    breaker.note_failure(upstream, "c", b"1", FAULT, 0)
    assert breaker.admits(upstream, "c", 1)
    breaker.note_failure(upstream, "c", b"2", FAULT, 1)
    assert [breaker.admits(upstream, "c", 5), breaker.state(upstream, 5), breaker.seconds_until_try(5)] == [
        False,
        "open",
        6,
    ]
    assert [breaker.admits(upstream, "c", 11), breaker.admits(upstream, "c", 12)] == [True, False]
    assert breaker.admits(upstream, "c", 11 + PROBE_SECONDS)  # the first request is slow
    breaker.note_success()
    assert breaker.state(upstream, 22) == "closed"


def test_with_trip_0_nothing_rests() -> None:
    upstream, breaker = Upstream("gemini", trip=0), Breaker()
    breaker.note_failure(upstream, "c", b"1", FAULT, 0)
    breaker.note_refused_key(upstream, Fault("auth", "x", 401), 0)
    assert breaker.admits(upstream, "c", 0) and breaker.state(upstream, 0) == "closed"
