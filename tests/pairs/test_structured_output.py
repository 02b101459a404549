"""Structured output keeps its guarantee: the target enforces the same schema as the source, or a loss reports it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman

CLOSED = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
OPTIONAL = {**CLOSED, "required": ["city"]}
CONSTRAINED = {**CLOSED, "properties": {"city": {"type": "string", "minLength": 2}, "people": {"type": "integer"}}}


def _request(source: str, schema: Any) -> dict[str, Any]:
    if source == "anthropic":
        messages = [{"role": "user", "content": "Paris"}]
        config = {"format": {"type": "json_schema", "schema": schema}}
        return {"model": "m", "max_tokens": 99, "messages": messages, "output_config": config}
    if source == "ollama":
        return {"model": "m", "messages": [{"role": "user", "content": "Paris"}], "format": schema}
    config = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    if source == "gemini-openapi":
        config = {"responseMimeType": "application/json", "responseSchema": schema}
    return {"contents": [{"role": "user", "parts": [{"text": "Paris"}]}], "generationConfig": config}


def _translated(source: str, target: str, schema: Any, **more: Any) -> tuple[Any, dragoman.Translation]:
    dialect = source.partition("-openapi")[0]
    sent = dragoman.translate_request(_request(source, schema), source=dialect, target=target, model="m", **more)
    written = sent.json()
    return written["text"]["format"] if "text" in written else written["response_format"]["json_schema"], sent


def _codes(translation: dragoman.Translation) -> list[str]:
    return [loss.code for loss in translation.losses if loss.code.startswith(("format.strict", "schema"))]


SOURCES = ["anthropic", "ollama", "gemini", "gemini-openapi"]
TARGETS = ["openai-chat", "openai-responses", "openrouter"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_schema_in_the_strict_subset_is_strict(source: str, target: str) -> None:
    shape, sent = _translated(source, target, CLOSED)
    assert shape["strict"] is True
    assert shape["schema"] == CLOSED
    assert _codes(sent) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_schema_outside_of_the_subset_is_a_loss(source: str, target: str) -> None:
    shape, sent = _translated(source, target, CONSTRAINED)
    assert "strict" not in shape
    assert shape["schema"] == CONSTRAINED
    (loss,) = [loss for loss in sent.losses if loss.code == "format.strict.dropped"]
    assert "minLength" in loss.detail and loss.path


def test_the_format_of_an_openai_client_is_unchanged() -> None:
    for strict in (None, False, True):
        schema = {"name": "n", "schema": OPTIONAL} | ({} if strict is None else {"strict": strict})
        wish = {"type": "json_schema", "json_schema": schema}
        body = {"model": "m", "messages": [{"role": "user", "content": "q"}], "response_format": wish}
        sent = dragoman.translate_request(body, source="openai-chat", target="openai-responses")
        assert sent.json()["text"]["format"].get("strict") is strict
        assert sent.json()["text"]["format"]["schema"] == OPTIONAL


ANSWER = '{"city": "Paris", "people": null}'
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _answer(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": USAGE}


def test_an_optional_property_becomes_nullable_and_its_null_is_removed() -> None:
    shape, sent = _translated("anthropic", "openai-chat", OPTIONAL)
    assert shape["strict"] is True
    assert shape["schema"]["properties"]["people"] == {"type": ["integer", "null"]}
    assert shape["schema"]["required"] == ["city", "people"]
    back = dragoman.translate_response(_answer(ANSWER), source="openai-chat", target="anthropic", answers=sent)
    assert back.json()["content"][0]["text"] == '{"city": "Paris"}'
    kept = '{"city": "Paris", "people": 2}'
    back = dragoman.translate_response(_answer(kept), source="openai-chat", target="anthropic", answers=sent)
    assert back.json()["content"][0]["text"] == kept


@pytest.mark.parametrize("size", [1, 3, 7, 500])
def test_the_null_is_removed_from_a_stream(size: int) -> None:
    _, sent = _translated("gemini", "openai-chat", OPTIONAL)
    words = [{"role": "assistant", "content": ""}] + [{"content": ANSWER[i : i + 4]} for i in range(0, len(ANSWER), 4)]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in words]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    wire = "".join([f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]) + "data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openai-chat", target="gemini", answers=sent)
    data = wire.encode()
    out = b"".join([stream.feed(data[i : i + size]) for i in range(0, len(data), size)]) + stream.close()
    frames = [json.loads(line[6:]) for line in out.decode().splitlines() if line.startswith("data: ")]
    parts = [part for frame in frames for part in frame["candidates"][0].get("content", {}).get("parts", [])]
    assert "".join([part.get("text", "") for part in parts]) == '{"city": "Paris"}'


def test_nulls_are_removed_from_the_arguments_of_a_strict_tool() -> None:
    tool = {"name": "look.up", "input_schema": OPTIONAL, "strict": True}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}], "tools": [tool]}
    sent = dragoman.translate_request(body, source="anthropic", target="openai-chat")
    function = sent.json()["tools"][0]["function"]
    assert function["strict"] is True and function["parameters"]["required"] == ["city", "people"]
    answer = _answer("")
    call = {"id": "call_1", "type": "function", "function": {"name": function["name"], "arguments": ANSWER}}
    answer["choices"][0] |= {"finish_reason": "tool_calls"}
    answer["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
    back = dragoman.translate_response(answer, source="openai-chat", target="anthropic", answers=sent)
    (block,) = back.json()["content"]
    assert (block["name"], block["input"]) == ("look.up", {"city": "Paris"})


@pytest.mark.parametrize(
    ("host", "strict"), [("openai", True), ("venice", True), ("fireworks", None), ("together", None)]
)
def test_the_row_of_a_host_decides_whether_it_gets_strict(host: str, strict: bool | None) -> None:
    shape, sent = _translated("anthropic", "openai-chat", CLOSED, host=host)
    assert shape.get("strict") is strict
    assert _codes(sent) == ([] if strict else ["format.strict.dropped"])


def test_a_repeated_request_is_mapped_back_every_time() -> None:
    for _ in range(3):
        shape, sent = _translated("anthropic", "openai-chat", OPTIONAL)
        assert shape["strict"] is True and sent.absent


@pytest.mark.parametrize("shape", [{"type": "grammar", "grammar": "root ::= [a-z]+"}, {"type": "python"}])
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic", "gemini", "code-assist", "ollama"])
def test_a_format_of_openrouter_only_is_reported_and_not_sent(shape: dict[str, str], target: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "a " * 200}], "response_format": shape}
    for _ in range(3):
        done = dragoman.translate_request(body, source="openrouter", target=target, model="m")
        assert ("field.dropped", "/response_format") in {(loss.code, loss.path) for loss in done.losses}
        assert shape["type"].encode() not in done.body


def test_the_name_of_a_format_becomes_the_schema_title_and_comes_back() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    shape = {"name": "count", "description": "How many.", "strict": True, "schema": schema}
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}]}
    body["response_format"] = {"type": "json_schema", "json_schema": shape}
    there = dragoman.translate_request(body, source="openai-chat", target="ollama", model="qwen3")
    assert there.json()["format"] == {"title": "count", "description": "How many.", **schema}
    assert "format.detail.dropped" not in [loss.code for loss in there.losses]
    back = dragoman.translate_request(there.body, source="ollama", target="openai-chat", model="gpt-5")
    assert back.json()["response_format"]["json_schema"]["name"] == "count"
