"""Whole tool turns with Ollama as client or upstream: ids, names and thoughts are restored."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from tests.unit.dialects.ollama.helpers import end

TOOLS = [{"type": "function", "function": {"name": "get.weather", "parameters": {"type": "object", "properties": {}}}}]
QUESTION = {"role": "user", "content": "Weather in Rome and Oslo?"}


def test_a_chat_client_with_an_upstream_without_ids() -> None:
    body: dict[str, Any] = {"model": "mine", "messages": [QUESTION], "tools": TOOLS}
    request = dragoman.translate_request(body, source="openai-chat", target="ollama", model="qwen3:8b")
    name = request.json()["tools"][0]["function"]["name"]
    assert name != "get.weather"
    calls = [{"function": {"name": name, "arguments": {"city": city}}} for city in ("Rome", "Oslo")]
    upstream_answer = end(message={"role": "assistant", "content": "", "thinking": "Both.", "tool_calls": calls})
    answer = dragoman.translate_response(upstream_answer, source="ollama", target="openai-chat", answers=request).json()
    message = answer["choices"][0]["message"]
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert message["reasoning_content"] == "Both."
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["get.weather"] * 2
    ids = [call["id"] for call in message["tool_calls"]]
    assert len(set(ids)) == 2
    results = [{"role": "tool", "tool_call_id": ids[i], "content": words} for i, words in ((1, "cold"), (0, "warm"))]
    body["messages"] = [QUESTION, message, *results]
    next_request = dragoman.translate_request(body, source="openai-chat", target="ollama", model="qwen3:8b").json()
    assert next_request["messages"][1]["tool_calls"] == [
        {"id": ids[i], "function": {"name": name, "arguments": {"city": city}}}
        for i, city in enumerate(("Rome", "Oslo"))
    ]
    assert next_request["messages"][2:] == [
        {"role": "tool", "content": "warm", "tool_name": name, "tool_call_id": ids[0]},
        {"role": "tool", "content": "cold", "tool_name": name, "tool_call_id": ids[1]},
    ]


def test_a_client_without_ids_with_anthropic_as_upstream() -> None:
    first = {"model": "mine", "messages": [QUESTION], "stream": False}
    request = dragoman.translate_request(first, source="ollama", target="anthropic", model="claude-opus-5")
    uses = [
        {"type": "tool_use", "id": f"toolu_{city}", "name": "f", "input": {"city": city}} for city in ("Rome", "Oslo")
    ]
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": uses,
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
    client_answer = dragoman.translate_response(answer, source="anthropic", target="ollama", answers=request).json()
    assert client_answer["model"] == "mine"
    calls = [{"function": call["function"]} for call in client_answer["message"]["tool_calls"]]
    messages = [
        QUESTION,
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_name": "f", "content": "warm"},
        {"role": "tool", "tool_name": "f", "content": "cold"},
    ]
    second = {"model": "mine", "messages": messages}
    sent = dragoman.translate_request(second, source="ollama", target="anthropic", model="claude-opus-5").json()
    made = [block["id"] for block in sent["messages"][1]["content"]]
    assert [(block["tool_use_id"], block["content"]) for block in sent["messages"][2]["content"]] == [
        (made[0], "warm"),
        (made[1], "cold"),
    ]
    longer = {"model": "mine", "messages": [*messages, {"role": "assistant", "content": "Warm, cold."}, QUESTION]}
    later = dragoman.translate_request(longer, source="ollama", target="anthropic", model="claude-opus-5").json()
    assert later["messages"][:3] == sent["messages"]


@pytest.mark.parametrize(
    ("model", "effort", "think", "codes"),
    [
        ("qwen3:8b", "high", "high", []),
        ("qwen3:8b", "none", False, []),
        ("gpt-oss:20b", "none", "low", ["effort.approximated"]),
        ("registry/library/gpt-oss", "max", "high", ["effort.approximated"]),
        ("llama3.2:3b", "high", None, ["effort.dropped"]),
        ("llama3.2:3b", "none", None, []),
    ],
)
def test_thinking_is_written_as_the_model_accepts_it(model: str, effort: str, think: Any, codes: list[str]) -> None:
    body = {"model": "m", "messages": [QUESTION], "reasoning_effort": effort}
    done = dragoman.translate_request(body, source="openai-chat", target="ollama", model=model)
    assert done.json().get("think") == think
    assert [loss.code for loss in done.losses] == codes
