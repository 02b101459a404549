"""Chat fields in an object of the wrong kind: kept for Chat, and a loss for other dialects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.context import Context

from .helpers import CHAT, DIALECT

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
def test_a_misplaced_field_is_kept_for_chat_and_reported_for_others(fields: dict[str, Any], path: str) -> None:
    body = msgspec.json.encode({"model": "m", **fields})
    out = dragoman.translate_request(body, source=CHAT, target="anthropic")
    assert b"MARK" not in out.body
    assert ("field.dropped", path) in [(loss.code, loss.path) for loss in out.losses]
    same = Context(CHAT, CHAT)
    assert b"MARK" in DIALECT.write_request(DIALECT.read_request(body, same), same)


def test_request_fields_in_an_answer_are_reported() -> None:
    message = {"role": "assistant", "content": "a", "name": "bob", "tool_call_id": "z"}
    body = {"id": "x", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    lost = dragoman.translate_response(body, source="openai-chat", target="anthropic").losses
    paths = {loss.path for loss in lost if loss.code == "field.dropped"}
    assert paths == {"/choices/0/message/name", "/choices/0/message/tool_call_id"}


def test_a_call_of_an_unknown_kind_is_read_by_its_fields_and_reported() -> None:
    call = {"id": "c", "type": "odd", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    done = dragoman.translate_request({"model": "m", "messages": messages}, source="openai-chat", target="anthropic")
    assert "/messages/1/tool_calls/0/type" in {loss.path for loss in done.losses if loss.code == "field.dropped"}
