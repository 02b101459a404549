"""Addresses: what every client calls is found, with its dialect, model and stream."""

from __future__ import annotations

import pytest

from dragoman.gateway.paths import Call, match


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("POST", "/v1/chat/completions", "", Call("generate", "openai-chat")),
        ("POST", "/v1/chat/completions/", "", Call("generate", "openai-chat")),
        ("POST", "/v1/responses", "", Call("generate", "openai-responses")),
        ("POST", "/v1/messages", "beta=true", Call("generate", "anthropic")),
        ("POST", "/v1/messages/count_tokens", "", Call("count", "anthropic")),
        ("POST", "/api/chat", "", Call("generate", "ollama")),
        ("POST", "/api/v1/chat/completions", "", Call("generate", "openrouter")),
        ("POST", "/v1beta/models/gemini-3:generateContent", "", Call("generate", "gemini", "gemini-3", False)),
        (
            "POST",
            "/v1beta/models/a%2Fb:streamGenerateContent",
            "alt=sse",
            Call("generate", "gemini", "a/b", True),
        ),
        ("POST", "/v1/models/a/b:streamGenerateContent", "", Call("generate", "gemini", "a/b", True, True)),
        (
            "POST",
            "/v1beta1/publishers/google/models/m:streamGenerateContent",
            "alt=sse&key=x",
            Call("generate", "gemini", "m", True),
        ),
        (
            "POST",
            "/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
            "",
            Call("generate", "gemini", "m", False),
        ),
        ("POST", "/v1beta/models/m:countTokens", "", Call("count", "gemini", "m")),
        ("POST", "/v1internal:streamGenerateContent", "alt=sse", Call("generate", "code-assist", "", True)),
        ("POST", "/v1internal:loadCodeAssist", "", Call("assist", "code-assist", rest="loadCodeAssist")),
        ("GET", "/v1beta/models", "", Call("models", "gemini")),
        ("GET", "/v1beta/models/m", "", Call("model", "gemini", "m")),
        ("GET", "/dragoman/exchanges/ex_1", "", Call("exchanges", "", rest="ex_1")),
        ("GET", "/healthz", "", Call("health", "")),
    ],
)
def test_every_client_finds_its_endpoint(method: str, path: str, query: str, expected: Call) -> None:
    assert match(method, path, query, {}) == expected


def test_the_model_list_goes_by_the_header() -> None:
    assert match("GET", "/v1/models", "", {}) == Call("models", "openai-chat")
    assert match("GET", "/v1/models", "", {"anthropic-version": "2023-06-01"}) == Call("models", "anthropic")
    assert match("GET", "/v1/models/a%2Fb", "", {}) == Call("model", "openai-chat", "a/b")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("POST", "/v1/embeddings"), ("PUT", "/v1internal:x"), ("GET", "/v1/x")]
)
def test_what_is_nothing_is_nothing(method: str, path: str) -> None:
    assert match(method, path, "", {}) is None
