"""The URL of a request to an upstream, and the headers that the upstream needs, its key among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from ..codec.cache_memory_budget import lookup_cache, small_cache
from ..dialect.endpoints_record import UpstreamForm
from ..dialects import endpoints, get
from ..errors import ConfigError, WireError
from .http_client_interface import Address
from .upstream_record_and_environment import REHEARSAL, Upstream

USER_AGENT = "dragoman"
_DEFAULT_FORM = UpstreamForm()
"""The form of the rehearsal, which has no address."""

_VERSION = re.compile(r"/v\d+[a-z]*\d*(?=/)")
_VERSIONED = re.compile(r"/v\d+[a-z]*\d*(?:/openai)?\Z")


def address_of_upstream(upstream: Upstream) -> Address:
    """The host and port of an upstream."""
    return _address(upstream.base_url)


@lookup_cache(256)  # Every request needs an address, and there are few upstreams.
def _address(base_url: str) -> Address:
    parts = urlsplit(base_url)
    secure = parts.scheme == "https"
    return Address(secure, parts.hostname or "", parts.port or (443 if secure else 80))


def host_of_upstream(upstream: Upstream) -> str | None:
    """The name by which the table of hosts may know the upstream."""
    return upstream.host or _address(upstream.base_url).host or None


def generation_path(upstream: Upstream, model: str, *, stream: bool) -> str:
    """The path to post to. A part that the base address and the endpoint share at their joint is written once."""
    paths = get(upstream.dialect).upstream_paths
    return path_of_upstream(upstream, _fill_path(upstream, model, paths.stream_path if stream else paths.path))


def _fill_path(upstream: Upstream, model: str, path: str) -> str:
    """A path of the dialect with the values that only this upstream has: the model, the project and its location."""
    if "{model}" in path:
        # Google's lists name models with `models/` in front (google-genai 3.1.0, 2026-11), which the path already has.
        path = path.replace("{model}", in_path(model.removeprefix("models/"), upstream.dialect))
    return endpoints(upstream.dialect).upstream.located(path, upstream.project, upstream.location)


def in_path(model: str, dialect: str) -> str:
    """A model's name as a part of a path: each segment is encoded, the slashes stay. WireError where a segment would
    lead to another path: servers remove empty segments, `.` and `..` (RFC 3986, 5.2.4, January 2005)."""
    segments = model.split("/")
    if any(segment in ("", ".", "..") for segment in segments):
        raise WireError(dialect, "/model", "a name without empty segments, . or ..", repr(model[:200]))
    return "/".join([quote(segment, safe="") for segment in segments])


def counting_path(upstream: Upstream, model: str) -> str:
    """The path of the counting endpoint; "" for an upstream that does not count."""
    return _fill_path(upstream, model, endpoints(upstream.dialect).counts.path)


def path_of_upstream(upstream: Upstream, path: str) -> str:
    """Another path of an upstream, which may have a query."""
    return _join_address(upstream.base_url, path)


@small_cache(256)
def _join_address(base_url: str, path: str) -> str:
    return join_address(urlsplit(base_url).path, path)


def join_address(base: str, path: str) -> str:
    """A base address joined with the path of an endpoint. A version in the base, such as `/v4`, replaces the endpoint's
    own."""
    base = base.rstrip("/")
    # Users configure the base with or without `/v1`. Both must give the same path.
    for end in range(len(base)):
        if base[end] == "/" and path.startswith(base[end:] + "/"):
            return base[:end] + path
    version = _VERSION.match(path) if _VERSIONED.search(base) is not None else None
    return base + (path if version is None else path[version.end() :])


def auth_of_upstream(upstream: Upstream) -> str:
    """How the upstream gets its key: a word of `Auth`, or the name of the header that holds the key."""
    if upstream.auth != "auto":
        return upstream.auth
    form = endpoints(upstream.dialect).upstream if upstream.dialect != REHEARSAL else _DEFAULT_FORM
    if upstream.key_env:
        # A key that the user gave is sent as a key, also where the dialect would use Google's login.
        return form.auth if form.auth not in ("google", "none") else "bearer"
    return form.project_auth if form.project_auth and upstream.project else form.auth


def request_headers(
    upstream: Upstream,
    environment: Mapping[str, str],
    token: str = "",
    more: Mapping[str, str] | None = None,
    shown: Mapping[str, str] | None = None,
) -> list[tuple[str, str]]:
    """The headers of a request to an upstream. `token` is an access token of Google. `more` are further headers.
    `shown` are headers with another key, in place of the upstream's own."""
    out = {"content-type": "application/json", "user-agent": USER_AGENT, "accept-encoding": "identity"}
    out.update(get(upstream.dialect).upstream_paths.headers)
    out.update(more or {})
    out.update(key_header(upstream, environment, token) if shown is None else shown)
    # The user's own headers come last, so that they win.
    out.update({name.lower(): value for name, value in upstream.headers.items()})
    return [(name, value) for name, value in out.items() if value]


def key_header(upstream: Upstream, environment: Mapping[str, str], token: str = "") -> dict[str, str]:
    """The header with the key. ConfigError where the variable with the key is empty."""
    kind = auth_of_upstream(upstream)
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


def merge_headers(headers: Iterable[tuple[str, str]], wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headers, with those that the body of a translated request needs (betas). If both have the same header, its
    values are joined to one list."""
    out = dict(headers)
    for name, value in wanted.items():
        # `anthropic-beta` is a list (anthropic 2.8.0, 2026-11): the client's betas and ours are both needed.
        out[name] = f"{out[name]},{value}" if name in out else value
    return list(out.items())


def with_cloud_project(upstream: Upstream, body: bytes) -> bytes:
    """A written request with the Google Cloud project, where requests name one. Only the configuration knows the
    project."""
    with_project = endpoints(upstream.dialect).upstream.with_project
    return with_project(body, upstream.project) if with_project is not None and upstream.project else body
