"""Google's own SDK as a client: both APIs, express and project paths, names with a slash, lists and arrays."""

from __future__ import annotations

import json
from typing import Any

import google.auth.credentials
import pytest
from bench import payloads
from google import genai

from dragoman.gateway.config import Config, Upstream

from .gateway_and_upstreams import Scripted, ask, through


class Token(google.auth.credentials.Credentials):
    """Credentials that need no server."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.token = "ya29.own"

    def refresh(self, request: Any) -> None:
        self.token = "ya29.own"


WAYS: dict[str, dict[str, Any]] = {
    "developer": {"api_key": "k"},
    "express": {"vertexai": True, "api_key": "k"},
    "project": {"vertexai": True, "project": "p", "location": "eu", "credentials": Token()},
}


@pytest.mark.parametrize("version", ["v1", "v1beta", "v1beta1"])
@pytest.mark.parametrize("way", WAYS)
def test_the_sdk_is_served_with_every_api_and_version(way: str, version: str) -> None:
    upstream = Scripted(lambda request: (200, [], payloads.response("openai-chat")))

    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("openai-chat", places[0], auth="client", models=("*",))})

    def use(base: str) -> Any:
        client = genai.Client(**WAYS[way], http_options={"base_url": base, "api_version": version})
        try:
            answer = client.models.generate_content(model="maker/model", contents="hi")
            counted = client.models.count_tokens(model="maker/model", contents="hi").total_tokens
        finally:
            client.close()
        return [call.name for call in answer.function_calls or ()], counted

    calls, counted = through(use, config, upstream)
    assert len(calls) == 2
    assert counted > 0
    sent = upstream.seen[0]
    assert sent.headers["authorization"] == ("Bearer ya29.own" if way == "project" else "Bearer k")
    assert json.loads(sent.body)["model"] == "maker/model"


@pytest.mark.parametrize("name", ["maker/model", "maker%2Fmodel", "models%2Fmaker%2Fmodel"])
def test_a_model_name_may_contain_a_slash(name: str) -> None:
    upstream = Scripted(lambda request: (200, [], payloads.response("openai-chat")))

    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("openai-chat", places[0], auth="none", models=("*",))})

    path = f"/v1beta/models/{name}:generateContent" if "models" not in name else f"/v1beta/{name}:generateContent"
    received = through(lambda base: ask(base, "POST", path, payloads.request("gemini")), config, upstream)
    assert received.status == 200
    assert upstream.bodies()[0]["model"] == "maker/model"


def test_a_stream_without_sse_is_one_array() -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    received = through(
        lambda base: ask(base, "POST", "/v1beta/models/m:streamGenerateContent", body), lambda places: Config()
    )
    assert received.headers["content-type"] == "application/json"
    chunks = received.json()
    assert isinstance(chunks, list)
    assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"
