"""One exchange: fallbacks, retries, time-outs and bounds, each told in the client's dialect."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from email.utils import formatdate
from typing import Any

import msgspec
import pytest
from bench import payloads

from dragoman.gateway.config import Bounds, checked, one_upstream
from dragoman.gateway.exchange.relay import Relay
from dragoman.gateway.http.server import IncomingRequest, Reply

from ..helpers import (
    DIALECTS,
    Behind,
    Received,
    asking,
    between,
    failing,
    gateway,
    message_of,
    path_of,
    run,
    silent,
    whole,
)

GOOD = whole("openai-chat")


def received_by(*behind: Behind, dialect: str = "anthropic", stream: bool = False, **settings: Any) -> Received:
    async def doing() -> Received:
        async with between(*behind, **settings) as front:
            return await front.generate(dialect, stream=stream)

    received: Received = run(doing())
    return received


# Retries and fallbacks.


def test_a_fault_that_may_pass_is_tried_again() -> None:
    behind = Behind(failing(503), failing(500), GOOD)
    assert received_by(behind, route={"retries": 2}).status == 200
    assert len(behind.seen) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_fault_that_stays_is_not_tried_again(status: int) -> None:
    behind = Behind(failing(status))
    assert received_by(behind, route={"retries": 2}).status in (status, 400, 424)
    assert len(behind.seen) == 1


def test_the_next_place_is_asked_when_one_fails() -> None:
    first, second = Behind(failing(500)), Behind(whole("gemini"), dialect="gemini")
    received = received_by(first, second)
    assert received.status == 200
    assert [len(first.seen), len(second.seen)] == [1, 1]


def test_a_bad_request_is_nobody_elses_either() -> None:
    first, second = Behind(failing(400)), Behind(GOOD)
    assert received_by(first, second).status == 400
    assert second.seen == []


def test_a_request_too_long_for_one_may_do_for_the_next() -> None:
    full = b'{"error": {"message": "maximum context length is 8 tokens", "code": "context_length_exceeded"}}'
    first, second = Behind(failing(400, body=full)), Behind(GOOD)
    assert received_by(first, second).status == 200
    assert received_by(first, dialect="openai-chat").json()["error"]["code"] == "context_length_exceeded"


def test_a_mistake_of_the_gateway_is_told_and_does_not_hang(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*words: Any) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(Relay, "_translated", broken)
    received = received_by(Behind(GOOD), stream=True)
    assert received.status == 500
    assert received.json()["error"]["message"].startswith("the gateway failed: KeyError. Its standard error has")
    assert "KeyError: 'ours'" in capsys.readouterr().err


def test_an_upstream_that_takes_no_connection_is_a_502() -> None:
    async def doing() -> Received:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            port = deaf.getsockname()[1]
            waiting = []
            for _ in range(3):  # what the system takes on its own
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
                waiting.append(one)
            config = checked(one_upstream(f"http://127.0.0.1:{port}", "openai-chat"), "test")
            bounds = Bounds(connect=0.2)
            async with gateway(msgspec.structs.replace(config, bounds=bounds), {}) as front:
                received = await front.generate("anthropic")
            for one in waiting:
                one.close()
            return received

    received = run(doing())
    assert received.status in (500, 502)
    assert "within 0.2 seconds" in message_of("anthropic", received.body)


def test_of_several_faults_the_client_gets_the_one_after_which_it_may_ask_again() -> None:
    received = received_by(Behind(failing(401)), Behind(failing(429, ("retry-after", "7"))), Behind(failing(404)))
    assert (received.status, received.headers["retry-after"]) == (429, "7")


def test_an_upstream_that_wants_a_long_pause_is_not_waited_for() -> None:
    first, second = Behind(failing(429, ("retry-after", "120"))), Behind(GOOD)
    assert received_by(first, second, route={"retries": 3}).status == 200
    assert len(first.seen) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_wait_of_more_than_two_seconds_is_the_clients(dialect: str) -> None:
    behind = Behind(failing(429, ("retry-after", "7")))
    received = received_by(behind, dialect=dialect, route={"retries": 3})
    assert (received.status, received.headers["retry-after"], len(behind.seen)) == (429, "7", 1)


def test_an_exchange_waits_two_seconds_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    behind = Behind(failing(503, ("retry-after", "1")))
    waited: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr("dragoman.gateway.exchange.relay.asyncio.sleep", noted)
    received = received_by(behind, Behind(failing(503, ("retry-after", "1"))), route={"retries": 9})
    assert (received.status, received.headers["retry-after"]) == (529, "1")
    assert [one for one in waited if one >= 1] and sum(waited) <= Bounds().retry_wait == 2.0


def test_a_date_to_retry_after_is_understood() -> None:
    date = formatdate(time.time() + 90, usegmt=True)
    received = received_by(Behind(failing(429, ("retry-after", date))), route={"retries": 2})
    assert 80 <= int(received.headers["retry-after"]) <= 91


def test_an_upstream_that_is_not_there_is_a_502() -> None:
    async def gone(request: IncomingRequest, reply: Reply) -> None:
        reply.cut()

    received = received_by(Behind(gone), dialect="openai-chat")
    assert received.status == 502
    assert "closed the connection" in message_of("openai-chat", received.body)


def test_a_redirect_is_not_followed() -> None:
    received = received_by(Behind(failing(302, ("location", "http://elsewhere"))))
    assert received.status == 502 or received.status == 500
    assert "redirect to http://elsewhere" in received.body.decode()


def test_what_an_upstream_of_the_same_dialect_says_is_not_touched() -> None:
    body = b'{"error": {"message": "odd", "type": "mine", "code": "own_code", "param": null, "more": [1]}}'
    received = received_by(Behind(failing(418, body=body)), dialect="openai-chat")
    assert (received.status, received.body) == (418, body)


# Time-outs and bounds, in every dialect.

LATE = {"anthropic": "timeout_error", "gemini": "DEADLINE_EXCEEDED", "code-assist": "DEADLINE_EXCEEDED"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_upstream_that_does_not_answer_in_time(dialect: str) -> None:
    received = received_by(Behind(silent), dialect=dialect, bounds=Bounds(first_byte=0.1), route={"retries": 2})
    assert received.status == 504
    assert "did not answer within 0.1 seconds" in message_of(dialect, received.body)
    if dialect in LATE:
        assert LATE[dialect] in received.body.decode()


async def _half(request: IncomingRequest, reply: Reply) -> None:
    reply.start(200, [("content-type", "application/json")])
    reply.write(b'{"id":')
    await asyncio.sleep(30)


async def _drops(request: IncomingRequest, reply: Reply) -> None:
    reply.start(200, [("content-type", "application/json")])
    for _ in range(1000):
        reply.write(b" ")
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("step", "bounds", "said"),
    [
        (_half, Bounds(idle=0.1), "sent nothing within 0.1 seconds"),
        (_drops, Bounds(total=0.3), "took more than 0.3 seconds"),
    ],
    ids=["idle", "total"],
)
def test_an_answer_that_does_not_end_in_time(step: Any, bounds: Bounds, said: str) -> None:
    received = received_by(Behind(step), bounds=bounds)
    assert received.status == 504
    assert said in received.body.decode()


def test_the_total_time_holds_for_all_attempts_together() -> None:
    behind = Behind(failing(503))
    received = received_by(behind, bounds=Bounds(total=1.5), route={"retries": 50, "backoff": 0.4})
    assert received.status == 529
    assert 1 <= len(behind.seen) < 6


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_that_is_too_long(dialect: str) -> None:
    received = received_by(Behind(GOOD), dialect=dialect, bounds=Bounds(answer=100))
    assert received.status in (500, 502, 503)
    assert "longer than 100 bytes" in message_of(dialect, received.body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_request_that_is_too_long(dialect: str) -> None:
    behind = Behind(GOOD)
    received = received_by(behind, dialect=dialect, bounds=Bounds(body=10))
    assert received.status == 413
    assert "longer than 10 bytes" in message_of(dialect, received.body)
    assert behind.seen == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_head_that_is_too_long(dialect: str) -> None:
    async def doing() -> Received:
        async with between(Behind(GOOD), bounds=Bounds(head=500)) as front:
            return await front.ask(path_of(dialect), asking(dialect), {"x-long": "y" * 600})

    received = run(doing())
    assert received.status == 431
    assert "longer than 500 bytes" in message_of(dialect, received.body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_too_many_at_once(dialect: str) -> None:
    async def doing() -> Received:
        async with between(Behind(silent), bounds=Bounds(concurrent=1)) as front:
            _, writer = await front.open(path_of(dialect), asking(dialect))
            await asyncio.sleep(0.1)
            received = await front.generate(dialect)
            writer.close()
            return received

    received = run(doing())
    assert (received.status, received.headers["retry-after"]) == (529 if dialect == "anthropic" else 503, "1")
    assert "more than 1 exchanges" in message_of(dialect, received.body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_that_nobody_serves(dialect: str) -> None:
    async def doing() -> Received:
        async with between(Behind(GOOD), route={}) as front:
            config = front.gateway.config
            front.gateway.reload(type(config)(upstreams=config.upstreams))
            return await front.generate(dialect)

    received = run(doing())
    assert received.status == 404
    assert "no upstream serves the model 'm'" in message_of(dialect, received.body)


# Losses, repairs, shapes.


def test_losses_stand_in_a_header_and_beyond_tolerance_nothing_is_sent() -> None:
    body = json.dumps(
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    ).encode()

    async def doing(tolerance: str) -> Received:
        async with between(behind, route={"tolerance": tolerance}) as front:
            return await front.ask("/v1/messages", body)

    behind = Behind(GOOD)
    received = run(doing("error"))
    assert received.status == 200
    assert "warning" in received.headers["dragoman-losses"]
    assert len(behind.seen) == 1
    refused = run(doing("info"))
    assert refused.status == 400
    assert refused.json()["error"]["type"] == "invalid_request_error"
    assert "/container" in refused.json()["error"]["message"]
    assert refused.json()["request_id"] == refused.headers["request-id"]
    assert len(behind.seen) == 1


@pytest.mark.parametrize(("route", "names"), [({}, ["f"]), ({"stand_ins": True}, ["google_web_search", "f"])])
def test_a_search_that_the_upstream_does_not_have_is_a_function_only_by_the_route(
    route: dict[str, Any], names: list[str]
) -> None:
    asked = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [
            {"type": "web_search_20250305", "name": "web_search"},
            {"name": "f", "input_schema": {"type": "object"}},
        ],
        "tool_choice": {"type": "tool", "name": "web_search"},
    }
    behind = Behind(GOOD)

    async def doing() -> Received:
        async with between(behind, route=route) as front:
            return await front.ask("/v1/messages", json.dumps(asked).encode())

    received = run(doing())
    sent = json.loads(behind.seen[0].body)
    assert [tool["function"]["name"] for tool in sent["tools"]] == names
    assert "tool_choice" not in sent
    assert "choice.dropped" in received.headers["dragoman-losses"]


def test_a_place_that_loses_too_much_is_passed_over() -> None:
    body = json.dumps(
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    ).encode()
    chat, kindred = Behind(GOOD), Behind(whole("anthropic"), dialect="anthropic")

    async def doing() -> Received:
        async with between(chat, kindred, route={"tolerance": "info"}) as front:
            return await front.ask("/v1/messages", body)

    assert run(doing()).status == 200
    assert [len(chat.seen), len(kindred.seen)] == [0, 1]


BROKEN = json.dumps(
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "user", "content": "never mind"},
        ],
    }
).encode()


def test_repairs_stand_in_a_header_or_are_refused() -> None:
    async def doing(policy: str) -> Received:
        async with between(Behind(whole("anthropic"), dialect="anthropic"), route={"repair": policy}) as front:
            return await front.ask("/v1/chat/completions", BROKEN)

    mended, refused = run(doing("report")), run(doing("refuse"))
    assert mended.status == 200
    assert mended.headers["dragoman-repairs"]
    assert refused.status == 400
    assert "dragoman-repairs" not in refused.headers
    assert refused.json()["error"]["code"] in mended.headers["dragoman-repairs"]


@pytest.mark.parametrize(("strategy", "back"), [("auto", True), ("vault", True), ("id", True), ("skip", False)])
def test_seals_travel_as_the_route_says(strategy: str, back: bool) -> None:
    """A Chat client brings back what Gemini sealed, without knowing of it."""
    seal = json.loads(payloads.response("gemini"))["candidates"][0]["content"]["parts"]
    signature = next(part["thoughtSignature"] for part in seal if "thoughtSignature" in part)
    behind = Behind(whole("gemini"), dialect="gemini")

    async def doing() -> Received:
        async with between(behind, route={"seals": strategy}) as front:
            first = (await front.generate("openai-chat")).json()["choices"][0]["message"]
            results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in first["tool_calls"]]
            echoed = {"role": "assistant", "content": first["content"], "tool_calls": first["tool_calls"]}
            for call in echoed["tool_calls"]:
                call.pop("extra_content", None)  # many clients drop what they do not know
            turns = [{"role": "user", "content": "hi"}, echoed, *results]
            return await front.ask("/v1/chat/completions", json.dumps({"model": "m", "messages": turns}).encode())

    assert run(doing()).status == 200
    assert (signature.encode() in behind.seen[1].body) is back


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_key_of_a_client_goes_on_by_some_routes(dialect: str) -> None:
    behind = Behind(whole("anthropic"), dialect="anthropic")

    async def doing() -> None:
        settings = {"auth": "auto", "key_env": "OURS"}
        async with between(behind, upstream=settings, route={"client_key": True}, environment={"OURS": "o"}) as front:
            await front.ask(path_of(dialect), asking(dialect), {"authorization": "Bearer theirs"})

    run(doing())
    headers = behind.seen[0].headers
    assert "theirs" in headers.get("x-api-key", "") + headers.get("authorization", "")
    assert headers.get("x-api-key") != "o"


def test_a_bad_place_is_named_as_clients_name_it() -> None:
    async def doing() -> Received:
        async with between(Behind(whole("anthropic"), dialect="anthropic")) as front:
            body = {"model": "m", "messages": [{"role": "user", "content": 7}]}
            return await front.ask("/v1/chat/completions", json.dumps(body).encode())

    error = run(doing()).json()["error"]
    assert error["param"] == "messages[0].content"
    assert "/messages/0/content" in error["message"]


def test_a_gateway_that_is_its_own_upstream_says_so() -> None:
    """As when a shell has ANTHROPIC_BASE_URL set for a client, and the gateway is started in it."""

    async def doing() -> tuple[Received, int]:
        async with between(Behind(GOOD, dialect="anthropic")) as front:
            config = front.gateway.config
            own = msgspec.structs.replace(config.upstreams["a"], base_url=f"http://127.0.0.1:{front.port}")
            front.gateway.reload(msgspec.structs.replace(config, upstreams={"a": own}))
            received = await front.generate("anthropic")
            return received, len((await front.ask("/dragoman/exchanges")).json()["exchanges"])

    received, count = run(doing())
    assert (received.status, count) == (400, 2)
    assert "points here" in received.json()["error"]["message"]


def test_a_request_without_a_model_and_one_that_is_no_json() -> None:
    async def doing() -> list[Received]:
        async with between(Behind(GOOD)) as front:
            config = front.gateway.config
            front.gateway.reload(type(config)(upstreams=config.upstreams))
            return [await front.ask("/v1/messages", body) for body in (b'{"messages": []}', b"{", b"\xff")]

    received = run(doing())
    assert [one.status for one in received] == [400, 400, 400]
    assert ["names no model" in one.body.decode() for one in received] == [True, False, False]
    assert ["is not valid JSON" in one.body.decode() for one in received] == [False, True, True]


def test_a_header_that_is_no_date_is_no_date() -> None:
    received = received_by(Behind(failing(429, ("retry-after", "soon"))), dialect="openai-chat")
    assert received.status == 429
    assert "retry-after" not in received.headers
