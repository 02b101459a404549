"""How an upstream is addressed: its path, its headers, its key."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from ..dialect import Dialect
from ..dialects import get
from ..errors import ConfigError
from ..transport.http import Address
from .config import Auth, Upstream

USER_AGENT = "dragoman"

_AUTH: dict[str, Auth] = {
    "anthropic": "x-api-key",
    "gemini": "x-goog-api-key",
    "code-assist": "google",
    "ollama": "none",
}
_KINDRED = {
    "anthropic": ("anthropic-version", "anthropic-beta"),
    "openai-chat": ("openai-beta", "openai-organization", "openai-project"),
    "openai-responses": ("openai-beta", "openai-organization", "openai-project"),
    "openrouter": ("http-referer", "x-title"),
}
"""Headers of a client that go on to an upstream of the same dialect."""


def address(upstream: Upstream) -> Address:
    parts = urlsplit(upstream.base_url)
    secure = parts.scheme == "https"
    return Address(secure, parts.hostname or "", parts.port or (443 if secure else 80))


def host(upstream: Upstream) -> str | None:
    """What the table of hosts may know it by."""
    return upstream.host or urlsplit(upstream.base_url).hostname


def target(upstream: Upstream, model: str, *, stream: bool) -> str:
    """The path to post to. What the base address and the endpoint share at their joint is written once."""
    dialect = get(upstream.dialect)
    path = dialect.endpoint.stream_path if stream else dialect.endpoint.path
    if "{model}" in path:
        if upstream.project:
            place = f"/v1/projects/{upstream.project}/locations/{upstream.location}/publishers/google/models/"
            path = place + path.partition("/models/")[2]
        path = path.replace("{model}", quote(model.removeprefix("models/"), safe="/"))
    return joined(urlsplit(upstream.base_url).path, path)


def joined(base: str, path: str) -> str:
    base = base.rstrip("/")
    for end in range(len(base)):
        if base[end] == "/" and path.startswith(base[end:] + "/"):
            return base[:end] + path
    return base + path


def headers(
    upstream: Upstream, environment: Mapping[str, str], client_dialect: str, asked: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The headers of a request to an upstream. `asked` are the client's."""
    dialect: Dialect = get(upstream.dialect)
    out = {"content-type": "application/json", "user-agent": USER_AGENT, "accept-encoding": "identity"}
    out.update(dialect.endpoint.headers)
    if client_dialect == upstream.dialect:
        out.update({name: asked[name] for name in _KINDRED.get(client_dialect, ()) if name in asked})
    out.update({name.lower(): value for name, value in upstream.headers.items()})
    kind = upstream.auth if upstream.auth != "auto" else _AUTH.get(upstream.dialect, "bearer")
    key = client_key(asked) if kind == "client" else environment.get(upstream.key_env, "")
    if kind == "client":
        kind = _AUTH.get(upstream.dialect, "bearer")
    if key and kind == "bearer":
        out["authorization"] = f"Bearer {key}"
    elif key and kind in ("x-api-key", "x-goog-api-key"):
        out[kind] = key
    elif not key and upstream.key_env:
        raise ConfigError("key", f"the variable {upstream.key_env} is empty", ())
    return list(out.items())


def client_key(asked: Mapping[str, str]) -> str:
    """The key a client sent, in whichever header its dialect has for it."""
    for name in ("x-api-key", "x-goog-api-key", "api-key"):
        if asked.get(name):
            return asked[name]
    scheme, _, token = asked.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
