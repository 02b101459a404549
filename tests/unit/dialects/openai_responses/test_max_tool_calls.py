"""The limit of hosted calls: one for all tools in Responses, one for each tool elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

SEARCH = {"type": "web_search"}
RUN = {"type": "code_interpreter", "container": {"type": "auto"}}
FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
LIMITED = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
ROOMY = {"type": "code_execution_20250825", "name": "code_execution"}


def sent(document: dict[str, Any], source: str, target: str) -> tuple[Any, list[tuple[str, str]]]:
    out = dragoman.translate_request(document, source=source, target=target, model="m")
    return out.json(), [(loss.code, loss.path) for loss in out.losses if "invented" not in loss.code]


def asked(*tools: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "input": "q", "max_tool_calls": 3, "tools": [*tools]}


def messages(*tools: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "q"}], "tools": [*tools]}


def test_the_limit_of_the_only_hosted_tool_crosses() -> None:
    written, losses = sent(asked(SEARCH, FUNCTION), "openai-responses", "anthropic")
    assert written["tools"][0] == LIMITED
    assert losses == [("tool.hosted.mapped", "/tools/0")]
    written, losses = sent(messages(LIMITED), "anthropic", "openai-responses")
    assert (written["tools"], written["max_tool_calls"]) == ([SEARCH], 3)
    assert losses == [("tool.hosted.mapped", "/tools/0")]


def test_a_limit_of_several_tools_has_no_counterpart() -> None:
    written, losses = sent(asked(SEARCH, RUN), "openai-responses", "anthropic")
    assert "max_uses" not in written["tools"][0]
    assert ("field.dropped", "/max_tool_calls") in losses
    written, losses = sent(messages(LIMITED, ROOMY), "anthropic", "openai-responses")
    assert "max_tool_calls" not in written
    assert "max_uses" not in written["tools"][0]
    assert ("tool.hosted.option.dropped", "/tools/0") in losses


@pytest.mark.parametrize("target", ["gemini", "openai-chat", "ollama"])
def test_a_limit_is_reported_where_there_is_none(target: str) -> None:
    _, losses = sent(asked(SEARCH), "openai-responses", target)
    assert ("tool.hosted.option.dropped", "/max_tool_calls") in losses


def test_within_the_dialect_the_limit_stays() -> None:
    document = asked(SEARCH, RUN)
    assert sent(document, "openai-responses", "openai-responses")[0] == document
