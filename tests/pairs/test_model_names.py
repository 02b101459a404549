"""Model names with the resource prefix of Google: other dialects get the name without the prefix."""

from __future__ import annotations

import json

import pytest

import dragoman

VERTEX = "projects/p/locations/us/publishers/google/models/gemini-2.5-pro"
OTHERS = ("anthropic", "openai-chat", "openai-responses", "ollama", "openrouter", "code-assist")


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("name", ["models/gemini-2.5-pro", "publishers/google/models/gemini-2.5-pro", VERTEX])
def test_a_request_gets_the_model_name_without_the_prefix(name: str, target: str) -> None:
    body = {"model": name, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    done = dragoman.translate_request(body, source="gemini", target=target)
    assert (done.json()["model"], done.model, done.requested_model) == ("gemini-2.5-pro", "gemini-2.5-pro", name)


@pytest.mark.parametrize("name", ["accounts/fireworks/models/llama-v3", "openai/gpt-oss-120b", "tunedModels/mine"])
def test_other_model_names_are_unchanged(name: str) -> None:
    body = {"model": name, "messages": [{"role": "user", "content": "hi"}]}
    assert dragoman.translate_request(body, source="openai-chat", target="anthropic").json()["model"] == name


def test_a_model_name_from_the_caller_is_unchanged() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    done = dragoman.translate_request(body, source="openai-chat", target="anthropic", model="models/x")
    assert done.json()["model"] == "models/x"


def test_an_answer_gets_the_model_name_without_the_prefix() -> None:
    candidate = {"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    answer = {"candidates": [candidate], "modelVersion": "models/gemini-3", "responseId": "r", "usageMetadata": usage}
    for body in (answer, {**answer, "usageMetadata": None}):  # the fast path and the full path
        done = dragoman.translate_response(body, source="gemini", target="anthropic")
        assert done.json()["model"] == "gemini-3"
    stream = dragoman.StreamTranslator(source="gemini", target="anthropic")
    assert b'"model":"gemini-3"' in stream.feed(b"data: %b\n\n" % json.dumps(answer).encode())
    done = dragoman.translate_response(answer, source="gemini", target="code-assist")
    assert done.json()["response"]["modelVersion"] == "models/gemini-3"
