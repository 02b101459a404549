"""Anthropic's signatures move between Anthropic and OpenRouter. Google's and OpenAI's return to OpenRouter only."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault, dialects
from tests.seals.continuing_clients import Client

Json = Any

SIGNATURE = "EvABCmcIDxABGAIq"
CLAUDE, ROUTED = "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5"
DETAIL = {
    "type": "reasoning.text",
    "text": "Hm.",
    "signature": SIGNATURE,
    "format": "anthropic-claude-v1",
    "index": 0,
}
REDACTED = {"type": "reasoning.encrypted", "data": "cmVkYWN0ZWQ=", "format": "anthropic-claude-v1", "index": 1}
CALL = {"id": "toolu_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


def _openrouter_answer(details: list[Json], model: str) -> Json:
    message = {"role": "assistant", "content": None, "reasoning_details": details, "tool_calls": [CALL]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "gen-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}


def _anthropic_answer() -> Json:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": CLAUDE}
    return {**head, "content": content, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage}


def _next(client: str, upstream: str, model: str, answer: Json, to: str, to_model: str) -> dragoman.Translation:
    """The next request of a client to upstream `to`. The first answer came from `upstream`."""
    person, vault = Client(client, model, whole=True), MemoryVault()
    person.say("what is there?")
    sent_request = dragoman.translate_request(
        person.request(stream=False), source=client, target=upstream, model=model, vault=vault
    )
    translated = dragoman.translate_response(answer, source=upstream, target=client, answers=sent_request, vault=vault)
    person.append_answer(translated.json())
    return dragoman.translate_request(
        person.request(stream=False), source=client, target=to, model=to_model, vault=vault
    )


CLIENTS = [name for name in dialects.names() if name != "ollama"]


@pytest.mark.parametrize("client", CLIENTS)
def test_signatures_move_from_openrouter_to_anthropic(client: str) -> None:
    answer = _openrouter_answer([DETAIL, REDACTED], ROUTED)
    sent = _next(client, "openrouter", ROUTED, answer, "anthropic", CLAUDE)
    blocks = sent.json()["messages"][1]["content"]
    assert blocks[0] == {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}
    assert blocks[1] == {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="}
    assert "seal.dropped" not in [loss.code for loss in sent.losses]


@pytest.mark.parametrize("client", CLIENTS)
def test_signatures_move_from_anthropic_to_openrouter(client: str) -> None:
    sent = _next(client, "anthropic", CLAUDE, _anthropic_answer(), "openrouter", ROUTED)
    details = sent.json()["messages"][1]["reasoning_details"]
    made = [{name: value for name, value in entry.items() if name != "index"} for entry in (DETAIL, REDACTED)]
    assert [{name: value for name, value in entry.items() if name != "index"} for entry in details] == made
    assert "seal.dropped" not in [loss.code for loss in sent.losses]


@pytest.mark.parametrize("client", CLIENTS)
def test_another_claude_model_does_not_get_the_signatures(client: str) -> None:
    answer = _openrouter_answer([DETAIL], ROUTED)
    sent = _next(client, "openrouter", ROUTED, answer, "anthropic", "claude-opus-4-5")
    assert (
        SIGNATURE not in sent.body.decode() or client == "openrouter"
    )  # OpenRouter's details do not name their model.
    back = _next(client, "anthropic", CLAUDE, _anthropic_answer(), "openrouter", "anthropic/claude-opus-4.5")
    assert SIGNATURE not in back.body.decode() or client == "anthropic"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("form", "routed", "target", "model"),
    [
        ("google-gemini-v1", "google/gemini-3-pro-preview", "gemini", "gemini-3-pro-preview"),
        ("openai-responses-v1", "openai/gpt-5.2", "openai-responses", "gpt-5.2"),
    ],
)
def test_seals_of_google_and_openai_return_to_openrouter_only(
    client: str, form: str, routed: str, target: str, model: str
) -> None:
    entry = {"type": "reasoning.encrypted", "data": "c2VhbGVk", "format": form, "id": "r1", "index": 0}
    answer = _openrouter_answer([entry], routed)
    to_provider = _next(client, "openrouter", routed, answer, target, model)
    assert b"c2VhbGVk" not in to_provider.body or client == target
    to_openrouter = _next(client, "openrouter", routed, answer, "openrouter", routed)
    assert to_openrouter.json()["messages"][1]["reasoning_details"] == [entry]


def test_details_of_a_chat_client_are_sent_to_openrouter_and_anthropic() -> None:
    message = {"role": "assistant", "content": "So.", "reasoning_details": [DETAIL]}
    messages = [{"role": "user", "content": "hi"}, message, {"role": "user", "content": "go on"}]
    body = {"model": ROUTED, "messages": messages}
    routed = dragoman.translate_request(body, source="openai-chat", target="openrouter")
    assert routed.json()["messages"][1]["reasoning_details"] == [DETAIL]
    sent = dragoman.translate_request(body, source="openai-chat", target="anthropic", model=CLAUDE)
    assert sent.json()["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}


@pytest.mark.parametrize("source", ["anthropic", "openai-responses", "gemini"])
def test_openrouter_gets_the_text_of_foreign_thoughts(source: str) -> None:
    histories: dict[str, Json] = {
        "anthropic": {
            "model": CLAUDE,
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE},
                        {"type": "text", "text": "So."},
                    ],
                },
                {"role": "user", "content": "go on"},
            ],
        },
        "openai-responses": {
            "model": "gpt-5",
            "input": [
                {"role": "user", "content": "hi"},
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "Hm."}],
                    "encrypted_content": SIGNATURE,
                },
                {"role": "assistant", "content": "So."},
                {"role": "user", "content": "go on"},
            ],
        },
        "gemini": {
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}]},
                {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "So."}]},
                {"role": "user", "parts": [{"text": "go on"}]},
            ]
        },
    }
    sent = dragoman.translate_request(
        histories[source], source=source, target="openrouter", model="deepseek/deepseek-v4"
    )
    message = sent.json()["messages"][1]
    assert message == {"role": "assistant", "reasoning": "Hm.", "content": "So."}
    assert SIGNATURE not in json.dumps(sent.json())
    assert "reasoning.dropped" not in [loss.code for loss in sent.losses]
    claude = dragoman.translate_request(
        histories[source], source=source, target="openrouter", model="anthropic/claude-opus-4.5"
    )
    assert "reasoning" not in claude.json()["messages"][1], "a thought without its signature may be refused"
    assert "reasoning.dropped" in [loss.code for loss in claude.losses]
