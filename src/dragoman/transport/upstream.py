"""An upstream: a host that speaks a dialect, with its address and its key; and those that the environment names.

Keys are named by environment variable (`key_env`), so that whatever holds an upstream can be shown and shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

Auth = Literal["auto", "bearer", "x-api-key", "x-goog-api-key", "google", "client", "none"]
"""How an upstream is told who asks. auto: as its dialect does; client: with the key that the client sent."""

Seconds = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]

REHEARSAL = "rehearsal"


class Upstream(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
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
    stream: Literal["auto", "always", "never"] = "auto"
    """Some hosts only stream, some never do: clients get what they asked for all the same."""
    trip: Count = 5
    """Failures in a row, of distinct requests that another place then served, after which it rests; 0: never."""
    rest: Seconds = 30.0
    """Seconds of its first rest, doubled with each further one. While it rests, the other places of a route are asked
    before it. After the rest one request tries it, and the others follow if it is served."""
    credentials: str = ""
    """File with Google credentials, where they are not the application's default ones."""
    list_models: bool = True
    """Ask it which models it has when a client asks for the list."""


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


def from_environment(environment: Mapping[str, str]) -> dict[str, Upstream]:
    """The upstreams that the usual variables name."""
    upstreams: dict[str, Upstream] = {}
    for name, dialect, keys, addresses, models in _USUAL:
        key = next((variable for variable in keys if environment.get(variable)), "")
        if key:
            address = next((environment[variable] for variable in addresses if environment.get(variable)), "")
            upstreams[name] = Upstream(dialect, address, key, models=models)
    if environment.get("OLLAMA_HOST"):
        upstreams["ollama"] = Upstream("ollama", ollama_address(environment["OLLAMA_HOST"]), auth="none")
    return upstreams


def wanting(model: str) -> str:
    """The variable whose key would bring the upstream of a model; "" where none is known to."""
    where = model.partition("/")[0]
    for name, _, keys, _, models in _USUAL:
        if where == name or ("/" not in model and any(fnmatchcase(model, pattern) for pattern in models)):
            return keys[0]
    return "OLLAMA_HOST" if where == "ollama" else ""


def ollama_address(host: str) -> str:
    """What OLLAMA_HOST means: its scheme, host and port may each be missing. A server that listens everywhere is asked
    on loopback."""
    scheme, found, rest = host.strip().partition("://")
    if not found:
        scheme, rest = "http", host.strip()
    place, slash, path = rest.partition("/")
    name, colon, port = place.rpartition(":")
    if not colon or not port.isdigit():  # an IPv6 address has colons of its own
        name, port = place, ""
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)
    if name.count(":") > 1 and not name.startswith("["):
        name = f"[{name}]"
    port = port or ("11434" if not found else "443" if scheme == "https" else "80")
    return f"{scheme}://{name}:{port}{slash}{path}".rstrip("/")


def addressed(upstream: Upstream) -> Upstream:
    """The upstream with its usual address, where it has none."""
    base = upstream.base_url or _vertex(upstream) or _BASES.get(upstream.dialect, "")
    return msgspec.structs.replace(upstream, base_url=base)


def own_host(upstream: Upstream) -> bool:
    """Whether the upstream is the host of the provider whose dialect it speaks, and no other."""
    usual = _vertex(upstream) or _BASES.get(upstream.dialect, "")
    return bool(usual) and urlsplit(addressed(upstream).base_url).hostname == urlsplit(usual).hostname


def _vertex(upstream: Upstream) -> str:
    """Where Vertex listens: a place for each location, and one for all."""
    if upstream.dialect != "gemini" or not upstream.project:
        return ""
    return f"https://{'' if upstream.location == 'global' else upstream.location + '-'}aiplatform.googleapis.com"


def is_address(base: str) -> bool:
    """Whether it is one that can be asked: `https://host/path`."""
    try:
        parts = urlsplit(base)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
