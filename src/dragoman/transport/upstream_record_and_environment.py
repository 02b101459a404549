"""An upstream: a host with its dialect, address and key; and the upstreams that the environment names.

A key is given by the name of its environment variable (`key_env`), so a configuration can be shown and shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from ..dialect.endpoints_record import Environment
from ..dialects import endpoints, installed

Auth = Literal["auto", "bearer", "x-api-key", "x-goog-api-key", "google", "client", "none"]
"""How an upstream gets its key. auto: as its dialect does; client: the key that the client sent."""

Seconds = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]

REHEARSAL = "rehearsal"


class Upstream(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A host and its dialect."""

    dialect: str
    base_url: str = ""
    key_env: str = ""
    auth: Auth = "auto"
    headers: dict[str, str] = {}
    models: tuple[str, ...] = ()
    """Models (with * for any characters) that go here when no route matches."""
    host: str = ""
    """A name in the table of hosts, where the host name in `base_url` is not in the table."""
    project: str = ""
    """Google Cloud project: for Vertex paths of gemini, and for the envelope of code-assist."""
    location: str = "global"
    stream: Literal["auto", "always", "never"] = "auto"
    """Some hosts only stream, some never do. The client gets the shape that it demanded in any case."""
    trip: Count = 5
    """Failures in a row after which the upstream rests; 0: never. Only distinct requests count that another place then
    served."""
    rest: Seconds = 30.0
    """Seconds of the first rest, doubled with each further one. While the upstream rests, the other places of a route
    are tried first. After the rest one request tries the upstream. If the upstream serves that request, the others
    follow."""
    credentials: str = ""
    """File with Google credentials, where they are not the application's default credentials."""
    client_id_env: str = ""
    """Variable with the id of the user's own OAuth client, for `dragoman login` at Google."""
    client_secret_env: str = ""
    """Variable with the secret of that client."""
    list_models: bool = True
    """Ask the upstream for its models when a client asks for the list."""


def from_environment(environment: Mapping[str, str]) -> dict[str, Upstream]:
    """The upstreams that the usual variables name."""
    upstreams: dict[str, Upstream] = {}
    for dialect, usual in known_environments():
        key = next((variable for variable in usual.keys if environment.get(variable)), "")
        address = next((environment[variable] for variable in usual.addresses if environment.get(variable)), "")
        # A local server needs no key, so its address alone is enough.
        if key or (address and not usual.keys):
            base = usual.address(address) if address else ""
            auth: Auth = "auto" if usual.keys else "none"
            upstreams[usual.name] = Upstream(dialect, base, key, auth, models=usual.models)
    return upstreams


def known_environments() -> list[tuple[str, Environment]]:
    """The upstreams that variables may name, each with its dialect, in the order in which they are tried."""
    found = [(name, usual) for name in installed() for usual in endpoints(name).upstream.environment]
    return sorted(found, key=lambda one: one[1].order)


def variable_for_model(model: str) -> str:
    """The variable whose key would add the upstream of a model; "" where none is known."""
    usual = _usual_environment(model)
    return (*usual.keys, *usual.addresses)[0] if usual is not None else ""


def how_to_add(model: str) -> str:
    """The advice how to add the upstream of a model; "" where none is known."""
    usual = _usual_environment(model)
    if usual is None:
        return ""
    return f"Set {variable_for_model(model)}" + (f", or run: dragoman login {usual.name}" if usual.keys else "")


def _usual_environment(model: str) -> Environment | None:
    where = model.partition("/")[0]
    for _, usual in known_environments():
        named = "/" not in model and any(fnmatchcase(model, pattern) for pattern in usual.models)
        if where == usual.name or named:
            return usual
    return None


def with_usual_address(upstream: Upstream) -> Upstream:
    """The upstream with its usual address, where the configuration has none."""
    base = upstream.base_url or _usual_base(upstream)
    return msgspec.structs.replace(upstream, base_url=base)


def own_host(upstream: Upstream) -> bool:
    """Whether the upstream is the own host of the provider of its dialect."""
    usual = _usual_base(upstream)
    return bool(usual) and urlsplit(with_usual_address(upstream).base_url).hostname == urlsplit(usual).hostname


def _usual_base(upstream: Upstream) -> str:
    """The address of the dialect's provider; "" for the rehearsal."""
    if upstream.dialect == REHEARSAL:
        return ""
    form = endpoints(upstream.dialect).upstream
    if upstream.project and form.project_base is not None:
        return form.project_base(upstream.location)
    return form.base_url


def is_address(base: str) -> bool:
    """Whether a text is a usable address: `https://host/path`."""
    try:
        parts = urlsplit(base)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
