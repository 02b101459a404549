"""The rows of `profiles.json` over the model names in the recordings: they match what they are about, and no row is in
the shadow of later ones."""

from __future__ import annotations

from collections import defaultdict

import msgspec
import pytest

from dragoman import profiles
from dragoman.crossing import DEFAULT_PROFILE, Profile
from tests.judges import corpus

KNOWN = {
    "anthropic": ("claude-3", "claude-haiku", "claude-sonnet", "claude-opus", "claude-fable", "claude-mythos"),
    "openai-chat": ("gpt-", "o1", "o3", "o4", "grok-", "deepseek-", "mistral-", "ministral-"),
    "openai-responses": ("gpt-", "o1", "o3", "o4", "grok-"),
    "gemini": ("gemini-1", "gemini-2", "gemini-3", "gemini-4", "gemini-flash", "gemma"),
    "ollama": ("gemma3", "llama3", "gpt-oss"),
    "openrouter": ("claude-", "gpt-", "gemini-", "o3", "o4", "grok-"),
}
"""How the names begin that some row is about, whatever stands in front of them."""
STRANGE = ("nonexistent", "invalid", "not-exist", "deepseek-r1", "deepseek-v9")


def models(dialect: str) -> set[str]:
    return {model for record in corpus.records(dialect) if (model := corpus.model_of(record))}


@pytest.mark.parametrize("dialect", KNOWN)
def test_the_families_in_the_recordings_are_known(dialect: str) -> None:
    found = 0
    for model in models(dialect):
        bare = model.rpartition("/")[2].lower()
        if bare.startswith(KNOWN[dialect]) and not any(word in bare for word in STRANGE):
            assert profiles.lookup(dialect, model) != DEFAULT_PROFILE, model
            found += 1
    assert found > 1


def test_no_row_is_in_the_shadow_of_later_ones() -> None:
    for row in profiles.rows():
        names = [pattern.replace("*", end) for pattern in row.match for end in ("", "x")]
        for dialect in row.dialects:
            names += [model for model in models(dialect) if dialect in KNOWN] if dialect in KNOWN else []
            for fact, value in row.facts.items():
                wanted = getattr(msgspec.convert({fact: value}, Profile), fact)
                stands = [name for name in names if getattr(profiles.lookup(dialect, name), fact) == wanted]
                assert stands, (dialect, row.match, fact)


def test_every_pattern_adds_a_name_to_its_row() -> None:
    """A pattern that another of the same row covers says nothing."""
    for row in profiles.rows():
        for i, pattern in enumerate(row.match):
            others = [other for j, other in enumerate(row.match) if j != i and other.endswith("*")]
            covering = [other for other in others if pattern.startswith(other[:-1])]
            assert not covering, (row.match, pattern)


def test_recorded_refusals_are_facts() -> None:
    """What models refused in the recordings for being what they are."""
    gates: dict[str, set[str]] = defaultdict(set)
    for record in corpus.records("openai-chat"):
        text = msgspec.json.encode(record.response).decode() if record.status == 400 else ""
        model = corpus.model_of(record) or ""
        if "Unsupported parameter: 'stop'" in text:
            assert "stop" in profiles.lookup("openai-chat", model).refuses, record.id
            gates["stop"].add(model)
        if "does not support 'system'" in text or "does not support 'developer'" in text:
            assert profiles.lookup("openai-chat", model).system is False, record.id
            gates["system"].add(model)
        if "Logprobs are not enabled" in text:
            assert "logprobs" in profiles.lookup("openai-chat", model).refuses, record.id
            gates["logprobs"].add(model)
        if "expected to be either text or image_url" in text or "unknown variant" in text:
            assert profiles.lookup("openai-chat", model).media is not None, record.id
            gates["media"].add(model)
    assert set(gates) == {"stop", "system", "logprobs", "media"}
