"""What coding agents send crosses to every dialect: lint-clean, every call with its result, and no needless warning."""

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
    "parallel.unenforced",  # Gemini and Ollama cannot be told
    "result.media.moved",  # no place for a picture in a result
    "seal.dummy",  # calls without a seal, in a model's step that wants one
    "system.demoted",  # no system turn in mid-conversation
    "tool.hosted.dropped",  # no web search of the upstream's own
}


def crossed(name: str, target: str) -> dragoman.Translation:
    source, body = BODIES[name]
    return dragoman.translate_request(body(), source=source, target=target, model=MODELS[target])


@pytest.mark.parametrize(("name", "target"), CASES)
def test_it_arrives_whole(name: str, target: str) -> None:
    source, body = BODIES[name]
    told = crossed(name, target)
    found = dragoman.lint(told.body, dialect=target, model=MODELS[target])
    assert [(one.rule, one.path, one.message) for one in found if one.severity == "error"] == []
    assert {(one.code, one.path) for one in told.losses if one.severity != "info" and one.code not in WARNED} == set()
    sent = dialects.get(source).read_request(msgspec.json.encode(body()), Context(source, target))
    got = dialects.get(target).read_request(told.body, Context(target, source))
    calls = [part for turn in got.turns for part in turn.parts if isinstance(part, ToolCall)]
    results = [part for turn in got.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert len(calls) == sum([isinstance(part, ToolCall) for turn in sent.turns for part in turn.parts])
    assert [call.id for call in calls] == [result.call_id for result in results]
    parts = [part for turn in got.turns for part in turn.parts]
    shown = [one for part in parts for one in (part.parts if isinstance(part, ToolResult) else (part,))]
    assert sum([isinstance(one, Media) for one in shown]) == (name != "pi")


def test_management_that_clears_something_is_a_loss() -> None:
    body = BODIES["claude-code"][1]()
    body["context_management"] = {"edits": [{"type": "clear_thinking_20251015", "keep": {"type": "all_but", "n": 1}}]}
    told = dragoman.translate_request(body, source="anthropic", target="openai-chat", model="gpt-4.1")
    assert [one.code for one in told.losses if one.path == "/context_management"] == ["field.dropped"]
    kept = dragoman.translate_request(body, source="anthropic", target="anthropic", model="claude-opus-4-8")
    assert kept.json()["context_management"] == body["context_management"]


def test_a_search_that_stays_at_home_is_a_loss() -> None:
    body = BODIES["codex"][1]()
    body["tools"][-1]["external_web_access"] = False
    told = dragoman.translate_request(body, source="openai-responses", target="anthropic", model="claude-opus-4-8")
    lost = [one for one in told.losses if one.code == "tool.hosted.option.dropped"]
    assert [one.path for one in lost] == ["/tools/4/external_web_access"]


def test_thoughts_of_this_turn_alone_is_a_loss() -> None:
    body = BODIES["codex-programs"][1]()
    body["reasoning"]["context"] = "current_turn"
    told = dragoman.translate_request(body, source="openai-responses", target="anthropic", model="claude-opus-4-8")
    assert [one.severity for one in told.losses if one.path == "/reasoning/context"] == ["warning"]
