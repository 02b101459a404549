"""Lone surrogates through the gateway: requests and answers pass, translated or not, and the loss is reported."""

from __future__ import annotations

import json

import pytest

from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from .helpers import DIALECTS, Received, ScriptedUpstream, gateway_to, path_of, request_body, run

ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "done \ud83d"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


async def _answer(request: IncomingRequest, reply: ReplyWriter) -> None:
    reply.send(200, [("content-type", "application/json")], json.dumps(ANSWER).encode())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_half_a_character_passes_in_a_request_and_in_an_answer(dialect: str) -> None:
    scripted = ScriptedUpstream(_answer)
    sent = request_body(dialect).replace(b'"hi"', rb'"hi \ud83d"')

    async def scenario() -> Received:
        async with gateway_to(scripted) as front:
            return await front.ask(path_of(dialect), sent)

    received: Received = run(scenario())
    assert received.status == 200
    (seen,) = scripted.seen
    if dialect == "openai-chat":
        assert seen.body == sent
        assert received.body == json.dumps(ANSWER).encode()
        return
    assert json.loads(seen.body)["messages"][-1]["content"] == "hi \ufffd"
    assert "done \ufffd" in json.dumps(received.json(), ensure_ascii=False)
    assert "character.replaced" in received.headers["dragoman-losses"]


@pytest.mark.parametrize("stored", [True, False])
def test_a_stored_response_with_half_a_character_is_continued(stored: bool) -> None:
    """The gateway stores responses itself for an upstream of another dialect."""
    scripted = ScriptedUpstream(_answer)

    async def scenario() -> list[Received]:
        async with gateway_to(scripted) as front:
            body = {"model": "m", "input": "hi \ud83d", "store": stored}
            first = await front.ask("/v1/responses", json.dumps(body).encode())
            body = {"model": "m", "input": "more \ud83d", "previous_response_id": first.json()["id"]}
            return [first, await front.ask("/v1/responses", json.dumps(body).encode())]

    first, second = run(scenario())
    assert first.status == 200
    assert second.status == (200 if stored else 400)
    if stored:
        text = [message["content"] for message in json.loads(scripted.seen[1].body)["messages"]]
        assert text == ["hi \ufffd", "done \ufffd", "more \ufffd"]


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/v1/responses/input_tokens"])
def test_tokens_of_a_text_with_half_a_character_are_counted(path: str) -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(_answer)) as front:
            body = {"model": "m", "input": "hi \ud83d", "messages": [{"role": "user", "content": "hi \ud83d"}]}
            body.pop("input" if "messages" in path else "messages")
            return await front.ask(path, json.dumps(body).encode())

    received: Received = run(scenario())
    assert received.status == 200
    assert received.json()["input_tokens"] > 0
