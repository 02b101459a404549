"""Requests of coding agents in every dialect: lint-clean, each call with its result, no needless warning."""

from __future__ import annotations

import msgspec
import pytest

import dragoman
from dragoman import dialects
from dragoman.canon.parts import Media, ToolCall, ToolResult
from dragoman.context import Context
from tests.pairs.agent_bodies import BODIES

MODELS = {
    "anthropic": "claude-opus-4-8",
    "code-assist": "gemini-2.5-pro",
    "gemini": "gemini-3-pro-preview",
    "ollama": "qwen3",
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5.5",
    "openrouter": "anthropic/claude-sonnet-4.5",
}
CASES = [(name, target) for name, (source, _) in BODIES.items() for target in MODELS if target != source]
WARNED = {
    "effort.dropped",  # gpt-4.1 does not think
    "parallel.unenforced",  # Gemini and Ollama have no such setting
    "result.media.moved",  # no place for an image in a result
    "seal.dummy",  # calls without a seal, where the model requires one
    "system.demoted",  # no system turn in mid-conversation
    "tool.hosted.dropped",  # the upstream has no web search
}


def translated_body(name: str, target: str) -> dragoman.Translation:
    source, body = BODIES[name]
    return dragoman.translate_request(body(), source=source, target=target, model=MODELS[target])


@pytest.mark.parametrize(("name", "target"), CASES)
def test_a_session_of_an_agent_is_translated_completely(name: str, target: str) -> None:
    source, body = BODIES[name]
    translated = translated_body(name, target)
    found = dragoman.lint(translated.body, dialect=target, model=MODELS[target])
    assert [(one.rule, one.path, one.message) for one in found if one.severity == "error"] == []
    assert {
        (one.code, one.path) for one in translated.losses if one.severity != "info" and one.code not in WARNED
    } == set()
    sent = dialects.get(source).read_request(msgspec.json.encode(body()), Context(source, target))
    got = dialects.get(target).read_request(translated.body, Context(target, source))
    calls = [part for turn in got.turns for part in turn.parts if isinstance(part, ToolCall)]
    results = [part for turn in got.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert len(calls) == sum([isinstance(part, ToolCall) for turn in sent.turns for part in turn.parts])
    assert [call.id for call in calls] == [result.call_id for result in results]
    parts = [part for turn in got.turns for part in turn.parts]
    shown = [one for part in parts for one in (part.parts if isinstance(part, ToolResult) else (part,))]
    assert sum([isinstance(one, Media) for one in shown]) == (name != "pi")


def test_context_management_that_clears_content_is_reported() -> None:
    body = BODIES["claude-code"][1]()
    body["context_management"] = {"edits": [{"type": "clear_thinking_20251015", "keep": {"type": "all_but", "n": 1}}]}
    translated = dragoman.translate_request(body, source="anthropic", target="openai-chat", model="gpt-4.1")
    assert [one.code for one in translated.losses if one.path == "/context_management"] == ["field.dropped"]
    kept = dragoman.translate_request(body, source="anthropic", target="anthropic", model="claude-opus-4-8")
    assert kept.json()["context_management"] == body["context_management"]


def test_a_search_without_web_access_is_reported() -> None:
    body = BODIES["codex"][1]()
    body["tools"][-1]["external_web_access"] = False
    translated = dragoman.translate_request(
        body, source="openai-responses", target="anthropic", model="claude-opus-4-8"
    )
    losses = [one for one in translated.losses if one.code == "tool.hosted.option.dropped"]
    assert [one.path for one in losses] == ["/tools/4/external_web_access"]


def test_reasoning_context_of_the_current_turn_only_is_reported() -> None:
    body = BODIES["codex-programs"][1]()
    body["reasoning"]["context"] = "current_turn"
    translated = dragoman.translate_request(
        body, source="openai-responses", target="anthropic", model="claude-opus-4-8"
    )
    assert [one.severity for one in translated.losses if one.path == "/reasoning/context"] == ["warning"]
