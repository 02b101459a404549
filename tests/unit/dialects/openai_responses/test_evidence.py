"""Evidence that a document is a Responses document."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.dialects.openai_responses import DIALECT


@pytest.mark.parametrize(
    ("document", "weight"),
    [
        ({"input": "hi", "model": "m"}, 3),
        ({"input": [{"type": "function_call"}], "instructions": "x"}, 10),
        ({"input": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}]}, 7),
        ({"object": "response", "output": []}, 12),
        ({"tools": [{"type": "function", "name": "f", "parameters": {}}]}, 4),
        ({"type": "response.created"}, 9),
        ({"messages": []}, 0),
        ({"tools": [{"type": "function", "function": {"name": "f"}}], "input": None}, 0),
    ],
)
def test_reasons(document: dict[str, Any], weight: int) -> None:
    found = DIALECT.evidence(document)
    assert sum(points for points, _ in found) == weight
    assert all(reason for _, reason in found)
