"""Chat requests for OpenRouter: unknown fields are left out and reported."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

Losses = list[tuple[str, str]]


def _to_openrouter(message: dict[str, Any] | None = None, **more: Any) -> tuple[dict[str, Any], Losses]:
    body = {"model": "m", "messages": [message or {"role": "user", "content": "hi"}], **more}
    done = dragoman.translate_request(body, source="openai-chat", target="openrouter")
    return done.json(), [(loss.code, loss.path) for loss in done.losses]


def test_fields_of_a_request() -> None:
    out, lost = _to_openrouter(
        thinking={"x": 1}, grammar="g", min_p=0.1, provider={"order": ["a"], "zz": 1}, verbosity="low"
    )
    assert out.keys() == {"model", "messages", "min_p", "provider", "verbosity"}
    assert out["provider"] == {"order": ["a"], "zz": 1}
    assert sorted(lost) == [("field.dropped", "/grammar"), ("field.dropped", "/thinking")]


def test_fields_of_messages_and_calls() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}", "y": 1}, "zz": 1}
    assistant = {"role": "assistant", "content": "x", "prefix": True, "audio": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "name": "f", "content": "r", "bar": None}
    body = {"model": "m", "messages": [{"role": "user", "content": "a", "name": "n", "foo": 1}, assistant, result]}
    done = dragoman.translate_request(body, source="openai-chat", target="openrouter")
    user, assistant_out, tool = done.json()["messages"]
    assert user == {"role": "user", "content": "a", "name": "n"}
    assert assistant_out.keys() == {"role", "content", "tool_calls"}
    assert assistant_out["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]
    assert tool == {"role": "tool", "tool_call_id": "call_1", "content": "r"}
    assert sorted([loss.path for loss in done.losses]) == [
        "/messages/0/foo",
        "/messages/1/prefix",
        "/messages/1/tool_calls/0/function/y",
        "/messages/1/tool_calls/0/zz",
        "/messages/2/name",
    ]


def test_fields_of_tools() -> None:
    function = {"name": "f", "parameters": {"type": "object", "properties": {}}, "q": 1}
    out, lost = _to_openrouter(tools=[{"type": "function", "function": function, "w": 1}])
    assert out["tools"][0].keys() == {"type", "function"}
    assert out["tools"][0]["function"].keys() == {"name", "parameters"}
    assert sorted(lost) == [("field.dropped", "/tools/0/function/q"), ("field.dropped", "/tools/0/w")]


def test_kinds_of_parts() -> None:
    parts = [{"type": "text", "text": "hi", "foo": 1}, {"type": "reference", "reference_ids": [1]}]
    out, lost = _to_openrouter({"role": "user", "content": parts})
    assert out["messages"] == [{"role": "user", "content": "hi"}]
    assert sorted(lost) == [("field.dropped", "/messages/0/content/0/foo"), ("part.dropped", "/messages/0/content/1")]


def test_an_effort_that_the_schema_lacks() -> None:
    assert _to_openrouter(reasoning_effort="low")[0]["reasoning"] == {"effort": "low"}
    out, lost = _to_openrouter(reasoning_effort="default")
    assert "reasoning" not in out
    assert lost == [("effort.dropped", "/reasoning_effort")]


DOCUMENT = {"type": "document_url", "document_url": "https://e.com/a.pdf", "document_name": "A"}


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("openrouter", '{"type":"file","file":{"filename":"A","file_data":"https://e.com/a.pdf"}}'),
        ("anthropic", '{"type":"document","source":{"type":"url","url":"https://e.com/a.pdf"},"title":"A"}'),
        ("openai-responses", '"file_url":"https://e.com/a.pdf"'),
        ("gemini", '"fileUri":"https://e.com/a.pdf"'),
        ("openai-chat", '"document_url":"https://e.com/a.pdf"'),
    ],
)
def test_a_document_of_mistral_is_translated(target: str, written: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": [DOCUMENT]}]}
    done = dragoman.translate_request(body, source="openai-chat", target=target)
    assert written in done.body.decode().replace(": ", ":").replace(", ", ",")


def test_costs_as_a_table_and_null_audio() -> None:
    """The costs are recorded from Perplexity, and the `audio` from vLLM."""
    message = {"role": "assistant", "content": "ok", "audio": None}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "cost": {"total_cost": 0.1}}
    choices = [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"reasoning_content": []}}]
    body = {"id": "c", "created": 1, "model": "m", "choices": choices, "usage": usage}
    done = dragoman.translate_response(body, source="openai-chat", target="openrouter")
    out = done.json()
    assert "audio" not in out["choices"][0]["message"]
    assert out["choices"][0]["logprobs"]["content"] is None
    assert "cost" not in out["usage"]
    assert [(loss.code, loss.path) for loss in done.losses] == [("field.dropped", "/usage/cost")]
    amount = {**body, "usage": {**usage, "cost": 0.1}}
    kept = dragoman.translate_response(amount, source="openai-chat", target="openrouter")
    assert (kept.json()["usage"]["cost"], kept.losses) == (0.1, ())
