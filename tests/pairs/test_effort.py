"""Thinking settings and temperature: efforts, budgets, and thinking that is on without a level."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

HI = [{"role": "user", "content": "hi"}]
TOOL = {"name": "f", "input_schema": {"type": "object", "properties": {}}}


def _sent(source: str, target: str, model: str, **fields: Any) -> tuple[Any, list[tuple[str, str, str]]]:
    body: dict[str, Any] = {"model": "m", "messages": HI, **fields}
    if source == "anthropic":
        body["max_tokens"] = 9000
    done = dragoman.translate_request(body, source=source, target=target, model=model)
    return done.json(), [(loss.code, loss.path, loss.detail) for loss in done.losses]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize(
    ("model", "thinking", "taken"),
    [
        ("gpt-5.1", None, True),
        ("gpt-5.2", None, True),
        ("gpt-5.4-nano", None, True),
        ("gpt-5.2", "disabled", True),
        ("gpt-5.2", "adaptive", False),
        ("gpt-5", None, False),
        ("gpt-5.5", None, False),
        ("gpt-5.5", "disabled", False),
        ("gpt-5.1-codex", None, False),
        ("gpt-5.2-pro", None, False),
        ("o3", None, False),
        ("gpt-4.1", None, True),
    ],
)
def test_a_temperature_is_sent_if_the_model_accepts_it(
    target: str, model: str, thinking: str | None, taken: bool
) -> None:
    fields: dict[str, Any] = {"thinking": {"type": thinking}} if thinking else {}
    sent, losses = _sent("anthropic", target, model, temperature=0.2, **fields)
    assert sent.get("temperature") == (0.2 if taken else None)
    assert (("sampling.dropped", "/temperature", "temperature") in losses) is not taken


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_the_neutral_temperature_is_always_sent(target: str) -> None:
    sent, losses = _sent("anthropic", target, "gpt-5", temperature=1.0, top_p=1.0)
    assert (sent["temperature"], sent["top_p"], losses) == (1.0, 1.0, [])


def test_a_loss_names_the_value_in_the_source_and_the_value_sent() -> None:
    done = dragoman.translate_request(
        {"model": "m", "messages": HI, "max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 5000}},
        source="anthropic",
        target="gemini",
        model="gemini-3-pro-preview",
    )
    assert done.json()["generationConfig"]["thinkingConfig"]["thinkingLevel"] == "LOW"
    (loss,) = [loss for loss in done.losses if loss.code.startswith("effort")]
    assert (loss.path, loss.detail) == ("/thinking/budget_tokens", "a budget of 5000 tokens is sent as LOW")
    _, losses = _sent("anthropic", "openai-chat", "gpt-5.5", tools=[TOOL])
    (translated,) = [loss for loss in losses if loss[0].startswith("effort")]
    assert translated[1] == "" and translated[2].startswith("none is sent: with tools")
    _, losses = _sent("anthropic", "openai-chat", "gpt-5.5", tools=[TOOL], thinking={"type": "adaptive"})
    (translated,) = [loss for loss in losses if loss[0].startswith("effort")]
    assert translated[1] == "/thinking"
    _, losses = _sent("anthropic", "openai-chat", "gpt-5.4", tools=[TOOL])
    assert not [loss for loss in losses if loss[0].startswith("effort")]


ON = [
    ("anthropic", {"thinking": {"type": "adaptive"}}, "/thinking", "high"),
    ("openrouter", {"reasoning": {"enabled": True}}, "/reasoning/enabled", "medium"),
    ("ollama", {"think": True}, "/think", "medium"),
]


@pytest.mark.parametrize(("source", "fields", "path", "effort"), ON)
def test_thinking_without_a_level_becomes_an_effort(source: str, fields: Any, path: str, effort: str) -> None:
    for target, model in (("openai-chat", "gpt-5.2"), ("openai-responses", "gpt-5.4")):
        sent, losses = _sent(source, target, model, **fields)
        assert sent.get("reasoning_effort", sent.get("reasoning", {}).get("effort")) == effort
        assert [loss[:2] for loss in losses if loss[0].startswith("effort")] == [("effort.approximated", path)]
    for target, model in (("openai-chat", "gpt-5"), ("openai-responses", "gpt-5.5")):
        sent, losses = _sent(source, target, model, **fields)  # they think by default
        assert "reasoning_effort" not in sent and "effort" not in sent.get("reasoning", {})
        unasked = ("effort.approximated", path, "nothing is sent: the model thinks by default")
        assert [loss for loss in losses if loss[0].startswith("effort")] == [unasked]
    for target, model in (("openai-chat", "strange"), ("openai-responses", "strange"), ("gemini", "strange")):
        sent, losses = _sent(source, target, model, **fields)
        assert "reasoning_effort" not in sent and "effort" not in sent.get("reasoning", {})
        assert "thinkingBudget" not in sent.get("generationConfig", {}).get("thinkingConfig", {})
        assert [loss[:2] for loss in losses if loss[0].startswith("effort")] == [("effort.dropped", path)]


def test_thinking_without_a_level_is_translated_for_gemini() -> None:
    sent, losses = _sent("anthropic", "gemini", "gemini-2.5-flash-lite", thinking={"type": "adaptive"})
    assert sent["generationConfig"]["thinkingConfig"] == {"thinkingBudget": -1}
    sent, losses = _sent("anthropic", "gemini", "gemini-3-flash", thinking={"type": "adaptive"})
    assert "thinkingConfig" not in sent["generationConfig"]
    assert [loss[:2] for loss in losses if loss[0].startswith("effort")] == [("effort.approximated", "/thinking")]


def test_the_setting_to_hide_thoughts_is_kept_or_reported() -> None:
    fields = {"reasoning": {"effort": "low", "exclude": True}}
    sent, losses = _sent("openrouter", "gemini", "gemini-3-flash", **fields)
    assert sent["generationConfig"]["thinkingConfig"]["includeThoughts"] is False
    assert not [loss for loss in losses if loss[0].startswith("thoughts")]
    for target, model in (("openai-responses", "o4-mini"), ("openai-chat", "o4-mini")):
        sent, losses = _sent("openrouter", target, model, **fields)
        assert [loss[:2] for loss in losses if loss[0].startswith("thoughts")] == [
            ("thoughts.dropped", "/reasoning/exclude")
        ]


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gpt-5.1-codex", "none", "low"),
        ("gpt-5.1-codex", "xhigh", "high"),
        ("gpt-5.1-codex-max", "xhigh", "xhigh"),
        ("gpt-5-pro", "low", "high"),
        ("gpt-5.2-pro", "low", "medium"),
        ("gpt-5.2-chat-latest", "high", "medium"),
        ("gpt-5.4", "max", "xhigh"),
        ("gpt-5.5", "minimal", "none"),
        ("gpt-5.6-sol", "max", "max"),
    ],
)
def test_efforts_by_the_rows_of_the_models(model: str, effort: str, sent: str) -> None:
    body = {"model": "m", "messages": HI, "reasoning_effort": effort}
    done = dragoman.translate_request(body, source="openai-chat", target="openai-responses", model=model)
    assert done.json()["reasoning"]["effort"] == sent


@pytest.mark.parametrize(("effort", "thinking"), [("none", {"type": "disabled"}), ("high", {"type": "adaptive"})])
def test_haiku_5_5_thinks_unless_thinking_is_turned_off(effort: str, thinking: dict[str, str]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}], "reasoning_effort": effort}
    done = dragoman.translate_request(body, source="openai-chat", target="anthropic", model="claude-haiku-5-5")
    assert done.json()["thinking"]["type"] == thinking["type"]


@pytest.mark.parametrize(
    ("source", "fields", "path"),
    [
        ("openrouter", {"reasoning": {"effort": "gigantic", "enabled": True}}, "/reasoning/effort"),
        ("openrouter", {"reasoning": {"effort": "high", "enabled": False}}, "/reasoning/effort"),
        ("openrouter", {"reasoning": {"max_tokens": 2000, "enabled": False}}, "/reasoning/max_tokens"),
        ("openrouter", {"reasoning": {"enabled": False}, "reasoning_effort": "high"}, "/reasoning_effort"),
        ("openrouter", {"reasoning": {"effort": "none", "enabled": True}}, "/reasoning/enabled"),
        ("openai-chat", {"reasoning": {"effort": "gigantic", "enabled": True}}, "/reasoning/effort"),
        ("openai-chat", {"reasoning": {"max_tokens": 2000, "enabled": False}}, "/reasoning/max_tokens"),
        ("openai-chat", {"enable_thinking": False, "thinking_budget": 2000}, "/thinking_budget"),
        ("openai-chat", {"enable_thinking": True, "reasoning_effort": "none"}, "/enable_thinking"),
    ],
)
def test_one_of_two_contradicting_switches_is_reported(source: str, fields: Any, path: str) -> None:
    sent, losses = _sent(source, "anthropic", "claude-opus-4-6", **fields)
    off = "gigantic" not in str(fields)
    assert sent["thinking"] == {"type": "disabled" if off else "adaptive"}
    assert path in [at for _, at, _ in losses]


@pytest.mark.parametrize(
    ("target", "model"), [("ollama", "qwen3"), ("gemini", "gemini-2.5-flash"), ("anthropic", "claude-opus-4-6")]
)
def test_visible_thoughts_without_thinking_are_reported(target: str, model: str) -> None:
    body = {"model": "m", "input": "hi", "reasoning": {"effort": "none", "summary": "auto"}}
    done = dragoman.translate_request(body, source="openai-responses", target=target, model=model)
    assert ("thoughts.dropped", "/reasoning/summary") in [(loss.code, loss.path) for loss in done.losses]
    assert b"includeThoughts" not in done.body
