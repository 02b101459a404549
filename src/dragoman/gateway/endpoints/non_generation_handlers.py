"""Answers every request that is not generation: lists, counts, stored responses, session calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import msgspec

from ... import __version__
from ...canon.events import Fault
from ...codec import json_text
from ...dialects import endpoints
from ...transport.http_client import Headers
from ..exchange.child_process import SMALL
from ..exchange.client_ownership import has_client_identities
from ..exchange.exchange_work_in_child_process import run_in_child, run_in_child_if_large
from ..exchange.fault_for_unserved_exchange import Refused, fault_reply
from ..exchange.previous_responses_and_stored_answers import find_previous_responses, references
from ..exchange.stored_responses import ClientStored, ResponseStore
from ..http.server import IncomingRequest
from ..services import Services
from . import (
    client_session_calls,
    computed_feature_matrix,
    page_files_and_facts,
    page_translation,
    stored_responses_and_conversations,
)
from .endpoint_table import EndpointCall, EndpointTable
from .model_list import UpstreamModelLists, model_entry, model_list
from .token_counts import token_count_answer

Answer = tuple[int, Headers, bytes]
Handler = Callable[[Services, EndpointCall, IncomingRequest], Awaitable[Answer]]
_JSON: Headers = [("content-type", "application/json")]


def unknown_address_answer(table: EndpointTable, request: IncomingRequest) -> Answer:
    """The answer to a request for an unknown address, in the client's dialect. It names the endpoints that exist."""
    dialect = table.nearest_dialect(request.path, request.headers)
    others = [method for method in table.methods_of_path(request.path, request.headers) if method != request.method]
    status = table.wrong_method[dialect]
    if others and status != 404:
        why = f"{request.path} takes {' and '.join(others)}, not {request.method}"
        _, headers, body = fault_reply(dialect, Fault("invalid_request", why, status, "method_not_supported"))
        return status, [*headers, ("allow", ", ".join(others))], body
    served = ", ".join(table.shown[dialect])
    why = f"no endpoint has {request.method} {request.path}. In {dialect} this gateway serves: {served}"
    return fault_reply(dialect, Fault("not_found", why, 404, "unknown_url"))


def home_text(table: EndpointTable) -> bytes:
    """A text for people, and for clients that only check whether a server is there."""
    lines = [f"dragoman {__version__} is running: a gateway between clients and models of these dialects.", ""]
    for dialect, places in table.shown.items():
        lines += [f"{dialect}:", *[f"  {place}" for place in places]]
    lines += ["", "Recent exchanges: GET /dragoman/exchanges. A browser gets a page at this address.", ""]
    return "\n".join(lines).encode()


class OtherRequests:
    """The handlers of all verbs except generation."""

    def __init__(self, stored: ResponseStore) -> None:
        self._stored = stored
        self.listing = UpstreamModelLists()
        self._matrix = b""
        self.handlers: dict[str, Handler] = {
            "models": self._models,
            "running": self._models,
            "model": self._model,
            "show": self._model,
            "version": _version,
            "count": self._count,
            "session": client_session_calls.session,
            "responses": self._responses,
            "conversations": self._conversations,
            "compact": self._compact,
            "socket": _socket,
            "home": _home,
            "page": _page,
            "matrix": self._feature_matrix,
        }
        """Handlers, by the verb that a dialect or the gateway declares for an address. Each raises Refused with the
        fault to send."""

    async def _models(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        # `running`: the gateway itself loads no models.
        found = await self.listing.all(services, request.headers, call.dialect) if call.verb == "models" else []
        out = model_list(call.dialect, found, call.rest)
        if "client_version" in parse_qs(request.query):
            # Codex (0.166) expects a catalogue of another shape, with a prompt for each model. It has a built-in
            # catalogue of its own models. With an empty list Codex uses its built-in catalogue. A list without the
            # field is an error for Codex.
            out["models"] = []
        return _json(out)

    async def _model(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        name = call.model
        if call.verb == "show":
            try:
                fields = json_text.decode(request.body)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                fields = {}
            name = str(fields.get("model") or fields.get("name") or "") if isinstance(fields, dict) else ""
        found = await self.listing.find(services, name, request.headers, call.dialect)
        if found is None:
            raise Refused(
                Fault(
                    "not_found",
                    f"no upstream serves the model {name!r}. The list of models has the valid names",
                    404,
                    "model_not_found",
                )
            )
        details = endpoints(call.dialect).models.details
        if call.verb == "show" and details is not None:
            return _json(details(found))
        return _json(model_entry(call.dialect, found, call.rest))

    async def _count(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        earlier = None
        if call.dialect in services.table.stored:
            stored = ClientStored(self._stored, request.owner)
            earlier = await find_previous_responses(
                stored,
                request.body,
                references(request.body),
                services.children,
                apart=has_client_identities(services.config),
            )
        return await token_count_answer(
            services, call, request.headers, request.body, services.vault.vault_of_client(request.owner), earlier
        )

    async def _responses(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        return await stored_responses_and_conversations.responses(
            services, self._readable_entries(request), call, request
        )

    async def _conversations(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        return await stored_responses_and_conversations.conversations(
            services, self._readable_entries(request), call, request, int(services.now())
        )

    async def _compact(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        return await stored_responses_and_conversations.compact(
            services, ClientStored(self._stored, request.owner), request
        )

    async def _feature_matrix(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        """The matrix of features. The matrix takes half a second, so a child process computes the matrix once."""
        if not self._matrix:
            self._matrix = await run_in_child(services.children, computed_feature_matrix.feature_matrix)
        return 200, _JSON, self._matrix

    def _readable_entries(self, request: IncomingRequest) -> ClientStored:
        """The entries that the client may read. Only the owner of an entry may continue the entry."""
        return ClientStored(self._stored, request.owner, every=request.admin)


async def _version(services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
    return _json({"version": __version__})


async def _home(services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
    """The page and its files for browsers, a short text for everybody else."""
    if call.rest or "text/html" in request.headers.get("accept", ""):
        return page_files_and_facts.page_file(call.rest) or unknown_address_answer(services.table, request)
    return 200, [("content-type", "text/plain; charset=utf-8")], home_text(services.table)


async def _page(services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
    if call.rest == "about":
        return page_files_and_facts.page_facts(services.config, f"http://{request.headers.get('host', 'HOST')}")
    work = partial(page_translation.translate, request.body)
    # The document is translated into seven dialects, so the work is seven times what `done` expects from the size.
    if len(request.body) > SMALL // 8:
        return await run_in_child(services.children, work)
    return await run_in_child_if_large(services.children, request.body, work)


async def _socket(services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
    """Refuse a web socket at once. The client then uses HTTP."""
    if "upgrade" not in request.headers:
        return unknown_address_answer(services.table, request)
    # A 426 must name a protocol in `upgrade` (RFC 9110, 15.5.22, June 2022).
    fault = Fault("invalid_request", "this gateway has no web sockets. Send the request with POST /v1/responses", 426)
    _, headers, body = fault_reply(call.dialect, fault)
    return 426, [*headers, ("upgrade", "HTTP/1.1"), ("connection", "upgrade")], body


def _json(value: Any) -> Answer:
    return 200, _JSON, json_text.encode(value)
