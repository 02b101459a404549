"""Owns the start commands and requests for each gateway of the benchmark: dragoman, and the peers that
`make bench-peers` installs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench import payloads
from bench.harness import BUILD, ROOT, SCRIPTED, Post

PEERS = ROOT / ".venv-bench" / "bin"
PORTKEY = ROOT / "build" / "peers" / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
KEY = "sk-bench-0123456789abcdef"
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:{verb}",
}
Pair = tuple[str, str]
"""The client's dialect and the upstream's."""


@dataclass
class Gateway:
    """One gateway: its start function, and the pairs of dialects that it supports."""

    name: str
    command: list[str]
    models: dict[Pair, str]
    """The model name that routes to the upstream of a dialect."""
    env: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    streams: bool = True

    def post(self, port: int, pair: Pair, *, stream: bool = False) -> Post:
        client, model = pair[0], self.models[pair]
        return request_to(port, client, model, stream=stream, headers=self.headers)


Starter = Callable[[int, int], Gateway]
"""Makes a gateway from the port of the upstream and the port of the gateway."""


def request_to(port: int, client: str, model: str, *, stream: bool, headers: dict[str, str] | None = None) -> Post:
    """The agent request in the client's dialect, for a model."""
    body = payloads.request(client, stream=stream)
    old = json.dumps(payloads.MODELS[client]).encode()
    if client != "gemini":
        assert b'"model":' + old in body
        body = body.replace(b'"model":' + old, b'"model":' + json.dumps(model).encode(), 1)
    path = PATHS[client].format(model=model, verb="streamGenerateContent?alt=sse" if stream else "generateContent")
    own = {"x-api-key": KEY, "anthropic-version": "2023-06-01"} if client == "anthropic" else {}
    own = {"x-goog-api-key": KEY} if client == "gemini" else own or {"authorization": f"Bearer {KEY}"}
    return Post(port, path, body, {"content-type": "application/json", **own, **(headers or {})})


def file(name: str, text: str) -> str:
    path = BUILD / name
    path.write_text(text)
    return str(path)


def dragoman(upstream: int, port: int) -> Gateway:
    """The gateway of dragoman, with a client key, routes that rename the model, and recorded exchanges."""
    base = f"http://127.0.0.1:{upstream}"
    lines = ["[listen]", f"port = {port}", 'key_env = "BENCH_KEY"']
    for dialect in SCRIPTED:
        lines += [f"[upstreams.{dialect}]", f'dialect = "{dialect}"', f'base_url = "{base}"', 'key_env = "BENCH_KEY"']
    for dialect in SCRIPTED:
        lines += ["[[routes]]", f'match = "bench-{dialect}"', f'to = "{dialect}/{payloads.MODELS[dialect]}"']
    command = [str(Path(sys.executable).parent / "dragoman"), "serve", "--config"]
    models = {(client, dialect): f"bench-{dialect}" for client in SCRIPTED for dialect in SCRIPTED}
    env = {"BENCH_KEY": KEY}
    return Gateway("dragoman", [*command, file("dragoman.toml", "\n".join(lines) + "\n")], models, env)


def rosetta(upstream: int, port: int) -> Gateway:
    base = f"http://127.0.0.1:{upstream}"
    names = {"openai_chat": f"{base}/v1", "anthropic": base}
    config = {
        "providers": {name: {"api_key": KEY, "base_url": url} for name, url in names.items()},
        "models": {"bench-chat": "openai_chat", "bench-messages": "anthropic"},
        "server": {"host": "127.0.0.1", "port": port, "open_on_no_keys": True},
    }
    command = [str(PEERS / "llm-rosetta-gateway"), "-c", file("rosetta.jsonc", json.dumps(config)), "--no-banner"]
    command += ["--data-dir", str(BUILD / "rosetta"), "--log-level", "error"]
    models = {(client, "openai-chat"): "bench-chat" for client in SCRIPTED}
    models |= {("openai-chat", "anthropic"): "bench-messages", ("anthropic", "anthropic"): "bench-messages"}
    return Gateway("llm-rosetta", command, models)


def litellm(upstream: int, port: int) -> Gateway:
    """LiteLLM, with model names for which it has prices: it refuses to stream other models to some clients."""
    base = f"http://127.0.0.1:{upstream}"
    rows = [("bench-chat", "openai/gpt-4.1", f"{base}/v1"), ("bench-messages", "anthropic/claude-sonnet-4-5", base)]
    lines = ["model_list:"]
    for name, model, url in rows:
        lines.append(
            f'  - {{model_name: {name}, litellm_params: {{model: {model}, api_base: "{url}", api_key: {KEY}}}}}'
        )
    lines += ["litellm_settings: {use_chat_completions_url_for_anthropic_messages: true}"]
    command = [str(PEERS / "litellm"), "--config", file("litellm.yaml", "\n".join(lines) + "\n")]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION", "LITELLM_LOG": "ERROR"}
    env |= {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
    models = {
        ("anthropic", "openai-chat"): "bench-chat",
        ("openai-chat", "openai-chat"): "bench-chat",
        ("openai-chat", "anthropic"): "bench-messages",
        ("anthropic", "anthropic"): "bench-messages",
    }
    return Gateway("litellm", command, models, env)


def portkey(upstream: int, port: int) -> Gateway:
    """Portkey. Under Node 20 it answers every streamed request with 500, because it changes read-only headers."""
    command = [shutil.which("node") or "node", str(PORTKEY), f"--port={port}", "--headless"]
    headers = {"x-portkey-provider": "anthropic", "x-portkey-custom-host": f"http://127.0.0.1:{upstream}/v1"}
    model = payloads.MODELS["anthropic"]
    return Gateway(
        "portkey", command, {("openai-chat", "anthropic"): model}, {"NODE_ENV": "production"}, headers, False
    )


def direct(upstream: int) -> Gateway:
    """No gateway: the cost of the load and the upstream alone."""
    return Gateway("direct", [], {(dialect, dialect): payloads.MODELS[dialect] for dialect in SCRIPTED})


_PEERS: dict[str, tuple[Path, Starter]] = {
    "llm-rosetta": (PEERS / "llm-rosetta-gateway", rosetta),
    "litellm": (PEERS / "litellm", litellm),
    "portkey": (PORTKEY, portkey),
}


def installed() -> dict[str, Starter]:
    """The gateway of dragoman, and the installed peers."""
    return {"dragoman": dragoman, **{name: start for name, (path, start) in _PEERS.items() if path.exists()}}


def absent() -> list[str]:
    return [name for name, (path, _) in _PEERS.items() if not path.exists()]


def environment(gateway: Gateway) -> dict[str, str]:
    """The environment without the user's keys, proxies and settings; only the paths stay."""
    home = BUILD / "home"
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", **gateway.env}
