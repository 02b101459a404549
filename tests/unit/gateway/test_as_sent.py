"""Requests of client libraries that differ from the requests of most clients. Each was refused once, or lost its
meaning without a message that the client understands.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench import payloads

from dragoman.dialects.ollama.endpoints import with_durations
from dragoman.gateway.config import Config, check_config
from dragoman.gateway.http.duration_adding_reply import TimedReply

from .helpers import ScriptedUpstream, gateway, gateway_to, run, whole

RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees"}


def request_with_thread(how: dict[str, str]) -> bytes:
    """A request of the tool runners of Anthropic's SDKs. It has only the new messages; the server has the others."""
    messages = [{"role": "user", "content": [RESULT] if how["type"] == "continue" else "hi"}]
    return json.dumps({"model": "rehearsal/rules", "max_tokens": 9, "messages": messages, "thread": how}).encode()


CONTINUING = request_with_thread({"type": "continue", "previous_message_id": "msg_1"})


@pytest.mark.parametrize("upstream", ["openai-chat", "gemini", "openrouter", "rehearsal"])
def test_an_unknown_thread_is_not_found(upstream: str) -> None:
    """After this fault, the SDKs send the whole conversation."""

    async def inner() -> None:
        if upstream == "rehearsal":
            async with gateway(check_config(Config(), "test"), {}) as front:
                received = await front.ask("/v1/messages?beta=true", CONTINUING)
        else:
            scripted = ScriptedUpstream(whole(upstream), dialect=upstream)
            async with gateway_to(scripted) as front:
                received = await front.ask("/v1/messages?beta=true", CONTINUING)
            assert not scripted.seen
        assert received.status == 404
        error = received.json()["error"]
        assert (error["type"], error["details"]) == ("not_found_error", {"error_code": "thread_not_found"})

    run(inner())


def test_a_thread_passes_to_an_upstream_of_the_same_dialect() -> None:
    async def inner() -> None:
        scripted = ScriptedUpstream(whole("anthropic"), dialect="anthropic")
        async with gateway_to(scripted) as front:
            received = await front.ask("/v1/messages?beta=true", CONTINUING)
        assert received.status == 200
        assert json.loads(scripted.seen[0].body) == json.loads(CONTINUING)

    run(inner())


def test_a_new_thread_is_an_ordinary_request() -> None:
    async def inner() -> None:
        scripted = ScriptedUpstream(whole("openai-chat"))
        async with gateway_to(scripted) as front:
            received = await front.ask("/v1/messages?beta=true", request_with_thread({"type": "create"}))
            losses = (await front.exchange(received))["losses"]
        assert received.status == 200
        assert [(loss["code"], loss["path"]) for loss in losses if loss["severity"] != "info"] == [
            ("field.dropped", "/thread")
        ]

    run(inner())


MODES: list[tuple[Any, Any]] = [
    (1, "auto"),
    (2, {"type": "function", "function": {"name": "look"}}),
    (3, "none"),
]


@pytest.mark.parametrize(("number", "choice"), MODES)
def test_google_s_numbers_are_read_as_names(number: int, choice: Any) -> None:
    """google-generativeai sends numbers for the mode, and for the types in a schema."""
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
def test_an_ollama_answer_has_its_durations(stream: bool) -> None:
    """Strands computes with `total_duration`, and fails without it."""

    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            received = await front.generate("ollama") if not stream else None
        if received is None:
            async with gateway(check_config(Config(), "test"), {}) as front:
                received = await front.generate("ollama", stream=True, model="rehearsal/rules")
        assert received.status == 200
        *before, last = [json.loads(line) for line in received.body.splitlines()]
        assert bool(before) is stream
        assert last["done"] is True
        assert last["total_duration"] > 0
        if stream:
            assert last["prompt_eval_duration"] + last["eval_duration"] == last["total_duration"]
            assert not any("total_duration" in one for one in before)

    run(inner())


def test_the_durations_of_an_ollama_upstream_stay() -> None:
    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("ollama"), dialect="ollama")) as front:
            received = await front.generate("ollama")
        assert received.body == payloads.response("ollama")

    run(inner())


def test_done_in_the_arguments_of_a_call_is_no_end() -> None:
    written: list[bytes] = []

    class Inner:
        _client = None

        def write(self, data: bytes) -> None:
            written.append(data)

    called = b'{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"done":true}}}]},"done":false}\n'
    reply = TimedReply(Inner(), with_durations)  # type: ignore[arg-type]
    reply.write(called + b'{"message":{"content":""},"done":true}\n')
    kept, last, rest = written[0].split(b"\n")
    assert (kept + b"\n", rest) == (called, b"")
    assert json.loads(last)["total_duration"] > 0
