"""Owns the plans for requests to upstreams. A plan holds all values that are equal for every request from one kind of
client to one place of a route.

A plan is made once and remembered. The number of plans is limited. A plan contains no data of a client's request,
because other clients use the same plan.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from operator import itemgetter
from typing import Any

from ... import fast
from ...codec.cache_memory_budget import TableCache
from ...dialects import endpoints, get
from ...errors import ConfigError, TransportError
from ...facts import hosts
from ...fast.repeated_request_heads import KnownHead
from ...seals.vault import Vault
from ...translate import StreamTranslator, Translation
from ...translate.request import Options, Peek, make_options, pass_request
from ...translate.with_fast_paths import answer_with
from ...transport.http_client_interface import Post, UpstreamAnswer
from ...transport.request_head_and_decompression import prepare_post
from ...transport.secret_redaction import upstream_secrets
from .fault_reactions import Origin
from .forwarded_headers import choose_headers
from .routes import UpstreamChoice
from .secrets_in_passed_frames import SecretSearch
from .upstream_headers_and_key import (
    address_of_upstream,
    auth_of_upstream,
    generation_path,
    headers,
    host_of_upstream,
    key_headers,
)

HOPS = "dragoman-hops"
"""The header with the ids of the gateways that have forwarded a request."""
INSTANCE = os.urandom(8).hex()
"""The id of this gateway. Workers inherit it."""
MAX_KNOWN = 200
"""Number of plans that are remembered."""
MAX_POSTS = 32
"""Number of prepared headers that are remembered for each plan."""
MAX_LENGTH = 4096
"""Characters in the headers of a request whose plan is remembered."""
_PLAN = 20_000
"""The approximate size of a plan, with its prepared headers."""
_ENTRY = 1_000
"""The approximate size of another remembered value."""
_STREAMS = ("text/event-stream", "application/x-ndjson")


def _is_verbatim(choice: UpstreamChoice, client: str) -> bool:
    return choice.upstream.dialect == client and choice.route.repair != "refuse"


def options_for(choice: UpstreamChoice, client: str) -> Options:
    """The options for requests of a dialect that go to a place."""
    route = choice.route
    return make_options(
        source=client,
        target=choice.upstream.dialect,
        model=choice.model,
        tolerance=None if route.tolerance == "error" else route.tolerance,
        binary=route.binary,
        repair=None if route.repair == "off" or _is_verbatim(choice, client) else route.repair,
        seals=route.seals,
        host=host_of_upstream(choice.upstream),
        stand_ins=route.stand_ins,
        same_account=route.same_account,
        vault_later=True,
    )


class UpstreamPlan:
    """How requests of one kind of client are sent to one place: all values that do not differ between these
    requests."""

    def __init__(
        self,
        choice: UpstreamChoice,
        environment: Mapping[str, str],
        client: str,
        names: tuple[str, ...],
        *,
        stream: bool,
        options: Options,
    ) -> None:
        """`names` are the names of the client's headers. `stream`: the client wants a stream. `options`: see
        `options_for`."""
        upstream, route = choice.upstream, choice.route
        paths, framing = get(upstream.dialect).upstream_paths, get(upstream.dialect).framing
        spoken, asker = endpoints(upstream.dialect).upstream, endpoints(client)
        self.choice = choice
        self.project_form = spoken if spoken.project_search is not None and not upstream.project else None
        """The form by which the account's project is looked up at the upstream; None where that is not needed."""
        self.refused = asker.served.refused
        """Finds the fault for losses that force the client to send another request."""
        taken, self.lost = choose_headers(upstream.dialect, client, names)
        """`lost`: dropped headers of the client whose loss is reported."""
        self.address = address_of_upstream(upstream)
        self.stream = stream if upstream.stream == "auto" else upstream.stream == "always"
        """The request to the upstream demands a stream."""
        self.target = generation_path(upstream, choice.model, stream=self.stream)
        self.google = auth_of_upstream(upstream) == "google"
        """The upstream needs an access token of Google."""

        self.same_dialect = upstream.dialect == client
        """Client and upstream use the same dialect."""
        self.verbatim = _is_verbatim(choice, client)
        """The client's bytes are sent unchanged, even if they break a rule."""
        called = host_of_upstream(upstream)
        self.skip_read = self.verbatim and (called is None or hosts.lookup(called, client) is None)
        """The client's bytes are sent without being read: the host is not known to differ from the dialect."""
        alike: tuple[bool | None, ...] = (self.stream,)
        if paths.path != paths.stream_path or (self.same_dialect and upstream.stream == "auto"):
            # The path decides about a stream, not the body; or the client's own value stays.
            alike = (None, False, True)
        elif self.stream == (self.same_dialect and asker.stream.streams_by_default):
            alike = (None, self.stream)  # A body without the field means the same in that dialect.
        self.stream_values = alike
        """Values of the body's stream field that need no change (None: the field is absent). Any other value is
        overwritten."""
        self._client, self._dialect, self._seals = client, upstream.dialect, route.seals
        self.options = options
        """Options for the translation of the client's request. All plans for one place and dialect share them, because
        translations are remembered by their options (`client_request_and_translations.py`)."""
        self.enveloped = spoken.with_project is not None
        """The upstream's envelope has a field for the project, which only the configuration knows."""
        self._sse = framing == "sse"
        streamed = "text/event-stream; charset=utf-8" if self._sse else "application/x-ndjson"
        self.kind = (streamed if self.stream else "application/json").encode()
        """The content type that a good answer usually has."""

        self.watch = SecretSearch(upstream.dialect, upstream_secrets(upstream, environment))
        """Finds frames of the upstream's streams that may repeat its key."""
        self._environment = environment
        self._own = route.client_key or auth_of_upstream(upstream) == "client"
        self.origin: Origin = "client_key" if self._own else "upstream"
        """The origin of the faults that the upstream answers with."""
        shown = key_headers() if self._own else ()
        varying = [name for name in names if name in taken or name in shown or name == HOPS]
        self._varying = itemgetter(*varying) if varying else None
        self._made: dict[object, Post] = {}

    def prepare_post(self, client_headers: Mapping[str, str], token: str = "") -> Post:
        """A request without its body. ConfigError where there is no key, TransportError where the request cannot be
        sent."""
        varying = token if self._varying is None else (token, self._varying(client_headers))
        found = self._made.get(varying)
        if found is None:
            upstream = self.choice.upstream
            made = headers(upstream, self._environment, self._client, client_headers, token, pass_key=self._own)
            # An address with TLS is never a gateway on loopback, so it needs no check for loops.
            if not self.address.secure:
                made.append((HOPS, f"{client_headers.get(HOPS, '')} {INSTANCE}".lstrip()))
            found = prepare_post(self.address, self.target, tuple(made))
            # Prepared heads exist only for speed, and hold keys.
            short = self._varying is None or sum(map(len, self._varying(client_headers))) <= MAX_LENGTH
            if short and fast.enabled():
                if len(self._made) >= MAX_POSTS:
                    self._made.clear()
                self._made[varying] = found
        return found

    def pass_unread(self, body: bytes, head: Peek, requested: str, marked: bool = False) -> Translation | None:
        """The client's request, if it can be sent without being read; None where it needs a change. `requested`: the
        model that the client named."""
        model = self.choice.model
        return pass_request(body, head, dialect=self._client, model=model, requested_model=requested, marked=marked)

    def translate_answer(self, body: bytes, translation: Translation, created: int, vault: Vault) -> Translation:
        """The upstream's answer to a request, for the client. `vault` is the client's own."""
        return answer_with(body, self._dialect, self._client, translation, None, created, self._seals, vault)

    def stream_translator(self, translation: Translation, created: int, vault: Vault) -> StreamTranslator:
        """A translator for the upstream's stream."""
        return StreamTranslator(
            source=self._dialect,
            target=self._client,
            answers=translation,
            created=created,
            seals=self._seals,
            vault=vault,
        )

    def is_stream(self, answer: UpstreamAnswer) -> bool:
        """Whether an answer is a stream. An upstream may send the other shape than the request demanded."""
        kind = answer.header("content-type")
        if self.stream:
            return not (self._sse and kind.startswith("application/json"))
        return kind.startswith(_STREAMS)


