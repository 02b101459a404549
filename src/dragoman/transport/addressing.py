"""How an upstream is addressed: its path, its headers, its key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote, urlsplit

from ..dialects import get
from ..errors import ConfigError, WireError
from .client_interface import Address
from .upstream import Auth, Upstream

USER_AGENT = "dragoman"

AUTH: dict[str, Auth] = {
    "anthropic": "x-api-key",
    "gemini": "x-goog-api-key",
    "code-assist": "google",
    "ollama": "none",
}
"""Where upstreams of a dialect look for a key, if not for a bearer's."""

_COUNTING = {
    "anthropic": "/v1/messages/count_tokens",
    "code-assist": "/v1internal:countTokens",
    "openai-responses": "/v1/responses/input_tokens",
}
_VERSION = re.compile(r"/v\d+[a-z]*\d*(?=/)")
_VERSIONED = re.compile(r"/v\d+[a-z]*\d*(?:/openai)?\Z")


def address(upstream: Upstream) -> Address:
    return _address(upstream.base_url)


@lru_cache(maxsize=256)  # these are asked for with every request, and of few upstreams
def _address(base_url: str) -> Address:
    parts = urlsplit(base_url)
    secure = parts.scheme == "https"
    return Address(secure, parts.hostname or "", parts.port or (443 if secure else 80))


def host(upstream: Upstream) -> str | None:
    """What the table of hosts may know it by."""
    return upstream.host or _address(upstream.base_url).host or None


def target(upstream: Upstream, model: str, *, stream: bool) -> str:
    """The path to post to. What the base address and the endpoint share at their joint is written once."""
    dialect = get(upstream.dialect)
    path = dialect.endpoint.stream_path if stream else dialect.endpoint.path
    if "{model}" in path:
        path = _model_path(upstream, model, path.partition("{model}")[2])
    return place(upstream, path)


def _model_path(upstream: Upstream, model: str, verb: str) -> str:
    start = "/v1beta"
    if upstream.project:
        start = f"/v1/projects/{upstream.project}/locations/{upstream.location}/publishers/google"
    return f"{start}/models/{in_path(model.removeprefix('models/'), upstream.dialect)}{verb}"


def in_path(model: str, dialect: str) -> str:
    """A model's name as a part of an address: each segment encoded, the slashes kept. WireError where a segment would
    lead elsewhere: servers take away empty segments, `.` and `..`."""
    segments = model.split("/")
    if any(segment in ("", ".", "..") for segment in segments):
        raise WireError(dialect, "/model", "a name without empty segments, . or ..", repr(model[:200]))
    return "/".join([quote(segment, safe="") for segment in segments])


def counting(upstream: Upstream, model: str) -> str:
    """The path that counts tokens; "" for those that do not."""
    if upstream.dialect == "gemini":
        return _model_path(upstream, model, ":countTokens")
    return _COUNTING.get(upstream.dialect, "")


def place(upstream: Upstream, path: str) -> str:
    """Another path of an upstream, with the query that it may have."""
    return _joined(upstream.base_url, path)


@lru_cache(maxsize=256)
def _joined(base_url: str, path: str) -> str:
    return joined(urlsplit(base_url).path, path)


def joined(base: str, path: str) -> str:
    """A base address and an endpoint. A version in the base stands for the endpoint's own, as in `/v4`."""
    base = base.rstrip("/")
    for end in range(len(base)):
        if base[end] == "/" and path.startswith(base[end:] + "/"):
            return base[:end] + path
    version = _VERSION.match(path) if _VERSIONED.search(base) is not None else None
    return base + (path if version is None else path[version.end() :])


def auth(upstream: Upstream) -> Auth:
    """How it is told who asks."""
    if upstream.auth != "auto":
        return upstream.auth
    usual = AUTH.get(upstream.dialect, "bearer")
    if upstream.key_env:
        return usual if usual not in ("google", "none") else "bearer"
    return "google" if upstream.dialect == "gemini" and upstream.project else usual


def headers(
    upstream: Upstream,
    environment: Mapping[str, str],
    token: str = "",
    more: Mapping[str, str] | None = None,
    shown: Mapping[str, str] | None = None,
) -> list[tuple[str, str]]:
    """The headers of a request to an upstream. `token` is Google's where it wants one; `more` go along; `shown` say who
    asks, in place of the upstream's own key."""
    out = {"content-type": "application/json", "user-agent": USER_AGENT, "accept-encoding": "identity"}
    out.update(get(upstream.dialect).endpoint.headers)
    out.update(more or {})
    out.update(key(upstream, environment, token) if shown is None else shown)
    out.update({name.lower(): value for name, value in upstream.headers.items()})
    return [(name, value) for name, value in out.items() if value]


def key(upstream: Upstream, environment: Mapping[str, str], token: str = "") -> dict[str, str]:
    """The header that says who asks. ConfigError where the variable with the key is empty."""
    kind = auth(upstream)
    if kind == "google":
        return {"authorization": f"Bearer {token}"}
    if kind in ("none", "client"):
        return {}
    secret = environment.get(upstream.key_env, "")
    if not secret and upstream.key_env:
        raise ConfigError("key", "", problem=f"the variable {upstream.key_env} is empty")
    if not secret:
        return {}
    return {"authorization": f"Bearer {secret}"} if kind == "bearer" else {kind: secret}


def beside(headers: Iterable[tuple[str, str]], wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headers, and those that a translated request wants for something in it (betas): where both say something, it
    is one list."""
    out = dict(headers)
    for name, value in wanted.items():
        out[name] = f"{out[name]},{value}" if name in out else value
    return list(out.items())


def fitted(upstream: Upstream, body: bytes) -> bytes:
    """A written request with what only the configuration knows: the Google Cloud project, for Code Assist."""
    if upstream.dialect != "code-assist" or not upstream.project:
        return body
    from ..dialects.code_assist import with_project

    return with_project(body, upstream.project)
