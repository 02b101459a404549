"""Evidence that a document is a Gemini document."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.dialects.gemini import DIALECT


@pytest.mark.parametrize(
    "document",
    [
        {"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {}},
        {"contents": [], "tools": [{"function_declarations": []}], "toolConfig": {}},
        {"candidates": [], "usageMetadata": {}, "modelVersion": "m"},
        {"error": {"code": 400, "status": "INVALID_ARGUMENT"}},
    ],
)
def test_gemini_documents(document: Any) -> None:
    assert sum(weight for weight, _ in DIALECT.evidence(document)) >= 5


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "function": {}}]},
        {"choices": [], "object": "chat.completion"},
        {"error": {"type": "x", "message": "y"}},
        {"input": "Hi", "tools": None},
    ],
)
def test_documents_of_other_dialects(document: Any) -> None:
    assert DIALECT.evidence(document) == []