class UpstreamPlans(TableCache[tuple[Any, ...], UpstreamPlan]):
    """The plans for recent kinds of requests.

    The key holds the choice, the client's dialect, whether the client wants a stream, and the names of its headers.
    """

    __slots__ = ("_environment", "_options", "known")

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(MAX_KNOWN, _PLAN)
        self._environment = environment
        self._options: TableCache[tuple[UpstreamChoice, str], Options] = TableCache(MAX_KNOWN, _ENTRY)
        self.known: TableCache[tuple[UpstreamChoice, bool, KnownHead | None], tuple[UpstreamPlan, Post | None]] = (
            TableCache(MAX_KNOWN, _ENTRY)
        )
        """The results of `find`, by the choice, whether a stream is wanted, and a known head, which determines all
        other values. The relay reads this dictionary itself, because it does so for every request."""

    def find(
        self,
        choice: UpstreamChoice,
        client: str,
        stream: bool,
        client_headers: Mapping[str, str],
        head: KnownHead | None,
    ) -> tuple[UpstreamPlan, Post | None]:
        """The plan for requests with such headers, and the prepared request without its body. The prepared request is
        None where it depends on the time, or cannot be made."""
        kind = choice, client, stream, *client_headers
        found_plan = self[kind]
        found: Post | None = None
        if not found_plan.google:
            with suppress(ConfigError, TransportError):  # The exchange prepares it again, and reports the error.
                found = found_plan.prepare_post(client_headers)
        # A plan that is too long for this dictionary must not stay in the other dictionary either.
        if head is not None and found is not None and kind in self:
            self.known.put((choice, stream, head), (found_plan, found))
        return found_plan, found

    def __missing__(self, kind: tuple[Any, ...]) -> UpstreamPlan:
        choice, client, stream, *names = kind
        options = self._options.get((choice, client)) or options_for(choice, client)
        made = UpstreamPlan(choice, self._environment, client, tuple(names), stream=stream, options=options)
        if len(choice.model) + sum(map(len, names)) <= MAX_LENGTH:
            self.put(kind, made)
            self._options.put((choice, client), options)
        return made
