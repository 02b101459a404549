"""Finish reasons: a reason that is more precise than the target's values is sent as text or reported, never lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman

TARGETS = ("anthropic", "ollama", "openai-chat", "openai-responses", "openrouter")
FINER = (
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "NO_IMAGE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MALFORMED_RESPONSE",
    "MISSING_THOUGHT_SIGNATURE",
    "ESCALATION",
)
"""All published reasons of Gemini and Vertex (2026-08-22), except those with a value in every dialect."""


def _gemini(word: str) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": word}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}


def _chat(word: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": word}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c", "created": 1, "model": "m", "choices": [choice], "usage": usage}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("word", FINER)
def test_a_reason_of_gemini(word: str, target: str) -> None:
    done = dragoman.translate_response(_gemini(word), source="gemini", target=target)
    reported = [loss for loss in done.losses if loss.code == "stop.approximated" or loss.path.endswith("finishReason")]
    assert reported or word.encode() in done.body
    stream = dragoman.StreamTranslator(source="gemini", target=target)
    written = stream.feed(b"data: %b\n\n" % json.dumps(_gemini(word)).encode()) + stream.close()
    assert {loss.code for loss in stream.losses} == {loss.code for loss in done.losses}
    assert (word.encode() in written) == (word.encode() in done.body)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("openai-responses", b'"message":"The model\'s answer ended with an error: NO_IMAGE."'),
        ("openai-chat", b"The model's answer ended with an error: NO_IMAGE."),
        ("anthropic", b"The model's answer ended with an error: NO_IMAGE."),
    ],
)
def test_an_image_that_was_not_generated(target: str, words: bytes) -> None:
    assert words in dragoman.translate_response(_gemini("NO_IMAGE"), source="gemini", target=target).body


def test_a_reason_is_the_explanation_of_a_refusal() -> None:
    out = dragoman.translate_response(_gemini("RECITATION"), source="gemini", target="anthropic").json()
    assert out["stop_details"]["explanation"] == "the answer was stopped: RECITATION"


def test_google_dialects_get_the_reason_without_added_text() -> None:
    out = dragoman.translate_response(_gemini("NO_IMAGE"), source="gemini", target="code-assist").json()
    assert out["response"]["candidates"][0]["finishReason"] == "NO_IMAGE"
    assert "finishMessage" not in out["response"]["candidates"][0]


@pytest.mark.parametrize("word", ["sensitive", "network_error", "insufficient_system_resource"])
def test_a_reason_of_a_chat_host(word: str) -> None:
    out = dragoman.translate_response(_chat(word), source="openai-chat", target="gemini").json()
    assert word in out["candidates"][0]["finishMessage"]
    done = dragoman.translate_response(_chat(word), source="openai-chat", target="openai-responses")
    assert word.encode() in done.body or word in done.losses[0].detail


@pytest.mark.parametrize("word", ["load", "unload"])
def test_a_reason_of_ollama(word: str) -> None:
    body = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": word}
    done = dragoman.translate_response(body, source="ollama", target="openai-chat")
    assert ("stop.approximated", "/done_reason") in [(loss.code, loss.path) for loss in done.losses]


_DETAILS = {"type": "refusal", "category": "cyber", "explanation": "I cannot help with that."}


def _refused(*, streamed: bool) -> bytes:
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    end = {"stop_reason": "refusal", "stop_sequence": None, "stop_details": _DETAILS}
    usage = {"input_tokens": 1, "output_tokens": 1}
    if not streamed:
        return json.dumps({**message, **end, "usage": usage}).encode()
    frames = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "message_delta", "delta": end, "usage": usage},
        {"type": "message_stop"},
    ]
    return b"".join([b"event: %b\ndata: %b\n\n" % (f["type"].encode(), json.dumps(f).encode()) for f in frames])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("openai-chat", b'"refusal":"I cannot help with that."'),
        ("openrouter", b'"refusal":"I cannot help with that."'),
        ("openai-responses", b'{"type":"refusal","refusal":"I cannot help with that."}'),
        ("gemini", b'"finishMessage":"I cannot help with that."'),
        ("code-assist", b'"finishMessage":"I cannot help with that."'),
        ("ollama", b'"content":"I cannot help with that."'),
    ],
)
def test_the_text_of_a_refusal_reaches_every_client(target: str, written: bytes, streamed: bool) -> None:
    if streamed:
        stream = dragoman.StreamTranslator(source="anthropic", target=target)
        body = stream.feed(_refused(streamed=True)) + stream.close()
        losses = {loss.path for loss in stream.losses}
    else:
        done = dragoman.translate_response(_refused(streamed=False), source="anthropic", target=target)
        body, losses = done.body, {loss.path for loss in done.losses}
    assert written in body
    assert "/stop_details/category" in losses and "/stop_details" not in losses
    if target in ("openai-chat", "openrouter"):
        assert b'"finish_reason":"stop"' in body
