"""Evidence that a document is a Messages document."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.dialects.anthropic import DIALECT


@pytest.mark.parametrize(
    ("document", "least"),
    [
        ({"max_tokens": 1, "messages": [{"role": "user", "content": "hi"}], "system": "s"}, 7),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}, 7),
        ({"tools": [{"name": "f", "input_schema": {}}], "tool_choice": {"type": "any"}}, 9),
        ({"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}, 14),
        ({"type": "content_block_delta", "index": 0, "delta": {}}, 9),
        ({"type": "error", "error": {"type": "api_error", "message": "m"}}, 6),
    ],
)
def test_documents_of_this_dialect(document: Any, least: int) -> None:
    assert sum(weight for weight, _ in DIALECT.evidence(document)) >= least


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"messages": 5, "tools": 7, "type": [], "tool_choice": "auto"},
        {"contents": [{"parts": [{"text": "hi"}]}]},
        {"object": "chat.completion", "choices": []},
    ],
)
def test_documents_of_other_dialects(document: Any) -> None:
    assert DIALECT.evidence(document) == []


def test_the_url_path_and_headers_of_an_upstream() -> None:
    paths = DIALECT.upstream_paths
    assert (paths.path, paths.headers) == ("/v1/messages", {"anthropic-version": "2023-06-01"})
