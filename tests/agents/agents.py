"""Owns the commands that start each agent in one folder and on one gateway, without questions and telemetry."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(os.environ["DRAGOMAN_AGENTS"]) if "DRAGOMAN_AGENTS" in os.environ else None
"""The folder in which npm and pip installed the agents. None: the agents are not tested."""


class Command(NamedTuple):
    """The command and the environment that start an agent."""

    arguments: list[str]
    environment: dict[str, str]


class Place(NamedTuple):
    """The folders and the gateway of an agent."""

    base: str
    """The gateway's address."""
    work: Path
    home: Path
    continued: bool = False
    """True: the agent continues its last session."""

    def if_continued(self, *options: str) -> list[str]:
        """These options, if the session is continued."""
        return list(options) if self.continued else []

    def write(self, path: str, text: str) -> None:
        """Write a file in the agent's home."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Agent(NamedTuple):
    """One way to run an agent."""

    program: str
    dialect: str
    """The dialect of its requests to the gateway."""
    story: str
    start: Callable[[Place, str], Command]
    """The command for a prompt."""


def program(name: str) -> Path:
    """The path of an agent's program. The file exists only if the agent is installed."""
    folder = (FOLDER or Path()).resolve()
    in_environment = folder / name / "bin" / name  # Each Python program has its own environment.
    return in_environment if in_environment.exists() else folder / "node_modules" / ".bin" / name


def _claude(place: Place, prompt: str) -> Command:
    return Command(
        [
            *("claude", "-p", prompt, *place.if_continued("--continue"), "--dangerously-skip-permissions"),
            *("--verbose", "--output-format", "stream-json"),
        ],
        {
            "ANTHROPIC_BASE_URL": place.base,
            "ANTHROPIC_AUTH_TOKEN": "any",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        },
    )


def _codex(model: str) -> Callable[[Place, str], Command]:
    def start(place: Place, prompt: str) -> Command:
        provider = f'{{name="dragoman",base_url="{place.base}/v1",wire_api="responses"}}'
        place.write(".codex/config.toml", f'model_provider = "dragoman"\nmodel_providers.dragoman = {provider}\n')
        free = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        return Command(
            ["codex", "exec", *free, "--json", "-m", model, *place.if_continued("resume", "--last"), prompt], {}
        )

    return start


def _gemini(way: str) -> Callable[[Place, str], Command]:
    def start(place: Place, prompt: str) -> Command:
        settings = {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}
        # An address in the environment alone selects a kind of login that the agent then refuses.
        chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}} if way == "key" else {}
        place.write(".gemini/settings.json", json.dumps({**settings, **chosen}))
        ways = {
            "key": {"GOOGLE_GEMINI_BASE_URL": place.base, "GEMINI_API_KEY": "any"},
            "vertex": {
                "GOOGLE_GENAI_USE_VERTEXAI": "true",
                "GOOGLE_VERTEX_BASE_URL": place.base,
                "GOOGLE_API_KEY": "any",
            },
            "login": {
                "GOOGLE_GENAI_USE_GCA": "true",
                "GOOGLE_CLOUD_ACCESS_TOKEN": "any",
                "CODE_ASSIST_ENDPOINT": place.base,
            },
        }
        arguments = ["gemini", "--skip-trust", "--yolo", "-m", "gemini-2.5-pro", "-o", "json"]
        return Command([*arguments, *place.if_continued("--resume", "latest"), "-p", prompt], ways[way])

    return start


def _opencode(package: str, path: str) -> Callable[[Place, str], Command]:
    def start(place: Place, prompt: str) -> Command:
        kinds = {"input": ["text", "image"], "output": ["text"]}
        model = {"name": "m", "attachment": True, "tool_call": True, "reasoning": True, "modalities": kinds}
        options = {"baseURL": f"{place.base}{path}", "apiKey": "any"}
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "provider": {
                "dragoman": {"npm": package, "name": "d", "options": options, "models": {"some-model": model}}
            },
        }
        place.write(".config/opencode/opencode.json", json.dumps(settings))
        quiet = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        run = ["opencode", "run", *place.if_continued("--continue"), "--auto", "--format", "json"]
        return Command([*run, "-m", "dragoman/some-model", prompt], quiet)

    return start


