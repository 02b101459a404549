"""Unusual requests: less common forms that providers accept, and settings that a target supports in another way."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

CONTENTS: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}
MESSAGES: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "q"}]}
OPENAI = ["openai-chat", "openai-responses"]


def sent(document: dict[str, Any], source: str, target: str, model: str = "m") -> tuple[Any, set[tuple[str, str, str]]]:
    out = dragoman.translate_request(document, source=source, target=target, model=model)
    return out.json(), {(loss.code, loss.severity, loss.path) for loss in out.losses}


@pytest.mark.parametrize("key", ["functionDeclarations", "function_declarations"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_declaration_needs_no_list(key: str, listed: bool) -> None:
    tool = {key: {"name": "f", "odd": 1}}
    document = {**CONTENTS, "tools": [tool] if listed else tool}
    written, losses = sent(document, "gemini", "openai-chat")
    assert written["tools"] == [{"type": "function", "function": {"name": "f"}}]
    place = f"/tools/0/{key}/odd" if listed else f"/tools/{key}/odd"
    assert ("field.dropped", "warning", place) in losses


@pytest.mark.parametrize("contents", ["q", {"parts": [{"text": "q"}]}])
def test_contents_without_a_list_are_detected(contents: Any) -> None:
    assert dragoman.detect({"contents": contents})[0] == "gemini"


@pytest.mark.parametrize("target", OPENAI)
def test_disabled_thinking_is_an_info_loss_for_a_model_without_thinking(target: str) -> None:
    document = {**MESSAGES, "thinking": {"type": "disabled"}}
    _, losses = sent(document, "anthropic", target, "gpt-4o")
    assert ("effort.dropped", "info", "/thinking") in losses


def test_the_path_of_a_loss_in_a_moved_field_is_spelled_as_in_the_source() -> None:
    document = {**CONTENTS, "config": {"thinking_config": {"thinking_budget": 5000}}}
    _, losses = sent(document, "gemini", "openai-chat", "gpt-5.2")
    assert ("effort.approximated", "info", "/config/thinking_config/thinking_budget") in losses


@pytest.mark.parametrize("target", OPENAI)
@pytest.mark.parametrize("root", [{"type": "array", "items": {"type": "string"}}, {"type": "string", "enum": ["a"]}])
def test_a_schema_that_is_no_object_is_written_as_an_instruction(root: dict[str, Any], target: str) -> None:
    config = {"responseMimeType": "application/json", "responseJsonSchema": root}
    written, losses = sent({**CONTENTS, "generationConfig": config}, "gemini", target, "gpt-5.2")
    assert "response_format" not in written
    assert "text" not in written
    assert "It must fit this JSON Schema" in str(written)
    assert losses == {("format.as_text", "warning", "/generationConfig/responseJsonSchema")}


def test_a_chat_client_can_send_any_schema_to_chat() -> None:
    shape = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "array"}}}
    document = {"model": "m", "messages": [{"role": "user", "content": "q"}], "response_format": shape}
    assert sent(document, "openai-chat", "openai-chat")[0]["response_format"] == shape


SEARCH = {"type": "web_search_20250305", "name": "web_search"}
FETCH = {"type": "web_fetch_20250910", "name": "web_fetch", "max_uses": 2}


def test_a_page_fetch_is_part_of_the_search_of_responses() -> None:
    written, losses = sent({**MESSAGES, "tools": [SEARCH, FETCH]}, "anthropic", "openai-responses")
    assert written["tools"] == [{"type": "web_search"}]
    assert ("tool.hosted.mapped", "info", "/tools/1") in losses
    assert ("tool.hosted.option.dropped", "warning", "/tools/1/max_uses") in losses
    alone, losses = sent({**MESSAGES, "tools": [FETCH]}, "anthropic", "openai-responses")
    assert "tools" not in alone
    assert ("tool.hosted.dropped", "warning", "/tools/0") in losses


OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("config", "losses"),
    [
        ({"responseFormat": {"text": {"mimeType": "APPLICATION_JSON", "schema": OBJECT}}}, set()),
        ({"response_format": {"text": {"mime_type": "application/json", "schema": OBJECT}}}, set()),
        (
            {"responseFormat": {"text": {"schema": OBJECT}, "image": {"delivery": "URI"}}},
            {("field.dropped", "warning", "/generationConfig/responseFormat")},
        ),
    ],
)
def test_the_newer_form_of_an_output_format_is_translated(
    config: dict[str, Any], losses: set[tuple[str, str, str]]
) -> None:
    written, found = sent({**CONTENTS, "generationConfig": config}, "gemini", "openai-chat")
    shape = {"name": "answer", "schema": OBJECT, "strict": True}
    assert written["response_format"] == {"type": "json_schema", "json_schema": shape}
    assert found == losses


def test_a_format_of_plain_text_or_images_is_no_output_format() -> None:
    for shape in ({"text": {"mimeType": "TEXT_PLAIN"}}, {"image": {"delivery": "URI"}}):
        written, found = sent({**CONTENTS, "generationConfig": {"responseFormat": shape}}, "gemini", "openai-chat")
        assert "response_format" not in written
        assert found == {("field.dropped", "warning", "/generationConfig/responseFormat")}


def test_the_newer_form_of_json_without_a_schema_is_translated() -> None:
    config = {"responseFormat": {"text": {"mimeType": "APPLICATION_JSON"}}}
    written, _ = sent({**CONTENTS, "generationConfig": config}, "gemini", "openai-chat")
    assert written["response_format"] == {"type": "json_object"}
