"""The service tier of an answer is translated between the dialects that have this field."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman

MESSAGE = {
    "type": "message",
    "id": "msg_i",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "ok", "annotations": []}],
}
FIGURES = {"input_tokens": 3, "output_tokens": 4}


def _answer(dialect: str, tier: str) -> dict[str, Any]:
    if dialect == "anthropic":
        content = [{"type": "text", "text": "ok"}]
        usage = {**FIGURES, "service_tier": tier}
        return {"id": "msg_1", "model": "m", "content": content, "stop_reason": "end_turn", "usage": usage}
    if dialect == "openai-responses":
        usage = {**FIGURES, "total_tokens": 7}
        head = {"id": "resp_1", "created_at": 1, "model": "m", "status": "completed", "service_tier": tier}
        return {**head, "output": [MESSAGE], "usage": usage}
    if dialect == "gemini":
        candidate = {"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}
        figures = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7, "serviceTier": tier}
        return {"candidates": [candidate], "usageMetadata": figures, "modelVersion": "m", "responseId": "r"}
    choice = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return {"id": "c", "created": 1, "model": "m", "choices": [choice], "usage": usage, "service_tier": tier}


def _tier(dialect: str, answer: dict[str, Any]) -> Any:
    if dialect == "anthropic":
        return answer["usage"]["service_tier"]
    return answer["usageMetadata"].get("serviceTier") if dialect == "gemini" else answer.get("service_tier")


WORDS = {
    "anthropic": {"standard": "standard", "priority": "priority"},
    "openai-chat": {"standard": "default", "priority": "priority"},
    "openai-responses": {"standard": "default", "priority": "priority"},
    "openrouter": {"standard": "default", "priority": "priority"},
    "gemini": {"standard": "standard", "priority": "priority"},
}


@pytest.mark.parametrize("tier", ["standard", "priority"])
@pytest.mark.parametrize("target", WORDS)
@pytest.mark.parametrize("source", WORDS)
def test_a_tier_is_translated(source: str, target: str, tier: str) -> None:
    """Tests the fast path and, with an unknown field, the full path."""
    answer = _answer(source, WORDS[source][tier])
    for body in (answer, {**answer, "x_unknown": 1}):
        done = dragoman.translate_response(body, source=source, target=target)
        assert _tier(target, done.json()) == WORDS[target][tier]
        assert not [loss for loss in done.losses if "tier" in loss.path.lower() or loss.code.startswith("tier")]


@pytest.mark.parametrize(
    ("source", "tier", "target"), [("anthropic", "batch", "gemini"), ("openai-chat", "scale", "anthropic")]
)
def test_a_tier_without_an_equivalent_is_reported(source: str, tier: str, target: str) -> None:
    done = dragoman.translate_response(_answer(source, tier), source=source, target=target)
    assert not _tier(target, done.json())
    assert [loss.path for loss in done.losses if loss.code == "tier.dropped"] == [
        "/usage/service_tier" if source == "anthropic" else "/service_tier"
    ]


def test_a_value_of_a_single_host_is_not_a_tier() -> None:
    done = dragoman.translate_response(_answer("openai-chat", "on_demand"), source="openai-chat", target="gemini")
    assert ("field.dropped", "/service_tier") in [(loss.code, loss.path) for loss in done.losses]


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("openai-responses", b'"service_tier":"flex"'),
        ("gemini", b'"serviceTier":"flex"'),
        ("openrouter", None),
        ("anthropic", None),
    ],
)
def test_a_tier_in_a_stream(target: str, written: bytes | None) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    choice = {"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}
    chunk = {"id": "c", "created": 1, "model": "m", "choices": [choice], "usage": usage, "service_tier": "flex"}
    stream = dragoman.StreamTranslator(source="openai-chat", target=target)
    out = stream.feed(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode()) + stream.close()
    losses = [loss.path for loss in stream.losses if "tier" in loss.path]
    assert (written is None) == (losses == ["/service_tier"])
    assert written is None or written in out


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_a_tier_in_a_stream_of_chat_chunks(target: str) -> None:
    stream = dragoman.StreamTranslator(source="gemini", target=target)
    out = stream.feed(b"data: %b\n\n" % json.dumps(_answer("gemini", "priority")).encode()) + stream.close()
    tiers = [json.loads(line[6:]).get("service_tier") for line in out.split(b"\n\n") if line.startswith(b"data: {")]
    assert tiers.count("priority") == 1
    assert not [loss for loss in stream.losses if "tier" in loss.code]
