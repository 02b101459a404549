"""Errors with a good status: error bodies, pages, texts and empty bodies become a fault for every client, whole and
streamed, translated and not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench import payloads
from bench.streams import frames

import dragoman
from dragoman.canon.events import Fault
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.errors import FaultError
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter
from dragoman.translate.errors_with_status_200 import error_in, is_answer

from .helpers import DIALECTS, Received, ScriptedUpstream, gateway_to, run

ERRORS: dict[str, list[tuple[bytes, int]]] = {
    "anthropic": [
        (b'{"type":"error","error":{"type":"overloaded_error","message":"sorry"},"request_id":"r"}', 529),
        (b'{"error":{"type":"not_found_error","message":"sorry"}}', 404),
        (b'{"error":{"message":"sorry"}}', 502),
    ],
    "openai-chat": [
        (b'{"error":{"message":"sorry","type":"rate_limit_error","param":null,"code":null}}', 429),
        (b'{"error":{"message":"sorry","code":503}}', 503),
        (b'{"code":"The system is at capacity","error":"sorry"}', 502),
        (b'{"detail":"sorry"}', 502),
        (b'{"object":"error","message":"sorry","type":"BadRequestError","code":400}', 400),
        (b'{"id":"x","choices":[],"error":{"message":"sorry"}}', 502),
        (b'{"choices":null,"error":{"message":"sorry"}}', 502),
    ],
    "openai-responses": [
        (b'{"error":{"message":"sorry","type":"server_error","param":null,"code":null}}', 502),
        (b'{"error":{"message":"sorry","type":"invalid_request_error","code":"context_length_exceeded"}}', 400),
        (b'{"id":"r","object":"response","status":"failed","error":{"code":"server_error","message":"sorry"}}', 502),
        (b'{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"sorry"},"output":[]}', 429),
        (b'{"type":"error","message":"sorry","code":"server_error"}', 502),
    ],
    "gemini": [
        (b'{"error":{"code":429,"message":"sorry","status":"RESOURCE_EXHAUSTED"}}', 429),
        (b'{"error":{"message":"sorry"}}', 502),
    ],
    "code-assist": [
        (b'{"error":{"code":403,"message":"sorry","status":"PERMISSION_DENIED"}}', 403),
        (b'{"error":{"code":500,"message":"sorry","status":"INTERNAL"}}', 500),
    ],
    "ollama": [
        (b'{"error":"sorry"}', 502),
        (b'{"error":{"message":"sorry","type":"x"}}', 502),
    ],
    "openrouter": [
        (b'{"error":{"message":"sorry","code":402}}', 402),
        (
            b'{"choices":[{"finish_reason":"error","message":{"content":""},"error":{"code":503,"message":"sorry"}}]}',
            503,
        ),
    ],
}
ODD = (
    b"<html><head><title>sorry</title></head>\n\n<body></body></html>",
    b"sorry",
    b"",
    b"{}",
    b"[]",
    b"null",
    b'{"message":"sorry"}',
    b'{"success":false,"reason":"sorry"}',
    b'{"error":null}',
    b'[{"error":{"code":503,"message":"sorry","status":"UNAVAILABLE"}}]',
)
STATUSES = (200, 201, 202, 203, 206)
KINDS = ("application/json", "text/event-stream", "text/html", "")


class Scripted:
    """An upstream whose answer is set by the test."""

    status = 200
    kind = ""
    body = b""

    async def step(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(self.status, [("content-type", self.kind)] if self.kind else [], self.body)


def in_frame(dialect: str, body: bytes) -> bytes:
    """An error body as one frame of a stream."""
    if dialect == "ollama":
        return body + b"\n"
    if dialect == "openai-responses" and b'"type":"error"' not in body:
        body = b'{"type":"error",' + body[1:]
    return b"data: %b\n\n" % body


def check(received: Received, body: bytes) -> None:
    assert received.status >= 400, (received, body)
    assert b"sorry" not in body or b"sorry" in received.body, (received, body)
    assert json.loads(received.body)["error"]


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_an_error_body_is_a_fault_with_any_status(client: str, upstream: str) -> None:
    async def scenario() -> None:
        script = Scripted()
        async with gateway_to(ScriptedUpstream(script.step, dialect=upstream)) as front:
            for number, body in enumerate([*[body for body, _ in ERRORS[upstream]], *ODD]):
                for kind in KINDS:
                    script.status = STATUSES[number % len(STATUSES)]
                    script.kind, script.body = kind, body
                    for stream in (False, True):
                        check(await front.generate(client, stream=stream), body)

    run(scenario())


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_an_error_in_the_first_frame_is_a_fault(client: str, upstream: str) -> None:
    async def scenario() -> None:
        script = Scripted()
        async with gateway_to(ScriptedUpstream(script.step, dialect=upstream)) as front:
            for number, (body, _) in enumerate(ERRORS[upstream]):
                if b'"error"' not in body or b'"status":"failed"' in body or b'"choices":[{' in body:
                    continue  # a frame cannot have this form
                script.status = STATUSES[number % len(STATUSES)]
                script.kind, script.body = "text/event-stream", in_frame(upstream, body)
                for stream in (False, True):
                    check(await front.generate(client, stream=stream), body)

    run(scenario())


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_an_error_inside_a_stream_ends_the_stream_with_one_fault(client: str, upstream: str) -> None:
    async def scenario() -> tuple[Received, Received, Any]:
        script = Scripted()
        async with gateway_to(ScriptedUpstream(script.step, dialect=upstream)) as front:
            first_part = b"".join(
                [frame if isinstance(frame, bytes) else frame.encode() for frame in frames(upstream)[:20]]
            )
            script.kind = "text/event-stream" if upstream != "ollama" else "application/x-ndjson"
            script.body = first_part + in_frame(upstream, ERRORS[upstream][0][0])
            streamed = await front.generate(client, stream=True)
            return streamed, await front.generate(client), await front.exchange(streamed)

    streamed, whole, exchange = run(scenario())
    check(whole, ERRORS[upstream][0][0])
    if streamed.status == 200:  # otherwise the error arrived with the first bytes, and is the whole answer
        reader = get(client).reader(Context(client, client))
        found = [*reader.feed(streamed.body), *reader.close()]
        assert [type(event) for event in found].count(Fault) == 1
        assert isinstance(found[-1], Fault) and "sorry" in found[-1].message
    assert "sorry" in exchange["tries"][0]["message"]


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_a_null_error_is_no_fault(client: str, upstream: str) -> None:
    whole = payloads.response(upstream)
    assert whole.lstrip()[:1] == b"{"
    with_null = b'{"error":null,' + whole.lstrip()[1:]

    async def scenario() -> tuple[Received, Received]:
        script = Scripted()
        script.kind, script.body = "application/json", with_null
        async with gateway_to(ScriptedUpstream(script.step, dialect=upstream)) as front:
            return await front.generate(client), await front.generate(client, stream=True)

    received, streamed = run(scenario())
    assert (received.status, streamed.status) == (200, 200)
    assert client != upstream or received.body == with_null
    reader = get(client).reader(Context(client, client))
    assert not any(isinstance(event, Fault) for event in [*reader.feed(streamed.body), *reader.close()])


@pytest.mark.parametrize("upstream", DIALECTS)
@pytest.mark.parametrize("client", DIALECTS)
def test_a_null_error_in_every_frame_is_no_fault(client: str, upstream: str) -> None:
    translator = dragoman.StreamTranslator(source=upstream, target=client)
    out = b""
    for frame in frames(upstream):
        text = frame.decode() if isinstance(frame, bytes) else frame
        out += translator.feed(text.replace("{", '{"error": null, ', 1).encode())
    out += translator.close()
    assert translator.fault is None
    reader = get(client).reader(Context(client, client))
    assert not any(isinstance(event, Fault) for event in [*reader.feed(out), *reader.close()])


@pytest.mark.parametrize(("dialect", "body", "status"), [(name, *row) for name in ERRORS for row in ERRORS[name]])
def test_the_status_comes_from_the_body_or_is_502(dialect: str, body: bytes, status: int) -> None:
    assert error_in(body, get(dialect)).status == status
    for target in DIALECTS:
        if target != dialect or b'"error"' in body:
            with pytest.raises(FaultError, match="sorry"):
                dragoman.translate_response(body, source=dialect, target=target)
    with pytest.raises(FaultError):
        is_answer(body, get(dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_is_detected_as_an_answer(dialect: str) -> None:
    assert is_answer(payloads.response(dialect), get(dialect))
    assert not is_answer(b"{}", get(dialect))
