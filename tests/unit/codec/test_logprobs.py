"""Log probabilities with a second list beside the list of the text."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

TOKEN = {"token": "42", "logprob": -0.5, "bytes": [52, 50], "top_logprobs": []}


@pytest.mark.parametrize("target", ["openai-responses", "gemini", "ollama"])
@pytest.mark.parametrize("name", ["reasoning_content", "refusal"])
def test_a_second_list_does_not_hide_the_list_of_the_text(target: str, name: str) -> None:
    scores: dict[str, Any] = {"content": [TOKEN], name: [{**TOKEN, "token": "We", "logprob": -0.25}]}
    message = {"role": "assistant", "content": "42"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": scores}
    body = {"id": "chatcmpl-1", "created": 1, "model": "m", "choices": [choice]}
    out = dragoman.translate_response(body, source="openai-chat", target=target)
    assert b"-0.5" in out.body
    assert b"-0.25" not in out.body
    assert f"/choices/0/logprobs/{name}" in {loss.path for loss in out.losses}
    assert "/choices/0/logprobs" not in {loss.path for loss in out.losses}
