"""Token counts: the count of the upstream in the form of the client, or a marked estimate."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest
from bench import payloads
from google import genai

from dragoman.gateway.config import Config, Upstream
from dragoman.gateway.http.server import IncomingRequest

from ..gateway_and_upstreams import Received, Scripted, ask, through

PLACES = {
    "anthropic": "/v1/messages/count_tokens",
    "code-assist": "/v1internal:countTokens",
    "gemini": "/v1beta/models/m:countTokens",
    "openai-responses": "/v1/responses/input_tokens",
}
"""The path of the token count in each dialect that has one."""
COUNTS: dict[str, dict[str, Any]] = {
    "anthropic": {"input_tokens": 4321},
    "code-assist": {"totalTokens": 4321},
    "gemini": {"totalTokens": 4321, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 4321}]},
    "openai-responses": {"object": "response.input_tokens", "input_tokens": 4321},
}
QUESTION = "how long is this"
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "system": "be brief", "messages": [{"role": "user", "content": QUESTION}]},
    "code-assist": {"request": {"model": "models/m", "contents": [{"role": "user", "parts": [{"text": QUESTION}]}]}},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]},
    "openai-responses": {"model": "m", "input": QUESTION},
}


def counting(dialect: str, status: int = 200, body: Any = None) -> Scripted:
    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return status, [], json.dumps(COUNTS[dialect] if body is None else body).encode()

    return Scripted(answers)


def config_to(dialect: str, **fields: Any) -> Any:
    return lambda places: Config(upstreams={"u": Upstream(dialect, places[0], auth="none", models=("*",), **fields)})


@pytest.mark.parametrize("upstream", PLACES)
@pytest.mark.parametrize("client", PLACES)
def test_the_count_request_is_translated_for_the_upstream(client: str, upstream: str) -> None:
    upstream_server = counting(upstream)
    received: Received = through(
        lambda base: ask(base, "POST", PLACES[client], BODIES[client]), config_to(upstream), upstream_server
    )
    assert received.status == 200
    assert received.json() == (COUNTS[client] if client != "gemini" or client == upstream else {"totalTokens": 4321})
    assert "dragoman-estimate" not in received.headers
    sent = upstream_server.seen[0]
    assert sent.path == PLACES[upstream]
    assert QUESTION in sent.body.decode()
    body = json.loads(sent.body)
    assert not {"max_tokens", "stream", "generationConfig", "store"} & set(body)
    if upstream == "gemini" and client != "gemini":
        assert body["generateContentRequest"]["model"] == "models/m"
    if upstream == "code-assist":
        assert body["request"]["model"] == "models/m"


@pytest.mark.parametrize("upstream", ["openai-chat", "openrouter", "ollama"])
@pytest.mark.parametrize("client", PLACES)
def test_an_upstream_without_counts_gives_a_marked_estimate(client: str, upstream: str) -> None:
    upstream_server = counting("anthropic")
    received: Received = through(
        lambda base: ask(base, "POST", PLACES[client], BODIES[client]), config_to(upstream), upstream_server
    )
    assert received.headers["dragoman-estimate"] == "true"
    assert 0 < received.json().get("input_tokens", received.json().get("totalTokens")) < 100
    assert upstream_server.seen == []


def test_a_whole_request_is_counted_with_its_tools() -> None:
    upstream_server = counting("anthropic")
    body = json.loads(payloads.request("openai-responses"))
    through(lambda base: ask(base, "POST", "/v1/responses/input_tokens", body), config_to("anthropic"), upstream_server)
    sent = upstream_server.bodies()[0]
    assert len(sent["tools"]) == len(body["tools"])
    assert set(sent) <= {"model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"}


def test_a_wrapped_gemini_request_is_counted() -> None:
    wrapped = {"generateContentRequest": {"model": "models/m", **BODIES["gemini"]}}
    same = counting("gemini")
    through(lambda base: ask(base, "POST", PLACES["gemini"], wrapped), config_to("gemini"), same)
    assert same.bodies() == [wrapped]
    other = counting("anthropic")
    through(lambda base: ask(base, "POST", PLACES["gemini"], wrapped), config_to("anthropic"), other)
    assert other.bodies()[0]["messages"][0]["role"] == "user"


def test_a_count_request_to_vertex_goes_to_the_project_path() -> None:
    upstream_server = counting("gemini")
    config = config_to("gemini", project="p", location="eu")
    through(lambda base: ask(base, "POST", PLACES["anthropic"], BODIES["anthropic"]), config, upstream_server)
    assert upstream_server.seen[0].path == "/v1/projects/p/locations/eu/publishers/google/models/m:countTokens"
    assert upstream_server.bodies()[0]["contents"][0]["parts"] == [{"text": QUESTION}]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, {"type": "error", "error": {"type": "not_found_error", "message": "x"}}, "estimate"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "estimate"),
        (200, ["nonsense"], "estimate"),
        (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}, "fault"),
    ],
)
def test_an_upstream_that_fails_gives_an_estimate_unless_the_client_is_at_fault(
    status: int, body: Any, kind: str
) -> None:
    upstream_server = counting("anthropic", status, body)
    received: Received = through(
        lambda base: ask(base, "POST", PLACES["openai-responses"], BODIES["openai-responses"]),
        config_to("anthropic"),
        upstream_server,
    )
    if kind == "estimate":
        assert received.headers["dragoman-estimate"] == "true"
    else:
        assert received.status == status
        assert received.json()["error"]["message"] == "x"


@pytest.mark.parametrize("client", PLACES)
def test_a_body_that_is_no_request_is_a_fault(client: str) -> None:
    received: Received = through(
        lambda base: ask(base, "POST", PLACES[client], b"[1"), config_to("anthropic"), counting("anthropic")
    )
    assert received.status == 400
    assert "error" in received.json()


def test_a_model_without_upstream_is_a_fault() -> None:
    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("anthropic", places[0], auth="none", models=("claude-*",))})

    received: Received = through(
        lambda base: ask(base, "POST", PLACES["anthropic"], BODIES["anthropic"]), config, counting("anthropic")
    )
    assert received.status == 404
    assert received.json()["error"]["type"] == "not_found_error"
    unnamed: Received = through(
        lambda base: ask(base, "POST", PLACES["openai-responses"], {"input": QUESTION}), config, counting("anthropic")
    )
    assert unnamed.headers["dragoman-estimate"] == "true"


def test_sdks_read_the_counts() -> None:
    def use(base: str) -> list[Any]:
        with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as one:
            first = one.messages.count_tokens(model="m", messages=[{"role": "user", "content": QUESTION}]).input_tokens
        with openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as two:
            second = two.responses.input_tokens.count(model="m", input=QUESTION).input_tokens
        three = genai.Client(api_key="k", http_options={"base_url": base})
        third = three.models.count_tokens(model="m", contents=QUESTION).total_tokens
        three.close()
        return [first, second, third]

    assert through(use, config_to("openai-responses"), counting("openai-responses")) == [4321] * 3
