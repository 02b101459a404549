"""Evidence that a document is an Ollama document. Requests that could be Chat Completions count as Chat."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman import detect
from dragoman.dialects.ollama import DIALECT
from tests.unit.dialects.ollama.helpers import end, line, lines

USER = {"role": "user", "content": "Hi"}
CALL = {"id": "call_a", "function": {"name": "f", "arguments": {}}}
TOOL = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    "document",
    [
        {"model": "m", "messages": [USER], "options": {}},
        {"model": "m", "messages": [USER], "think": False},
        {"model": "m", "messages": [USER], "keep_alive": "5m"},
        {"model": "m", "messages": [{**USER, "images": ["AAAA"]}]},
        {"messages": [USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}], "tools": [TOOL]},
        {"messages": [{"role": "system", "content": "a"}, USER, {"role": "tool", "content": "1", "tool_name": "f"}]},
        line(content="a"),
        end(),
        {"error": "model not found"},
    ],
)
def test_ollama_documents(document: Any) -> None:
    assert detect(document)[0] == "ollama"


def test_the_start_of_a_stream() -> None:
    assert detect(lines(line(content="a"), end()))[0] == "ollama"


@pytest.mark.parametrize(
    ("document", "dialect"),
    [
        ({"model": "m", "messages": [USER], "tools": [TOOL]}, "openai-chat"),
        (
            {
                "messages": [
                    {"role": "system", "content": "a"},
                    USER,
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                    },
                    {"role": "tool", "tool_call_id": "c", "content": "1"},
                ],
                "tools": [TOOL],
            },
            "openai-chat",
        ),
        ({"error": {"message": "m", "type": "invalid_request_error", "param": None, "code": None}}, None),
        ({"choices": [], "object": "chat.completion"}, "openai-chat"),
        ({"contents": [{"parts": [{"text": "Hi"}]}]}, "gemini"),
    ],
)
def test_documents_of_other_dialects(document: Any, dialect: str | None) -> None:
    found, _ = detect(msgspec.json.encode(document))
    assert found != "ollama"
    assert dialect is None or found == dialect


def test_every_reason_has_a_weight() -> None:
    found = DIALECT.evidence({"messages": [USER, "odd"], "tools": [1], "format": "json", "done": 1, "message": []})
    assert found == [(1, "messages[]"), (4, "format")]
