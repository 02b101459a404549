"""Owns a gateway with four upstreams and some traffic, for the page.

The upstreams are a second gateway with its rehearsal. So real translations happen without a model or a network."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.gateway_process import served, upstreams

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "day": {"oneOf": [{"const": "today"}, {"type": "string"}]}},
    "required": ["city"],
    "additionalProperties": False,
}
CLAUDE_TOOLS = [{"name": "get_weather", "description": "The weather in a city.", "input_schema": WEATHER}]
CHAT_TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}]
CYCLE: list[dict[str, Any]] = [
    {"role": "user", "content": "Is it raining in Paris or in Brest?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look at both cities."},
            {"type": "tool_use", "id": "toolu_paris", "name": "get_weather", "input": {"city": "Paris"}},
            {"type": "tool_use", "id": "toolu_brest", "name": "get_weather", "input": {"city": "Brest"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_paris", "content": "dry, 18 degrees"},
            {"type": "tool_result", "tool_use_id": "toolu_brest", "is_error": True, "content": "station offline"},
        ],
    },
]
PRICES = '[models."claude/*"]\ninput_price = 30.0\noutput_price = 150.0\n'
"""Prices for one upstream. The prices of the other upstreams are unknown."""


def claude(model: str, messages: list[dict[str, Any]], **more: Any) -> tuple[str, dict[str, Any]]:
    body = {"model": model, "max_tokens": 1024, "system": "Be brief.", "messages": messages, "tools": CLAUDE_TOOLS}
    return "/v1/messages", body | more


def chat(model: str, words: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "/v1/chat/completions", {"model": model, "messages": [{"role": "user", "content": words}], **more}


def some_traffic() -> list[tuple[str, dict[str, Any]]]:
    """Requests in several dialects: some succeed, some have losses, some fail."""
    return [
        chat("rehearsal/rules", "What is a dragoman?", stream=True),
        claude("gpt/rehearsal/rules", CYCLE[:1], stream=True),
        claude("google/rehearsal/rules", CYCLE, stream=True, top_k=40),
        chat("claude/rehearsal/thinking", "Plan a walk through Brest.", stream=True, logit_bias={"50256": -100}),
        chat("google/rehearsal/rules", "The weather in Rome?", tools=CHAT_TOOLS, seed=7),
        ("/api/chat", {"model": "gpt/rehearsal/rules", "messages": [{"role": "user", "content": "Good morning"}]}),
        chat("claude/rehearsal/overloaded", "Are you there?"),
        chat("local/rehearsal/truncation", "Tell me everything about bridges.", stream=True),
        ("/v1/responses", {"model": "claude/rehearsal/rules", "input": "Write one line.", "stream": True}),
        claude("local/rehearsal/one-call", CYCLE[:1], stream=True, tool_choice={"type": "any"}),
        claude("google/rehearsal/rules", CYCLE, stream=False),
    ]


def ask(base: str, path: str, body: Any, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Send a request. Returns its status and the id of its exchange."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {
        "content-type": "application/json",
        "user-agent": "claude-cli/2.1" if "messages" in path else "openai/3.40",
    }
    request = urllib.request.Request(f"{base}{path}", content, {**named, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
            return answer.status, answer.headers["dragoman-exchange"]
    except urllib.error.HTTPError as error:
        error.read()
        return error.code, error.headers["dragoman-exchange"] or ""


@contextmanager
def two_gateways(place: Path, config: str = "") -> Iterator[str]:
    """The address of a gateway. Its four upstreams are the rehearsal of another gateway."""
    second_gateway, first_gateway = place / "behind", place / "front"
    second_gateway.mkdir()
    first_gateway.mkdir()
    with served("", second_gateway) as upstream:
        port = int(upstream.rpartition(":")[2])
        names = upstreams(port, claude="anthropic", gpt="openai-chat", google="gemini", local="ollama")
        with served(f"{config}\n{names}" if config else names, first_gateway) as base:
            yield base
