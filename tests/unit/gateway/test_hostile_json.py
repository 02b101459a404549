"""JSON that decoders refuse, from clients and from upstreams: nested too deeply, with too large numbers, with half
characters. It is a fault with a reason (400, or 502 for JSON of an upstream), never a failure of the gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from bench import payloads

from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from .helpers import DIALECTS, Front, ScriptedUpstream, gateway_to, path_of, request_body, run, whole

VALUES = {
    **{f"a list {depth} deep": "[" * depth + "]" * depth for depth in (330, 500, 985, 3000)},
    **{f"an object {depth} deep": '{"a":' * depth + "0" + "}" * depth for depth in (330, 500, 985, 3000)},
    "half a character": '"\\ud800"',
    "a number beyond all doubles": "1e999",
    "too many digits": "9" * 6000,
    "a key that comes twice": '{"a":1,"a":2}',
}
ROUTES = (
    "/dragoman/translate",
    "/v1/messages/count_tokens",
    "/v1/responses/input_tokens",
    "/v1/responses/compact",
    "/v1/conversations",
    "/v1beta/models/m:countTokens",
    "/v1internal:countTokens",
    "/v1internal:loadCodeAssist",
    "/api/show",
)


def bodies(dialect: str, value: str) -> Iterator[bytes]:
    """Requests with the value in every field of their first level, and in the arguments and the schema of a tool."""
    request: dict[str, Any] = json.loads(request_body(dialect))
    yield value.encode()
    for key in (*request, "unknown", "tools", "metadata", "previous_response_id"):
        yield json.dumps({**request, key: "@@"}).replace('"@@"', value).encode()
    function = {"name": "f", "parameters": "@@"}
    tool = {"type": "function", "name": "f", "function": function, "input_schema": "@@"}
    yield json.dumps({**request, "tools": [tool]}).replace('"@@"', value).encode()


def bodies_without_exchange(value: str) -> Iterator[bytes]:
    """Bodies for the endpoints that start no exchange."""
    yield value.encode()
    named = ("model", "name", "items", "input", "metadata", "request", "generateContentRequest", "messages", "contents")
    yield json.dumps(dict.fromkeys(named, "@@")).replace('"@@"', value).encode()
    item = {"type": "@@", "role": "@@", "content": "@@"}
    yield json.dumps({"items": ["@@", item], "input": ["@@"], "model": "m"}).replace('"@@"', value).encode()
    for kind in ("request", "response", "tools", "stream"):
        for target in ("anthropic", "openai-chat"):
            for body in bodies("openai-chat", value):
                tried = {"body": body.decode(), "source": "openai-chat", "target": target, "kind": kind}
                yield json.dumps(tried).encode()


async def check(front: Front, path: str, body: bytes) -> None:
    received = await front.ask(path, body)
    assert received.status in (200, 400, 404, 413, 422, 502), (path, received, body[:200])
    if "dragoman-exchange" in received.headers:
        assert (await front.exchange(received))["id"]


@pytest.mark.parametrize("value", VALUES)
def test_hostile_requests_are_faults(value: str) -> None:
    async def scenario() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            for dialect in DIALECTS:
                for body in bodies(dialect, VALUES[value]):
                    await check(front, path_of(dialect), body)
            for path in ROUTES:
                for body in (
                    bodies_without_exchange(VALUES[value])
                    if path == ROUTES[0]
                    else list(bodies_without_exchange(VALUES[value]))[:3]
                ):
                    await check(front, path, body)

    run(scenario())


@pytest.mark.parametrize("upstream", DIALECTS)
def test_hostile_answers_are_faults(upstream: str) -> None:
    """The value is in every field of the first level of an answer, an error, a list of models and a count."""
    answer = json.loads(payloads.response(upstream))
    sent = {"kind": "", "body": b""}

    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(200, [("content-type", str(sent["kind"]))], bytes(sent["body"]))

    async def scenario() -> None:
        async with gateway_to(ScriptedUpstream(step, dialect=upstream)) as front:
            for value in VALUES.values():
                texts = [json.dumps({**answer, key: "@@"}) for key in (*answer, "unknown")]
                texts += ['"@@"', '{"error":"@@"}', '{"error":{"message":"@@","code":"@@","type":"@@"}}']
                texts += ['{"data":[{"id":"@@"}],"models":[{"name":"@@"}],"input_tokens":"@@","totalTokens":"@@"}']
                for body in [one.replace('"@@"', value).encode() for one in texts]:
                    sent.update(kind="application/json", body=body)
                    for client in ("anthropic", upstream):
                        assert b"gateway failed" not in (await front.generate(client)).body, body[:200]
                    for path, question in (
                        ("/v1/models", None),
                        ("/v1/messages/count_tokens", request_body("anthropic")),
                    ):
                        assert b"gateway failed" not in (await front.ask(path, question)).body, body[:200]
                    sent.update(kind="text/event-stream", body=b"data: %b\n\n" % body)
                    for client in ("anthropic", upstream):
                        assert b"gateway failed" not in (await front.generate(client, stream=True)).body, body[:200]

    run(scenario())
