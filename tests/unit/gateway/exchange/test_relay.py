"""One exchange: fallbacks, retries, time-outs and bounds. Each fault is in the client's dialect."""

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

from dragoman.gateway.config import Bounds, check_config, one_upstream
from dragoman.gateway.exchange.relay import Relay
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from ..helpers import (
    DIALECTS,
    Received,
    ScriptedUpstream,
    failing,
    gateway,
    gateway_to,
    message_of,
    path_of,
    request_body,
    run,
    silent,
    whole,
)

GOOD = whole("openai-chat")


def received_by(
    *scripted: ScriptedUpstream, dialect: str = "anthropic", stream: bool = False, **settings: Any
) -> Received:
    async def scenario() -> Received:
        async with gateway_to(*scripted, **settings) as front:
            return await front.generate(dialect, stream=stream)

    received: Received = run(scenario())
    return received


# Retries and fallbacks.


def test_a_fault_that_may_pass_is_tried_again() -> None:
    scripted = ScriptedUpstream(failing(503), failing(500), GOOD)
    assert received_by(scripted, route={"retries": 2}).status == 200
    assert len(scripted.seen) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_fault_that_stays_is_not_tried_again(status: int) -> None:
    scripted = ScriptedUpstream(failing(status))
    assert received_by(scripted, route={"retries": 2}).status in (status, 400, 424)
    assert len(scripted.seen) == 1


def test_after_a_fault_the_next_upstream_gets_the_request() -> None:
    first, second = ScriptedUpstream(failing(500)), ScriptedUpstream(whole("gemini"), dialect="gemini")
    received = received_by(first, second)
    assert received.status == 200
    assert [len(first.seen), len(second.seen)] == [1, 1]


def test_a_bad_request_is_not_sent_to_the_next_upstream() -> None:
    first, second = ScriptedUpstream(failing(400)), ScriptedUpstream(GOOD)
    assert received_by(first, second).status == 400
    assert second.seen == []


def test_a_request_too_long_for_one_upstream_goes_to_the_next() -> None:
    full = b'{"error": {"message": "maximum context length is 8 tokens", "code": "context_length_exceeded"}}'
    first, second = ScriptedUpstream(failing(400, body=full)), ScriptedUpstream(GOOD)
    assert received_by(first, second).status == 200
    assert received_by(first, dialect="openai-chat").json()["error"]["code"] == "context_length_exceeded"


def test_an_error_inside_the_gateway_is_a_fault_and_ends_the_exchange(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*words: Any) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(Relay, "_translate", broken)
    received = received_by(ScriptedUpstream(GOOD), stream=True)
    assert received.status == 500
    assert received.json()["error"]["message"].startswith("the gateway failed: KeyError. Its standard error has")
    assert "KeyError: 'ours'" in capsys.readouterr().err


def test_an_upstream_that_accepts_no_connection_is_a_502() -> None:
    async def scenario() -> Received:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            port = deaf.getsockname()[1]
            waiting = []
            for _ in range(3):  # connections that the system accepts by itself
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
                waiting.append(one)
            config = check_config(one_upstream(f"http://127.0.0.1:{port}", "openai-chat"), "test")
            bounds = Bounds(connect=0.2)
            async with gateway(msgspec.structs.replace(config, bounds=bounds), {}) as front:
                received = await front.generate("anthropic")
            for one in waiting:
                one.close()
            return received

    received = run(scenario())
    assert received.status in (500, 502)
    assert "within 0.2 seconds" in message_of("anthropic", received.body)


def test_of_several_faults_the_client_gets_the_one_that_allows_a_retry() -> None:
    received = received_by(
        ScriptedUpstream(failing(401)),
        ScriptedUpstream(failing(429, ("retry-after", "7"))),
        ScriptedUpstream(failing(404)),
    )
    assert (received.status, received.headers["retry-after"]) == (429, "7")


def test_an_upstream_that_wants_a_long_pause_is_not_waited_for() -> None:
    first, second = ScriptedUpstream(failing(429, ("retry-after", "120"))), ScriptedUpstream(GOOD)
    assert received_by(first, second, route={"retries": 3}).status == 200
    assert len(first.seen) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_wait_of_more_than_two_seconds_is_left_to_the_client(dialect: str) -> None:
    scripted = ScriptedUpstream(failing(429, ("retry-after", "7")))
    received = received_by(scripted, dialect=dialect, route={"retries": 3})
    assert (received.status, received.headers["retry-after"], len(scripted.seen)) == (429, "7", 1)


