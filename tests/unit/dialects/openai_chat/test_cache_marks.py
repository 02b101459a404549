"""Cache marks on whole messages and on calls are read as marks after the last part."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

MARK = {"type": "ephemeral", "ttl": "1h"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief.", "cache_control": MARK},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "cache_control": MARK},
    {"role": "assistant", "content": None, "tool_calls": [{**CALL, "cache_control": MARK}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "done", "cache_control": MARK},
]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


def translate(source: str, target: str, messages: list[dict[str, Any]], model: str) -> dragoman.Translation:
    document = {"model": "m", "messages": messages, "tools": TOOLS}
    return dragoman.translate_request(document, source=source, target=target, model=model)


def cache_losses(translation: dragoman.Translation) -> list[tuple[str, str]]:
    found = [(loss.code, loss.path) for loss in translation.losses]
    return [one for one in found if "cache" in one[0] or "cache_control" in one[1]]


@pytest.mark.parametrize("source", ["openai-chat", "openrouter"])
def test_anthropic_has_a_place_for_each_mark(source: str) -> None:
    translation = translate(source, "anthropic", MESSAGES, "claude-opus-4-8")
    sent = translation.json()
    assert sent["system"] == [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    user, assistant, results = [message["content"] for message in sent["messages"]]
    assert [block.get("cache_control") for block in user] == [None, MARK]
    assert assistant[-1]["cache_control"] == MARK
    assert results[0]["cache_control"] == MARK
    assert cache_losses(translation) == []


def test_openrouter_has_marks_only_on_parts() -> None:
    translation = translate(
        "openai-chat", "openrouter", [*MESSAGES[:2], *MESSAGES[2:3], MESSAGES[3]], "anthropic/claude-opus-4.8"
    )
    system, user, assistant, result = translation.json()["messages"]
    assert system["content"] == [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    assert [part.get("cache_control") for part in user["content"]] == [None, MARK]
    assert "cache_control" not in assistant["tool_calls"][0]
    assert result["content"][-1]["cache_control"] == MARK
    assert cache_losses(translation) == [("cache.dropped", "/messages/2/tool_calls/0/cache_control")]


@pytest.mark.parametrize("source", ["openai-chat", "openrouter"])
def test_the_loss_has_the_path_of_the_mark(source: str) -> None:
    assert sorted(cache_losses(translate(source, "gemini", MESSAGES[:2], "gemini-2.5-flash"))) == [
        ("cache.dropped", "/messages/0/cache_control"),
        ("cache.dropped", "/messages/1/cache_control"),
    ]


def test_a_mark_without_a_part_is_reported() -> None:
    messages = [MESSAGES[0], {"role": "user", "content": "", "cache_control": MARK}]
    translation = translate("openai-chat", "anthropic", messages, "claude-opus-4-8")
    assert ("cache.dropped", "/messages/1/cache_control") in cache_losses(translation)


def test_within_the_dialect_the_marks_are_unchanged() -> None:
    for dialect in ("openai-chat", "openrouter"):
        assert translate(dialect, dialect, MESSAGES, "m").json()["messages"] == MESSAGES
