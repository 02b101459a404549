"""Ids of answers have the form of the client's dialect; after a mark they contain the id of the upstream."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from dragoman.codec.answer_ids import CHAT, MESSAGES, OPENROUTER, RESPONSES, id_with_prefix, original_id

FORMS = {
    "anthropic": MESSAGES,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "openrouter": OPENROUTER,
    "gemini": "",
    "code-assist": "",
}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
CHATS = {"object": "chat.completion", "created": 7, "model": "m", "choices": [CHOICE]}
ITEM = {
    "type": "message",
    "id": "msg_i",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "ok", "annotations": []}],
}
CANDIDATE = {"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP", "index": 0}
ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("msg_01A", {"type": "message", "model": "m", "content": [{"type": "text", "text": "ok"}]}),
    "openai-chat": ("0a1b-2c", CHATS),
    "openai-responses": ("resp_9", {"model": "m", "status": "completed", "created_at": 7, "output": [ITEM]}),
    "openrouter": ("gen-17-x", CHATS),
    "gemini": ("-Gem_1", {"candidates": [CANDIDATE], "modelVersion": "m"}),
}


@pytest.mark.parametrize("prefix", [MESSAGES, RESPONSES, CHAT, OPENROUTER])
@pytest.mark.parametrize("given", ["msg_1", "resp_1", "chatcmpl-1", "gen-1", "-Tm3", "_x", "0a1b-2c", "msg"])
def test_the_prefix_is_removed_on_the_way_back(given: str, prefix: str) -> None:
    shown = id_with_prefix(given, prefix)
    assert shown.startswith(prefix) and shown.endswith(given)
    assert original_id(shown) == given
    assert id_with_prefix(shown, prefix) == shown


def test_an_id_that_is_only_a_mark_is_kept() -> None:
    assert original_id("msg__") == "msg__"


def _id(answer: dict[str, Any], dialect: str) -> str:
    return str(answer["traceId"] if dialect == "code-assist" else answer["responseId" if dialect == "gemini" else "id"])


@pytest.mark.parametrize("target", FORMS)
@pytest.mark.parametrize("source", ANSWERS)
def test_answers_have_ids_in_the_form_of_their_client(source: str, target: str) -> None:
    """With usage figures the answer takes the fast path; without them it is read into parts."""
    given, answer = ANSWERS[source]
    answer = {**answer, "responseId" if source == "gemini" else "id": given}
    usage = {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}
    if source != "gemini":
        usage = {"usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}
    for body in (answer, {**answer, **usage}) if source in ("gemini", "openai-chat") else (answer,):
        done = dragoman.translate_response(body, source=source, target=target)
        assert _id(done.json(), target) == (
            given if source == target or target in ("gemini", "code-assist") else id_with_prefix(given, FORMS[target])
        )
        assert not [loss for loss in done.losses if loss.code.startswith("id.")]
        if target != "code-assist":
            back = dragoman.translate_response(done.body, source=target, target=source)
            assert _id(back.json(), source) == (
                given if source != "openai-chat" or source == target else id_with_prefix(given, CHAT)
            )


@pytest.mark.parametrize("target", FORMS)
def test_streams_have_the_same_ids(target: str) -> None:
    chunk = (
        b'data: {"id":"0a1b","model":"m","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n'
    )
    stream = dragoman.StreamTranslator(source="openai-chat", target=target)
    written = stream.feed(chunk + b"data: [DONE]\n\n") + stream.close()
    shown = "0a1b" if target in ("openai-chat", "gemini", "code-assist") else id_with_prefix("0a1b", FORMS[target])
    assert b'"%b"' % shown.encode() in written


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "openai-responses", "openrouter"])
def test_invented_ids_have_the_form_of_the_client(target: str) -> None:
    body = {"model": "m", "message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop"}
    done = dragoman.translate_response(body, source="ollama", target=target)
    assert done.json()["id"].startswith(FORMS[target])
    assert not done.json()["id"].startswith(FORMS[target] + FORMS[target][-1])
