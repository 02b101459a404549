"""Seals of Google and OpenAI move between OpenRouter and the provider only if the account is the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault, dialects
from tests.seals.continuing_clients import Client

Json = Any

SEAL, OTHER = "c2VhbGVk", "b3RoZXI="
CALLS = [
    {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
    {"id": "call_2", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
]
GPT, ROUTED_GPT = "gpt-5.2", "openai/gpt-5.2"
GEMINI, ROUTED_GEMINI = "gemini-3-pro-preview", "google/gemini-3-pro-preview"
SUMMARY = {"type": "reasoning.summary", "summary": "Hm.", "format": "openai-responses-v1", "index": 0}
ENCRYPTED = {"type": "reasoning.encrypted", "data": SEAL, "format": "openai-responses-v1", "id": "rs_1", "index": 0}
CLIENTS = [name for name in dialects.names() if name != "ollama"]


def _openrouter_answer(details: list[Json], model: str, content: str | None = None) -> Json:
    message: Json = {"role": "assistant", "content": content, "reasoning_details": details}
    if content is None:
        message["tool_calls"] = CALLS
    choice = {"index": 0, "message": message, "finish_reason": "stop" if content else "tool_calls"}
    return {"id": "gen-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}


def _gemini_answer(parts: list[Json]) -> Json:
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "modelVersion": GEMINI,
    }


def _responses_answer() -> Json:
    summary = [{"type": "summary_text", "text": "Hm."}]
    output = [
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": SEAL},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": "{}"},
    ]
    return {"id": "resp_1", "object": "response", "status": "completed", "model": GPT, "output": output}


def _next(
    client: str, upstream: str, model: str, answer: Json, to: str, to_model: str, *, same_account: bool
) -> dragoman.Translation:
    """The next request of a client to upstream `to`. The first answer came from `upstream`."""
    person, vault = Client(client, model, whole=True), MemoryVault()
    person.say("what is there?")
    first = person.request(stream=False)
    sent_request = dragoman.translate_request(first, source=client, target=upstream, model=model, vault=vault)
    translated = dragoman.translate_response(answer, source=upstream, target=client, answers=sent_request, vault=vault)
    person.append_answer(translated.json())
    if not _has_calls(answer):
        person.say("go on")
    second = person.request(stream=False)
    return dragoman.translate_request(
        second, source=client, target=to, model=to_model, vault=vault, same_account=same_account
    )


def _has_calls(answer: Json) -> bool:
    return "weather" in json.dumps(answer)


def _codes(sent: dragoman.Translation) -> list[str]:
    return [loss.code for loss in sent.losses]


def _signed(sent: dragoman.Translation) -> list[Json]:
    return [part for content in sent.json()["contents"] for part in content["parts"] if "thoughtSignature" in part]


def _assistant(sent: dragoman.Translation) -> Json:
    return next(message for message in sent.json()["messages"] if message["role"] == "assistant")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_seal_moves_from_openrouter_to_responses(client: str) -> None:
    answer = _openrouter_answer([SUMMARY, ENCRYPTED], ROUTED_GPT)
    arguments = (client, "openrouter", ROUTED_GPT, answer, "openai-responses", GPT)
    sent = _next(*arguments, same_account=True)
    items = [item for item in sent.json()["input"] if item.get("type") == "reasoning"]
    summary = [{"type": "summary_text", "text": "Hm."}]
    assert items == [{"type": "reasoning", "summary": summary, "encrypted_content": SEAL}]
    assert "seal.dropped" not in _codes(sent)
    other_account = _next(*arguments, same_account=False)
    assert SEAL not in [item.get("encrypted_content") for item in other_account.json()["input"]]
    assert "seal.dropped" in _codes(other_account)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("named", [True, False])
def test_a_seal_moves_from_openrouter_to_gemini(client: str, named: bool) -> None:
    """Only the first of several calls gets a signature, also if the entry does not name the call."""
    thought = {"type": "reasoning.text", "text": "Hm.", "format": "google-gemini-v1", "index": 0}
    entry = {"type": "reasoning.encrypted", "data": SEAL, "format": "google-gemini-v1", "index": 0}
    if named:
        entry["id"] = "call_1"
    answer = _openrouter_answer([thought, entry], ROUTED_GEMINI)
    arguments = (client, "openrouter", ROUTED_GEMINI, answer, "gemini", GEMINI)
    sent = _next(*arguments, same_account=True)
    calls = [part for content in sent.json()["contents"] for part in content["parts"] if "functionCall" in part]
    assert [part.get("thoughtSignature") for part in calls] == [SEAL, None]
    assert "seal.dropped" not in _codes(sent) and "seal.dummy" not in _codes(sent)
    other_account = _next(*arguments, same_account=False)
    assert SEAL not in [part["thoughtSignature"] for part in _signed(other_account)]
    assert "seal.dropped" in _codes(other_account)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("slot", ["data", "signature"])
def test_the_seal_of_a_text_moves_from_openrouter_to_gemini(client: str, slot: str) -> None:
    kind = "reasoning.encrypted" if slot == "data" else "reasoning.text"
    entry = {"type": kind, slot: SEAL, "format": "google-gemini-v1", "index": 0}
    answer = _openrouter_answer([entry], ROUTED_GEMINI, "Rain.")
    arguments = (client, "openrouter", ROUTED_GEMINI, answer, "gemini", GEMINI)
    assert _signed(_next(*arguments, same_account=True)) == [{"text": "Rain.", "thoughtSignature": SEAL}]
    other_account = _next(*arguments, same_account=False)
    assert _signed(other_account) == []
    assert "seal.dropped" in _codes(other_account)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_seal_moves_from_responses_to_openrouter(client: str) -> None:
    arguments = (client, "openai-responses", GPT, _responses_answer(), "openrouter", ROUTED_GPT)
    sent = _next(*arguments, same_account=True)
    details = _assistant(sent)["reasoning_details"]
    kept = [{name: value for name, value in entry.items() if name not in ("index", "id")} for entry in details]
    wanted = [SUMMARY, ENCRYPTED]
    assert kept == [{name: value for name, value in one.items() if name not in ("index", "id")} for one in wanted]
    assert "seal.dropped" not in _codes(sent)
    other_account = _next(*arguments, same_account=False)
    assert SEAL not in [entry.get("data") for entry in _assistant(other_account).get("reasoning_details", [])]
    assert "seal.dropped" in _codes(other_account)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_seal_moves_from_gemini_to_openrouter(client: str) -> None:
    parts = [
        {"functionCall": {"id": "call_1", "name": "weather", "args": {}}, "thoughtSignature": SEAL},
        {"functionCall": {"id": "call_2", "name": "weather", "args": {}}},
    ]
    arguments = (client, "gemini", GEMINI, _gemini_answer(parts), "openrouter", ROUTED_GEMINI)
    sent = _next(*arguments, same_account=True)
    message = _assistant(sent)
    (entry,) = message["reasoning_details"]
    first = message["tool_calls"][0]["id"]
    assert entry == {
        "type": "reasoning.encrypted",
        "data": SEAL,
        "format": "google-gemini-v1",
        "id": first,
        "index": 0,
    }
    assert "seal.dropped" not in _codes(sent)
    other_account = _next(*arguments, same_account=False)
    assert SEAL not in [entry.get("data") for entry in _assistant(other_account).get("reasoning_details", [])]
    assert "seal.dropped" in _codes(other_account)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_seal_of_a_text_moves_from_gemini_to_openrouter(client: str) -> None:
    answer = _gemini_answer([{"text": "Rain.", "thoughtSignature": SEAL}])
    sent = _next(client, "gemini", GEMINI, answer, "openrouter", ROUTED_GEMINI, same_account=True)
    message = _assistant(sent)
    assert message["content"] == "Rain."
    entry = {"type": "reasoning.encrypted", "data": SEAL, "format": "google-gemini-v1", "index": 0}
    assert message["reasoning_details"] == [entry]


@pytest.mark.parametrize("client", CLIENTS)
def test_another_model_does_not_get_the_seals(client: str) -> None:
    answer = _openrouter_answer([SUMMARY, ENCRYPTED], ROUTED_GPT)
    sent = _next(client, "openrouter", ROUTED_GPT, answer, "openai-responses", "gpt-5.1", same_account=True)
    sealed = [item.get("encrypted_content") for item in sent.json()["input"]]
    assert SEAL not in sealed or client == "openrouter"  # OpenRouter's details do not name their model.


def test_entries_of_another_provider_are_dropped() -> None:
    entry = {**ENCRYPTED, "format": "xai-responses-v1"}
    answer = _openrouter_answer([entry], ROUTED_GPT)
    sent = _next("anthropic", "openrouter", ROUTED_GPT, answer, "openai-responses", GPT, same_account=True)
    assert SEAL not in sent.body.decode()
    assert "seal.dropped" in _codes(sent)


def test_the_setting_has_no_effect_on_other_dialects() -> None:
    answer = _openrouter_answer([ENCRYPTED], ROUTED_GPT)
    for to in ("anthropic", "code-assist", "openai-chat"):
        sent = _next("anthropic", "openrouter", ROUTED_GPT, answer, to, GPT, same_account=True)
        assert SEAL not in sent.body.decode()


def test_with_the_strategy_skip_no_seal_is_sent() -> None:
    message = {"role": "assistant", "content": "So.", "reasoning_details": [SUMMARY, ENCRYPTED]}
    messages = [{"role": "user", "content": "hi"}, message, {"role": "user", "content": "go on"}]
    body = {"model": ROUTED_GPT, "messages": messages}
    sent = dragoman.translate_request(
        body, source="openrouter", target="openai-responses", model=GPT, seals="skip", same_account=True
    )
    assert SEAL not in sent.body.decode()
    assert "seal.dropped" in _codes(sent)
