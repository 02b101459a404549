"""Evidence that a document is an OpenRouter document, and not a Chat document."""

from __future__ import annotations

import pytest

import dragoman
from dragoman.dialects.openrouter import DIALECT

USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [USER], "provider": {"order": ["a"]}},
        {"messages": [USER], "reasoning": {"effort": "low"}},
        {"messages": [USER], "usage": {"include": True}},
        {"messages": [USER, {"role": "assistant", "reasoning_details": []}]},
        {"messages": [USER], "tools": [{"type": "openrouter:datetime"}]},
        {"choices": [{"message": {"role": "assistant"}, "native_finish_reason": None}]},
        {"choices": [{"delta": {"reasoning_details": []}}]},
        {"error": {"code": 429, "message": "m"}},
    ],
)
def test_fields_of_openrouter_are_evidence(document: dict[str, object]) -> None:
    found, reasons = dragoman.detect(document)
    assert found == "openrouter"
    assert reasons


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [USER]},
        {"messages": [USER], "reasoning_effort": "low"},
        {"choices": [{"message": {"role": "assistant", "content": "a"}}]},
        {"error": {"message": "m", "type": "server_error", "param": None, "code": None}},
        {"input": [USER], "reasoning": {"effort": "low"}},
    ],
)
def test_documents_of_chat_give_no_evidence(document: dict[str, object]) -> None:
    assert DIALECT.evidence(document) == []
