"""Fields Chat has, in an object of the wrong kind: kept for Chat, a loss for everybody else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.crossing import Crossing

from .desk import CHAT, DIALECT

USER = {"role": "user", "content": "x"}
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
F = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"messages": [{**USER, "refusal": "MARK"}]}, "/messages/0/refusal"),
        (
            {"messages": [USER, {"role": "assistant", "content": "a", "tool_call_id": "MARK"}]},
            "/messages/1/tool_call_id",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "refusal": "MARK"}]}]},
            "/messages/0/content/0/refusal",
        ),
        (
            {"messages": [USER, CALL, {"role": "tool", "tool_call_id": "c", "content": "x", "reasoning": "MARK"}]},
            "/messages/2/reasoning",
        ),
        ({"messages": [USER], "tools": [{**F, "custom": {"name": "MARK"}}]}, "/tools/0/custom"),
    ],
)
def test_a_misplaced_field_comes_back_or_is_reported(fields: dict[str, Any], path: str) -> None:
    body = msgspec.json.encode({"model": "m", **fields})
    out = dragoman.translate_request(body, source=CHAT, target="anthropic")
    assert b"MARK" not in out.body
    assert ("field.dropped", path) in [(loss.code, loss.path) for loss in out.losses]
    same = Crossing(CHAT, CHAT)
    assert b"MARK" in DIALECT.write_request(DIALECT.read_request(body, same), same)
