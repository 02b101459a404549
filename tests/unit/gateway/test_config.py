"""Configuration: from a file, from the environment, for one upstream; mistakes are named with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import ConfigError
from dragoman.gateway.config import EXAMPLE, Config, Target, checked, from_environment, load, one_upstream
from dragoman.gateway.routes import Routes
from dragoman.gateway.upstreams import headers, joined, target


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "dragoman.toml"
    file.write_text(text)
    return file


def first(weights: list[int]) -> int:
    return 0


def places(config: Config, model: str) -> list[tuple[str, str]]:
    return [(choice.name, choice.model) for choice in Routes(config).find(model, first)[1]]


def test_the_example_is_a_configuration(tmp_path: Path) -> None:
    config = load(written(tmp_path, EXAMPLE), {})
    assert config.routes[0].to == (Target("gemini", "gemini-2.5-flash"), Target("openai", "gpt-5-mini"))
    assert places(config, "claude-haiku-4-5") == [("gemini", "gemini-2.5-flash"), ("openai", "gpt-5-mini")]
    assert places(config, "claude-opus-5") == [("anthropic", "claude-opus-5")]
    assert places(config, "gemini/gemini-3-pro") == [("gemini", "gemini-3-pro")]
    assert places(config, "mistral-large") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[listn]\nport=1", r"unknown key 'listn in .*dragoman.toml \(did you mean listen\?\)'"),
        ("[upstreams.a]\ndialect='gemini'\nkeyenv='X'", r"upstreams.a.keyenv in .*did you mean key_env"),
        ("[upstreams.a]\ndialect='gemni'", r"unknown dialect 'gemni in .*upstreams.a'; valid: anthropic"),
        ("[listen]\nport='x'", r"Expected `int`, got `str` - at `\$.listen.port`"),
        ("[[routes]]\nmatch='*'\nto='nowhere/m'", r"unknown upstream 'nowhere in .*routes\[0\]'"),
        ("[upstreams.a]\ndialect='gemini'\nbase_url='host'", "unknown base_url"),
        ("= 1", "not TOML"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(written(tmp_path, text), {})


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load(tmp_path / "none.toml", {})


def test_the_environment_is_enough() -> None:
    config = checked(from_environment({"OPENAI_API_KEY": "k", "OLLAMA_HOST": "box:11434"}), "x")
    assert places(config, "gpt-5.2") == [("openai", "gpt-5.2")]
    assert places(config, "ollama/qwen3") == [("ollama", "qwen3")]
    assert config.upstreams["ollama"].base_url == "http://box:11434"
    assert places(config, "rehearsal/rules") == [("rehearsal", "rehearsal/rules")]


def test_without_anything_all_is_a_rehearsal() -> None:
    assert places(load(None, {}), "gpt-5") == [("rehearsal", "gpt-5")]


def test_one_upstream_takes_every_model_and_the_client_s_key() -> None:
    config = checked(one_upstream("http://127.0.0.1:9/v1", "openai-chat"), "x")
    assert places(config, "any/thing") == [("upstream", "any/thing")]
    upstream = config.upstreams["upstream"]
    sent = dict(headers(upstream, {}, "anthropic", {"x-api-key": "secret", "anthropic-beta": "b"}))
    assert sent["authorization"] == "Bearer secret"
    assert "anthropic-beta" not in sent
    assert target(upstream, "m", stream=False) == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("", "/v1/messages", "/v1/messages"),
        ("/v1", "/v1/messages", "/v1/messages"),
        ("/v1/", "/v1/messages", "/v1/messages"),
        ("/proxy/v1", "/v1/messages", "/proxy/v1/messages"),
        ("/api/v1", "/api/v1/chat/completions", "/api/v1/chat/completions"),
        ("/openai", "/v1/responses", "/openai/v1/responses"),
    ],
)
def test_addresses_are_joined_without_saying_anything_twice(base: str, path: str, whole: str) -> None:
    assert joined(base, path) == whole


def test_models_have_their_place_in_google_s_paths() -> None:
    config = checked(one_upstream("https://g.example", "gemini"), "x")
    plain = config.upstreams["upstream"]
    assert target(plain, "models/a b", stream=True) == "/v1beta/models/a%20b:streamGenerateContent?alt=sse"
    vertex = type(plain)("gemini", "https://v.example", project="p", location="eu")
    assert target(vertex, "m", stream=False) == (
        "/v1/projects/p/locations/eu/publishers/google/models/m:generateContent"
    )
