"""Images made by a model, and the parameters of the generation: in answers, in streams, and in the next request."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream

CHAT, RESPONSES, GEMINI, MESSAGES = "openai-chat", "openai-responses", "gemini", "anthropic"
DATA = "iVBORw0KGgoAAAANSUhEUg=="
URL = f"data:image/png;base64,{DATA}"
ITEM = {
    "id": "ig_1",
    "type": "image_generation_call",
    "status": "completed",
    "result": DATA,
    "output_format": "png",
    "revised_prompt": "A quiet harbour at dawn",
    "size": "1024x1024",
}
LISTED = {"type": "image_url", "image_url": {"url": URL}, "index": 0}


def _answer(source: str) -> dict[str, Any]:
    if source == RESPONSES:
        head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed"}
        return {**head, "output": [ITEM]}
    if source == GEMINI:
        parts = [{"text": "Here."}, {"inlineData": {"mimeType": "image/png", "data": DATA}}]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r1"}
    message = {"role": "assistant", "content": "Here.", "refusal": None, "images": [LISTED]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def _stream(source: str) -> bytes:
    answer = _answer(source)
    frames = [answer]
    if source == RESPONSES:
        frames = [
            {"type": "response.created", "response": {**answer, "output": [], "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "result": None}},
            {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
            {"type": "response.completed", "response": answer},
        ]
    elif source == CHAT:
        delta = answer["choices"][0].pop("message")
        pieces = [{"role": "assistant", "content": delta["content"]}, {"images": delta["images"]}]
        frames = [{**answer, "choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in pieces]
        frames.append({**answer, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        frames = [{**frame, "object": "chat.completion.chunk"} for frame in frames]
    return "".join([f"data: {json.dumps(frame)}\n\n" for frame in frames]).encode()


def _chunks(stream: bytes) -> list[Any]:
    lines = [line[6:] for line in stream.decode().splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("source", [RESPONSES, GEMINI])
def test_a_chat_client_gets_an_image_beside_the_text(source: str) -> None:
    done = dragoman.translate_response(_answer(source), source=source, target=CHAT)
    assert check_response(CHAT, done.body, extensions=True) == []
    assert done.json()["choices"][0]["message"]["images"] == [LISTED]
    assert not [loss for loss in done.losses if loss.code == "media.dropped"]


@pytest.mark.parametrize("source", [RESPONSES, GEMINI])
def test_a_chat_client_gets_a_streamed_image_beside_the_text(source: str) -> None:
    stream = dragoman.StreamTranslator(source=source, target=CHAT)
    out = stream.feed(_stream(source)) + stream.close()
    assert check_stream(CHAT, out, extensions=True) == []
    deltas = [choice["delta"] for chunk in _chunks(out) for choice in chunk["choices"]]
    assert [delta["images"] for delta in deltas if "images" in delta] == [[LISTED]]
    assert not [loss for loss in stream.losses if loss.code == "media.dropped"]


@pytest.mark.parametrize("target", [RESPONSES, GEMINI])
def test_an_image_of_a_chat_host_is_an_image_elsewhere(target: str) -> None:
    done = dragoman.translate_response(_answer(CHAT), source=CHAT, target=target)
    stream = dragoman.StreamTranslator(source=CHAT, target=target)
    out = stream.feed(_stream(CHAT)) + stream.close()
    for body in (done.body, out):
        assert DATA.encode() in body
    assert not [loss for loss in (*done.losses, *stream.losses) if "images" in loss.path]


def test_an_image_that_a_chat_client_sends_back_reaches_the_model() -> None:
    message = _answer(CHAT)["choices"][0]["message"]
    messages = [{"role": "user", "content": "Draw"}, message, {"role": "user", "content": "Again"}]
    done = dragoman.translate_request(
        {"model": "m", "messages": messages}, source=CHAT, target=GEMINI, model="gemini-2.5-flash-image"
    )
    assert DATA.encode() in done.body


def test_a_list_of_an_unknown_form_stays_a_field() -> None:
    answer = _answer(CHAT)
    answer["choices"][0]["message"]["images"] = [{"b64": DATA}]
    done = dragoman.translate_response(answer, source=CHAT, target=GEMINI)
    assert ("field.dropped", "/choices/0/message/images") in {(loss.code, loss.path) for loss in done.losses}


@pytest.mark.parametrize("target", [CHAT, GEMINI, MESSAGES, "openrouter"])
def test_the_parameters_of_a_generated_image_are_a_tool_use(target: str) -> None:
    done = dragoman.translate_response(_answer(RESPONSES), source=RESPONSES, target=target)
    stream = dragoman.StreamTranslator(source=RESPONSES, target=target)
    out = stream.feed(_stream(RESPONSES)) + stream.close()
    assert check_response(target, done.body, extensions=True) == []
    assert check_stream(target, out, extensions=True) == []
    for body in (done.body, out):
        assert b"A quiet harbour at dawn" in body and b"1024x1024" in body and b"image_generation" in body


def test_an_image_that_the_client_cannot_get_is_reported() -> None:
    done = dragoman.translate_response(_answer(RESPONSES), source=RESPONSES, target=MESSAGES)
    assert ("media.dropped", "/output/0") in {(loss.code, loss.path) for loss in done.losses}
