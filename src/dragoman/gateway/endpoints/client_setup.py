"""The exact lines that point clients at a gateway: agents and SDKs.

They were tried with Claude Code 2.1, Codex 0.166 and Gemini CLI 0.61. The last takes an address of its own for the
Gemini API only after an interactive choice; as a client of Vertex or of Code Assist it does so at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..config import Config
from ..exchange.routes import Routes


def client_lines(config: Config, base: str) -> list[tuple[str, str]]:
    """Name of a client, and what points it at `base`. $KEY stands for a key where clients have to show one."""
    key = "$KEY" if config.listen.key_env else "any"
    return [*_agents(config, base, key), *_sdks(base, key)]


def _agents(config: Config, base: str, key: str) -> Iterator[tuple[str, str]]:
    routes = Routes(config)

    def model(flag: str, usual: str) -> str:
        """The option that names a model, where the one that the client asks for by itself is not served."""
        return "" if routes.find(usual, lambda weights: 0)[1] else f" {flag} UPSTREAM/MODEL"

    claude = model("--model", "claude-opus-4-8")
    yield "Claude Code", f"ANTHROPIC_BASE_URL={base} ANTHROPIC_AUTH_TOKEN={key} claude{claude}"
    named = f'name="dragoman",base_url="{base}/v1",wire_api="responses"'
    secret, shown = ("DRAGOMAN_KEY=$KEY ", ',env_key="DRAGOMAN_KEY"') if key != "any" else ("", "")
    options = f"-c 'model_providers.dragoman={{{named}{shown}}}' -c model_provider=dragoman"
    yield "Codex", f"{secret}codex {options}{model('-m', 'gpt-6.1-sol')}"
    gemini = model("-m", "gemini-3-pro-preview")
    vertex = f"GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_VERTEX_BASE_URL={base} GOOGLE_API_KEY={key}"
    yield "Gemini CLI", f"{vertex} gemini{gemini}"
    login = f"GOOGLE_GENAI_USE_GCA=true CODE_ASSIST_ENDPOINT={base} GOOGLE_CLOUD_ACCESS_TOKEN={key}"
    yield "  or", f"{login} gemini{gemini}"


def _sdks(base: str, key: str) -> Iterator[tuple[str, str]]:
    yield "openai", f'OpenAI(base_url="{base}/v1", api_key="{key}")'
    yield "anthropic", f'Anthropic(base_url="{base}", api_key="{key}")'
    yield "google-genai", f'genai.Client(api_key="{key}", http_options={{"base_url": "{base}"}})'
    yield "openrouter", f'OpenRouter(server_url="{base}/api/v1", api_key="{key}")'
    shown = f', headers={{"authorization": "Bearer {key}"}}' if key != "any" else ""
    yield "ollama", f'OLLAMA_HOST={base}, or Client(host="{base}"{shown})'
