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

from ..dialects import endpoints, installed
from ..endpoints.records import Environment

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


def from_environment(environment: Mapping[str, str]) -> dict[str, Upstream]:
    """The upstreams that the usual variables name."""
    upstreams: dict[str, Upstream] = {}
    for dialect, usual in known_environments():
        key = next((variable for variable in usual.keys if environment.get(variable)), "")
        address = next((environment[variable] for variable in usual.addresses if environment.get(variable)), "")
        if key or (address and not usual.keys):
            base = usual.address(address) if address else ""
            auth: Auth = "auto" if usual.keys else "none"
            upstreams[usual.name] = Upstream(dialect, base, key, auth, models=usual.models)
    return upstreams


def known_environments() -> list[tuple[str, Environment]]:
    """The upstreams that variables may name, each with its dialect, in the order in which they are asked."""
    found = [(name, usual) for name in installed() for usual in endpoints(name).upstream.environment]
    return sorted(found, key=lambda one: one[1].order)


def wanting(model: str) -> str:
    """The variable whose key would bring the upstream of a model; "" where none is known to."""
    where = model.partition("/")[0]
    for _, usual in known_environments():
        named = "/" not in model and any(fnmatchcase(model, pattern) for pattern in usual.models)
        if where == usual.name or named:
            return (*usual.keys, *usual.addresses)[0]
    return ""


def addressed(upstream: Upstream) -> Upstream:
    """The upstream with its usual address, where it has none."""
    base = upstream.base_url or _usual_base(upstream)
    return msgspec.structs.replace(upstream, base_url=base)


def own_host(upstream: Upstream) -> bool:
    """Whether the upstream is the host of the provider whose dialect it speaks, and no other."""
    usual = _usual_base(upstream)
    return bool(usual) and urlsplit(addressed(upstream).base_url).hostname == urlsplit(usual).hostname


def _usual_base(upstream: Upstream) -> str:
    """Where the provider of the dialect listens; "" for no dialect."""
    if upstream.dialect == REHEARSAL:
        return ""
    form = endpoints(upstream.dialect).upstream
    if upstream.project and form.project_base is not None:
        return form.project_base(upstream.location)
    return form.base_url


def is_address(base: str) -> bool:
    """Whether it is one that can be asked: `https://host/path`."""
    try:
        parts = urlsplit(base)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
