"""`detect` finds the dialect of a payload, and the reasons."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman.dialects import get, names
from dragoman.errors import WireError
from dragoman.translate.detect import is_ambiguous
from tests.oracles import exchanges

REQUESTS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "r"},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    },
    "openai-responses": {
        "model": "m",
        "input": [
            {"role": "user", "content": "u"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": {}}],
    },
    "anthropic": {
        "model": "m",
        "max_tokens": 9,
        "system": "s",
        "messages": [
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        ],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "u"}]}],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
    },
}

REQUESTS["code-assist"] = {"model": "m", "user_prompt_id": "p", "request": REQUESTS["gemini"]}

REQUESTS["openrouter"] = {**REQUESTS["openai-chat"], "provider": {"order": ["openai"]}, "reasoning": {"effort": "low"}}

RESPONSES: dict[str, dict[str, Any]] = {
    "openai-chat": {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "a"}}]},
    "openai-responses": {"object": "response", "status": "completed", "output": []},
    "anthropic": {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn", "usage": {}},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}], "usageMetadata": {}},
}

RESPONSES["code-assist"] = {"response": RESPONSES["gemini"], "traceId": "t"}

RESPONSES["openrouter"] = {
    "object": "chat.completion",
    "provider": "OpenAI",
    "choices": [{"message": {"role": "assistant", "content": "a"}, "native_finish_reason": "stop"}],
}

STREAMS = {
    "openrouter": b": OPENROUTER PROCESSING\n\n"
    b'data: {"object":"chat.completion.chunk","provider":"A","choices":[{"delta":{"content":"a"}}]}\n\n',
    "code-assist": b'data: {"response":{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},"traceId":"t"}\r\n\r\n',
    "openai-chat": b': hello\n\ndata: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"a"}}]}\n\ndata',
    "openai-responses": b'event: response.created\ndata: {"type":"response.created","response":{"output":[]}}\n\n',
    "anthropic": b'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\nevent: \xe2\x82',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\r\n\r\n',
}


@pytest.mark.parametrize("dialect", REQUESTS)
def test_a_request_is_known(dialect: str) -> None:
    found, reasons = dragoman.detect(REQUESTS[dialect])
    assert found == dialect
    assert reasons


@pytest.mark.parametrize("dialect", RESPONSES)
def test_an_answer_is_known(dialect: str) -> None:
    assert dragoman.detect(RESPONSES[dialect])[0] == dialect


@pytest.mark.parametrize("dialect", STREAMS)
def test_the_beginning_of_a_stream_is_known(dialect: str) -> None:
    assert dragoman.detect(STREAMS[dialect])[0] == dialect


def test_reasons_are_written_in_words() -> None:
    assert dragoman.detect({"messages": [{"role": "developer", "content": "d"}], "seed": 1}) == (
        "openai-chat",
        ("messages[]", "a message with role developer", "seed"),
    )


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("document", "dialect", "clear"),
    [
        ({"messages": [USER]}, "openai-chat", False),
        ({"model": "gpt-5", "messages": [USER]}, "openai-chat", True),
        ({"model": "gpt-5", "messages": [USER], "max_tokens": 9}, "openai-chat", True),
        ({"model": "o3", "messages": [USER], "max_tokens": 9}, "openai-chat", True),
        ({"model": "unheard-of", "messages": [USER], "max_tokens": 9}, "openai-chat", False),
        ({"model": "claude-sonnet-4-5", "messages": [USER], "max_tokens": 9}, "anthropic", True),
        ({"model": "claude-sonnet-4-5", "messages": [USER]}, "anthropic", False),
        ({"model": "us.anthropic.claude-opus-4-1", "messages": [USER], "max_tokens": 9}, "anthropic", True),
        ({"model": "llama3", "messages": [USER]}, "ollama", False),
        ({"model": "llama3", "messages": [USER], "max_tokens": 9}, "openai-chat", False),
        ({"model": "qwen3:4b", "messages": [USER], "options": {}}, "ollama", True),
        ({"model": "anthropic/claude-sonnet-4.5", "messages": [USER]}, "openrouter", False),
        ({"model": "google/gemini-2.0-flash-exp:free", "messages": [USER]}, "openrouter", True),
        ({"model": "Qwen/Qwen3.5-9B", "messages": [USER]}, "openai-chat", False),
        ({"model": "deepseek-chat", "messages": [USER], "thinking": {"type": "disabled"}}, "openai-chat", False),
        (
            {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}},
            "openai-chat",
            False,
        ),
    ],
    ids=str,
)
def test_little_evidence_is_weighed(document: dict[str, Any], dialect: str, clear: bool) -> None:
    """`messages` alone means openai-chat. The name of the model, or a setting, can be evidence for another dialect."""
    found, reasons = dragoman.detect(document)
    assert found == dialect
    assert is_ambiguous(reasons) is not clear


# Detected and existing recordings, as pairs for requests, answers and streams. Faults count as answers.
RECORDED = {
    "anthropic": ((353, 355), (264, 264), (130, 130)),
    "gemini": ((470, 470), (411, 411), (154, 154)),
    "ollama": ((27, 27), (22, 22), (18, 18)),
    "openai-chat": ((415, 459), (323, 346), (121, 123)),
    "openai-responses": ((235, 235), (179, 196), (67, 67)),
    "openrouter": ((193, 193), (120, 124), (75, 76)),
}


KINDS = ("request", "response", "stream")


@pytest.mark.parametrize("dialect", RECORDED)
def test_recordings_are_known(dialect: str) -> None:
    records = exchanges.recorded(dialect)
    for name, (right, all_of_them) in zip(KINDS, RECORDED[dialect], strict=True):
        found = detected(records, name)
        assert len(found) == all_of_them
        assert found.count(dialect) >= right


@pytest.mark.parametrize("dialect", RECORDED)
def test_most_bodies_of_the_corpus_are_known(dialect: str) -> None:
    """Faults, and bodies with only two keys, can belong to several dialects."""
    for name in KINDS:
        found = detected(exchanges.own(dialect), name)
        assert found.count(dialect) >= 0.8 * len(found) > 0, name


def detected(records: list[exchanges.Record], name: str) -> list[str]:
    """The dialects found in one field of the records."""
    bodies = [getattr(record, name) for record in records if getattr(record, name) is not None]
    return [dragoman.detect(body if isinstance(body, str) else json.dumps(body))[0] for body in bodies]


def test_a_json_array_of_chunks_is_known_by_the_first_chunk() -> None:
    assert dragoman.detect([RESPONSES["gemini"]] * 2)[0] == "gemini"


def test_lines_of_json_are_known_by_the_first_line() -> None:
    assert dragoman.detect('\n{"contents":[{"parts":[{"text":"a"}]}]}\n{"x":1}\n')[0] == "gemini"


@pytest.mark.parametrize(
    "body", [b"", b"null", b"7", b"[]", b"{}", b"hello", b'{"a":1}', b"\xff", b": only a comment\n\n", b"[" * 99_999]
)
def test_a_body_without_evidence_has_no_dialect(body: bytes) -> None:
    assert dragoman.detect(body) == ("", ())


def test_a_body_that_is_no_document_is_refused() -> None:
    with pytest.raises(WireError):
        dragoman.detect({"a": object()})


_KEYS = st.sampled_from(
    (
        *("messages", "tools", "input", "output", "contents", "candidates", "choices", "request", "response", "error"),
        *("role", "type", "content", "parts", "tool_calls", "function", "arguments", "tool_choice", "object", "code"),
        *("system", "stop_reason", "done", "message", "delta", "provider", "metadata", "status", "options", "usage"),
        *("reasoning", "reasoning_details", "functionDeclarations", "input_schema", "name", "parameters"),
    )
)
_WORDS = st.sampled_from(("tool", "system", "function_call", "response", "error", "openrouter:x", "custom"))
_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.parametrize("dialect", names())
@settings(max_examples=300, deadline=None, derandomize=True)
@given(document=st.dictionaries(_KEYS, _ANY_JSON, max_size=5))
def test_evidence_takes_any_decoded_json(dialect: str, document: dict[str, Any]) -> None:
    for points, reason in get(dialect).evidence(document):
        assert points > 0 and reason


@pytest.mark.parametrize(
    "body",
    [
        b'{"tools":1.5}',
        b'{"messages":[{"role":[]}]}',
        b'{"messages":[{"tool_calls":3}]}',
        b'{"input":[{"type":[]}]}',
        b'{"input":[{"content":[{"type":{}}]}]}',
    ],
)
def test_odd_values_in_known_places_are_no_evidence_and_raise_no_error(body: bytes) -> None:
    name, reasons = dragoman.detect(body)
    assert bool(name) == bool(reasons)
