"""Official SDKs through a gateway on loopback, with a scripted upstream of each dialect."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import anthropic
import ollama
import openai
import pytest
from bench import payloads
from bench.streams import frames
from google import genai

from dragoman.gateway.app import Gateway
from dragoman.gateway.config import check_config, load, one_upstream
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server

UPSTREAMS = list(payloads.names())
ASKED = [{"role": "user", "content": "hi"}]


class Upstream:
    """An upstream that answers with the benchmark's text and keeps the requests."""

    def __init__(self, dialect: str, *, status: int = 200, body: bytes = b"", cut: bool = False) -> None:
        self.dialect = dialect
        self.seen: list[IncomingRequest] = []
        self._status, self._body, self._cut = status, body, cut

    async def handle(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        self.seen.append(request)
        if self._status != 200:
            reply.send(self._status, [("retry-after", "0")], self._body)
        elif b'"stream":true' in request.body or "stream" in request.path:
            reply.start(200, [])
            story = frames(self.dialect)
            for frame in story[: len(story) // 2] if self._cut else story:
                reply.write(frame)
                await asyncio.sleep(0)
            if self._cut:
                reply.break_off()
            else:
                reply.end()
        else:
            reply.send(200, [], payloads.response(self.dialect))


def run_through_gateway(upstream: Upstream, use: Callable[[str], Any]) -> Any:
    """Run `use` in a thread, with the address of a gateway in front of `upstream`."""

    async def inner() -> Any:
        server = Server(upstream.handle)
        port = await server.start("127.0.0.1", 0)
        gateway = Gateway(check_config(one_upstream(f"http://127.0.0.1:{port}", upstream.dialect), "test"), {})
        front = Server(gateway.handle)
        base = f"http://127.0.0.1:{await front.start('127.0.0.1', 0)}"
        try:
            return await asyncio.wait_for(asyncio.to_thread(use, base), 60)
        finally:
            await front.stop(1)
            await server.stop(1)
            gateway.close()

    return asyncio.run(inner())


def chat(base: str) -> Any:
    with openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as client:
        whole = client.chat.completions.create(model="m", messages=ASKED)  # type: ignore[arg-type]
        with client.chat.completions.stream(model="m", messages=ASKED) as stream:  # type: ignore[arg-type]
            final = stream.get_final_completion()
    calls = [[call.function.name for call in one.choices[0].message.tool_calls or ()] for one in (whole, final)]
    return calls, [one.choices[0].finish_reason for one in (whole, final)]


def responses(base: str) -> Any:
    with openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as client:
        whole = client.responses.create(model="m", input="hi")
        with client.responses.stream(model="m", input="hi") as stream:
            final = stream.get_final_response()
    calls = [[item.name for item in one.output if item.type == "function_call"] for one in (whole, final)]
    return calls, [one.status for one in (whole, final)]


def messages(base: str) -> Any:
    with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as client:
        whole = client.messages.create(model="m", max_tokens=9, messages=ASKED)  # type: ignore[arg-type]
        with client.messages.stream(model="m", max_tokens=9, messages=ASKED) as stream:  # type: ignore[arg-type]
            final = stream.get_final_message()
    calls = [[block.name for block in one.content if block.type == "tool_use"] for one in (whole, final)]
    return calls, [one.stop_reason for one in (whole, final)]


def generate(base: str) -> Any:
    client = genai.Client(api_key="k", http_options={"base_url": base})
    whole = client.models.generate_content(model="m", contents="hi")
    streamed = list(client.models.generate_content_stream(model="m", contents="hi"))
    client.close()
    calls = [
        [call.name for call in whole.function_calls or ()],
        [call.name for chunk in streamed for call in chunk.function_calls or ()],
    ]
    ends = [whole.candidates[0].finish_reason, streamed[-1].candidates[0].finish_reason]  # type: ignore[index]
    return calls, [end.value for end in ends if end is not None]


def local(base: str) -> Any:
    client = ollama.Client(host=base)
    whole = client.chat(model="m", messages=ASKED)
    streamed = list(client.chat(model="m", messages=ASKED, stream=True))
    client._client.close()
    calls = [
        [call.function.name for call in whole.message.tool_calls or ()],
        [call.function.name for chunk in streamed for call in chunk.message.tool_calls or ()],
    ]
    return calls, [whole.done_reason, streamed[-1].done_reason]


CLIENTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "openai-chat": (chat, "tool_calls"),
    "openai-responses": (responses, "completed"),
    "anthropic": (messages, "tool_use"),
    "gemini": (generate, "STOP"),
    "ollama": (local, "stop"),
}


@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_sdk_gets_calls_in_a_body_and_in_a_stream(client: str, upstream: str) -> None:
    use, end = CLIENTS[client]
    calls, ends = run_through_gateway(Upstream(upstream), use)
    assert calls[0] == calls[1][:1] + calls[0][1:]
    assert len(calls[0]) == 2
    assert calls[1]
    assert ends == [end, end]


@pytest.mark.parametrize("upstream", UPSTREAMS)
def test_a_cut_stream_is_an_error_for_the_client(upstream: str) -> None:
    def use(base: str) -> str:
        with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as client:
            opened = client.messages.stream(model="m", max_tokens=9, messages=ASKED)  # type: ignore[arg-type]
            with pytest.raises(anthropic.APIError) as caught, opened as stream:
                stream.get_final_message()
        return str(caught.value)

    assert run_through_gateway(Upstream(upstream, cut=True), use)


def test_after_the_retries_the_client_gets_the_fault_in_its_dialect() -> None:
    body = b'{"error": {"message": "slow down", "type": "rate_limit_error", "code": null, "param": null}}'
    upstream = Upstream("openai-chat", status=429, body=body)

    def use(base: str) -> tuple[Any, ...]:
        speaking = anthropic.Anthropic(base_url=base, api_key="k", max_retries=0)
        with speaking as client, pytest.raises(anthropic.RateLimitError) as caught:
            client.messages.create(model="m", max_tokens=9, messages=ASKED)  # type: ignore[arg-type]
        return caught.value.status_code, caught.value.body

    status, answer = run_through_gateway(upstream, use)
    message = "slow down (upstream 'upstream', status 429)"
    assert (status, answer["error"]["type"], answer["error"]["message"]) == (429, "rate_limit_error", message)
    assert len(upstream.seen) == 3


def test_a_bad_request_is_refused_with_its_path_and_not_sent() -> None:
    upstream = Upstream("anthropic")

    def use(base: str) -> tuple[int, Any]:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": 7}]}).encode()
        request = urllib.request.Request(f"{base}/v1/chat/completions", body, {"content-type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        with caught.value as error:
            return error.code, json.loads(error.read())

    status, answer = run_through_gateway(upstream, use)
    assert status == 400
    assert "/messages/0/content" in answer["error"]["message"]
    assert upstream.seen == []


def test_exchanges_can_be_read_and_contain_no_secret() -> None:
    def use(base: str) -> str:
        with anthropic.Anthropic(base_url=base, api_key="sk-ant-very-secret-key", max_retries=0) as client:
            raw = client.messages.with_raw_response.create(model="m", max_tokens=9, messages=ASKED)  # type: ignore[arg-type]
        name = raw.headers["dragoman-exchange"]
        answer = []
        for path in ("/dragoman/exchanges", f"/dragoman/exchanges/{name}"):
            with urllib.request.urlopen(base + path) as page:
                answer.append(page.read().decode())
        assert name in answer[0]
        return "".join(answer)

    answer = run_through_gateway(Upstream("openai-chat"), use)
    assert '"upstream_dialect":"openai-chat"' in answer
    assert "very-secret" not in answer


@pytest.mark.parametrize("client", CLIENTS)
def test_without_any_upstream_the_rehearsal_answers_every_sdk(client: str) -> None:
    async def inner() -> Any:
        gateway = Gateway(load(None, {}), {})
        front = Server(gateway.handle)
        base = f"http://127.0.0.1:{await front.start('127.0.0.1', 0)}"
        try:
            return await asyncio.wait_for(asyncio.to_thread(CLIENTS[client][0], base), 60)
        finally:
            await front.stop(1)

    calls, ends = asyncio.run(inner())
    assert calls == [[], []]
    assert ends[0] == ends[1]


def test_token_counts_are_available_in_each_dialect_and_marked_as_estimates() -> None:
    def use(base: str) -> list[int]:
        with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as client:
            first = client.messages.count_tokens(model="m", messages=ASKED)  # type: ignore[arg-type]
        google = genai.Client(api_key="k", http_options={"base_url": base})
        second = google.models.count_tokens(model="m", contents="hi")
        google.close()
        return [first.input_tokens, second.total_tokens or 0]

    assert all(count > 0 for count in run_through_gateway(Upstream("openai-chat"), use))
