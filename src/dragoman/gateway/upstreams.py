"""How an upstream is addressed: its path, its headers, its key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, urlsplit

from ..dialects import get
from ..errors import ConfigError
from ..transport.http import Address
from .config import Auth, Upstream
from .headers import onward

USER_AGENT = "dragoman"

_AUTH: dict[str, Auth] = {
    "anthropic": "x-api-key",
    "gemini": "x-goog-api-key",
    "code-assist": "google",
    "ollama": "none",
}
_KEYS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
"""Headers in which clients show who they are."""

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
    return f"{start}/models/{quote(model.removeprefix('models/'), safe='/')}{verb}"


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
    usual = _AUTH.get(upstream.dialect, "bearer")
    if upstream.key_env:
        return usual if usual not in ("google", "none") else "bearer"
    return "google" if upstream.dialect == "gemini" and upstream.project else usual


def headers(
    upstream: Upstream,
    environment: Mapping[str, str],
    client_dialect: str,
    asked: Mapping[str, str],
    token: str = "",
    *,
    pass_key: bool = False,
) -> list[tuple[str, str]]:
    """The headers of a request to an upstream. `asked` are the client's, `token` is Google's where it wants one;
    with `pass_key` the client's own key goes on."""
    out = {"content-type": "application/json", "user-agent": USER_AGENT, "accept-encoding": "identity"}
    out.update(get(upstream.dialect).endpoint.headers)
    out.update(onward(upstream.dialect, client_dialect, asked))
    kind = "client" if pass_key else auth(upstream)
    if kind == "client":
        out.update(_passed(upstream.dialect, client_dialect, asked))
    elif kind == "google":
        out["authorization"] = f"Bearer {token}"
    elif kind != "none":
        key = environment.get(upstream.key_env, "")
        if not key and upstream.key_env:
            raise ConfigError("key", f"the variable {upstream.key_env} is empty", ())
        if key:
            out["authorization" if kind == "bearer" else kind] = f"Bearer {key}" if kind == "bearer" else key
    for name, value in upstream.headers.items():
        out[name.lower()] = value
    return [(name, value) for name, value in out.items() if value]


def beside(headers: list[tuple[str, str]], wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headers, and those that a translated request wants for something in it (betas): where both say something, it
    is one list."""
    out = dict(headers)
    for name, value in wanted.items():
        out[name] = f"{out[name]},{value}" if name in out else value
    return list(out.items())


def _passed(dialect: str, client: str, asked: Mapping[str, str]) -> dict[str, str]:
    """The client's own key, in the header where the upstream looks for one."""
    if dialect == client:
        return {name: asked[name] for name in _KEYS if name in asked}
    key = client_key(asked)
    if not key:
        return {}
    kind = _AUTH.get(dialect, "bearer")
    if kind in ("google", "none") or key.startswith("ya29."):  # a Google access token is a bearer's wherever it goes
        kind = "bearer"
    return {"authorization": f"Bearer {key}"} if kind == "bearer" else {kind: key}


def client_key(asked: Mapping[str, str]) -> str:
    """The key a client sent, in whichever header its dialect has for it."""
    for name in ("x-api-key", "x-goog-api-key", "api-key"):
        if asked.get(name):
            return asked[name]
    scheme, _, token = asked.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def fitted(upstream: Upstream, body: bytes) -> bytes:
    """A written request with what only the configuration knows: the Google Cloud project, for Code Assist."""
    if upstream.dialect != "code-assist" or not upstream.project:
        return body
    from ..dialects.code_assist import with_project

    return with_project(body, upstream.project)
