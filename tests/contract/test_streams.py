"""The streaming snippets of the documents: a call in several pieces is read and written in every dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import StreamTranslator
from dragoman.canon.events import Event
from dragoman.canon.fold_and_unfold import fold
from dragoman.canon.parts import ToolCall
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects import get
from tests.contract.scenarios import DIALECTS


def _named(*events: dict[str, Any]) -> bytes:
    return b"".join([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])


def _plain(*chunks: Any) -> bytes:
    return b"".join([f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks])


ITEM = {"id": "fc_1", "type": "function_call", "call_id": "call_123", "name": "run_shell_command"}
# The snippets of the documents. They contain only the call.
SNIPPETS = {
    "anthropic": _named(
        {
            "type": "content_block_start",
            "content_block": {"type": "tool_use", "id": "call_123", "name": "run_shell_command"},
        },
        {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '{"command":"ls -la"}'}},
        {"type": "content_block_stop"},
    ),
    "openai-responses": _plain(
        {
            "type": "response.output_item.added",
            "sequence_number": 1,
            "output_index": 0,
            "item": {**ITEM, "status": "in_progress", "arguments": ""},
        },
        {
            "type": "response.function_call_arguments.delta",
            "sequence_number": 2,
            "item_id": "fc_1",
            "output_index": 0,
            "delta": '{"command":',
        },
        {
            "type": "response.function_call_arguments.delta",
            "sequence_number": 3,
            "item_id": "fc_1",
            "output_index": 0,
            "delta": '"ls -la"}',
        },
        {
            "type": "response.output_item.done",
            "sequence_number": 4,
            "output_index": 0,
            "item": {**ITEM, "status": "completed", "arguments": '{"command":"ls -la"}'},
        },
    ),
    "openai-chat": _plain(
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "run_shell_command"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"command":"ls -la"}'}}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ),
    "gemini": _plain(
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"functionCall": {"id": "fc1", "name": "run_shell_command", "args": {"command": "ls -la"}}}
                        ],
                    }
                }
            ]
        }
    ),
}
# The other events, which make the snippets whole streams.
BEFORE = {
    "anthropic": _named(
        {
            "type": "message_start",
            "message": {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []},
        }
    ),
    "openai-responses": _plain(
        {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}
    ),
    "openai-chat": b"",
    "gemini": b"",
}
AFTER = {
    "anthropic": _named({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}),
    "openai-responses": _plain(
        {
            "type": "response.completed",
            "response": {
                "id": "r",
                "status": "completed",
                "output": [{**ITEM, "status": "completed", "arguments": '{"command":"ls -la"}'}],
            },
        }
    ),
    "openai-chat": b"data: [DONE]\n\n",
    "gemini": _plain({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]}),
}
IDS = {"anthropic": "call_123", "openai-responses": "call_123", "gemini": "fc1"}


def _call(dialect: str, stream: bytes, step: int) -> ToolCall:
    reader = get(dialect).reader(Context(dialect, "test"))
    events: list[Event] = []
    for i in range(0, len(stream), step):
        events += reader.feed(stream[i : i + step])
    response = fold(events + reader.close())
    assert isinstance(response, Response)
    assert response.stop.reason == "tool_calls"
    (call,) = [part for part in response.parts if isinstance(part, ToolCall)]
    return call


def _stream(dialect: str) -> bytes:
    return BEFORE[dialect] + SNIPPETS[dialect] + AFTER[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("step", [1, 10_000])
def test_a_streamed_call_is_read(dialect: str, step: int) -> None:
    call = _call(dialect, _stream(dialect), step)
    assert (call.name, call.input) == ("run_shell_command", {"command": "ls -la"})
    assert json.loads(call.arguments) == {"command": "ls -la"}
    if dialect in IDS:
        assert call.id == IDS[dialect]
    else:
        assert call.id.startswith("call_")


@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("target", DIALECTS)
def test_a_streamed_call_is_translated(source: str, target: str) -> None:
    translator = StreamTranslator(source=source, target=target)
    written = translator.feed(_stream(source)) + translator.close()
    call = _call(target, written, 10_000)
    assert (call.name, call.input) == ("run_shell_command", {"command": "ls -la"})
    if source in IDS:
        # Call ids for Chat clients begin with `call_`.
        assert call.id in (IDS[source], f"call__{IDS[source]}" if target == "openai-chat" else "")


@pytest.mark.parametrize("dialect", ["anthropic", "openai-responses"])
def test_an_incomplete_snippet_is_no_call(dialect: str) -> None:
    translator = StreamTranslator(source=dialect, target="openai-chat")
    written = translator.feed(BEFORE[dialect] + SNIPPETS[dialect]) + translator.close()
    assert b'"error"' in written
    assert b"[DONE]" not in written
