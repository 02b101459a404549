"""How an upstream is addressed for a client: its path, its headers, its key or the client's."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .. import hosts
from ..dialects import get
from ..transport import addressing
from ..transport.addressing import AUTH, address, auth, beside, counting, fitted, host, joined, place, target
from ..transport.client import Address
from ..transport.upstream import Upstream
from .headers import onward, plan
from .routes import Choice

__all__ = [
    "HOPS",
    "INSTANCE",
    "Sending",
    "Sendings",
    "address",
    "auth",
    "beside",
    "client_key",
    "counting",
    "fitted",
    "headers",
    "host",
    "joined",
    "place",
    "target",
]

HOPS = "dragoman-hops"
"""The header with the gateways that a request came through."""
INSTANCE = os.urandom(8).hex()
"""This one. Workers inherit it."""
MAX_KNOWN = 200
"""Kinds of requests that are remembered, and headers for each."""
MAX_LENGTH = 4096
"""Letters in the headers of one that is."""
_KEYS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
"""Headers in which clients show who they are."""


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
    more = onward(upstream.dialect, client_dialect, asked)
    own = pass_key or auth(upstream) == "client"
    shown = _passed(upstream.dialect, client_dialect, asked) if own else None
    return addressing.headers(upstream, environment, token, more, shown)


def _passed(dialect: str, client: str, asked: Mapping[str, str]) -> dict[str, str]:
    """The client's own key, in the header where the upstream looks for one."""
    if dialect == client:
        return {name: asked[name] for name in _KEYS if name in asked}
    key = client_key(asked)
    if not key:
        return {}
    kind = AUTH.get(dialect, "bearer")
    if kind in ("google", "none") or key.startswith("ya29."):  # a Google access token is a bearer's wherever it goes
        kind = "bearer"
    return {"authorization": f"Bearer {key}"} if kind == "bearer" else {kind: key}


def client_key(asked: Mapping[str, str]) -> str:
    """The key a client sent, in whichever header its dialect has for it."""
    key = asked.get("x-api-key") or asked.get("x-goog-api-key") or asked.get("api-key")
    if key:
        return key
    scheme, _, token = asked.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class Sending:
    """How one kind of client asks one place: whatever stays the same from request to request, found out once."""

    def __init__(
        self,
        choice: Choice,
        environment: Mapping[str, str],
        client: str,
        names: tuple[str, ...],
        *,
        stream: bool,
        pass_key: bool,
    ) -> None:
        upstream = choice.upstream
        taken, self.lost = plan(upstream.dialect, client, names)
        """`lost`: headers of the client that have nowhere to go, and whose loss is told."""
        self.address: Address = address(upstream)
        self.host = host(upstream)
        self.kindred = upstream.dialect == client
        """It speaks the client's dialect,"""
        self.usual = self.host is None or hosts.lookup(self.host, upstream.dialect) is None
        """and is not known to differ from it."""
        self.stream = stream
        """It is asked for a stream,"""
        endpoint = get(upstream.dialect).endpoint
        self.stream_in_body = endpoint.path == endpoint.stream_path
        """which is said in the body, and not in the address."""
        self.target = target(upstream, choice.model, stream=stream)
        self.google = auth(upstream) == "google"
        """It wants an access token."""
        self._asking = upstream, environment, client
        self._own = pass_key or auth(upstream) == "client"
        shown = _KEYS if self._own else ()
        self._varying = tuple([name for name in names if name in taken or name in shown or name == HOPS])
        self._made: dict[tuple[str, ...], tuple[tuple[str, str], ...]] = {}

    def headers(self, asked: Mapping[str, str], token: str = "") -> tuple[tuple[str, str], ...]:
        """The headers of a request. ConfigError where there is no key."""
        told = (token, *[asked[name] for name in self._varying])
        found = self._made.get(told)
        if found is None:
            upstream, environment, client = self._asking
            made = headers(upstream, environment, client, asked, token, pass_key=self._own)
            if not self.address.secure:  # those that know TLS are nobody's loopback
                made.append((HOPS, f"{asked.get(HOPS, '')} {INSTANCE}".lstrip()))
            found = tuple(made)
            if sum(map(len, told)) <= MAX_LENGTH:
                if len(self._made) >= MAX_KNOWN:
                    self._made.clear()
                self._made[told] = found
        return found


class Sendings:
    """How clients ask, of whatever kind they are: those that were there lately are known."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._known: dict[tuple[object, ...], Sending] = {}

    def get(self, choice: Choice, client: str, asked: Mapping[str, str], *, stream: bool, pass_key: bool) -> Sending:
        """How a client that sends these headers asks a place."""
        names = tuple(asked)
        kind = (choice.name, choice.model, client, stream, pass_key, names)
        found = self._known.get(kind)
        if found is None:
            found = Sending(choice, self._environment, client, names, stream=stream, pass_key=pass_key)
            if sum(map(len, names)) <= MAX_LENGTH:
                if len(self._known) >= MAX_KNOWN:
                    self._known.clear()
                self._known[kind] = found
        return found
