"""Thinking switches of Chat hosts: read from the client's request, written as the row of the host requires."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

HI = [{"role": "user", "content": "hi"}]


def _from_chat(target: str, model: str, **fields: Any) -> tuple[Any, list[tuple[str, str]]]:
    body = {"model": "m", "messages": HI, "max_tokens": 9000, **fields}
    done = dragoman.translate_request(body, source="openai-chat", target=target, model=model)
    return done.json(), [(loss.code, loss.path) for loss in done.losses]


OFF: list[dict[str, Any]] = [
    {"thinking": {"type": "disabled"}},
    {"enable_thinking": False},
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"chat_template_kwargs": {"thinking": False}},
    {"reasoning": {"enabled": False}},
    {"reasoning": {"effort": "none"}},
]
ON: list[dict[str, Any]] = [
    {"thinking": {"type": "enabled"}},
    {"enable_thinking": True},
    {"chat_template_kwargs": {"enable_thinking": True}},
    {"reasoning": {"enabled": True}},
]


@pytest.mark.parametrize("fields", OFF)
def test_thinking_is_turned_off_in_every_dialect(fields: Any) -> None:
    assert _from_chat("anthropic", "claude-opus-4-6", **fields) == (
        {"model": "claude-opus-4-6", "max_tokens": 9000, "messages": HI, "thinking": {"type": "disabled"}},
        [],
    )
    sent, losses = _from_chat("gemini", "gemini-2.5-flash", **fields)
    assert sent["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 0}
    assert [code for code, _ in losses] == ["effort.approximated"]
    assert _from_chat("openai-responses", "gpt-5.2", **fields)[0]["reasoning"] == {"effort": "none"}
    assert _from_chat("ollama", "qwen3", **fields)[0]["think"] is False
    sent, losses = _from_chat("openrouter", "qwen/qwen3", **fields)
    assert (sent["reasoning"], losses) == ({"effort": "none"}, [])
    assert not {"thinking", "enable_thinking", "chat_template_kwargs"} & set(sent)


@pytest.mark.parametrize("fields", ON)
def test_thinking_is_turned_on_in_every_dialect(fields: Any) -> None:
    sent, losses = _from_chat("anthropic", "claude-opus-4-6", **fields)
    assert (sent["thinking"], losses) == ({"type": "adaptive"}, [])
    assert _from_chat("openrouter", "qwen/qwen3", **fields)[0]["reasoning"] == {"enabled": True}
    assert _from_chat("ollama", "qwen3", **fields)[0]["think"] is True
    assert _from_chat("openai-responses", "gpt-5.2", **fields)[0]["reasoning"] == {"effort": "medium"}


def test_budgets_efforts_and_unknown_values_are_read() -> None:
    sent, losses = _from_chat("anthropic", "claude-sonnet-4-5", enable_thinking=True, thinking_budget=2000)
    assert (sent["thinking"], losses) == ({"type": "enabled", "budget_tokens": 2000}, [])
    sent, losses = _from_chat("anthropic", "claude-opus-4-6", reasoning={"effort": "low", "exclude": True})
    assert sent["thinking"] == {"type": "adaptive", "display": "omitted"}
    assert (sent["output_config"], losses) == ({"effort": "low"}, [])
    thinking = {"type": "enabled", "clear_thinking": False}
    sent, losses = _from_chat("anthropic", "claude-opus-4-6", thinking=thinking)
    assert (sent["thinking"], losses) == ({"type": "adaptive"}, [("field.dropped", "/thinking/clear_thinking")])
    _, losses = _from_chat("anthropic", "claude-opus-4-6", thinking={"clear_thinking": False}, enable_thinking="yes")
    assert losses == [("field.dropped", "/thinking"), ("field.dropped", "/enable_thinking")]
    _, losses = _from_chat("anthropic", "claude-opus-4-6", thinking={"type": []}, reasoning={"effort": {}, "x": 1})
    assert losses == [("field.dropped", "/thinking"), ("field.dropped", "/reasoning")]
    _, losses = _from_chat("anthropic", "claude-opus-4-6", enable_thinking=True, thinking={"type": "disabled"})
    assert losses == [("field.dropped", "/thinking")]
    sent, losses = _from_chat("anthropic", "claude-opus-4-6", thinking={"type": "enabled"}, reasoning_effort="high")
    assert (sent["output_config"], losses) == ({"effort": "high"}, [])


def test_within_chat_a_switch_passes_unchanged() -> None:
    body = b'{"model":"m", "messages":[{"role":"user","content":"hi"}], "enable_thinking":false}'
    assert dragoman.translate_request(body, source="openai-chat", target="openai-chat").body == body


HOSTS = [
    ("deepseek", "deepseek-v4-flash", {"thinking": {"type": "disabled"}}, {"thinking": {"type": "enabled"}}),
    ("zai", "glm-5", {"thinking": {"type": "disabled"}}, {"thinking": {"type": "enabled"}}),
    ("dashscope", "qwen3-max", {"enable_thinking": False}, {"enable_thinking": True}),
    (
        "vllm",
        "qwen3",
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"chat_template_kwargs": {"enable_thinking": True}},
    ),
]


@pytest.mark.parametrize(("host", "model", "off", "on"), HOSTS)
def test_each_host_gets_its_own_switch(host: str, model: str, off: Any, on: Any) -> None:
    for wish, fields in (({"type": "disabled"}, off), ({"type": "adaptive"}, on)):
        body = {"model": "m", "max_tokens": 9, "messages": HI, "thinking": wish}
        done = dragoman.translate_request(body, source="anthropic", target="openai-chat", model=model, host=host)
        sent = done.json()
        assert fields.items() <= sent.items()
        assert "reasoning_effort" not in sent
        assert done.losses == ()


def test_unread_members_of_reasoning_reach_openrouter() -> None:
    sent, losses = _from_chat("openrouter", "m", reasoning={"enabled": True, "x~/y": [1]})
    assert (sent["reasoning"], losses) == ({"x~/y": [1], "enabled": True}, [])
    sent, losses = _from_chat("openrouter", "m", reasoning={"x": 1}, reasoning_effort="low")
    assert (sent["reasoning"], losses) == ({"x": 1, "effort": "low"}, [])
    sent, losses = _from_chat("anthropic", "claude-opus-4-6", reasoning={"enabled": True, "x": 1})
    assert losses == [("field.dropped", "/reasoning/x")]


@pytest.mark.parametrize("target", ["openrouter", "anthropic"])
def test_fields_that_contradict_each_other_are_reported(target: str) -> None:
    both = {"reasoning_effort": "low", "reasoning": {"effort": "high"}}
    dropped = [path for code, path in _from_chat(target, "claude-opus-4-6", **both)[1] if code == "field.dropped"]
    assert dropped == ["/reasoning/effort" if target == "openrouter" else "/reasoning"]
    off = {"reasoning_effort": "low", "thinking": {"type": "disabled"}}
    assert _from_chat(target, "claude-opus-4-6", **off)[1] == [("field.dropped", "/reasoning_effort")]
    inside = {"reasoning": {"enabled": False, "effort": "low"}}
    assert _from_chat(target, "claude-opus-4-6", **inside)[1] == [("field.dropped", "/reasoning/effort")]


def test_unknown_fields_of_older_functions_and_documents_are_reported_at_their_place() -> None:
    functions = [{"name": "f", "parameters": {"type": "object", "properties": {}}, "x": 1}]
    assert _from_chat("openrouter", "m", functions=functions)[1] == [("field.dropped", "/functions/0/x")]
    document = {"type": "document_url", "document_url": "https://a.example/b.pdf", "x": 1}
    turn = {"role": "user", "content": [document]}
    assert _from_chat("openrouter", "m", messages=[turn])[1] == [("field.dropped", "/messages/0/content/0/x")]
