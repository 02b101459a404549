"""Messages of faults: never empty, and always with the name of the upstream and its status."""

from __future__ import annotations

import json

import pytest

from dragoman.canon.events import Fault
from dragoman.dialects import get
from dragoman.errors import TransportError
from dragoman.gateway.exchange.upstream_fault_messages import MAX_QUOTED, is_readable, name_upstream, unanswered_request
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from ..helpers import (
    DIALECTS,
    Received,
    ScriptedUpstream,
    failing,
    gateway_to,
    message_of,
    path_of,
    request_body,
    run,
    streaming,
    whole,
)

PAGE = b"<!DOCTYPE html><html><head><title>502 Bad &amp; Gateway</title></head><body><h1>Oh no</h1></body></html>"
BODIES = {
    "empty": b"",
    "blank": b" \n\t ",
    "page": PAGE,
    "page without a title": b"<html><script>var a = '<b>';</script><body><p>The  host\n is away</p>",
    "object": b"{}",
    "null": b"null",
    "list": b"[]",
    "number": b"17",
    "object of others": b'{"status": "down", "since": 12}',
    "error null": b'{"error": null}',
    "error empty": b'{"error": {}}',
    "error text empty": b'{"error": ""}',
    "message empty": b'{"error": {"message": "", "type": "x"}}',
    "message blank": b'{"error": {"message": "  ", "code": 7}}',
    "message null": b'{"error": {"message": null}}',
    "message of another kind": b'{"error": {"message": {"deep": [1]}}}',
    "not utf-8": b"\xff\xfe\x00",
    "list of one": b'[{"error": {"code": 500}}]',
    "text": b"upstream connect error",
}


@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_every_status_with_an_odd_body_has_a_message_in_every_dialect(body: bytes, source: str) -> None:
    for status in range(400, 600):
        fault = name_upstream(get(source).read_fault(body, status, {}), "there")
        assert "'there'" in fault.message and str(fault.status) in fault.message
        for client in DIALECTS:
            written, _, _ = get(client).write_fault(fault)
            assert fault.message.strip() and fault.message in message_of(client, written)


def test_the_message_of_the_upstream_is_followed_by_its_name() -> None:
    fault = name_upstream(Fault("rate_limit", "Too many tokens.", 429), "there")
    assert fault.message == "Too many tokens. (upstream 'there', status 429)"
    assert (
        name_upstream(fault, "there").message.count("there") == 2
    )  # the name is added even if the message contains the same word
    assert (
        name_upstream(unanswered_request(TransportError("closed", "gone"), "there"), "there").message.count("there")
        == 1
    )


def test_the_message_of_a_web_page_is_its_title_or_its_text() -> None:
    assert name_upstream(Fault("server", PAGE.decode(), 502), "a").message == (
        "Upstream 'a' answered with status 502 and a web page: 502 Bad & Gateway"
    )
    received = name_upstream(Fault("server", BODIES["page without a title"].decode(), 502), "a").message
    assert received == "Upstream 'a' answered with status 502 and a web page: The host is away"
    assert name_upstream(Fault("server", "<" * 100_000, 502), "a").message.endswith("and a web page.")
    assert len(name_upstream(Fault("server", "<p>" + "word " * 10_000, 502), "a").message) < MAX_QUOTED + 100


def test_no_fault_is_without_a_message() -> None:
    assert Fault("timeout", "", 504).message == "no message came with the error (status 504)"
    assert Fault("timeout", " \n", 504).message.strip()
    assert not is_readable(Fault("timeout", "", 504)) and is_readable(Fault("timeout", "late", 504))


@pytest.mark.parametrize("kind", ["connect", "timeout", "closed", "upstream_bad", "another"])
def test_an_upstream_that_gives_no_answer_is_named(kind: str) -> None:
    fault = unanswered_request(TransportError(kind, "why"), "there")
    assert fault.message.startswith("Upstream 'there' gave no complete answer: why.")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS)
def test_a_504_without_a_body_has_a_message(source: str, client: str, stream: bool) -> None:
    async def scenario() -> list[Received]:
        async with gateway_to(
            ScriptedUpstream(failing(504, body=b""), failing(504, body=b"{}"), dialect=source)
        ) as front:
            return [
                await front.ask(path_of(client, stream=stream), request_body(client, stream=stream)) for _ in range(2)
            ]

    for received in run(scenario()):
        assert received.status == 504
        assert message_of(client, received.body).startswith("Upstream 'a' answered with status 504 and no message")


@pytest.mark.parametrize("client", DIALECTS)
def test_a_stream_that_is_cut_off_names_its_upstream(client: str) -> None:
    frame = b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'

    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(streaming([frame], ReplyWriter.break_off, pause=0.05))) as front:
            return await front.ask(path_of(client, stream=True), request_body(client, stream=True))

    assert b"Upstream 'a' gave no complete answer: " in run(scenario()).body


def test_the_gateway_s_own_faults_contain_advice() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "container": "c"}

    async def redirecting(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(302, [("location", "http://elsewhere/")], b"")

    async def scenario() -> list[str]:
        found = []
        async with gateway_to(ScriptedUpstream(whole("openai-chat")), route={"tolerance": "info"}) as front:
            found.append((await front.ask("/v1/messages", json.dumps(body).encode())).body.decode())
        async with gateway_to(ScriptedUpstream(redirecting)) as front:
            found.append((await front.generate("anthropic")).body.decode())
        async with gateway_to(ScriptedUpstream(failing(200, body=b'{"odd": 1}'))) as front:
            found.append((await front.generate("anthropic")).body.decode())
        return found

    lossy, redirect, odd = run(scenario())
    assert "raise the route's tolerance" in lossy
    assert "Upstream 'a' answered with status 302, a redirect to http://elsewhere/. Set its base_url" in redirect
    assert "Check the upstream's dialect and base_url" in odd
