"""Evidence that a document is a Chat document."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.dialects.openai_chat.detection_evidence import evidence


@pytest.mark.parametrize(
    ("document", "reasons"),
    [
        ({}, []),
        ({"messages": "x", "tools": None, "choices": 7}, []),
        ({"messages": []}, ["messages[]"]),
        ({"messages": [{"role": "system"}, 7]}, ["messages[]", "the first message is a system message"]),
        (
            {"messages": [7, {"role": "tool"}, {"role": "function"}]},
            ["messages[]", "a message with role tool", "a message with role function"],
        ),
        ({"messages": [{"role": "developer"}]}, ["messages[]", "a message with role developer"]),
        ({"messages": [{"role": "assistant", "tool_calls": []}]}, ["messages[]", "messages[].tool_calls"]),
        ({"messages": [{"role": "assistant", "function_call": {}}]}, ["messages[]", "messages[].tool_calls"]),
        ({"tools": [7, {"name": "f"}]}, []),
        ({"tools": [{"function": {}}, {"function": {}}]}, ["tools[].function{}"]),
        ({"n": 1, "seed": 2, "response_format": {}}, ["response_format", "n", "seed"]),
        ({"object": "chat.completion"}, ["object chat.completion"]),
        ({"object": "chat.completion.chunk", "choices": []}, ["object chat.completion.chunk", "choices[]"]),
        ({"object": 7}, []),
    ],
)
def test_reasons(document: dict[str, Any], reasons: list[str]) -> None:
    found = evidence(document)
    assert [reason for _, reason in found] == reasons
    assert all(weight > 0 for weight, _ in found)
