"""Requests with a field that has no meaning without another field: the dropped field is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.recorded.recorded_bodies import DIALECTS

_ASKED = [{"role": "user", "content": "hi"}]


def _translated(source: str, target: str, request: dict[str, Any]) -> tuple[dict[str, Any], set[tuple[str, str]]]:
    out = dragoman.translate_request(json.dumps(request).encode(), source=source, target=target, model="some-model")
    return json.loads(out.body), {(loss.code, loss.path) for loss in out.losses}


@pytest.mark.parametrize("target", [name for name in DIALECTS if name not in ("openai-chat", "openrouter")])
def test_a_limit_on_parallel_calls_without_tools_is_reported(target: str) -> None:
    _, losses = _translated("openai-chat", target, {"messages": _ASKED, "parallel_tool_calls": False})
    assert ("parallel.unenforced", "/parallel_tool_calls") in losses
    _, losses = _translated("openai-chat", target, {"messages": _ASKED, "parallel_tool_calls": True})
    assert ("parallel.unenforced", "/parallel_tool_calls") not in losses


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
def test_a_required_name_of_a_tool_without_properties_is_reported(target: str) -> None:
    schema = {"type": "object", "properties": {}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    _, losses = _translated("openai-chat", target, {"messages": _ASKED, "tools": tools})
    assert ("schema.keyword.dropped", "/tools/0/function/parameters/required") in losses
    del schema["required"]
    losses = _translated("openai-chat", target, {"messages": _ASKED, "tools": tools})[1]
    assert losses <= {("id.invented", "")}


def test_the_id_of_a_result_whose_call_has_none_is_reported() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    result = {"functionResponse": {"id": "r1", "name": "f", "response": {"output": "x"}}}
    contents = [{"role": "user", "parts": [{"text": "q"}]}, call, {"role": "user", "parts": [result]}]
    for target in ("openai-chat", "anthropic", "openai-responses", "ollama"):
        _, losses = _translated("gemini", target, {"contents": contents})
        assert ("call.id.rewritten", "/contents/2/parts/0/functionResponse/id") in losses
    messages = [
        *_ASKED,
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
        {"role": "tool", "tool_call_id": "r1", "tool_name": "f", "content": "x"},
    ]
    _, losses = _translated("ollama", "openai-chat", {"model": "m", "messages": messages})
    assert ("call.id.rewritten", "/messages/2/tool_call_id") in losses


@pytest.mark.parametrize("shape", [{"type": "json_schema"}, {"type": "json_schema", "json_schema": None}])
def test_a_schema_format_without_a_schema_becomes_json_mode(shape: dict[str, Any]) -> None:
    body, _ = _translated("openai-chat", "gemini", {"messages": _ASKED, "response_format": shape})
    assert body["generationConfig"] == {"responseMimeType": "application/json"}
    shape = {"type": "json_schema", "json_schema": {"name": "n", "schema": None}}
    assert _translated("openai-chat", "ollama", {"messages": _ASKED, "response_format": shape})[0]["format"] == "json"


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "ollama", "openrouter"])
def test_a_choice_of_no_tool_without_tools_is_reported(target: str) -> None:
    _, losses = _translated("openai-chat", target, {"messages": _ASKED, "tool_choice": "none"})
    assert ("choice.dropped", "/tool_choice") in losses
    _, losses = _translated("openai-chat", target, {"messages": _ASKED, "tool_choice": "auto"})
    assert ("choice.dropped", "/tool_choice") not in losses


@pytest.mark.parametrize("part", [{"text": "", "thoughtSignature": "c2VhbA=="}, {"thoughtSignature": "c2VhbA=="}])
@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "openai-responses", "ollama"])
def test_a_seal_on_an_empty_text_is_reported(target: str, part: dict[str, Any]) -> None:
    sealed = {"role": "model", "parts": [{"text": "yes"}, part]}
    question = {"role": "user", "parts": [{"text": "q"}]}
    _, losses = _translated("gemini", target, {"contents": [question, sealed, question]})
    assert ("seal.dropped", "/contents/1/parts/1") in losses