def test_an_exchange_waits_two_seconds_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = ScriptedUpstream(failing(503, ("retry-after", "1")))
    waited: list[float] = []
    sleep = asyncio.sleep

    async def recorded_sleep(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr("dragoman.gateway.exchange.relay.asyncio.sleep", recorded_sleep)
    received = received_by(scripted, ScriptedUpstream(failing(503, ("retry-after", "1"))), route={"retries": 9})
    assert (received.status, received.headers["retry-after"]) == (529, "1")
    assert [one for one in waited if one >= 1] and sum(waited) <= Bounds().retry_wait == 2.0


def test_a_date_to_retry_after_is_understood() -> None:
    date = formatdate(time.time() + 90, usegmt=True)
    received = received_by(ScriptedUpstream(failing(429, ("retry-after", date))), route={"retries": 2})
    assert 80 <= int(received.headers["retry-after"]) <= 91


def test_an_upstream_that_closes_the_connection_is_a_502() -> None:
    async def cut(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.break_off()

    received = received_by(ScriptedUpstream(cut), dialect="openai-chat")
    assert received.status == 502
    assert "closed the connection" in message_of("openai-chat", received.body)


def test_a_redirect_is_not_followed() -> None:
    received = received_by(ScriptedUpstream(failing(302, ("location", "http://elsewhere"))))
    assert received.status == 502 or received.status == 500
    assert "redirect to http://elsewhere" in received.body.decode()


def test_a_fault_of_the_same_dialect_passes_unchanged() -> None:
    body = b'{"error": {"message": "odd", "type": "mine", "code": "own_code", "param": null, "more": [1]}}'
    received = received_by(ScriptedUpstream(failing(418, body=body)), dialect="openai-chat")
    assert (received.status, received.body) == (418, body)


# Time-outs and bounds, in every dialect.

LATE = {"anthropic": "timeout_error", "gemini": "DEADLINE_EXCEEDED", "code-assist": "DEADLINE_EXCEEDED"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_upstream_that_does_not_answer_in_time(dialect: str) -> None:
    received = received_by(
        ScriptedUpstream(silent), dialect=dialect, bounds=Bounds(first_byte=0.1), route={"retries": 2}
    )
    assert received.status == 504
    assert "did not answer within 0.1 seconds" in message_of(dialect, received.body)
    if dialect in LATE:
        assert LATE[dialect] in received.body.decode()


async def _half(request: IncomingRequest, reply: ReplyWriter) -> None:
    reply.start(200, [("content-type", "application/json")])
    reply.write(b'{"id":')
    await asyncio.sleep(30)


async def _drops(request: IncomingRequest, reply: ReplyWriter) -> None:
    reply.start(200, [("content-type", "application/json")])
    for _ in range(1000):
        reply.write(b" ")
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("step", "bounds", "message"),
    [
        (_half, Bounds(idle=0.1), "sent nothing within 0.1 seconds"),
        (_drops, Bounds(total=0.3), "took more than 0.3 seconds"),
    ],
    ids=["idle", "total"],
)
def test_an_answer_that_does_not_end_in_time(step: Any, bounds: Bounds, message: str) -> None:
    received = received_by(ScriptedUpstream(step), bounds=bounds)
    assert received.status == 504
    assert message in received.body.decode()


def test_the_total_time_holds_for_all_attempts_together() -> None:
    scripted = ScriptedUpstream(failing(503))
    received = received_by(scripted, bounds=Bounds(total=1.5), route={"retries": 50, "backoff": 0.4})
    assert received.status == 529
    assert 1 <= len(scripted.seen) < 6


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_that_is_too_long_is_a_fault(dialect: str) -> None:
    received = received_by(ScriptedUpstream(GOOD), dialect=dialect, bounds=Bounds(answer=100))
    assert received.status in (500, 502, 503)
    assert "longer than 100 bytes" in message_of(dialect, received.body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_request_that_is_too_long_is_a_fault(dialect: str) -> None:
    scripted = ScriptedUpstream(GOOD)
    received = received_by(scripted, dialect=dialect, bounds=Bounds(body=10))
    assert received.status == 413
    assert "longer than 10 bytes" in message_of(dialect, received.body)
    assert scripted.seen == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_head_that_is_too_long_is_a_fault(dialect: str) -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(GOOD), bounds=Bounds(head=500)) as front:
            return await front.ask(path_of(dialect), request_body(dialect), {"x-long": "y" * 600})

    received = run(scenario())
    assert received.status == 431
    assert "longer than 500 bytes" in message_of(dialect, received.body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_too_many_requests_at_the_same_time_are_refused(dialect: str) -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(silent), bounds=Bounds(concurrent=1)) as front:
            _, writer = await front.open(path_of(dialect), request_body(dialect))
            await asyncio.sleep(0.1)
            received = await front.generate(dialect)
            writer.close()
            return received

    received = run(scenario())
    assert (received.status, received.headers["retry-after"]) == (529 if dialect == "anthropic" else 503, "1")
    assert "more than 1 exchanges" in message_of(dialect, received.body)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_without_upstream_is_a_fault(dialect: str) -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(GOOD), route={}) as front:
            config = front.gateway.config
            front.gateway.reload(type(config)(upstreams=config.upstreams))
            return await front.generate(dialect)

    received = run(scenario())
    assert received.status == 404
    assert "no upstream serves the model 'm'" in message_of(dialect, received.body)


# Losses, repairs, shapes.


def test_losses_are_in_a_header_and_beyond_the_tolerance_nothing_is_sent() -> None:
    body = json.dumps(
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    ).encode()

    async def scenario(tolerance: str) -> Received:
        async with gateway_to(scripted, route={"tolerance": tolerance}) as front:
            return await front.ask("/v1/messages", body)

    scripted = ScriptedUpstream(GOOD)
    received = run(scenario("error"))
    assert received.status == 200
    assert "warning" in received.headers["dragoman-losses"]
    assert len(scripted.seen) == 1
    refused = run(scenario("info"))
    assert refused.status == 400
    assert refused.json()["error"]["type"] == "invalid_request_error"
    assert "/container" in refused.json()["error"]["message"]
    assert refused.json()["request_id"] == refused.headers["request-id"]
    assert len(scripted.seen) == 1


@pytest.mark.parametrize(("route", "names"), [({}, ["f"]), ({"stand_ins": True}, ["google_web_search", "f"])])
def test_a_web_search_becomes_a_function_only_if_the_route_allows_it(route: dict[str, Any], names: list[str]) -> None:
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [
            {"type": "web_search_20250305", "name": "web_search"},
            {"name": "f", "input_schema": {"type": "object"}},
        ],
        "tool_choice": {"type": "tool", "name": "web_search"},
    }
    scripted = ScriptedUpstream(GOOD)

    async def scenario() -> Received:
        async with gateway_to(scripted, route=route) as front:
            return await front.ask("/v1/messages", json.dumps(body).encode())

    received = run(scenario())
    sent = json.loads(scripted.seen[0].body)
    assert [tool["function"]["name"] for tool in sent["tools"]] == names
    assert "tool_choice" not in sent
    assert "choice.dropped" in received.headers["dragoman-losses"]


