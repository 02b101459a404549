"""The output at the start of the gateway: lines to paste for each client, and warnings."""

from __future__ import annotations

from dragoman.cli.serve_banner import banner_lines
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream, check_config

BASE = "http://127.0.0.1:8484"


def banner_of(config: Config, port: int = 8484) -> list[str]:
    return list(banner_lines(check_config(config, "x"), port))


def line(shown: list[str], client: str) -> str:
    return next(one for one in shown if one.strip().startswith(client)).strip()[len(client) :].strip()


def test_with_the_rehearsal_no_client_needs_a_model() -> None:
    shown = banner_of(Config())
    assert shown[0] == f"dragoman listens on {BASE}"
    assert shown[1] == "  rehearsal: built in; no model, but fixed rules that answer every request; for *"
    assert line(shown, "Claude Code") == f"ANTHROPIC_BASE_URL={BASE} ANTHROPIC_AUTH_TOKEN=any claude"
    provider = f'{{name="dragoman",base_url="{BASE}/v1",wire_api="responses"}}'
    assert line(shown, "Codex") == f"codex -c 'model_providers.dragoman={provider}' -c model_provider=dragoman"
    vertex = f"GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_VERTEX_BASE_URL={BASE} GOOGLE_API_KEY=any gemini"
    assert line(shown, "Gemini CLI") == vertex
    assert line(shown, "openai") == f'OpenAI(base_url="{BASE}/v1", api_key="any")'
    assert line(shown, "anthropic") == f'Anthropic(base_url="{BASE}", api_key="any")'
    assert line(shown, "ollama").startswith(f"OLLAMA_HOST={BASE}")


def test_a_line_names_a_model_if_the_client_s_own_model_is_not_served() -> None:
    upstream = Upstream("anthropic", "https://a.example", models=("claude-*",))
    shown = banner_of(Config(upstreams={"a": upstream}, routes=(Route("fast", (Target("a", "claude-haiku"),)),)))
    assert "  fast goes to a/claude-haiku" in shown
    assert line(shown, "Claude Code").endswith(" claude")
    assert line(shown, "Codex").endswith("-m UPSTREAM/MODEL")
    assert line(shown, "Gemini CLI").endswith("-m UPSTREAM/MODEL")


def test_the_lines_contain_the_keys_of_clients() -> None:
    shown = banner_of(Config(listen=Listen(host="::1", key_env="KEYS")), 9)
    assert shown[0] == "dragoman listens on http://[::1]:9"
    assert "Clients must send a key from KEYS ($KEY below), in the header that their dialect uses." in shown
    assert "ANTHROPIC_AUTH_TOKEN=$KEY" in line(shown, "Claude Code")
    assert line(shown, "Codex").startswith("DRAGOMAN_KEY=$KEY codex -c ")
    assert 'env_key="DRAGOMAN_KEY"' in line(shown, "Codex")
    assert not [one for one in shown if "=any" in one]


def test_a_gateway_without_keys_on_a_public_address_is_a_warning() -> None:
    shown = banner_of(Config(listen=Listen(host="0.0.0.0")))
    assert [one for one in shown if one.startswith("Everybody who can reach this address")]
    assert shown[0] == "dragoman listens on all addresses of this machine: http://0.0.0.0:8484"
    assert "http://127.0.0.1:8484" in line(shown, "Claude Code")


def test_a_password_in_an_address_is_not_printed() -> None:
    upstream = Upstream("openai-chat", "https://user:hunter22@host.example/v1?key=hunter22")
    shown = "\n".join(banner_of(Config(upstreams={"a": upstream})))
    assert "hunter22" not in shown
    assert "https://...@host.example/v1" in shown
