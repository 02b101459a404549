"""Token counts: what the upstream counts where it does, in the client's shape; else an estimate that says so."""

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
"""Where each dialect counts, of those that do."""
COUNTS: dict[str, dict[str, Any]] = {
    "anthropic": {"input_tokens": 4321},
    "code-assist": {"totalTokens": 4321},
    "gemini": {"totalTokens": 4321, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 4321}]},
    "openai-responses": {"object": "response.input_tokens", "input_tokens": 4321},
}
QUESTION = "how long is this"
ASKED: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "system": "be brief", "messages": [{"role": "user", "content": QUESTION}]},
    "code-assist": {"request": {"model": "models/m", "contents": [{"role": "user", "parts": [{"text": QUESTION}]}]}},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]},
    "openai-responses": {"model": "m", "input": QUESTION},
}


def counting(dialect: str, status: int = 200, body: Any = None) -> Scripted:
    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return status, [], json.dumps(COUNTS[dialect] if body is None else body).encode()

    return Scripted(answers)


def to(dialect: str, **fields: Any) -> Any:
    return lambda places: Config(upstreams={"u": Upstream(dialect, places[0], auth="none", models=("*",), **fields)})


@pytest.mark.parametrize("upstream", PLACES)
@pytest.mark.parametrize("client", PLACES)
def test_the_upstream_is_asked_in_its_own_words(client: str, upstream: str) -> None:
    behind = counting(upstream)
    received: Received = through(lambda base: ask(base, "POST", PLACES[client], ASKED[client]), to(upstream), behind)
    assert received.status == 200
    assert received.json() == (COUNTS[client] if client != "gemini" or client == upstream else {"totalTokens": 4321})
    assert "dragoman-estimate" not in received.headers
    asked = behind.seen[0]
    assert asked.path == PLACES[upstream]
    assert QUESTION in asked.body.decode()
    body = json.loads(asked.body)
    assert not {"max_tokens", "stream", "generationConfig", "store"} & set(body)
    if upstream == "gemini" and client != "gemini":
        assert body["generateContentRequest"]["model"] == "models/m"
    if upstream == "code-assist":
        assert body["request"]["model"] == "models/m"


@pytest.mark.parametrize("upstream", ["openai-chat", "openrouter", "ollama"])
@pytest.mark.parametrize("client", PLACES)
def test_where_nobody_counts_an_estimate_says_that_it_is_one(client: str, upstream: str) -> None:
    behind = counting("anthropic")
    received: Received = through(lambda base: ask(base, "POST", PLACES[client], ASKED[client]), to(upstream), behind)
    assert received.headers["dragoman-estimate"] == "true"
    assert 0 < received.json().get("input_tokens", received.json().get("totalTokens")) < 100
    assert behind.seen == []


def test_a_whole_request_is_counted_with_its_tools() -> None:
    behind = counting("anthropic")
    body = json.loads(payloads.request("openai-responses"))
    through(lambda base: ask(base, "POST", "/v1/responses/input_tokens", body), to("anthropic"), behind)
    sent = behind.bodies()[0]
    assert len(sent["tools"]) == len(body["tools"])
    assert set(sent) <= {"model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"}


def test_a_wrapped_gemini_request_is_counted() -> None:
    wrapped = {"generateContentRequest": {"model": "models/m", **ASKED["gemini"]}}
    same = counting("gemini")
    through(lambda base: ask(base, "POST", PLACES["gemini"], wrapped), to("gemini"), same)
    assert same.bodies() == [wrapped]
    other = counting("anthropic")
    through(lambda base: ask(base, "POST", PLACES["gemini"], wrapped), to("anthropic"), other)
    assert other.bodies()[0]["messages"][0]["role"] == "user"


def test_vertex_is_asked_at_its_own_place() -> None:
    behind = counting("gemini")
    config = to("gemini", project="p", location="eu")
    through(lambda base: ask(base, "POST", PLACES["anthropic"], ASKED["anthropic"]), config, behind)
    assert behind.seen[0].path == "/v1/projects/p/locations/eu/publishers/google/models/m:countTokens"
    assert behind.bodies()[0]["contents"][0]["parts"] == [{"text": QUESTION}]


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
    behind = counting("anthropic", status, body)
    received: Received = through(
        lambda base: ask(base, "POST", PLACES["openai-responses"], ASKED["openai-responses"]), to("anthropic"), behind
    )
    if kind == "estimate":
        assert received.headers["dragoman-estimate"] == "true"
    else:
        assert received.status == status
        assert received.json()["error"]["message"] == "x"


@pytest.mark.parametrize("client", PLACES)
def test_a_request_that_is_none_is_a_fault(client: str) -> None:
    received: Received = through(
        lambda base: ask(base, "POST", PLACES[client], b"[1"), to("anthropic"), counting("anthropic")
    )
    assert received.status == 400
    assert "error" in received.json()


def test_nobody_counts_for_a_model_that_nobody_serves() -> None:
    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("anthropic", places[0], auth="none", models=("claude-*",))})

    received: Received = through(
        lambda base: ask(base, "POST", PLACES["anthropic"], ASKED["anthropic"]), config, counting("anthropic")
    )
    assert received.status == 404
    assert received.json()["error"]["type"] == "not_found_error"
    unnamed: Received = through(
        lambda base: ask(base, "POST", PLACES["openai-responses"], {"input": QUESTION}), config, counting("anthropic")
    )
    assert unnamed.headers["dragoman-estimate"] == "true"


def test_sdks_count() -> None:
    def use(base: str) -> list[Any]:
        with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as one:
            first = one.messages.count_tokens(model="m", messages=[{"role": "user", "content": QUESTION}]).input_tokens
        with openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as two:
            second = two.responses.input_tokens.count(model="m", input=QUESTION).input_tokens
        three = genai.Client(api_key="k", http_options={"base_url": base})
        third = three.models.count_tokens(model="m", contents=QUESTION).total_tokens
        three.close()
        return [first, second, third]

    assert through(use, to("openai-responses"), counting("openai-responses")) == [4321] * 3
