"""The severity of losses: a lost document of the user is an error; lost padding is no loss."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from dragoman import Loss
from dragoman.codec.caller_document_to_bytes import as_bytes


def losses(body: dict[str, Any], source: str, target: str) -> dict[str, Loss]:
    return {loss.path: loss for loss in dragoman.translate_request(body, source=source, target=target).losses}


def losses_of_answer(more: dict[str, Any], usage: dict[str, Any], target: str = "anthropic") -> dict[str, Loss]:
    """The losses of a Chat answer with more fields, by their path."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, **usage},
        **more,
    }
    return {loss.path: loss for loss in dragoman.translate_response(body, source="openai-chat", target=target).losses}


def losses_of_stream(more: dict[str, Any], target: str) -> dict[str, Loss]:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    stream = dragoman.StreamTranslator(source="openai-chat", target=target)
    stream.feed(b"data: " + as_bytes({**chunk, "choices": [choice]}, "openai-chat") + b"\n\n")
    stream.feed(b"data: [DONE]\n\n")
    stream.close()
    return {loss.path: loss for loss in stream.losses}


TIMES = {"queue_time": 0.1, "tokens_per_second": 5.5, "time_to_first_token_ms": 3, "total_time_sec": 1, "latency_ms": 2}


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses", "ollama"])
def test_padding_and_times_of_an_answer_are_no_loss(target: str) -> None:
    found = losses_of_answer(
        {"p": "abcdef", "padding": "x", "time_info": {"queue_time": 1}, "timings": {"a": 1}}, TIMES, target
    )
    assert [path for path in found if "id" not in found[path].code] == []
    found = losses_of_stream({"p": "abcdef", "obfuscation": "xyz", "time_info": {"queue_time": 1}}, target)
    assert [loss for loss in found.values() if loss.code == "field.dropped"] == []


def test_figures_and_costs_of_an_answer_are_info() -> None:
    found = losses_of_answer({"cost": {"usd": 1}, "x_new": "?"}, {"num_sources_used": 3, "market_cost": 0.1})
    severities = {path: loss.severity for path, loss in found.items()}
    assert severities["/cost"] == severities["/usage/num_sources_used"] == severities["/usage/market_cost"] == "info"
    assert severities["/x_new"] == "warning"  # the meaning of the field is unknown


def test_an_unknown_field_of_a_request_is_a_warning() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi", "prefix": False}], "queue_time": 3, "p": 0.5}
    for target in ("gemini", "openrouter"):
        found = losses(body, "openai-chat", target)
        assert found["/queue_time"].severity == found["/p"].severity == "warning"
        assert "/messages/0/prefix" not in found


def test_a_lost_part_of_the_user_is_an_error() -> None:
    part = {"type": "container_upload", "file_id": "file_1"}
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, part]}],
    }
    assert losses(body, "anthropic", "openai-chat")["/messages/0/content/1"].severity == "error"


def test_a_foreign_seal_is_info_in_a_request_and_a_warning_in_an_answer() -> None:
    part = {"text": "Hi", "thoughtSignature": "c2VhbA=="}
    body = {"contents": [{"role": "model", "parts": [part]}, {"role": "user", "parts": [{"text": "go on"}]}]}
    sent = dragoman.translate_request(body, source="gemini", target="anthropic", model="m")
    assert [loss.severity for loss in sent.losses if loss.code == "seal.dropped"] == ["info"]
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    returned = dragoman.translate_response(answer, source="gemini", target="ollama")
    assert [loss.severity for loss in returned.losses if loss.code == "seal.dropped"] == ["warning"]


@pytest.mark.parametrize(("wish", "severity"), [({"order": ["x"]}, "info"), ({"data_collection": "deny"}, "warning")])
def test_a_lost_provider_order_is_info_and_a_lost_data_policy_is_a_warning(wish: Any, severity: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "provider": wish}
    for target in ("anthropic", "openai-chat"):
        assert losses(body, "openrouter", target)["/provider"].severity == severity


def test_notes_beside_the_content_of_an_answer_are_info() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "No."}
    body = {"id": "m", "content": [], "stop_reason": "refusal", "stop_details": details, "container": {"id": "c"}}
    done = dragoman.translate_response(body, source="anthropic", target="openai-chat")
    found = {loss.path: loss.severity for loss in done.losses}
    assert found["/stop_details/category"] == found["/container"] == "info"
    cited = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A", "content": "words"}}
    message = {"role": "assistant", "content": "Hi", "annotations": [cited]}
    answer = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    done = dragoman.translate_response(answer, source="openai-chat", target="openai-responses")
    assert {loss.path: loss.severity for loss in done.losses}[
        "/choices/0/message/annotations/0/url_citation/content"
    ] == "info"
    metadata = {"urlMetadata": [{"retrievedUrl": "https://a.example"}, {"urlRetrievalStatus": "ERROR"}]}
    candidate = {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP", "urlContextMetadata": metadata}
    done = dragoman.translate_response({"candidates": [candidate]}, source="gemini", target="openai-chat")
    assert {loss.path: loss.severity for loss in done.losses}[
        "/candidates/0/urlContextMetadata/urlMetadata/1"
    ] == "info"


def test_a_seal_that_never_existed_is_info_and_an_image_on_a_server_is_an_error() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [call]}]
    body = {"model": "m", "messages": [*history, {"role": "tool", "tool_call_id": "c1", "content": "r"}]}
    sent = dragoman.translate_request(body, source="openai-chat", target="gemini", model="gemini-3-flash")
    assert [loss.severity for loss in sent.losses if loss.code == "seal.dummy"] == ["info"]
    items = [{"role": "user", "content": "a"}, {"type": "image_generation_call", "id": "ig_1"}]
    found = losses({"model": "m", "input": items}, "openai-responses", "anthropic")
    assert (found["/input/1"].code, found["/input/1"].severity) == ("state.dropped", "error")
