"""Repeated requests, as after a fault: each gets the same answer as the first one."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from bench import payloads

from dragoman import fast
from dragoman.gateway.config import Config, Route, Target, Upstream, check_config
from dragoman.gateway.exchange.client_request_and_translations import ClientRequest
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server

from .helpers import DIALECTS, Front, ScriptedUpstream, failing, gateway, gateway_to, path_of, request_body, run, whole

PAIRS = list(itertools.product(DIALECTS, DIALECTS))
VARYING = ("dragoman-exchange", "x-request-id", "request-id", "content-length")


@pytest.fixture(autouse=True)
def _restore_memory() -> Iterator[None]:
    fast.on()
    fast.forget()
    yield
    fast.on()
    fast.forget()


def without_times(dialect: str, body: bytes) -> Any:
    found = json.loads(body)
    times = ("created", "created_at", "completed_at", "total_duration", "load_duration", "eval_duration")
    return {name: value for name, value in found.items() if name not in (*times, "prompt_eval_duration", "createTime")}


async def outcomes(client: str, upstream: str, times: int) -> list[Any]:
    """Status, headers and body of each answer, the body that the upstream got, and the losses in the report."""
    found = []
    scripted = ScriptedUpstream(whole(upstream), dialect=upstream)
    async with gateway_to(scripted) as front:
        for _ in range(times):
            received = await front.ask(path_of(client), payloads.request(client, stream=False))
            headers = {name: value for name, value in received.headers.items() if name not in VARYING}
            report = await front.exchange(received)
            sent = scripted.seen[-1].body
            found.append((received.status, headers, without_times(client, received.body), sent, report["losses"]))
    return found


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_every_repeated_request_gets_the_answer_of_the_first(client: str, upstream: str) -> None:
    first, *others = run(outcomes(client, upstream, 4))
    assert first[0] == 200
    assert others == [first] * 3
    fast.off()
    assert run(outcomes(client, upstream, 1)) == [first]


def test_a_retry_after_a_fault_sends_the_same_request() -> None:
    async def scenario() -> None:
        scripted = ScriptedUpstream(failing(503), failing(503), whole("openai-chat"))
        async with gateway_to(scripted) as front:
            received = [
                await front.ask(path_of("anthropic"), payloads.request("anthropic", stream=False)) for _ in "123"
            ]
        assert [one.status for one in received] == [529, 529, 200]
        assert len({one.body for one in scripted.seen}) == 1

    run(scenario())


def test_names_and_arguments_of_calls_are_restored_for_every_repetition() -> None:
    custom = {"type": "custom", "name": "apply_patch", "description": "Patches.", "format": {"type": "text"}}
    parameters = {"type": "object", "properties": {}}
    function = {"type": "function", "name": "a.name/that is renamed", "parameters": parameters, "strict": False}
    body = {"model": "m", "input": "hi", "store": False, "tools": [custom, function]}

    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        patch, other = [tool["name"] for tool in json.loads(request.body)["tools"]]
        content = [
            {"type": "tool_use", "id": "toolu_1", "name": patch, "input": {"input": "*** Begin Patch"}},
            {"type": "tool_use", "id": "toolu_2", "name": other, "input": {}},
        ]
        answer = json.loads(payloads.response("anthropic")) | {"content": content, "stop_reason": "tool_use"}
        reply.send(200, [("content-type", "application/json")], json.dumps(answer).encode())

    async def scenario() -> None:
        async with gateway_to(ScriptedUpstream(step, dialect="anthropic")) as front:
            for _ in range(4):
                received = await front.ask(path_of("openai-responses"), json.dumps(body).encode())
                calls = [item for item in json.loads(received.body)["output"] if "name" in item]
                assert [(call["type"], call["name"]) for call in calls] == [
                    ("custom_tool_call", "apply_patch"),
                    ("function_call", "a.name/that is renamed"),
                ]
                assert calls[0]["input"] == "*** Begin Patch"

    run(scenario())


def test_each_route_has_its_own_translation() -> None:
    async def scenario() -> None:
        async def ask(front: Front, model: str) -> str:
            body = json.dumps({"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]})
            received = await front.ask("/v1/messages", body.encode())
            assert received.status == 200
            return str(json.loads(scripted.seen[-1].body)["model"])

        scripted = ScriptedUpstream(whole("openai-chat"))
        server = Server(scripted.handle)
        port = await server.start("127.0.0.1", 0)
        upstreams = {"a": Upstream("openai-chat", f"http://127.0.0.1:{port}", auth="none")}

        def config(large: str) -> Config:
            routes = Route("s", (Target("a", "small"),)), Route("l", (Target("a", large),))
            return check_config(Config(upstreams=upstreams, routes=routes), "test")

        async with gateway(config("large"), {}) as front:
            for _ in range(4):
                assert [await ask(front, "s"), await ask(front, "l")] == ["small", "large"]
            front.gateway.reload(config("larger"))
            for _ in range(4):
                assert [await ask(front, "s"), await ask(front, "l")] == ["small", "larger"]
        await server.stop(0)

    run(scenario())


def test_the_model_in_the_path_selects_the_translation() -> None:
    async def scenario() -> None:
        scripted = ScriptedUpstream(whole("openai-chat"))
        async with gateway_to(scripted) as front:
            for model in ("one", "two") * 4:
                path = path_of("gemini").replace("models/m:", f"models/{model}:")
                assert (await front.ask(path, request_body("gemini"))).status == 200
                assert json.loads(scripted.seen[-1].body)["model"] == model

    run(scenario())


def test_clients_with_different_headers_share_a_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    new = ClientRequest._translate_anew
    monkeypatch.setattr(ClientRequest, "_translate_anew", lambda *given: made.append(given) or new(*given))

    async def scenario() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            for number in range(9):
                headers = {f"x-own-{number}": "1"}
                assert (await front.ask(path_of("anthropic"), request_body("anthropic"), headers)).status == 200

    run(scenario())
    assert len(made) == 2


@pytest.mark.parametrize(
    ("client", "upstream", "reads"),
    [
        ("anthropic", "openai-chat", 0),  # the upstream has no seals
        ("anthropic", "anthropic", 0),  # the bytes pass unchanged
        ("openai-chat", "anthropic", 3),  # the vault may hold seals for the conversation
    ],
)
def test_seals_in_the_vault_cause_a_new_translation(
    client: str, upstream: str, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    new = ClientRequest._translate_anew
    monkeypatch.setattr(ClientRequest, "_translate_anew", lambda *given: made.append(given) or new(*given))

    async def scenario() -> None:
        async with gateway_to(ScriptedUpstream(whole(upstream), dialect=upstream)) as front:
            body = request_body(client)
            for _ in range(4):
                await front.ask(path_of(client), body)
            assert len(made) == 2
            owner = front.gateway._identities.nobody.owner
            front.gateway._vault.put(owner, "key", "seal")
            for _ in range(3):
                assert (await front.ask(path_of(client), body)).status == 200
            assert len(made) == 2 + reads

    run(scenario())


def test_seals_stored_between_two_equal_requests_are_sent() -> None:
    answer = json.loads(payloads.response("anthropic"))
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    thought = {"type": "thinking", "thinking": "I look.", "signature": "c2lnbmF0dXJl" * 9}
    answer |= {"content": [thought, call], "stop_reason": "tool_use"}

    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(200, [("content-type", "application/json")], json.dumps(answer).encode())

    async def scenario() -> None:
        scripted = ScriptedUpstream(step, dialect="anthropic")
        async with gateway_to(scripted) as front:
            tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
            first_turn = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": tools}
            function = {"name": "look", "arguments": "{}"}
            history = [
                *first_turn["messages"],
                {"role": "assistant", "tool_calls": [{"id": "toolu_1", "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": "toolu_1", "content": "seen"},
            ]
            next_turn = json.dumps({**first_turn, "messages": history}).encode()
            for _ in range(4):
                await front.ask(path_of("openai-chat"), next_turn)
            assert b"c2lnbmF0dXJl" not in scripted.seen[-1].body
            await front.ask(path_of("openai-chat"), json.dumps(first_turn).encode())
            await front.ask(path_of("openai-chat"), next_turn)
            assert b"c2lnbmF0dXJl" in scripted.seen[-1].body

    run(scenario())


def test_a_broken_request_is_refused_at_every_repetition() -> None:
    async def scenario() -> None:
        scripted = ScriptedUpstream(whole("openai-chat"))
        async with gateway_to(scripted) as front:
            received = [await front.ask(path_of("anthropic"), b'{"model":"m","messages":[}') for _ in range(4)]
            assert {one.status for one in received} == {400}
            assert not scripted.seen
            found = [json.loads(one.body)["error"]["message"] for one in received]
            assert len(set(found)) == 1

    run(scenario())


def test_forget_empties_the_tables_of_a_gateway() -> None:
    async def scenario() -> None:
        scripted = ScriptedUpstream(whole("openai-chat"))
        async with gateway_to(scripted) as front:
            held = []
            for _ in range(2):
                for _ in range(3):
                    received = await front.ask(
                        path_of("anthropic"), payloads.request("anthropic", stream=False), {"x-own": "1"}
                    )
                    assert received.status == 200
                services = front.gateway._services
                held.append([len(services.plans), len(services.plans.known), len(services.routes.found)])
                fast.forget()
                assert [len(services.plans), len(services.plans.known), len(services.routes.found)] == [0, 0, 0]
            # The connections after `forget` are answered as before, and fill the tables again.
            assert held[0] == held[1]
            assert min(held[0]) > 0

    run(scenario())