def test_an_upstream_with_too_many_losses_is_skipped() -> None:
    body = json.dumps(
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}
    ).encode()
    chat, kindred = ScriptedUpstream(GOOD), ScriptedUpstream(whole("anthropic"), dialect="anthropic")

    async def scenario() -> Received:
        async with gateway_to(chat, kindred, route={"tolerance": "info"}) as front:
            return await front.ask("/v1/messages", body)

    assert run(scenario()).status == 200
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


def test_repairs_are_in_a_header_or_the_request_is_refused() -> None:
    async def scenario(policy: str) -> Received:
        async with gateway_to(
            ScriptedUpstream(whole("anthropic"), dialect="anthropic"), route={"repair": policy}
        ) as front:
            return await front.ask("/v1/chat/completions", BROKEN)

    mended, refused = run(scenario("report")), run(scenario("refuse"))
    assert mended.status == 200
    assert mended.headers["dragoman-repairs"]
    assert refused.status == 400
    assert "dragoman-repairs" not in refused.headers
    assert refused.json()["error"]["code"] in mended.headers["dragoman-repairs"]


@pytest.mark.parametrize(("strategy", "back"), [("auto", True), ("vault", True), ("id", True), ("skip", False)])
def test_the_route_decides_whether_seals_come_back(strategy: str, back: bool) -> None:
    """The seals of Gemini come back through a Chat client that has no field for seals."""
    seal = json.loads(payloads.response("gemini"))["candidates"][0]["content"]["parts"]
    signature = next(part["thoughtSignature"] for part in seal if "thoughtSignature" in part)
    scripted = ScriptedUpstream(whole("gemini"), dialect="gemini")

    async def scenario() -> Received:
        async with gateway_to(scripted, route={"seals": strategy}) as front:
            first = (await front.generate("openai-chat")).json()["choices"][0]["message"]
            results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in first["tool_calls"]]
            echoed = {"role": "assistant", "content": first["content"], "tool_calls": first["tool_calls"]}
            for call in echoed["tool_calls"]:
                call.pop("extra_content", None)  # many clients drop unknown fields
            turns = [{"role": "user", "content": "hi"}, echoed, *results]
            return await front.ask("/v1/chat/completions", json.dumps({"model": "m", "messages": turns}).encode())

    assert run(scenario()).status == 200
    assert (signature.encode() in scripted.seen[1].body) is back


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_route_may_pass_the_key_of_the_client(dialect: str) -> None:
    scripted = ScriptedUpstream(whole("anthropic"), dialect="anthropic")

    async def scenario() -> None:
        settings = {"auth": "auto", "key_env": "OURS"}
        async with gateway_to(
            scripted, upstream=settings, route={"client_key": True}, environment={"OURS": "o"}
        ) as front:
            await front.ask(path_of(dialect), request_body(dialect), {"authorization": "Bearer theirs"})

    run(scenario())
    headers = scripted.seen[0].headers
    assert "theirs" in headers.get("x-api-key", "") + headers.get("authorization", "")
    assert headers.get("x-api-key") != "o"


