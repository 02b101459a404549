"""Answers in another form than the request wants (whole or streamed), and bodies that are no answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench import payloads
from bench.streams import frames

from dragoman.canon.parts import Text, ToolCall
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from .helpers import DIALECTS, Received, ScriptedUpstream, gateway_to, message_of, run, streaming, whole

GOOD = whole("openai-chat")


def received_by(
    *scripted: ScriptedUpstream, dialect: str = "anthropic", stream: bool = False, **settings: Any
) -> Received:
    async def scenario() -> Received:
        async with gateway_to(*scripted, **settings) as front:
            return await front.generate(dialect, stream=stream)

    received: Received = run(scenario())
    return received


def content_of(dialect: str, received: Received) -> tuple[Any, ...]:
    """The beginning of the text, the first call and other facts of an answer.

    Streams of the benchmark have only the first of the two calls, and some streams repeat their content."""
    response = get(dialect).read_response(received.body, Context(dialect, dialect))
    text = "".join([part.text for part in response.parts if isinstance(part, Text)])
    calls = [(part.name, json.loads(part.arguments)) for part in response.parts if isinstance(part, ToolCall)]
    assert response.usage is not None
    return text[:300], calls[0], response.stop.reason, bool(response.usage.input), bool(response.usage.output)


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_a_client_that_wants_no_stream_gets_a_whole_answer(client: str, upstream: str) -> None:
    """Some upstreams only stream."""
    pieces = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames(upstream)]
    scripted = ScriptedUpstream(streaming(pieces), dialect=upstream)
    received = received_by(scripted, dialect=client, upstream={"stream": "always"})
    straight = received_by(ScriptedUpstream(whole(upstream), dialect=upstream), dialect=client)
    assert received.status == straight.status == 200
    assert received.headers["content-type"] == "application/json"
    assert content_of(client, received) == content_of(client, straight)
    assert b"stream" in scripted.seen[0].body or "stream" in scripted.seen[0].path


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", ["anthropic", "openai-responses", "gemini", "ollama"])
def test_a_client_that_wants_a_stream_gets_a_stream(client: str, upstream: str) -> None:
    """Some upstreams never stream."""
    for setting in ("never", "auto"):
        scripted = ScriptedUpstream(whole(upstream), dialect=upstream)
        received = received_by(scripted, dialect=client, stream=True, upstream={"stream": setting})
        assert received.status == 200
        kind = "application/x-ndjson" if client == "ollama" else "text/event-stream; charset=utf-8"
        assert received.headers["content-type"] == kind
        name = json.loads(payloads.request("openai-chat"))["tools"][0]["function"]["name"]
        assert name.encode() in received.body or b"tool" in received.body or b"functionCall" in received.body


# Bodies that are no answers.

SORRY = b'{"error": {"message": "sorry", "type": "server_error", "code": 500}}'


def answering(body: bytes, kind: str = "application/json") -> Any:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(200, [("content-type", kind)], body)

    return step


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["anthropic", "openai-chat"])
def test_a_fault_with_a_good_status_is_a_fault(client: str, stream: bool) -> None:
    for body, words in ((SORRY, "sorry"), (b"<html>", "not in its dialect openai-chat")):
        received = received_by(ScriptedUpstream(answering(body)), dialect=client, stream=stream)
        assert received.status in (500, 502)
        assert words in message_of(client, received.body)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_in_an_unknown_form_is_a_fault_of_the_upstream(stream: bool) -> None:
    for body in (b'{"choices": 7}', b"", b"[]"):
        received = received_by(ScriptedUpstream(answering(body)), stream=stream)
        assert received.status == 502
        assert "not in its dialect openai-chat" in message_of("anthropic", received.body)


def test_after_a_fault_with_a_good_status_the_next_upstream_is_tried() -> None:
    scripted = ScriptedUpstream(GOOD)
    assert received_by(ScriptedUpstream(answering(SORRY)), scripted, dialect="openai-chat").status == 200
    assert len(scripted.seen) == 1


def test_a_failed_stream_is_a_fault_for_a_client_that_wants_no_stream() -> None:
    broken = [b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', b"data: " + SORRY + b"\n\n"]
    received = received_by(ScriptedUpstream(streaming(broken)), upstream={"stream": "always"})
    assert received.status in (500, 502)
    assert "sorry" in message_of("anthropic", received.body)
    cut = received_by(ScriptedUpstream(streaming(broken[:1])), dialect="openai-chat", upstream={"stream": "always"})
    assert cut.status == 502


BROKEN = {
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}],
            },
        }
    ]
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["anthropic", "ollama", "gemini", "code-assist"])
def test_a_call_with_broken_arguments_never_reaches_a_client_that_would_run_it(client: str, stream: bool) -> None:
    received = received_by(ScriptedUpstream(answering(json.dumps(BROKEN).encode())), dialect=client, stream=stream)
    assert b"__raw" not in received.body
    if client in ("gemini", "code-assist"):
        assert received.status == 200
        assert b"MALFORMED_FUNCTION_CALL" in received.body
    else:
        assert received.status == 502
        assert "tool call that cannot be used" in message_of(client, received.body)
