"""How one kind of client asks one place, and how it is answered: found out once, and remembered.

What is remembered is bounded, and nothing of what one client says reaches the upstream for another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from operator import itemgetter
from typing import Any

from ...dialects import endpoints, get
from ...errors import ConfigError, TransportError
from ...facts import hosts
from ...seals.vault import Vault
from ...translate import StreamTranslator, Translation
from ...translate.request import Peek as Looked
from ...translate.request import make_options, pass_request
from ...translate.with_fast_memories import answer_with
from ...transport.client_interface import Answer, Post
from ...transport.http_bytes import prepared
from ...transport.redaction import upstream_secrets
from ..http.known_request_heads import KnownHead
from .fault_reactions import Origin
from .forwarded_headers import plan
from .frame_secret_search import SecretSearch
from .routes import Choice
from .upstream_request_headers import address, auth, headers, host, key_headers, target

HOPS = "dragoman-hops"
"""The header with the gateways that a request came through."""
INSTANCE = os.urandom(8).hex()
"""This one. Workers inherit it."""
MAX_KNOWN = 200
"""Kinds of requests that are remembered,"""
MAX_POSTS = 32
"""and headers for each."""
MAX_LENGTH = 4096
"""Letters in the headers of one that is."""
_STREAMS = ("text/event-stream", "application/x-ndjson")


class UpstreamPlan:
    """How one kind of client asks one place: whatever stays the same from request to request, found out once."""

    def __init__(
        self,
        choice: Choice,
        environment: Mapping[str, str],
        client: str,
        names: tuple[str, ...],
        *,
        stream: bool,
    ) -> None:
        """`names` are those of the client's headers; `stream`: it wants one."""
        upstream, route = choice.upstream, choice.route
        endpoint, framing = get(upstream.dialect).endpoint, get(upstream.dialect).framing
        spoken, asker = endpoints(upstream.dialect).upstream, endpoints(client)
        self.choice = choice
        self.finds_project = spoken.finds_project and not upstream.project
        """It says which project the account has."""
        self.refused = asker.served.refused
        """The fault for losses after which the client has to ask otherwise."""
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
        alike: tuple[bool | None, ...] = (self.stream,)
        if endpoint.path != endpoint.stream_path or (self.kindred and upstream.stream == "auto"):
            alike = (None, False, True)  # it is not for the body to say, or the client has said it
        elif self.stream == (self.kindred and asker.stream.unasked):
            alike = (None, self.stream)  # which is what silence means there
        self.said = alike
        """What the body may say about a stream; else we do."""
        self._client, self._dialect, self._seals = client, upstream.dialect, route.seals
        self.options = make_options(
            source=client,
            target=upstream.dialect,
            model=choice.model,
            tolerance=None if route.tolerance == "error" else route.tolerance,
            binary=route.binary,
            repair=None if route.repair == "off" or self.untouched else route.repair,
            seals=route.seals,
            host=called,
            stand_ins=route.stand_ins,
            same_account=route.same_account,
            vault_later=True,
        )
        """On which the client's request is translated for the upstream."""
        self.enveloped = spoken.with_project is not None
        """It has a place for the project, which only the configuration knows."""
        self._sse = framing == "sse"
        streamed = "text/event-stream; charset=utf-8" if self._sse else "application/x-ndjson"
        self.kind = (streamed if self.stream else "application/json").encode()
        """What a good answer mostly says it is."""

        self.watch = SecretSearch(upstream.dialect, upstream_secrets(upstream, environment))
        """Finds frames of its streams that may repeat its key."""
        self._environment = environment
        self._own = route.client_key or auth(upstream) == "client"
        self.origin: Origin = "client_key" if self._own else "upstream"
        """Of the faults that it answers with."""
        shown = key_headers() if self._own else ()
        varying = [name for name in names if name in taken or name in shown or name == HOPS]
        self._varying = itemgetter(*varying) if varying else None
        self._made: dict[object, Post] = {}

    def post(self, asked: Mapping[str, str], token: str = "") -> Post:
        """A request, but for its body. ConfigError where there is no key, TransportError where it cannot be sent."""
        told = token if self._varying is None else (token, self._varying(asked))
        found = self._made.get(told)
        if found is None:
            upstream = self.choice.upstream
            made = headers(upstream, self._environment, self._client, asked, token, pass_key=self._own)
            if not self.address.secure:  # those that know TLS are nobody's loopback
                made.append((HOPS, f"{asked.get(HOPS, '')} {INSTANCE}".lstrip()))
            found = prepared(self.address, self.target, tuple(made))
            if self._varying is None or sum(map(len, self._varying(asked))) <= MAX_LENGTH:
                if len(self._made) >= MAX_POSTS:
                    self._made.clear()
                self._made[told] = found
        return found

    def unread(self, body: bytes, head: Looked, asked: str, marked: bool = False) -> Translation | None:
        """The client's request, where it passes; None where something is to be done all the same. `asked`: the model
        that the client named."""
        return pass_request(body, head, dialect=self._client, model=self.choice.model, asked=asked, marked=marked)

    def response(self, body: bytes, asked: Translation, created: int, vault: Vault) -> Translation:
        """The upstream's answer to a request, for the client. `vault`: the client's own."""
        return answer_with(body, self._dialect, self._client, asked, None, created, self._seals, vault)

    def events(self, asked: Translation, created: int, vault: Vault) -> StreamTranslator:
        """The same for a stream."""
        return StreamTranslator(
            source=self._dialect,
            target=self._client,
            answers=asked,
            created=created,
            seals=self._seals,
            vault=vault,
        )

    def streams(self, answer: Answer) -> bool:
        """Whether an answer is a stream: it may come in the other shape than the one that was asked for."""
        kind = answer.header("content-type")
        if self.stream:
            return not (self._sse and kind.startswith("application/json"))
        return kind.startswith(_STREAMS)


class UpstreamPlans(dict[tuple[Any, ...], UpstreamPlan]):
    """How clients ask, of whatever kind they are: those that were there lately are known.

    By the choice, the client's dialect, whether it wants a stream, and the names of its headers.
    """

    __slots__ = ("_environment", "known")

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__()
        self._environment = environment
        self.known: dict[tuple[Choice, bool, KnownHead | None], tuple[UpstreamPlan, Post | None]] = {}
        """What `find` gives, by the choice, whether a stream is wanted, and a head that is known: from that follows the
        rest. The relay looks here itself, since it does so with every request."""

    def find(
        self, choice: Choice, client: str, stream: bool, asked: Mapping[str, str], head: KnownHead | None
    ) -> tuple[UpstreamPlan, Post | None]:
        """How requests with such headers are sent, and what is sent before their body; None where that depends on the
        hour, or cannot be made."""
        kind = choice, client, stream, *asked
        sending = self[kind]
        found: Post | None = None
        if not sending.google:
            with suppress(ConfigError, TransportError):  # who needs it will ask again, and be told why
                found = sending.post(asked)
        if head is not None and found is not None and kind in self:
            if len(self.known) >= MAX_KNOWN:
                self.known.clear()
            self.known[choice, stream, head] = sending, found
        return sending, found

    def __missing__(self, kind: tuple[Any, ...]) -> UpstreamPlan:
        choice, client, stream, *names = kind
        made = UpstreamPlan(choice, self._environment, client, tuple(names), stream=stream)
        if len(choice.model) + sum(map(len, names)) <= MAX_LENGTH:
            if len(self) >= MAX_KNOWN:
                self.clear()
            self[kind] = made
        return made