def _qwen(place: Place, prompt: str) -> Command:
    quiet = {"general": {"disableAutoUpdate": True}, "privacy": {"usageStatisticsEnabled": False}}
    place.write(".qwen/settings.json", json.dumps(quiet))
    return Command(
        ["qwen", "--yolo", "--auth-type", "openai", "-o", "json", prompt],
        {"OPENAI_BASE_URL": f"{place.base}/v1", "OPENAI_API_KEY": "any", "OPENAI_MODEL": "gpt-5"},
    )


def _pi(api: str, path: str) -> Callable[[Place, str], Command]:
    def start(place: Place, prompt: str) -> Command:
        model = {"id": "some-model", "reasoning": True, "input": ["text", "image"]}
        provider = {"baseUrl": f"{place.base}{path}", "api": api, "apiKey": "any", "models": [model]}
        place.write(".pi/agent/models.json", json.dumps({"providers": {"dragoman": provider}}))
        run = ["pi", "-p", *place.if_continued("--continue"), "--provider", "dragoman", "--model", "some-model", prompt]
        return Command(run, {"PI_OFFLINE": "1"})

    return start


def _continue(place: Place, prompt: str) -> Command:
    model = f"[{{name: m, provider: ollama, model: qwen3, apiBase: '{place.base}', capabilities: [tool_use]}}]"
    place.write(".continue/config.yaml", f"name: d\nversion: 0.0.1\nschema: v1\nmodels: {model}\n")
    config = str(place.home / ".continue" / "config.yaml")
    return Command(["cn", "-p", "--auto", "--config", config, prompt], {"CONTINUE_TELEMETRY_ENABLED": "0"})


AGENTS: dict[str, Agent] = {
    "claude": Agent("claude", "anthropic", "claude", _claude),
    "codex": Agent("codex", "openai-responses", "codex", _codex("gpt-5.5")),
    "codex-programs": Agent("codex", "openai-responses", "codex-programs", _codex("gpt-6.1-sol")),
    "gemini": Agent("gemini", "gemini", "gemini", _gemini("key")),
    "gemini-vertex": Agent("gemini", "gemini", "gemini", _gemini("vertex")),
    "gemini-login": Agent("gemini", "code-assist", "gemini", _gemini("login")),
    "opencode": Agent("opencode", "openai-chat", "opencode", _opencode("@ai-sdk/openai-compatible", "/v1")),
    "opencode-anthropic": Agent("opencode", "anthropic", "opencode", _opencode("@ai-sdk/anthropic", "/v1")),
    "opencode-google": Agent("opencode", "gemini", "opencode", _opencode("@ai-sdk/google", "/v1beta")),
    "opencode-openai": Agent("opencode", "openai-responses", "opencode", _opencode("@ai-sdk/openai", "/v1")),
    "opencode-openrouter": Agent(
        "opencode", "openrouter", "opencode", _opencode("@openrouter/ai-sdk-provider", "/api/v1")
    ),
    "qwen": Agent("qwen", "openai-chat", "qwen", _qwen),
    "pi": Agent("pi", "openai-chat", "pi", _pi("openai-completions", "/v1")),
    "pi-responses": Agent("pi", "openai-responses", "pi", _pi("openai-responses", "/v1")),
    "pi-anthropic": Agent("pi", "anthropic", "pi", _pi("anthropic-messages", "")),
    "pi-google": Agent("pi", "gemini", "pi", _pi("google-generative-ai", "/v1beta")),
    "continue": Agent("cn", "ollama", "continue", _continue),
}
