"""Answers with fields of their hosts take the fast path, and have the same translation as on the full path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import dragoman
from dragoman import fast
from dragoman.translate import with_fast_paths

USAGE = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}
CHAT_USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def responses(**fields: Any) -> dict[str, Any]:
    return {"id": "resp_1", "model": "m", "status": "completed", "output": [MESSAGE], "usage": USAGE, **fields}


def chat(message: dict[str, Any], finish: str, usage: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "model": "m", "created": 1, "choices": [choice], "usage": usage}


def anthropic(**fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 5, "output_tokens": 3, "iterations": [{"input_tokens": 5, "output_tokens": 3}]}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return {**head, "content": [{"type": "text", "text": "Hi"}], "usage": usage, **fields}


def gemini(reason: int, parts: Sequence[dict[str, Any]] = ({"text": "Hi"},)) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": reason}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}


DETAILS = [{"type": "reasoning.text", "text": text, "format": "unknown", "index": 0} for text in ("One. ", "Two.")]
CUT = {**MESSAGE, "status": "incomplete"}
WIDE = {
    "usage of xAI": ("openai-responses", responses(usage={**USAGE, "num_sources_used": 0, "cost_in_usd_ticks": 4})),
    "filters of Azure": ("openai-responses", responses(content_filters=[{"blocked": False}])),
    "cut by the limit": (
        "openai-responses",
        responses(status="incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[CUT]),
    ),
    "calls that end with stop": ("openai-chat", chat({"content": None, "tool_calls": [CALL]}, "stop", CHAT_USAGE)),
    "thinking counted apart": (
        "openai-chat",
        chat(
            {"content": "Hi"},
            "stop",
            {**CHAT_USAGE, "total_tokens": 18, "completion_tokens_details": {"reasoning_tokens": 10}},
        ),
    ),
    "a thought that is repeated in details": (
        "openai-chat",
        chat({"content": "Hi", "reasoning": "One. Two.", "reasoning_details": DETAILS}, "stop", CHAT_USAGE),
    ),
    "a message without a name": ("openai-chat", chat({"content": "Hi", "name": None}, "stop", CHAT_USAGE)),
    "figures of sounds and pictures": (
        "openai-chat",
        chat(
            {"content": "Hi"},
            "stop",
            {
                **CHAT_USAGE,
                "prompt_tokens_details": {"audio_tokens": 1, "image_tokens": 2, "video_tokens": 3},
                "completion_tokens_details": {"rejected_prediction_tokens": 1},
            },
        ),
    ),
    "cut before the first word": ("openai-chat", chat({"content": ""}, "length", CHAT_USAGE)),
    "cut in a thought": ("openai-chat", chat({"content": None, "reasoning_content": "So"}, "length", CHAT_USAGE)),
    "Messages cut before the first word": ("anthropic", anthropic(content=[], stop_reason="max_tokens")),
    "Gemini cut before the first word": ("gemini", gemini(2, [])),
    "Responses cut before the first word": (
        "openai-responses",
        responses(status="incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[]),
    ),
    "iterations": ("anthropic", anthropic(context_management={"applied_edits": []})),
    "a number for STOP": ("gemini", gemini(1)),
    "a number for MAX_TOKENS": ("gemini", gemini(2)),
}


@pytest.fixture(autouse=True)
def _restore_switch() -> Iterator[None]:
    before = fast.enabled()
    yield
    (fast.on if before else fast.off)()


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic", "gemini"])
@pytest.mark.parametrize("name", WIDE)
def test_the_fast_path_gives_the_same_as_the_full_path(name: str, target: str) -> None:
    source, answer = WIDE[name]
    if source == target:
        pytest.skip("bytes of one dialect pass unchanged")
    body = json.dumps(answer).encode()
    way = with_fast_paths._plain_fast_path(source, target)
    assert way is not None
    short = with_fast_paths._plain_response(body, way, None, None, 0, "auto", None, None)
    fast.off()
    long = dragoman.translate_response(body, source=source, target=target)
    assert short is not None
    assert (short.body, short.losses) == (long.body, long.losses)


def test_details_with_more_than_the_thought_take_the_full_path() -> None:
    for details in ([{**DETAILS[0], "signature": "c2Vh"}], DETAILS[:1], [*DETAILS, {"type": "reasoning.encrypted"}]):
        message = {"content": "Hi", "reasoning": "One. Two.", "reasoning_details": details}
        body = json.dumps(chat(message, "stop", CHAT_USAGE)).encode()
        way = with_fast_paths._plain_fast_path("openai-chat", "anthropic")
        assert way is not None
        assert way.read(body, 0, None) is None


def test_both_paths_report_the_tokens_of_the_upstream() -> None:
    details = {"cache_read_input_tokens": 7, "cache_creation_input_tokens": 2}
    body = json.dumps(anthropic(usage={"input_tokens": 5, "output_tokens": 3, **details})).encode()
    fast.on()
    short = dragoman.translate_response(body, source="anthropic", target="gemini")
    fast.off()
    long = dragoman.translate_response(body, source="anthropic", target="gemini")
    assert short.tokens == long.tokens == (14, 3)
