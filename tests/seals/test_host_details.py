"""`reasoning_details` of Chat hosts such as Snowflake become sealed thoughts, and return to their host."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault, dialects
from tests.seals.continuing_clients import Client

Json = Any

HOST = "account.snowflakecomputing.com"
MODEL = "claude-sonnet-4-6"
ENTRY = {
    "format": "anthropic-claude-v1",
    "id": "reasoning-text-1",
    "index": 0,
    "signature": "EvABCmcIDxABGAIq",
    "text": "Let me look.",
    "type": "reasoning.text",
}
CALL = {"id": "toolu_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
CLIENTS = [name for name in dialects.names() if name not in ("openai-chat", "openrouter")]


def _answer(*, streamed: bool) -> bytes:
    head = {"id": "a", "created": 1, "model": MODEL}
    if not streamed:
        message = {"role": "assistant", "content": "So.", "reasoning_details": [ENTRY], "tool_calls": [CALL]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        return json.dumps({**head, "object": "chat.completion", "choices": [choice]}).encode()
    text = {name: value for name, value in ENTRY.items() if name != "signature"}
    proof = {name: value for name, value in ENTRY.items() if name != "text"}
    deltas: list[Json] = [
        {"role": "assistant", "reasoning_details": [{**text, "text": "Let me "}]},
        {"reasoning_details": [{**text, "text": "look."}]},
        {"reasoning_details": [proof]},
        {"content": "So."},
        {"tool_calls": [{"index": 0, **CALL}]},
    ]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return b"".join([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]) + b"data: [DONE]\n\n"


def _session(client: str, *, streamed: bool) -> tuple[Any, list[Any]]:
    """A function that sends the next request, and the losses of the answer."""
    person, vault = Client(client, MODEL), MemoryVault()
    person.say("what is there?")

    def sent(host: str | None = HOST, model: str = MODEL, target: str = "openai-chat") -> dragoman.Translation:
        body = person.request(stream=streamed)
        return dragoman.translate_request(body, source=client, target=target, model=model, host=host, vault=vault)

    first_request, raw = sent(), _answer(streamed=streamed)
    if streamed:
        translated = dragoman.StreamTranslator(source="openai-chat", target=client, answers=first_request, vault=vault)
        out = translated.feed(raw) + translated.close()
        losses = list(translated.losses)
    else:
        answer = dragoman.translate_response(
            raw, source="openai-chat", target=client, answers=first_request, vault=vault
        )
        out, losses = answer.body, list(answer.losses)
    assert b"Let me" in out
    person.append_answer(person.gathered(out, streamed=streamed))
    return sent, losses


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", CLIENTS)
def test_details_return_to_their_host_unchanged(client: str, streamed: bool) -> None:
    sent, losses = _session(client, streamed=streamed)
    assert [loss.code for loss in losses if loss.code in ("field.dropped", "seal.dropped")] == []
    message = sent().json()["messages"][1]
    assert message["reasoning_details"] == [ENTRY]
    assert "reasoning_content" not in message
    assert "reasoning" not in message


@pytest.mark.parametrize("client", CLIENTS)
def test_details_are_sent_to_no_other_host_or_model(client: str) -> None:
    sent, _ = _session(client, streamed=False)
    for other in (
        sent(host="api.openai.com"),
        sent(host="api.groq.com"),
        sent(host="other.example"),
        sent(model="gpt-4o"),
        sent(target="gemini", model="gemini-3-pro", host=None),
    ):
        assert ENTRY["signature"] not in other.body.decode()
        # For Ollama the seal stays in the vault, which reports no loss.
        assert client == "ollama" or any(loss.code == "seal.dropped" for loss in other.losses)


def test_a_thought_in_two_fields_is_read_once_without_a_loss() -> None:
    entry = {"type": "reasoning.text", "text": "Hm.", "format": "unknown", "index": 0}
    message = {"role": "assistant", "content": "So.", "reasoning": "Hm.", "reasoning_details": [entry]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "a", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}
    translated = dragoman.translate_response(answer, source="openai-chat", target="anthropic")
    assert [block.get("thinking") for block in translated.json()["content"]] == ["Hm.", None]
    assert [loss for loss in translated.losses if loss.code == "field.dropped"] == []


def test_entries_in_a_private_format_of_the_host_return_unchanged() -> None:
    entry = {"type": "reasoning.text", "id": "r-1", "format": "MiniMax-response-v1", "index": 0, "text": "Hm."}
    message = {"role": "assistant", "content": "So.", "reasoning_content": "Hm.", "reasoning_details": [entry]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "MiniMax-M2", "choices": [choice]}
    question = {"role": "user", "content": "hi"}
    first_request = {"model": "MiniMax-M2", "max_tokens": 9, "messages": [question]}
    translated = dragoman.translate_response(answer, source="openai-chat", target="anthropic").json()
    assert [block["type"] for block in translated["content"]] == ["thinking", "text"]
    first_request["messages"] = [question, {"role": "assistant", "content": translated["content"]}, question]
    sent = dragoman.translate_request(
        first_request, source="anthropic", target="openai-chat", model="MiniMax-M2"
    ).json()
    assert sent["messages"][1]["reasoning_details"] == [entry]
    assert "reasoning_content" not in sent["messages"][1]


def test_tool_results_keeps_the_details() -> None:
    answer = json.loads(_answer(streamed=False))
    messages = dragoman.tool_results(answer, ["20"], dialect="openai-chat")
    assert messages[0]["reasoning_details"] == [ENTRY]
    assert messages[0]["tool_calls"][0]["id"] == "toolu_1"
