"""Changes in a request by the rows about models and hosts: formats, penalties, efforts, media, system text."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
SHAPE = {"type": "json_schema", "json_schema": {"name": "town", "schema": SCHEMA}}


def chat(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Name a town."}], **fields}


def messages(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 4000, "messages": [{"role": "user", "content": "Name a town."}], **fields}


def sent(body: dict[str, Any], source: str, target: str, model: str, **more: Any) -> dragoman.Translation:
    return dragoman.translate_request(body, source=source, target=target, model=model, **more)


def codes(done: dragoman.Translation) -> dict[str, str]:
    return {loss.code: loss.path for loss in done.losses}


ASKED = messages(output_config={"format": {"type": "json_schema", "schema": SCHEMA}})


@pytest.mark.parametrize("model", ["gpt-3.5-turbo", "gpt-4-turbo", "gpt-4-0125-preview", "chatgpt-4o-latest"])
def test_a_model_without_schemas_gets_json_mode_and_the_schema_as_text(model: str) -> None:
    done = sent(ASKED, "anthropic", "openai-chat", model)
    written = done.json()
    assert written["response_format"] == {"type": "json_object"}
    assert '"city"' in written["messages"][0]["content"] and "JSON" in written["messages"][0]["content"]
    assert written["messages"][0]["role"] == "system"
    assert codes(done)["format.as_text"] == "/output_config/format"


@pytest.mark.parametrize("model", ["gpt-4", "gpt-4-0613", "gpt-3.5-turbo-0613", "gpt-4o-audio-preview"])
def test_a_model_without_json_mode_gets_the_format_only_as_text(model: str) -> None:
    done = sent(ASKED, "anthropic", "openai-chat", model)
    assert "response_format" not in done.json()
    assert '"city"' in done.json()["messages"][0]["content"]
    assert codes(done)["format.as_text"] == "/output_config/format"


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "o3", "some-model"])
def test_other_models_keep_the_schema(model: str) -> None:
    done = sent(ASKED, "anthropic", "openai-chat", model)
    assert done.json()["response_format"]["type"] == "json_schema"
    assert "format.as_text" not in codes(done)


def test_json_mode_is_used_for_object_schemas_only() -> None:
    listed = {"type": "json_schema", "schema": {"type": "array", "items": {"type": "string"}}}
    done = sent(messages(output_config={"format": listed}), "anthropic", "openai-chat", "gpt-3.5-turbo")
    assert "response_format" not in done.json()
    assert "JSON value" in done.json()["messages"][0]["content"]


@pytest.mark.parametrize("source", ["anthropic", "openai-chat"])
def test_on_responses_the_input_contains_the_word_json(source: str) -> None:
    body = ASKED if source == "anthropic" else chat(response_format=SHAPE)
    done = sent(body, source, "openai-responses", "gpt-3.5-turbo")
    assert done.json()["text"]["format"] == {"type": "json_object"}
    assert "JSON" in str(done.json()["input"])
    assert "format.as_text" in codes(done)


def test_within_chat_a_model_change_removes_the_format() -> None:
    done = sent(chat(response_format=SHAPE), "openai-chat", "openai-chat", "gpt-3.5-turbo")
    assert done.json()["response_format"] == {"type": "json_object"}
    assert codes(done)["format.as_text"] == "/response_format"


def test_a_request_with_an_unchanged_model_is_unchanged() -> None:
    body = {**chat(response_format=SHAPE), "model": "gpt-3.5-turbo"}
    done = dragoman.translate_request(body, source="openai-chat", target="openai-chat")
    assert done.json() == body and done.losses == ()


@pytest.mark.parametrize(
    ("model", "kind"),
    [("llama-3.3-70b-versatile", "json_object"), ("openai/gpt-oss-120b", "json_schema")],
)
def test_a_host_accepts_a_schema_for_some_of_its_models(model: str, kind: str) -> None:
    """Groq answers 400 for its other models (console.groq.com, structured outputs)."""
    done = sent(ASKED, "anthropic", "openai-chat", model, host="groq")
    assert done.json()["response_format"]["type"] == kind
    assert ("format.as_text" in codes(done)) is (kind == "json_object")


def test_the_model_in_the_request_counts_if_the_caller_names_none() -> None:
    body = {**ASKED, "model": "openai/gpt-oss-20b"}
    done = dragoman.translate_request(body, source="anthropic", target="openai-chat", host="groq")
    assert done.json()["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3.8-flash"])
def test_gemini_models_get_no_penalties_and_no_log_probabilities(model: str) -> None:
    body = chat(presence_penalty=0.5, frequency_penalty=0.0, logprobs=True, top_logprobs=2)
    done = sent(body, "openai-chat", "gemini", model)
    assert done.json().get("generationConfig") == {"frequencyPenalty": 0.0}
    assert codes(done)["sampling.dropped"] == "/presence_penalty"
    assert {loss.path for loss in done.losses if loss.code == "logprobs.dropped"} == {"/logprobs", "/top_logprobs"}


def test_gemini_2_0_accepts_penalties() -> None:
    done = sent(chat(presence_penalty=0.5), "openai-chat", "gemini", "gemini-2.0-flash")
    assert done.json()["generationConfig"] == {"presencePenalty": 0.5}
    assert done.losses == ()


def test_gemma_3_has_no_place_for_system_text_and_no_format() -> None:
    body = chat(response_format=SHAPE)
    body["messages"].insert(0, {"role": "system", "content": "Be brief."})
    done = sent(body, "openai-chat", "gemini", "gemma-3-27b-it")
    assert "systemInstruction" not in done.json() and "generationConfig" not in done.json()
    said = [part["text"] for content in done.json()["contents"] for part in content["parts"]]
    assert {content["role"] for content in done.json()["contents"]} == {"user"}
    assert any('"city"' in text for text in said) and "Be brief." in said
    assert {"system.demoted", "format.as_text"} <= set(codes(done))


def test_image_models_of_gemini_2_5_do_not_think() -> None:
    done = sent(chat(reasoning_effort="high"), "openai-chat", "gemini", "gemini-2.5-flash-image")
    assert "generationConfig" not in done.json()
    assert "effort.dropped" in codes(done)


@pytest.mark.parametrize(
    ("model", "asked", "level"),
    [
        ("gemini-3.6-flash", "minimal", "MINIMAL"),
        ("gemini-3.7-flash", "minimal", "LOW"),
        ("gemini-3.9-flash", "minimal", "LOW"),
        ("gemini-3.1-flash-image", "low", "MINIMAL"),
        ("gemini-3.1-flash-lite-image", "medium", "HIGH"),
    ],
)
def test_gemini_3_gets_only_levels_that_the_model_accepts(model: str, asked: str, level: str) -> None:
    done = sent(chat(reasoning_effort=asked), "openai-chat", "gemini", model)
    assert done.json()["generationConfig"]["thinkingConfig"]["thinkingLevel"] == level


def test_on_responses_gpt_5_6_accepts_the_highest_effort() -> None:
    done = sent({**chat(), "reasoning": {"effort": "max"}}, "openrouter", "openai-responses", "gpt-5.6-terra")
    assert done.json()["reasoning"]["effort"] == "max"


def test_opus_4_5_gets_an_effort_beside_its_budget() -> None:
    done = sent(chat(reasoning_effort="medium"), "openai-chat", "anthropic", "claude-opus-4-5")
    assert done.json()["output_config"] == {"effort": "medium"}
    assert done.json()["thinking"]["type"] == "enabled"
    assert "effort.approximated" not in codes(done)


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-1"])
def test_other_models_with_a_budget_get_no_effort(model: str) -> None:
    done = sent(chat(reasoning_effort="medium"), "openai-chat", "anthropic", model)
    assert "output_config" not in done.json()
    assert "effort.approximated" in codes(done)


def test_a_dropped_effort_beside_a_budget_is_reported() -> None:
    body = chat(reasoning={"effort": "high", "max_tokens": 2000})
    done = sent(body, "openrouter", "anthropic", "claude-haiku-4-5")
    assert done.json()["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert codes(done)["effort.approximated"] == "/reasoning/effort"


@pytest.mark.parametrize(("top_p", "taken"), [(0.5, False), (0.95, True), (1, True)])
def test_with_thinking_claude_gets_only_a_high_top_p(top_p: float, taken: bool) -> None:
    body = chat(reasoning_effort="medium", top_p=top_p)
    done = sent(body, "openai-chat", "anthropic", "claude-haiku-4-5")
    assert (done.json().get("top_p") == top_p) is taken
    assert (codes(done).get("sampling.dropped") == "/top_p") is not taken


@pytest.mark.parametrize("model", ["gpt-3.5-turbo", "gpt-4", "o3-mini", "o1-mini"])
def test_models_without_image_input_get_no_images(model: str) -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    body = messages(messages=[{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}])
    done = sent(body, "anthropic", "openai-chat", model)
    assert "image_url" not in done.body.decode()
    assert "media.dropped" in codes(done)


@pytest.mark.parametrize(
    ("model", "asked", "written"),
    [
        ("grok-4.3", "none", "none"),
        ("grok-4.5", "none", "low"),
        ("kimi-k3", "medium", "low"),
        ("kimi-k3.1-pro", "none", "low"),
        ("glm-5.3", "none", "low"),
        ("gemini-2.5-flash", "none", "none"),
        ("gemini-2.5-pro", "none", "minimal"),
        ("google/gemini-3-pro-preview", "xhigh", "high"),
        ("gemini-2.0-flash", "high", None),
        ("mistral-small-latest", "medium", "high"),
        ("mistral-medium-2508", "high", None),
        ("mistral-large-2512", "high", None),
        ("mistral-large-4-0", "high", "medium"),
        ("open-mistral-nemo", "high", None),
        ("o1-mini", "high", None),
        ("o3-deep-research", "high", "medium"),
        ("gpt-5.6-terra", "max", "xhigh"),
        ("zai-glm-5-3", "medium", "low"),
        ("k3-256k", "none", "low"),
        ("llama-3.3-70b-versatile", "high", None),
        ("qwen3-30b-a3b-instruct-2507", "high", None),
    ],
)
def test_efforts_by_model(model: str, asked: str, written: str | None) -> None:
    done = sent({**chat(), "reasoning": {"effort": asked}}, "openrouter", "openai-chat", model)
    assert done.json().get("reasoning_effort") == written
    changed = "effort.dropped" if written is None else "effort.approximated"
    assert (changed in codes(done)) is (asked != written)


def test_minimax_gets_one_system_message_and_no_unknown_fields() -> None:
    body = chat(seed=1, presence_penalty=0.5, response_format=SHAPE, reasoning_effort="none")
    body["messages"] = [
        {"role": "system", "content": "Be brief."},
        *body["messages"],
        {"role": "system", "content": "Be kind."},
    ]
    done = sent(body, "openai-chat", "openai-chat", "MiniMax-M3", host="https://api.minimax.io/v1")
    written = done.json()
    assert [message["role"] for message in written["messages"]].count("system") == 1
    assert written["response_format"] == {"type": "json_object"}
    assert written["thinking"] == {"type": "disabled"}
    assert not {"seed", "presence_penalty", "reasoning_effort"} & set(written)
    assert {"sampling.dropped", "format.as_text"} <= set(codes(done))


def test_kimi_has_fixed_sampling_except_for_older_models() -> None:
    body = chat(temperature=0.3, top_p=0.5)
    for model in ("kimi-k2.6", "k3-256k"):
        fixed = sent(body, "openai-chat", "openai-chat", model, host="moonshot")
        assert not {"temperature", "top_p"} & set(fixed.json())
    free = sent(body, "openai-chat", "openai-chat", "moonshot-v1-8k", host="moonshot")
    assert (free.json()["temperature"], free.json()["top_p"]) == (0.3, 0.5)


@pytest.mark.parametrize("model", ["llama3.1:8b", "qwen3-coder-next:q8_0", "cogito:14b", "devstral"])
def test_ollama_models_without_thinking_get_no_thinking_setting(model: str) -> None:
    done = sent(chat(reasoning_effort="high"), "openai-chat", "ollama", model)
    assert "think" not in done.json()
    assert "effort.dropped" in codes(done)


@pytest.mark.parametrize(
    ("host", "model"),
    [("minimax", "MiniMax-M2.7"), ("copilot", "claude-sonnet-4.5"), ("groq", "qwen/qwen3-32b")],
)
def test_an_effort_that_a_host_refuses_is_reported_at_its_place(host: str, model: str) -> None:
    body = messages(thinking={"type": "enabled", "budget_tokens": 2000})
    done = sent(body, "anthropic", "openai-chat", model, host=host)
    assert "reasoning_effort" not in done.json()
    losses = {(loss.code, loss.path) for loss in done.losses if loss.code.startswith("effort")}
    assert losses == {("effort.dropped", "/thinking/budget_tokens")}


def test_an_effort_that_the_host_refuses_becomes_a_switch() -> None:
    body = messages(thinking={"type": "enabled", "budget_tokens": 2000})
    done = sent(body, "anthropic", "openai-chat", "kimi-k2.6", host="moonshot")
    assert done.json()["thinking"] == {"type": "enabled"}
    assert codes(done)["effort.approximated"] == "/thinking/budget_tokens"
