"""Official SDKs on a gateway with a wrong key for its upstream: one attempt, no login, and a clear message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai

from dragoman.gateway.app import Gateway
from dragoman.gateway.config import Config, Upstream, check_config
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server

ASKED: Any = [{"role": "user", "content": "hi"}]


def chat(base: str) -> None:
    with openai.OpenAI(base_url=f"{base}/v1", api_key="any") as client:
        client.chat.completions.create(model="m", messages=ASKED)


def responses(base: str) -> None:
    with openai.OpenAI(base_url=f"{base}/v1", api_key="any") as client:
        client.responses.create(model="m", input="hi")


def messages(base: str) -> None:
    with anthropic.Anthropic(base_url=base, api_key="any") as client:
        client.messages.create(model="m", max_tokens=9, messages=ASKED)


def generate(base: str) -> None:
    with genai.Client(api_key="any", http_options={"base_url": base}) as client:
        client.models.generate_content(model="m", contents="hi")


def local(base: str) -> None:
    client = ollama.Client(host=base)
    try:
        client.chat(model="m", messages=ASKED)
    finally:
        client._client.close()  # The client has no public method to close.


@pytest.mark.parametrize(
    ("use", "error", "status"),
    [
        (chat, openai.BadRequestError, 400),
        (responses, openai.BadRequestError, 400),
        (messages, anthropic.APIStatusError, 424),
        (generate, genai.errors.ClientError, 400),
        (local, ollama.ResponseError, 400),
    ],
)
def test_a_refused_key_is_shown_at_once(use: Callable[[str], None], error: type[Exception], status: int) -> None:
    requests: list[IncomingRequest] = []

    async def handle(request: IncomingRequest, reply: ReplyWriter) -> None:
        requests.append(request)
        reply.send(401, [("content-type", "application/json")], b'{"error": {"message": "Incorrect API key provided"}}')

    async def use_gateway() -> Exception:
        attempts = 0

        async def counted(request: IncomingRequest, reply: ReplyWriter) -> None:
            nonlocal attempts
            attempts += 1
            await gateway.handle(request, reply)

        upstream, front = Server(handle), Server(counted)
        place = f"http://127.0.0.1:{await upstream.start('127.0.0.1', 0)}"
        there = Upstream("openai-chat", place, "THERE_KEY", models=("*",))
        gateway = Gateway(check_config(Config(upstreams={"there": there}), "test"), {"THERE_KEY": "wrong-key"})
        base = f"http://127.0.0.1:{await front.start('127.0.0.1', 0)}"
        try:
            with pytest.raises(error) as raised:
                await asyncio.wait_for(asyncio.to_thread(use, base), 60)
        finally:
            await front.stop(1)
            await upstream.stop(1)
            gateway.close()
        assert attempts == 1
        return raised.value

    shown_error = asyncio.run(use_gateway())
    assert "Upstream 'there' refused the key in THERE_KEY (status 401: Incorrect API key provided)" in str(shown_error)
    assert not isinstance(shown_error, openai.AuthenticationError | anthropic.AuthenticationError)
    assert getattr(shown_error, "status_code", getattr(shown_error, "code", None)) == status
    assert len(requests) == 1
