"""What the gateway says when it starts: lines that can be pasted, and what a user must know."""

from __future__ import annotations

from dragoman.cli.serve_banner import lines
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream, checked

BASE = "http://127.0.0.1:8484"


def said(config: Config, port: int = 8484) -> list[str]:
    return list(lines(checked(config, "x"), port))


def line(told: list[str], client: str) -> str:
    return next(one for one in told if one.strip().startswith(client)).strip()[len(client) :].strip()


def test_the_rehearsal_takes_every_client_as_it_is() -> None:
    told = said(Config())
    assert told[0] == f"dragoman listens on {BASE}"
    assert told[1] == "  rehearsal: built in; no model, but fixed rules that answer every request; for *"
    assert line(told, "Claude Code") == f"ANTHROPIC_BASE_URL={BASE} ANTHROPIC_AUTH_TOKEN=any claude"
    provider = f'{{name="dragoman",base_url="{BASE}/v1",wire_api="responses"}}'
    assert line(told, "Codex") == f"codex -c 'model_providers.dragoman={provider}' -c model_provider=dragoman"
    vertex = f"GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_VERTEX_BASE_URL={BASE} GOOGLE_API_KEY=any gemini"
    assert line(told, "Gemini CLI") == vertex
    assert line(told, "openai") == f'OpenAI(base_url="{BASE}/v1", api_key="any")'
    assert line(told, "anthropic") == f'Anthropic(base_url="{BASE}", api_key="any")'
    assert line(told, "ollama").startswith(f"OLLAMA_HOST={BASE}")


def test_a_model_is_asked_for_where_the_client_s_own_is_not_served() -> None:
    upstream = Upstream("anthropic", "https://a.example", models=("claude-*",))
    told = said(Config(upstreams={"a": upstream}, routes=(Route("fast", (Target("a", "claude-haiku"),)),)))
    assert "  fast goes to a/claude-haiku" in told
    assert line(told, "Claude Code").endswith(" claude")
    assert line(told, "Codex").endswith("-m UPSTREAM/MODEL")
    assert line(told, "Gemini CLI").endswith("-m UPSTREAM/MODEL")


def test_keys_of_clients_stand_in_the_lines() -> None:
    told = said(Config(listen=Listen(host="::1", key_env="KEYS")), 9)
    assert told[0] == "dragoman listens on http://[::1]:9"
    assert "Clients must send a key from KEYS ($KEY below), in the header that their dialect uses." in told
    assert "ANTHROPIC_AUTH_TOKEN=$KEY" in line(told, "Claude Code")
    assert line(told, "Codex").startswith("DRAGOMAN_KEY=$KEY codex -c ")
    assert 'env_key="DRAGOMAN_KEY"' in line(told, "Codex")
    assert not [one for one in told if "=any" in one]


def test_an_open_door_is_said() -> None:
    told = said(Config(listen=Listen(host="0.0.0.0")))
    assert [one for one in told if one.startswith("Everybody who can reach this address")]
    assert told[0] == "dragoman listens on all addresses of this machine: http://0.0.0.0:8484"
    assert "http://127.0.0.1:8484" in line(told, "Claude Code")


def test_a_password_in_an_address_is_not_printed() -> None:
    upstream = Upstream("openai-chat", "https://user:hunter22@host.example/v1?key=hunter22")
    told = "\n".join(said(Config(upstreams={"a": upstream})))
    assert "hunter22" not in told
    assert "https://...@host.example/v1" in told
