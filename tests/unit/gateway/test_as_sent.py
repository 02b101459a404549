"""Requests as client libraries send them, where they differ from what most clients say: each was refused once, or lost
its meaning without a word that the client understands.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench import payloads

from dragoman.gateway.config import Config, checked
from dragoman.gateway.http.ollama_timed_reply import OllamaTimedReply

from .helpers import ScriptedUpstream, gateway, gateway_to, run, whole

RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees"}


def thread(how: dict[str, str]) -> bytes:
    """As the tool runners of Anthropic's SDKs go on: only what is new, the rest is in a thread at the server."""
    messages = [{"role": "user", "content": [RESULT] if how["type"] == "continue" else "hi"}]
    return json.dumps({"model": "rehearsal/rules", "max_tokens": 9, "messages": messages, "thread": how}).encode()


GOES_ON = thread({"type": "continue", "previous_message_id": "msg_1"})


@pytest.mark.parametrize("upstream", ["openai-chat", "gemini", "openrouter", "rehearsal"])
def test_a_thread_that_nobody_holds_is_not_found(upstream: str) -> None:
    """The SDKs send the whole conversation then."""

    async def inner() -> None:
        if upstream == "rehearsal":
            async with gateway(checked(Config(), "test"), {}) as front:
                received = await front.ask("/v1/messages?beta=true", GOES_ON)
        else:
            scripted = ScriptedUpstream(whole(upstream), dialect=upstream)
            async with gateway_to(scripted) as front:
                received = await front.ask("/v1/messages?beta=true", GOES_ON)
            assert not scripted.seen
        assert received.status == 404
        error = received.json()["error"]
        assert (error["type"], error["details"]) == ("not_found_error", {"error_code": "thread_not_found"})

    run(inner())


def test_a_thread_at_its_own_server_is_gone_on_with() -> None:
    async def inner() -> None:
        scripted = ScriptedUpstream(whole("anthropic"), dialect="anthropic")
        async with gateway_to(scripted) as front:
            received = await front.ask("/v1/messages?beta=true", GOES_ON)
        assert received.status == 200
        assert json.loads(scripted.seen[0].body) == json.loads(GOES_ON)

    run(inner())


def test_a_thread_that_begins_is_a_request_like_any_other() -> None:
    async def inner() -> None:
        scripted = ScriptedUpstream(whole("openai-chat"))
        async with gateway_to(scripted) as front:
            received = await front.ask("/v1/messages?beta=true", thread({"type": "create"}))
            lost = (await front.exchange(received))["losses"]
        assert received.status == 200
        assert [(loss["code"], loss["path"]) for loss in lost if loss["severity"] != "info"] == [
            ("field.dropped", "/thread")
        ]

    run(inner())


MODES: list[tuple[Any, Any]] = [
    (1, "auto"),
    (2, {"type": "function", "function": {"name": "look"}}),
    (3, "none"),
]


@pytest.mark.parametrize(("number", "choice"), MODES)
def test_google_s_numbers_are_words(number: int, choice: Any) -> None:
    """google-generativeai sends the numbers of its definitions: of the mode, and of the types in a schema."""
    parameters = {"type": 6, "properties": {"where": {"type": 1}, "often": {"type": 3}}, "required": ["where"]}
    calling: dict[str, Any] = {"mode": number, **({"allowedFunctionNames": ["look"]} if number == 2 else {})}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "look", "description": "d", "parameters": parameters}]}],
        "toolConfig": {"functionCallingConfig": calling},
    }

    async def inner() -> None:
        scripted = ScriptedUpstream(whole("openai-chat"))
        async with gateway_to(scripted) as front:
            path = "/v1beta/models/m:generateContent?%24alt=json%3Benum-encoding%3Dint"
            received = await front.ask(path, json.dumps(body).encode())
        assert received.status == 200
        sent = json.loads(scripted.seen[0].body)
        assert sent["tool_choice"] == choice
        assert sent["tools"][0]["function"]["parameters"]["properties"] == {
            "where": {"type": "string"},
            "often": {"type": "integer"},
        }

    run(inner())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_ollama_s_clients_are_told_how_long_it_took(stream: bool) -> None:
    """Strands computes with `total_duration`, and breaks off without."""

    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            asked = await front.generate("ollama") if not stream else None
        if asked is None:
            async with gateway(checked(Config(), "test"), {}) as front:
                asked = await front.generate("ollama", stream=True, model="rehearsal/rules")
        assert asked.status == 200
        *before, last = [json.loads(line) for line in asked.body.splitlines()]
        assert bool(before) is stream
        assert last["done"] is True
        assert last["total_duration"] > 0
        if stream:
            assert last["prompt_eval_duration"] + last["eval_duration"] == last["total_duration"]
            assert not any("total_duration" in one for one in before)

    run(inner())


def test_what_an_ollama_upstream_told_stays() -> None:
    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("ollama"), dialect="ollama")) as front:
            asked = await front.generate("ollama")
        assert asked.body == payloads.response("ollama")

    run(inner())


def test_arguments_of_a_call_are_no_end() -> None:
    received: list[bytes] = []

    class Inner:
        _client = None

        def write(self, data: bytes) -> None:
            received.append(data)

    called = b'{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"done":true}}}]},"done":false}\n'
    reply = OllamaTimedReply(Inner())  # type: ignore[arg-type]
    reply.write(called + b'{"message":{"content":""},"done":true}\n')
    kept, last, rest = received[0].split(b"\n")
    assert (kept + b"\n", rest) == (called, b"")
    assert json.loads(last)["total_duration"] > 0
