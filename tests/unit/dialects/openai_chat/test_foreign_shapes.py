"""Chat requests with tools, calls and results in the form of Messages."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from dragoman.canon import Media, Opaque, Text, Tool, ToolCall, ToolResult
from tests.unit.dialects.openai_chat.helpers import CHAT

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}


def read(messages: list[Any], **more: Any) -> tuple[Any, set[tuple[str, str]]]:
    body = {"model": "m", "messages": messages, **more}
    done = dragoman.translate_request(body, source=CHAT, target="anthropic")
    return done.request, {(loss.code, loss.path) for loss in done.losses}


def test_calls_and_results_in_anthropic_form_are_read() -> None:
    used = {"type": "tool_use", "id": "t1", "name": "f", "input": {"n": 1.0}}
    result_block = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}, IMAGE]}
    request, lost = read(
        [
            {"role": "assistant", "content": [{"type": "text", "text": "Hm."}, used]},
            {"role": "user", "content": [result_block, {"type": "text", "text": "And?"}]},
        ]
    )
    assert [turn.role for turn in request.turns] == ["assistant", "tool", "user"]
    call = request.turns[0].parts[1]
    assert type(call) is ToolCall and (call.id, call.name, call.arguments) == ("t1", "f", '{"n":1.0}')
    (result,) = request.turns[1].parts
    assert type(result) is ToolResult and result.call_id == "t1" and not result.is_error
    assert [type(part) for part in result.parts] == [Text, Media]
    assert not [code for code, _ in lost if code in ("hosted.dropped", "part.dropped", "field.dropped")]


def test_fields_without_a_place_are_losses() -> None:
    used = {"type": "tool_use", "id": "t1", "name": "f", "cache_control": {"type": "ephemeral"}}
    text = {"type": "text", "text": "x", "citations": []}
    result_block = {"type": "tool_result", "tool_use_id": "t1", "content": [text, {"type": "odd"}], "later": 1}
    request, lost = read([{"role": "assistant", "content": [used]}, {"role": "user", "content": [result_block]}])
    assert request.turns[0].parts[0].arguments == "{}"
    assert type(request.turns[1].parts[0].parts[1]) is Opaque
    assert {path for code, path in lost if code == "field.dropped"} == {
        "/messages/0/content/0/cache_control",
        "/messages/1/content/0/later",
        "/messages/1/content/0/content/0/citations",
    }


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ({"type": "any"}, {"type": "any"}),
        ({"type": "tool", "name": "f"}, {"type": "tool", "name": "f"}),
        ({"type": "none"}, {"type": "none"}),
    ],
)
def test_tools_and_their_choice_in_anthropic_form_are_read(choice: Any, sent: Any) -> None:
    tool: dict[str, Any] = {"name": "f", "description": "d", "input_schema": {"type": "object"}, "later": 1}
    tool["cache_control"] = {"type": "ephemeral"}
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [tool], "tool_choice": choice}
    done = dragoman.translate_request(body, source=CHAT, target="anthropic")
    assert done.request is not None
    (found,) = done.request.tools
    assert isinstance(found, Tool) and (found.name, found.description, found.schema) == ("f", "d", '{"type":"object"}')
    assert done.json()["tool_choice"] == sent
    assert done.json()["tools"][0]["cache_control"] == {"type": "ephemeral"}
    assert {loss.path for loss in done.losses if loss.code == "field.dropped"} == {"/tools/0/later"}


def test_within_the_dialect_these_parts_are_unchanged() -> None:
    used = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    body = {"model": "m", "messages": [{"role": "assistant", "content": [used]}, {"role": "user", "content": "hi"}]}
    assert dragoman.translate_request(body, source=CHAT, target=CHAT, host="groq").json() == body
