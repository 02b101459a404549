"""The gateway's configuration: one typed value, from a TOML file, from the usual environment variables, or both.

Everything a user can set is a field here, with its default. Errors name the file, the key, and the nearest valid key.
Keys of upstreams are named by environment variable (`key_env`), so that a file can be shown and shared.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from ..canon.losses import Severity
from ..dialects import names as dialect_names
from ..errors import ConfigError
from ..sealing import Strategy

Auth = Literal["auto", "bearer", "x-api-key", "x-goog-api-key", "google", "client", "none"]
"""How an upstream is told who asks. auto: as its dialect does; client: with the key that the client sent."""

REHEARSAL = "rehearsal"


class _Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Listen(_Part, frozen=True):
    """Where the gateway listens."""

    host: str = "127.0.0.1"
    port: int = 8484
    workers: int = 1
    """Processes that share the port."""
    drain: float = 30.0
    """Seconds that exchanges under way have when the gateway is told to stop."""


class Bounds(_Part, frozen=True):
    """What the gateway takes, and how long it waits."""

    body: int = 64 * 1024 * 1024
    head: int = 64 * 1024
    answer: int = 256 * 1024 * 1024
    concurrent: int = 2000
    connect: float = 10.0
    first_byte: float = 600.0
    idle: float = 300.0
    total: float = 3600.0
    keep_alive: float = 15.0
    """Seconds of silence in a stream after which the client gets a sign of life."""
    exchanges: int = 200
    """Exchanges that are kept to be looked at."""


class Upstream(_Part, frozen=True):
    """A host that speaks a dialect."""

    dialect: str
    base_url: str = ""
    key_env: str = ""
    auth: Auth = "auto"
    headers: dict[str, str] = {}
    models: tuple[str, ...] = ()
    """Models (with * for anything) that go here when no route says otherwise."""
    host: str = ""
    """A host of the table of hosts, where the name in `base_url` does not tell."""
    project: str = ""
    """Google Cloud project: Vertex paths for gemini, the envelope's project for code-assist."""
    location: str = "global"


class Target(_Part, frozen=True):
    """One place a request may go to."""

    upstream: str
    model: str = ""
    """The model's name there; "" for the name that was asked."""
    weight: int = 1


class Route(_Part, frozen=True):
    """Which models go where, and how."""

    match: str
    to: tuple[Target, ...]
    """Tried one after the other; those with weights are drawn by them."""
    tolerance: Severity = "error"
    """The worst loss that is accepted: beyond it the request is refused."""
    repair: Literal["report", "refuse", "off"] = "report"
    seals: Strategy = "auto"
    binary: Literal["native", "summarise"] = "native"
    retries: int = 2


class Config(_Part, frozen=True):
    """The whole configuration."""

    listen: Listen = Listen()
    bounds: Bounds = Bounds()
    upstreams: dict[str, Upstream] = {}
    routes: tuple[Route, ...] = ()


_BASES = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "code-assist": "https://cloudcode-pa.googleapis.com",
    "ollama": "http://127.0.0.1:11434",
    "openrouter": "https://openrouter.ai/api/v1",
}
_USUAL: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    # name, dialect, variables with the key, variables with the address, models
    (
        "openai",
        "openai-responses",
        ("OPENAI_API_KEY",),
        ("OPENAI_BASE_URL",),
        ("gpt-*", "o1*", "o3*", "o4*", "chatgpt-*", "codex-*"),
    ),
    ("anthropic", "anthropic", ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",), ("claude-*",)),
    (
        "gemini",
        "gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"),
        ("gemini-*", "gemma-*"),
    ),
    ("openrouter", "openrouter", ("OPENROUTER_API_KEY",), ("OPENROUTER_BASE_URL",), ("*/*",)),
)


def load(path: Path | None, environment: Mapping[str, str]) -> Config:
    """The configuration of a file, or without one of the environment. Checked: what it names exists."""
    config = from_file(path) if path is not None else from_environment(environment)
    return checked(config, str(path) if path is not None else "the environment")