def test_the_place_of_a_mistake_is_named_in_the_client_s_notation() -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(whole("anthropic"), dialect="anthropic")) as front:
            body = {"model": "m", "messages": [{"role": "user", "content": 7}]}
            return await front.ask("/v1/chat/completions", json.dumps(body).encode())

    error = run(scenario()).json()["error"]
    assert error["param"] == "messages[0].content"
    assert "/messages/0/content" in error["message"]


def test_a_gateway_that_is_its_own_upstream_is_a_fault() -> None:
    """This happens if a shell sets ANTHROPIC_BASE_URL for a client, and starts the gateway with the same variable."""

    async def scenario() -> tuple[Received, int]:
        async with gateway_to(ScriptedUpstream(GOOD, dialect="anthropic")) as front:
            config = front.gateway.config
            own = msgspec.structs.replace(config.upstreams["a"], base_url=f"http://127.0.0.1:{front.port}")
            front.gateway.reload(msgspec.structs.replace(config, upstreams={"a": own}))
            received = await front.generate("anthropic")
            return received, len((await front.ask("/dragoman/exchanges")).json()["exchanges"])

    received, count = run(scenario())
    assert (received.status, count) == (400, 2)
    assert "points here" in received.json()["error"]["message"]


def test_a_request_without_a_model_and_a_body_that_is_no_json_are_refused() -> None:
    async def scenario() -> list[Received]:
        async with gateway_to(ScriptedUpstream(GOOD)) as front:
            config = front.gateway.config
            front.gateway.reload(type(config)(upstreams=config.upstreams))
            return [await front.ask("/v1/messages", body) for body in (b'{"messages": []}', b"{", b"\xff")]

    received = run(scenario())
    assert [one.status for one in received] == [400, 400, 400]
    assert ["names no model" in one.body.decode() for one in received] == [True, False, False]
    assert ["is not valid JSON" in one.body.decode() for one in received] == [False, True, True]


def test_a_retry_after_that_is_no_date_is_dropped() -> None:
    received = received_by(ScriptedUpstream(failing(429, ("retry-after", "soon"))), dialect="openai-chat")
    assert received.status == 429
    assert "retry-after" not in received.headers
