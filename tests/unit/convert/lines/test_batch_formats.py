"""Batch files of OpenAI, Anthropic and Gemini: requests and results, in both directions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.convert import LineConverter
from dragoman.convert.lines.formats import detect_format
from dragoman.errors import WireError

MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 4},
}
REQUEST = {"model": "claude-opus-5", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
BATCHES = ("anthropic-batch", "gemini-batch", "openai-batch", "openai-responses-batch")


def convert(source: str, target: str, line: Any, **more: Any) -> tuple[Any, list[str]]:
    done = LineConverter(source=source, target=target, **more)(json.dumps(line).encode())
    return json.loads(done.line), [f"{loss.severity} {loss.code} {loss.path}" for loss in done.losses]


def test_requests_are_translated_for_openai() -> None:
    line, losses = convert("anthropic-batch", "openai-batch", {"custom_id": "a", "params": REQUEST})
    assert line == {
        "custom_id": "a",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "claude-opus-5",
            "messages": [{"role": "user", "content": "hi"}],
            "max_completion_tokens": 50,
        },
    }
    assert losses == []


def test_requests_are_translated_for_gemini_and_the_lost_model_is_reported() -> None:
    line, losses = convert("anthropic-batch", "gemini-batch", {"custom_id": "a", "params": REQUEST})
    assert line == {
        "key": "a",
        "request": {
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "generationConfig": {"maxOutputTokens": 50},
        },
    }
    assert losses == ["info field.dropped /params/model"]


@pytest.mark.parametrize("other", BATCHES)
def test_a_request_comes_back_from_every_other_batch(other: str) -> None:
    there, _ = convert("anthropic-batch", other, {"custom_id": "a", "params": REQUEST})
    back, _ = convert(other, "anthropic-batch", there, model="claude-opus-5")
    assert back == {"custom_id": "a", "params": REQUEST}


@pytest.mark.parametrize("other", BATCHES)
def test_an_answer_comes_back_from_every_other_batch(other: str) -> None:
    there, losses = convert(
        "anthropic-batch", other, {"custom_id": "a", "result": {"type": "succeeded", "message": MESSAGE}}
    )
    assert all(loss.startswith("info") for loss in losses)
    back, _ = convert(other, "anthropic-batch", there)
    message = back["result"]["message"]
    assert back["custom_id"] == "a"
    assert back["result"]["type"] == "succeeded"
    assert message["content"][0]["text"] == "hello"
    assert message["stop_reason"] == "end_turn"
    assert (message["usage"]["input_tokens"], message["usage"]["output_tokens"]) == (3, 4)


@pytest.mark.parametrize("other", BATCHES)
@pytest.mark.parametrize("result", ["canceled", "expired"])
def test_a_request_that_never_ran_keeps_its_result_type(other: str, result: str) -> None:
    line = {"custom_id": "a", "result": {"type": result}}
    there, _ = convert("anthropic-batch", other, line)
    assert convert(other, "anthropic-batch", there)[0] == line


@pytest.mark.parametrize("other", BATCHES)
def test_an_error_keeps_its_kind_and_message(other: str) -> None:
    error = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    there, _ = convert("anthropic-batch", other, {"custom_id": "a", "result": {"type": "errored", "error": error}})
    back, _ = convert(other, "anthropic-batch", there)
    assert back["result"]["type"] == "errored"
    assert back["result"]["error"]["error"] == error["error"]


def test_gemini_errors_have_the_numbers_of_google_rpc() -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}
    line, _ = convert(
        "anthropic-batch", "gemini-batch", {"custom_id": "a", "result": {"type": "errored", "error": error}}
    )
    assert line == {"key": "a", "error": {"code": 3, "message": "bad"}}


def test_an_openai_error_file_is_read() -> None:
    body = {"error": {"message": "no such model", "type": "invalid_request_error", "param": "model", "code": None}}
    line = {
        "id": "b",
        "custom_id": "a",
        "response": {"status_code": 400, "request_id": "r", "body": body},
        "error": None,
    }
    done, losses = convert("openai-batch", "anthropic-batch", line)
    assert done["result"]["error"]["error"] == {"type": "invalid_request_error", "message": "no such model"}
    assert {"info field.dropped /id", "info field.dropped /response/request_id"} <= set(losses)


def test_the_results_of_vertex_are_read_without_a_key() -> None:
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}
    line = {"request": {"contents": []}, "status": "", "response": answer, "processed_time": "2026-11-01T00:00:00Z"}
    done, losses = convert("gemini-batch", "anthropic-batch", line)
    assert done["custom_id"] == "1"
    assert done["result"]["message"]["content"][0]["text"] == "ok"
    assert {"info record.id.invented ", "info field.dropped /request", "info field.dropped /processed_time"} <= set(
        losses
    )


def test_an_id_that_anthropic_refuses_is_rewritten_and_reported() -> None:
    line = {
        "custom_id": "user@example.org/1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"messages": []},
    }
    first, losses = convert("openai-batch", "anthropic-batch", line, model="m")
    restored, _ = convert("openai-batch", "anthropic-batch", line, model="m")
    other, _ = convert("openai-batch", "anthropic-batch", line | {"custom_id": "user@example.org-1"}, model="m")
    assert "warning record.id.rewritten /custom_id" in losses
    assert first["custom_id"] == restored["custom_id"]
    assert first["custom_id"] != other["custom_id"]
    assert first["custom_id"].startswith("user-example-org-1-")


def test_the_address_decides_the_dialect() -> None:
    line = {"custom_id": "a", "method": "POST", "url": "/v1/responses", "body": {"model": "m", "input": "hi"}}
    done, _ = convert("openai-batch", "anthropic-batch", line)
    assert done["params"]["messages"] == [{"role": "user", "content": "hi"}]
    with pytest.raises(WireError, match="/url"):
        convert("openai-batch", "anthropic-batch", line | {"url": "/v1/embeddings"})


@pytest.mark.parametrize("name", BATCHES)
def test_a_line_without_the_form_of_a_batch_is_an_error(name: str) -> None:
    for line in (b"[]", b"{}", b'{"custom_id": 3}', b"nonsense", b'{"custom_id": "a", "result": {"type": "x"}}'):
        with pytest.raises(WireError):
            LineConverter(source=name, target="ollama")(line)


@pytest.mark.parametrize("name", BATCHES)
def test_written_files_are_detected(name: str) -> None:
    request, _ = convert("anthropic-batch", name, {"custom_id": "a", "params": REQUEST})
    assert detect_format([request])[0] == name
    answer, _ = convert(
        "anthropic-batch", name, {"custom_id": "a", "result": {"type": "succeeded", "message": MESSAGE}}
    )
    # The results of both OpenAI batches have one form.
    assert detect_format([answer])[0] == name.replace("openai-responses", "openai")
