"""How one kind of client asks one place, and how it is answered: found out once, and remembered.

What is remembered is bounded, and nothing of what one client says reaches the upstream for another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

from .. import hosts
from ..asking import pass_request, terms
from ..codec.vault import Vault
from ..dialects import get
from ..translate import StreamTranslator, Translation, translate_response
from ..transport.client import Answer
from .headers import plan
from .routes import Choice
from .upstreams import KEYS, address, auth, headers, host, target

HOPS = "dragoman-hops"
"""The header with the gateways that a request came through."""
INSTANCE = os.urandom(8).hex()
"""This one. Workers inherit it."""
MAX_KNOWN = 200
"""Kinds of requests that are remembered, and headers for each."""
MAX_LENGTH = 4096
"""Letters in the headers of one that is."""
_STREAMS = ("text/event-stream", "application/x-ndjson")


class Sending:
    """How one kind of client asks one place: whatever stays the same from request to request, found out once."""

    def __init__(
        self,
        choice: Choice,
        environment: Mapping[str, str],
        vault: Vault | None,
        client: str,
        names: tuple[str, ...],
        *,
        stream: bool,
    ) -> None:
        """`names` are those of the client's headers; `stream`: it wants one."""
        upstream, route = choice.upstream, choice.route
        endpoint, framing = get(upstream.dialect).endpoint, get(upstream.dialect).framing
        self.choice = choice
        taken, self.lost = plan(upstream.dialect, client, names)
        """`lost`: headers of the client that have nowhere to go, and whose loss is told."""
        self.address = address(upstream)
        self.stream = stream if upstream.stream == "auto" else upstream.stream == "always"
        """It is asked for a stream."""
        self.target = target(upstream, choice.model, stream=self.stream)
        self.google = auth(upstream) == "google"
        """It wants an access token."""

        self.kindred = upstream.dialect == client
        """It speaks the client's dialect."""
        self.untouched = self.kindred and route.repair != "refuse"
        """So the client's bytes go on as they are, broken ones too,"""
        called = host(upstream)
        self.passes = self.untouched and (called is None or hosts.lookup(called, client) is None)
        """and without a look, since it is not known to differ from the dialect."""
        self.unread: Callable[..., Translation | None] = partial(pass_request, dialect=client, model=choice.model)
        """The request, for those that pass; None where something is to be done all the same."""
        alike: tuple[bool | None, ...] = (self.stream,)
        if endpoint.path != endpoint.stream_path or (self.kindred and upstream.stream == "auto"):
            alike = (None, False, True)  # it is not for the body to say, or the client has said it
        elif self.stream == (self.kindred and client == "ollama"):
            alike = (None, self.stream)  # which is what silence means there
        self.said = alike
        """What the body may say about a stream; else we do."""
        self.terms = terms(
            source=client,
            target=upstream.dialect,
            model=choice.model,
            tolerance=None if route.tolerance == "error" else route.tolerance,
            binary=route.binary,
            repair=None if route.repair == "off" or self.untouched else route.repair,
            seals=route.seals,
            host=called,
            stand_ins=route.stand_ins,
            vault=vault,
        )
        """On which the client's request is translated for the upstream."""
        self.enveloped = upstream.dialect == "code-assist"
        """It has a place for the project, which only the configuration knows."""
        back: dict[str, Any] = {"source": upstream.dialect, "target": client, "seals": route.seals, "vault": vault}
        self.response: Callable[..., Translation] = partial(translate_response, **back)
        """The upstream's answer, for the client."""
        self.events: Callable[..., StreamTranslator] = partial(StreamTranslator, **back)
        """The same for a stream."""
        self._sse = framing == "sse"
        streamed = "text/event-stream; charset=utf-8" if self._sse else "application/x-ndjson"
        self.kind = ("content-type", streamed if self.stream else "application/json")
        """What a good answer mostly says it is."""

        self._asking = upstream, environment, client
        self._own = route.client_key or auth(upstream) == "client"
        shown = KEYS if self._own else ()
        varying = [name for name in names if name in taken or name in shown or name == HOPS]
        self._varying = itemgetter(*varying) if varying else None
        self._made: dict[object, tuple[tuple[str, str], ...]] = {}
        self.fixed: tuple[tuple[str, str], ...] | None = None
        """The headers, once they are known, where nothing in them is the client's or of today."""

    def headers(self, asked: Mapping[str, str], token: str = "") -> tuple[tuple[str, str], ...]:
        """The headers of a request. ConfigError where there is no key."""
        told = token if self._varying is None else (token, self._varying(asked))
        found = self._made.get(told)
        if found is None:
            upstream, environment, client = self._asking
            made = headers(upstream, environment, client, asked, token, pass_key=self._own)
            if not self.address.secure:  # those that know TLS are nobody's loopback
                made.append((HOPS, f"{asked.get(HOPS, '')} {INSTANCE}".lstrip()))
            found = tuple(made)
            if self._varying is None and not self.google:
                self.fixed = found
            elif self._varying is None or sum(map(len, self._varying(asked))) <= MAX_LENGTH:
                if len(self._made) >= MAX_KNOWN:
                    self._made.clear()
                self._made[told] = found
        return found

    def streams(self, answer: Answer) -> bool:
        """Whether an answer is a stream: it may come in the other shape than the one that was asked for."""
        kind = answer.header("content-type")
        if self.stream:
            return not (self._sse and kind.startswith("application/json"))
        return kind.startswith(_STREAMS)


class Sendings(dict[tuple[Any, ...], Sending]):
    """How clients ask, of whatever kind they are: those that were there lately are known.

    By the choice, the client's dialect, whether it wants a stream, and the names of its headers.
    """

    def __init__(self, environment: Mapping[str, str], vault: Vault | None = None) -> None:
        super().__init__()
        self._asking = environment, vault

    def __missing__(self, kind: tuple[Any, ...]) -> Sending:
        choice, client, stream, *names = kind
        made = Sending(choice, *self._asking, client, tuple(names), stream=stream)
        if len(choice.model) + sum(map(len, names)) <= MAX_LENGTH:
            if len(self) >= MAX_KNOWN:
                self.clear()
            self[kind] = made
        return made
