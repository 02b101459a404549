"""Official SDKs ignore the keep-alive signs of a stream, before the first event and between events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from bench.streams import frames
from google import genai

from dragoman.gateway.config import Bounds
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from ..unit.gateway.helpers import ScriptedUpstream, gateway_to, run

ASKED = [{"role": "user", "content": "hi"}]
STORY = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames("openai-chat")]


async def halting(request: IncomingRequest, reply: ReplyWriter) -> None:
    await asyncio.sleep(0.4)
    reply.start(200, [("content-type", "text/event-stream")])
    for i, frame in enumerate(STORY):
        reply.write(frame)
        if i in (10, 80):
            await asyncio.sleep(0.4)
    reply.end()


def _completed(base: str) -> str:
    client = openai.OpenAI(base_url=base, api_key="k", max_retries=0)
    opened = client.chat.completions.stream(model="m", messages=ASKED)  # type: ignore[arg-type]
    with client, opened as stream:
        return str(stream.get_final_completion().choices[0].message.content)


def chat(base: str) -> str:
    return _completed(f"{base}/v1")


def openrouter(base: str) -> str:
    return _completed(f"{base}/api/v1")


def responses(base: str) -> str:
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0)
    with client, client.responses.stream(model="m", input="hi") as stream:
        return stream.get_final_response().output_text


def messages(base: str) -> str:
    client = anthropic.Anthropic(base_url=base, api_key="k", max_retries=0)
    opened = client.messages.stream(model="m", max_tokens=9, messages=ASKED)  # type: ignore[arg-type]
    with client, opened as stream:
        return "".join([block.text for block in stream.get_final_message().content if block.type == "text"])


def _texts(chunks: list[Any]) -> str:
    found = [chunk.candidates[0].content.parts or [] for chunk in chunks if chunk.candidates]
    return "".join([part.text for parts in found for part in parts if part.text])


def google(base: str) -> str:
    client = genai.Client(api_key="k", http_options={"base_url": base})
    try:
        return _texts(list(client.models.generate_content_stream(model="m", contents="hi")))
    finally:
        client.close()


def google_async(base: str) -> str:
    async def use_sdk() -> str:
        client = genai.Client(api_key="k", http_options={"base_url": base})
        try:
            stream = await client.aio.models.generate_content_stream(model="m", contents="hi")
            return _texts([chunk async for chunk in stream])
        finally:
            await client.aio.aclose()
            client.close()

    return asyncio.run(use_sdk())


@pytest.mark.parametrize("use", [chat, responses, openrouter, messages, google, google_async])
def test_an_sdk_ignores_keep_alive_signs(use: Callable[[str], str]) -> None:
    async def use_sdk() -> str:
        async with gateway_to(ScriptedUpstream(halting), bounds=Bounds(keep_alive=0.1, patience=0.1)) as front:
            return await asyncio.to_thread(use, f"http://127.0.0.1:{front.port}")

    assert run(use_sdk()).startswith("The window is over")
