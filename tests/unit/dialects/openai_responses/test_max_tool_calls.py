"""The limit of hosted calls: Responses has one limit for all tools, other dialects have one for each tool."""

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


def responses_request(*tools: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "input": "q", "max_tool_calls": 3, "tools": [*tools]}


def anthropic_request(*tools: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "q"}], "tools": [*tools]}


def test_the_limit_of_a_single_hosted_tool_is_translated() -> None:
    written, losses = sent(responses_request(SEARCH, FUNCTION), "openai-responses", "anthropic")
    assert written["tools"][0] == LIMITED
    assert losses == [("tool.hosted.mapped", "/tools/0")]
    written, losses = sent(anthropic_request(LIMITED), "anthropic", "openai-responses")
    assert (written["tools"], written["max_tool_calls"]) == ([SEARCH], 3)
    assert losses == [("tool.hosted.mapped", "/tools/0")]


def test_a_limit_of_several_tools_has_no_counterpart() -> None:
    written, losses = sent(responses_request(SEARCH, RUN), "openai-responses", "anthropic")
    assert "max_uses" not in written["tools"][0]
    assert ("field.dropped", "/max_tool_calls") in losses
    written, losses = sent(anthropic_request(LIMITED, ROOMY), "anthropic", "openai-responses")
    assert "max_tool_calls" not in written
    assert "max_uses" not in written["tools"][0]
    assert ("tool.hosted.option.dropped", "/tools/0") in losses


@pytest.mark.parametrize("target", ["gemini", "openai-chat", "ollama"])
def test_a_limit_is_reported_if_the_target_has_no_limits(target: str) -> None:
    _, losses = sent(responses_request(SEARCH), "openai-responses", target)
    assert ("tool.hosted.option.dropped", "/max_tool_calls") in losses


def test_within_the_dialect_the_limit_is_unchanged() -> None:
    document = responses_request(SEARCH, RUN)
    assert sent(document, "openai-responses", "openai-responses")[0] == document
