"""Fields that several dialects share: they are translated, and no loss reports them."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

BASE: dict[str, dict[str, Any]] = {
    "openai-chat": {"model": "gpt-5.6", "messages": [{"role": "user", "content": "hi"}]},
    "openrouter": {"model": "openai/gpt-5.6", "messages": [{"role": "user", "content": "hi"}]},
    "openai-responses": {"model": "gpt-5.6", "input": "hi"},
}
CACHE = {"mode": "explicit", "ttl": "30m"}


def translate(source: str, target: str, fields: dict[str, Any], model: str = "gpt-5.6") -> dragoman.Translation:
    return dragoman.translate_request({**BASE[source], **fields}, source=source, target=target, model=model)


def severities_of(translation: dragoman.Translation, name: str) -> list[str]:
    return [loss.severity for loss in translation.losses if loss.path.startswith(f"/{name}")]


@pytest.mark.parametrize(
    ("source", "target"), [("openai-chat", "openai-responses"), ("openai-responses", "openai-chat")]
)
@pytest.mark.parametrize(
    "fields",
    [
        {"moderation": {"model": "omni-moderation-latest"}},
        {"prompt_cache_retention": "24h"},
        {"prompt_cache_options": CACHE},
        {"safety_identifier": "s", "user": "u"},
    ],
)
def test_chat_and_responses_share_fields(source: str, target: str, fields: dict[str, Any]) -> None:
    translation = translate(source, target, fields)
    sent = translation.json()
    assert {name: sent.get(name) for name in fields} == fields
    assert [severities_of(translation, name) for name in fields] == [[] for _ in fields]


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_the_comparison_response_of_the_cache_exists_only_in_responses(target: str) -> None:
    options = {**CACHE, "comparison_response_id": "resp_1"}
    translation = translate("openai-responses", target, {"prompt_cache_options": options})
    assert translation.json()["prompt_cache_options"] == CACHE
    assert severities_of(translation, "prompt_cache_options/comparison_response_id") == ["info"]


@pytest.mark.parametrize("wish", [True, False])
def test_the_store_setting_of_a_chat_client_is_sent_to_responses(wish: bool) -> None:
    translation = translate("openai-chat", "openai-responses", {"store": wish})
    assert translation.json()["store"] is wish
    assert severities_of(translation, "store") == []


@pytest.mark.parametrize(
    ("source", "target"),
    [("openai-chat", "openai-responses"), ("openai-responses", "openai-chat"), ("openrouter", "openai-chat")],
)
def test_cache_options_are_sent_only_to_models_that_accept_them(source: str, target: str) -> None:
    translation = translate(source, target, {"prompt_cache_options": CACHE}, model="gpt-4o")
    assert "prompt_cache_options" not in translation.json()
    assert severities_of(translation, "prompt_cache_options") == ["info"]


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses"])
def test_openrouter_accepts_cache_options_only_with_the_mode_explicit(source: str) -> None:
    model = "openai/gpt-5.6"
    whole = translate(source, "openrouter", {"prompt_cache_options": CACHE}, model)
    other = translate(source, "openrouter", {"prompt_cache_options": {"mode": "implicit"}}, model)
    assert whole.json()["prompt_cache_options"] == CACHE
    assert severities_of(whole, "prompt_cache_options") == []
    assert "prompt_cache_options" not in other.json()
    assert severities_of(other, "prompt_cache_options") == ["info"]


@pytest.mark.parametrize(
    ("target", "field", "word"),
    [
        ("openai-chat", "service_tier", "default"),
        ("openai-responses", "service_tier", "default"),
        ("openrouter", "service_tier", "default"),
        ("gemini", "serviceTier", "standard"),
    ],
)
def test_the_standard_tier_of_anthropic_is_the_default_of_other_dialects(target: str, field: str, word: str) -> None:
    document = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    request_body = {**document, "service_tier": "standard_only"}
    translated = dragoman.translate_request(request_body, source="anthropic", target=target, model="m")
    assert translated.json()[field] == word
    assert severities_of(translated, "service_tier") == []
    back = dragoman.translate_request(translated.body, source=target, target="anthropic", model="m")
    assert back.json()["service_tier"] == "standard_only"


USER = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("source", "target", "document", "place"),
    [
        ("openai-chat", "ollama", {"model": "m", "messages": USER, "min_p": 0.1}, ("options", "min_p")),
        ("openrouter", "ollama", {"model": "m", "messages": USER, "min_p": 0.1}, ("options", "min_p")),
        (
            "openrouter",
            "ollama",
            {"model": "m", "messages": USER, "repetition_penalty": 0.1},
            ("options", "repeat_penalty"),
        ),
        ("ollama", "openrouter", {"model": "m", "messages": USER, "options": {"min_p": 0.1}}, ("min_p",)),
        (
            "ollama",
            "openrouter",
            {"model": "m", "messages": USER, "options": {"repeat_penalty": 0.1}},
            ("repetition_penalty",),
        ),
        ("openrouter", "code-assist", {"model": "m", "messages": USER, "session_id": 0.1}, ("request", "session_id")),
        (
            "code-assist",
            "openrouter",
            {"model": "m", "request": {"session_id": 0.1, "contents": [{"parts": [{"text": "hi"}]}]}},
            ("session_id",),
        ),
    ],
)
def test_fields_with_different_names_in_other_dialects(
    source: str, target: str, document: dict[str, Any], place: tuple[str, ...]
) -> None:
    translation = dragoman.translate_request(document, source=source, target=target, model="m")
    found: Any = translation.json()
    for step in place:
        found = found[step]
    assert found == 0.1
    assert [loss.code for loss in translation.losses if loss.code == "field.dropped"] == []