def from_file(path: Path) -> Config:
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        raise ConfigError("file", f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError("file", f"{path}: not TOML: {error}") from None
    _check_keys(data, Config, str(path), "")
    for i, route in enumerate(data.get("routes", ())):
        if isinstance(route, dict) and "to" in route:
            data["routes"][i]["to"] = [_target(to) for to in _listed(route["to"])]
    try:
        return msgspec.convert(data, Config)
    except msgspec.ValidationError as error:
        raise ConfigError("value", f"{path}: {error}") from None


def _listed(to: Any) -> list[Any]:
    return to if isinstance(to, list) else [to]


def _target(to: Any) -> Any:
    """`upstream/model` in one word, or the table as it is."""
    if not isinstance(to, str):
        return to
    upstream, _, model = to.partition("/")
    return {"upstream": upstream, "model": model}


def _check_keys(data: Any, shape: Any, file: str, at: str) -> None:
    """Name a key that does not exist before msgspec finds it: with the nearest one that does."""
    if not isinstance(data, dict):
        return
    known = {field.name: field.type for field in msgspec.structs.fields(shape)}
    for key, value in data.items():
        here = f"{at}.{key}" if at else key
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise ConfigError("key", f"{here} in {file}{hint}", tuple(known))
        inner = known[key]
        if inner in (Listen, Bounds):
            _check_keys(value, inner, file, here)
        elif key == "upstreams" and isinstance(value, dict):
            for name, upstream in value.items():
                _check_keys(upstream, Upstream, file, f"{here}.{name}")
        elif key == "routes" and isinstance(value, list):
            for i, route in enumerate(value):
                _check_keys(route, Route, file, f"{here}[{i}]")


def from_environment(environment: Mapping[str, str]) -> Config:
    """The upstreams that the usual variables name; the rehearsal alone when they name none."""
    upstreams: dict[str, Upstream] = {}
    for name, dialect, keys, addresses, models in _USUAL:
        key = next((variable for variable in keys if environment.get(variable)), "")
        if key:
            address = next((environment[variable] for variable in addresses if environment.get(variable)), "")
            upstreams[name] = Upstream(dialect, address, key, models=models)
    if environment.get("OLLAMA_HOST"):
        host = environment["OLLAMA_HOST"]
        upstreams["ollama"] = Upstream("ollama", host if "://" in host else f"http://{host}", auth="none")
    return Config(upstreams=upstreams)


def one_upstream(url: str, dialect: str, key_env: str = "", host: str = "") -> Config:
    """Every model goes to one upstream, under its own name."""
    auth: Auth = "auto" if key_env else "client"
    return Config(upstreams={"upstream": Upstream(dialect, url, key_env, auth, models=("*",), host=host)})


def checked(config: Config, file: str) -> Config:
    """The configuration with what a user need not say (rehearsal, addresses). ConfigError for what leads nowhere."""
    upstreams = {REHEARSAL: Upstream(REHEARSAL, models=("rehearsal/*", "rehearsal")), **config.upstreams}
    for name, upstream in config.upstreams.items():
        if upstream.dialect not in (*dialect_names(), REHEARSAL):
            raise ConfigError("dialect", f"{upstream.dialect} in {file}, upstreams.{name}", dialect_names())
        base = upstream.base_url or _BASES.get(upstream.dialect, "")
        parts = urlsplit(base)
        if upstream.dialect != REHEARSAL and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ConfigError("base_url", f"{base!r} in {file}, upstreams.{name}", ("https://host/path",))
        upstreams[name] = msgspec.structs.replace(upstream, base_url=base)
    for i, route in enumerate(config.routes):
        for target in route.to:
            if target.upstream not in upstreams:
                raise ConfigError("upstream", f"{target.upstream} in {file}, routes[{i}]", tuple(upstreams))
        if not route.to:
            raise ConfigError("route", f"routes[{i}] in {file} leads nowhere")
    if not config.upstreams:  # nothing is configured: everything is a rehearsal, and says so
        upstreams[REHEARSAL] = Upstream(REHEARSAL, models=("*",))
    return msgspec.structs.replace(config, upstreams=upstreams)


EXAMPLE = """# dragoman.toml: which upstreams there are, and which models go where. `dragoman config check` looks at it.

[listen]
host = "127.0.0.1"   # anything else lets others in
port = 8484

[upstreams.openai]
dialect = "openai-responses"
key_env = "OPENAI_API_KEY"
models = ["gpt-*", "o*"]

[upstreams.anthropic]
dialect = "anthropic"
key_env = "ANTHROPIC_API_KEY"
models = ["claude-*"]

# Claude Code's small model on Gemini, and on OpenAI when Gemini fails.
[[routes]]
match = "claude-haiku-*"
to = ["gemini/gemini-2.5-flash", "openai/gpt-5-mini"]

[upstreams.gemini]
dialect = "gemini"
key_env = "GEMINI_API_KEY"
"""
