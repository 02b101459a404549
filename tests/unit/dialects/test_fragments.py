"""A part of an answer, as clients store it, is accepted as an answer. Other documents are refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.canon.parts import ToolCall
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.errors import WireError

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'}
PART = {"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}
BLOCK = {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}


def _calls(dialect: str, body: Any) -> list[tuple[str, str, str]]:
    document = body if isinstance(body, bytes) else msgspec.json.encode(body)
    response = get(dialect).read_response(document, Context(dialect, dialect))
    return [(part.id, part.name, part.arguments) for part in response.parts if isinstance(part, ToolCall)]


@pytest.mark.parametrize(
    ("dialect", "fragment"),
    [
        ("openai-chat", {"role": "assistant", "content": None, "tool_calls": [CALL]}),
        ("openai-chat", {"tool_calls": [CALL]}),
        ("anthropic", {"role": "assistant", "content": [BLOCK]}),
        ("openai-responses", [ITEM]),
        ("openai-responses", b" \n" + msgspec.json.encode([ITEM])),
        ("openai-responses", [ITEM, {"type": "function_call_output", "call_id": "c", "output": "r"}]),
        ("openai-responses", {"type": "response.output_item.done", "item": ITEM}),
        (
            "openai-responses",
            {"type": "response.output_item.done", "output_index": 0, "sequence_number": 4, "item": ITEM},
        ),
        ("gemini", {"role": "model", "parts": [PART]}),
        ("gemini", {"parts": [PART]}),
    ],
)
def test_a_fragment_gives_its_calls(dialect: str, fragment: Any) -> None:
    assert _calls(dialect, fragment) == [("c", "f", '{"a":1}')]


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic", "openai-responses", "gemini"])
@pytest.mark.parametrize(
    "body", [{}, {"x": 1}, {"role": "user"}, 7, "text", b"", b"{", b"[", b'{"type":"response.output_item.done"']
)
def test_a_document_that_is_no_answer_is_refused(dialect: str, body: Any) -> None:
    with pytest.raises(WireError):
        _calls(dialect, body)


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("openai-responses", ITEM),
        ("openai-responses", {"type": "response.output_item.done"}),
        ("gemini", PART),
        ("gemini", [{"role": "model", "parts": [PART]}]),
        ("anthropic", BLOCK),
        ("openai-chat", CALL),
    ],
)
def test_a_single_call_is_not_mistaken_for_an_answer_without_calls(dialect: str, body: Any) -> None:
    with pytest.raises(WireError):
        _calls(dialect, body)
