"""The gateway itself: checks each request of a client, finds the endpoint, and calls the endpoint's handler.

`http` owns the connections, `exchange` owns generation, `endpoints` owns all other answers. This module names no
dialect.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Awaitable, Iterator, Mapping
from functools import partial
from time import monotonic, time
from typing import Any

import msgspec

from ..canon.events import Fault, FaultKind
from ..codec import json_text
from ..codec.json_text import contains
from ..dialects import endpoints, installed
from ..errors import WireError
from ..transport.account_projects import AccountProjects
from ..transport.google_credentials import Tokens
from ..transport.http_client_interface import ConnectionLimits
from ..transport.proxy_and_client_choice import client
from ..transport.secret_redaction import Redactor
from .config import Bounds, Config
from .endpoints import live
from .endpoints.endpoint_table import EndpointCall, EndpointTable
from .endpoints.non_generation_handlers import Answer, Handler, OtherRequests, unknown_address_answer
from .exchange.cached_upstream_plans import UpstreamPlans
from .exchange.child_process import LARGE, ChildProcesses
from .exchange.circuit_breakers import Breakers
from .exchange.client_ownership import Identities, has_client_identities, is_local, shown_keys
from .exchange.exchange_log_lines import ExchangeLog
from .exchange.exchange_row import exchange_row
from .exchange.exchange_work_in_child_process import run_in_child
from .exchange.fault_for_unserved_exchange import internal_error_message, not_translatable, too_deep
from .exchange.gateway_secrets import print_failure, redactor
from .exchange.memory_seal_vault import BoundedVault
from .exchange.previous_responses_and_stored_answers import (
    ResponseKeeping,
    find_previous_responses,
    may_escape_letters,
    may_name_items,
    references,
)
from .exchange.recent_exchanges import Exchange, Exchanges
from .exchange.recorded_exchange_report import report
from .exchange.relay import Refused, Relay, fault_reply, unknown_path
from .exchange.routes import Routes
from .exchange.stored_responses import ClientStored, MemoryStored, ResponseStore
from .exchange.upstream_headers_and_key import client_key
from .http.allowed_hosts import AllowedHosts, target_authority, without_authority
from .http.allowed_origins import from_page, parameter_in
from .http.duration_adding_reply import TimedReply
from .http.exchanges_of_other_workers import EVERYBODY, OtherWorkers
from .http.reply_wrapper import Bodiless, WithHeaders
from .http.server import ClientGone, IncomingRequest, ReplyWriter
from .services import Services

_JSON = [("content-type", "application/json")]
_FOR_ADMINS = frozenset({"exchanges", "live", "responses", "conversations", "ready"})
"""Verbs whose answers contain more for administrators."""
_NAME = re.compile(r"ex_[0-9a-f]{32}")
_UNKNOWN = (
    "A client without a key, on another machine, sees no list of exchanges, only one exchange by its id. Set "
    "listen.key_env to show each client its own list, or listen.admin_key_env for a key that sees all exchanges."
)
_REFUSALS: dict[int, FaultKind] = {413: "too_large", 408: "timeout", 503: "overloaded"}
"""The fault for each status with which the server itself refuses a request."""


class Gateway:
    """Serves every client endpoint. Give `handle` to a Server."""

    def __init__(
        self,
        config: Config,
        environment: Mapping[str, str],
        stored: ResponseStore | None = None,
        secret: bytes = b"",
    ) -> None:
        """`stored` keeps responses and conversations; without it they are kept in memory. `secret` is the secret of the
        installation (`store/installation_secret.py`); without it the gateway draws a secret of its own."""
        bounds = config.bounds
        self._secret = secret or os.urandom(32)
        self._identities = Identities(config, environment, self._secret)
        self._apart = has_client_identities(config)
        self._host_names = AllowedHosts(config.listen)
        self._stored = stored if stored is not None else MemoryStored(bounds.stored_bytes)
        self._other_requests = OtherRequests(self._stored)
        self._handlers: dict[str, Handler] = {
            "health": self._health,
            "ready": self._readiness,
            "exchanges": self._show_exchanges,
            **self._other_requests.handlers,
        }
        declared = {name: endpoints(name) for name in installed()}
        self._table = EndpointTable(declared, ("generate", "live", *self._handlers))
        self._dialects_with_wrappers = self._table.timed.keys() | self._table.stored
        """Dialects for which the gateway does more than translate: it measures times, or it keeps responses."""
        self._exchanges = Exchanges(bounds.exchanges, bounds.exchange_bytes)
        self._exchange_names = _unguessable_names()
        self._under_way = 0
        self._most_under_way = bounds.concurrent
        self._admission = object()
        """Identifies the admission rules of the current configuration. Each configuration has a new object."""
        self.ready = True
        """False: `/readyz` answers 503, and load balancers send no more clients."""
        self.log: ExchangeLog | None = None
        """The log of exchanges; None: nothing is logged."""
        self.peers: OtherWorkers | None = None
        """The other workers of this gateway; None where one process serves alone."""
        self._vault = BoundedVault(bounds.vault_bytes)
        self._services = Services(
            config,
            Routes(config),
            client(_connection_limits(bounds), environment, config.client),
            self._vault,
            environment,
            _draw_index,
            time,
            Tokens(time),
            Breakers(),
            AccountProjects(),
            UpstreamPlans(environment),
            self._exchanges,
            redactor(config, environment),
            ChildProcesses(bounds.translation_memory),
            self._table,
        )

    @property
    def config(self) -> Config:
        """The configuration in use. `reload` replaces this object."""
        return self._services.config

    def reload(self, config: Config) -> None:
        """Use a new configuration for all later exchanges. Exchanges under way keep the old configuration."""
        self._identities = Identities(config, self._services.environment, self._secret)
        self._apart = has_client_identities(config)
        self._host_names = AllowedHosts(config.listen)
        self._admission = object()
        self._most_under_way = config.bounds.concurrent
        self._other_requests.listing.forget()
        # Before the replacement below, because the old upstreams are compared with the new ones.
        self._services.breakers.forget_changed(self._services.config.upstreams, config.upstreams)
        self._services = msgspec.structs.replace(
            self._services,
            config=config,
            routes=Routes(config),
            plans=UpstreamPlans(self._services.environment),
            redactor=redactor(config, self._services.environment),
        )
        self._services.pool.limits = _connection_limits(config.bounds)
        self._services.children.memory = config.bounds.translation_memory
        self._vault.most = config.bounds.vault_bytes
        self._exchanges.set_limits(config.bounds.exchanges, config.bounds.exchange_bytes)

    def close(self) -> None:
        """Close all connections to upstreams, the child processes and the log."""
        self._services.pool.close()
        self._services.children.close()
        if self.log is not None:
            self.log.close()

    def _own_secrets(self) -> list[str]:
        """The gateway's secrets. No report and no log line may repeat them."""
        return [*self._services.redactor.secrets, *self._services.tokens.known()]

    def handle(self, request: IncomingRequest, reply: ReplyWriter) -> Awaitable[None]:
        """Serve a request. This function is not a coroutine: each outer coroutine costs time at every step of the inner
        coroutines."""
        known = request.known
        # A request head that was admitted under this configuration needs no second check.
        if known is not None and known.valid_for is self._admission:
            call, request.owner = known.data
            return self._generate(call, request, reply)
        return self._handle(request, reply)

    async def _handle(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        headers = request.headers
        if request.refusal is None:
            refused = self._host_refusal(request)
            if refused is not None:
                self._refuse(self._table.nearest_dialect(request.path, headers), refused, request, reply)
                return
            # A host in the target has passed the check above. From here on only the path counts.
            if not request.path.startswith("/"):
                request.path = without_authority(request.path)
        # Browsers send these headers; other programs rarely do.
        paged = "origin" in headers or "sec-fetch-site" in headers
        if paged:
            page = from_page(headers, self._services.config.listen, self._host_names)
            if isinstance(page, Fault):
                self._refuse(self._table.nearest_dialect(request.path, headers), page, request, reply)
                return
            if page is not None:
                reply = WithHeaders(reply, page)
        method = request.method or "POST"
        if method == "OPTIONS":
            reply.send(200, [("allow", "GET, POST, DELETE, OPTIONS")], b"")
            return
        # An answer to HEAD has the headers of the answer to GET, and no body (RFC 9110, 9.3.2, June 2022).
        if method == "HEAD":
            method, reply = "GET", Bodiless(reply)
        call = self._table.match(method, request.path, request.query, headers)
        if request.refusal is not None:
            status, why = request.refusal
            kind = _REFUSALS.get(status, "invalid_request")
            dialect = (
                call.dialect
                if call is not None and call.dialect
                else self._table.nearest_dialect(request.path, headers)
            )
            _, fault_headers, body = fault_reply(dialect, Fault(kind, why, status))
            # No dialect has a status of its own for a breach of HTTP, so the status of the server stays.
            reply.send(status, fault_headers, body)
            self._log_refusal(dialect, status, why, request)
        elif call is None:
            reply.send(*unknown_address_answer(self._table, request))
            why = "this path does not accept this method" if reply.status == 405 else "no endpoint has this path"
            self._log_refusal(self._table.nearest_dialect(request.path, headers), reply.status, why, request)
        elif self._admit_client(call, request, reply):
            if call.verb == "generate":
                # A request of a web page needs the steps above each time; a request with a key in its address too.
                if request.known is not None and not paged and not self._table.shows_key(request.query):
                    request.known.data, request.known.valid_for = (call, request.owner), self._admission
                await self._generate(call, request, reply)
                return
            try:
                await self._answer_other_request(call, request, reply)
            # The client has closed the connection, so no answer can be sent.
            except ClientGone:
                raise
            # A mistake in the gateway: answer 500 to the client, and print the traceback for the operator.
            except Exception as error:  # noqa: BLE001
                _answer_internal_error(call.dialect or self._table.usual, error, reply, self._services.redactor)

    def _refuse(self, dialect: str, fault: Fault, request: IncomingRequest, reply: ReplyWriter) -> None:
        """Send the refusal to the client, and log the refusal."""
        reply.send(*fault_reply(dialect, fault))
        self._log_refusal(dialect, reply.status, fault.message, request)

    def _log_refusal(self, dialect: str, status: int, why: str, request: IncomingRequest) -> None:
        if self.log is not None:
            keys = [*self._own_secrets(), *shown_keys(request.headers)]
            self.log.log_refusal(dialect, status, f"{request.method} {request.path}", why, request.headers, keys)

    def _host_refusal(self, request: IncomingRequest) -> Fault | None:
        """The refusal of a request that names a foreign host, or None. The request target may name a host besides the
        header."""
        # A target in absolute form names a host besides the Host header, and outranks it (RFC 9112, 3.2.2, June 2022).
        names, target = self._host_names, request.path
        if not target.startswith("/") and "://" in target:
            found = names.refusal(target_authority(target))
            if found is not None:
                return found
        return names.refusal(request.headers.get("host"), required=request.chunks)

    def _admit_client(self, call: EndpointCall, request: IncomingRequest, reply: ReplyWriter) -> bool:
        """Whether the client is served. If False, the refusal has been sent to the client."""
        if self._table.shows_key(request.query) and call.dialect in self._table.key_parameter:
            if not client_key(request.headers):
                parameter, header = self._table.key_parameter[call.dialect]
                request.headers = {**request.all_headers(), header: parameter_in(request.query, parameter)}
        # Load balancers and browsers request these addresses before they have a key.
        if call.verb in ("health", "ready", "home"):
            return True
        client = self._identities.client(request.headers)
        if isinstance(client, Fault):
            self._refuse(call.dialect or self._table.usual, client, request, reply)
            return False
        request.owner, request.admin = client
        return True

    async def _generate(self, call: EndpointCall, request: IncomingRequest, reply: ReplyWriter) -> None:
        dialect = call.dialect
        exchange = Exchange(next(self._exchange_names), time(), dialect, request)
        began = monotonic()
        outer, earlier, keeping = reply, None, None
        try:
            if dialect in self._dialects_with_wrappers:
                if dialect in self._table.timed:
                    outer = TimedReply(reply, self._table.timed[dialect])
                elif not _needs_no_store(request.body, apart=self._apart):
                    known = references(request.body)
                    stored = ClientStored(self._stored, request.owner)
                    earlier = await find_previous_responses(
                        stored, request.body, known, self._services.children, apart=self._apart
                    )
                    if known.store:
                        outer = keeping = ResponseKeeping(reply, exchange, known, stored)
            relay = Relay(self._services, call, request, outer, exchange, earlier)
            self._under_way += 1
            if self._exchanges.watchers:
                self._exchanges.note_begin(exchange)
            try:
                if self._under_way > self._most_under_way:
                    why = f"more than {self._most_under_way} exchanges are under way, which is the limit"
                    why += ". Send the request again in a moment, or raise bounds.concurrent."
                    raise Refused(Fault("overloaded", why, 503, retry_after=1.0))
                await relay.run()
                if keeping is not None:
                    await keeping.finish()
            except Refused as refused:
                exchange.error = refused.fault.message
                relay.refuse(refused)
            except (ClientGone, asyncio.CancelledError):
                exchange.error = "the client left"
                raise
            finally:
                self._under_way -= 1
                exchange.status = outer.status
                exchange.seconds = monotonic() - began
                if self.log is not None:
                    self.log.add(exchange, self._own_secrets() if exchange.error else ())
                self._exchanges.add(exchange)
        except ClientGone:
            raise
        # A mistake in the gateway: answer 500 to the client, and print the traceback for the operator.
        except Exception as error:  # noqa: BLE001
            _answer_internal_error(dialect, error, reply, self._services.redactor)

    async def _answer_other_request(self, call: EndpointCall, request: IncomingRequest, reply: ReplyWriter) -> None:
        """Answer a request that is not generation."""
        if call.verb in _FOR_ADMINS:
            request.admin = self._is_admin(request, reply)
        try:
            if call.verb == "live":
                await self._stream_live_exchanges(request, reply)
                return
            reply.send(*await self._handlers[call.verb](self._services, call, request))
        except Refused as refused:
            reply.send(*refused.reply(call.dialect))
        except WireError as error:
            reply.send(*Refused(not_translatable(error)).reply(call.dialect))
        except RecursionError:
            reply.send(*Refused(too_deep()).reply(call.dialect))

    async def _health(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        return 200, _JSON, b'{"status":"ok"}'

    async def _readiness(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        unwell = services.breakers.report(services.config.upstreams, monotonic())
        if not request.admin:
            # The upstream's last fault may quote the request of one client, so only administrators see it.
            for one in unwell.values():
                del one["last"]
        return _json(200 if self.ready else 503, {"ready": self.ready, "upstreams": unwell})

    def _is_admin(self, request: IncomingRequest, reply: ReplyWriter) -> bool:
        """Whether the client may see the data of all clients: with an admin key, or from this machine where no keys are
        configured."""
        if self._identities.no_keys:
            return is_local(reply.peer(), request.headers)
        client = self._identities.client(request.headers)
        return not isinstance(client, Fault) and client.admin

    async def _show_exchanges(self, services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
        """One exchange of a client, or the list of all exchanges of the client, including the exchanges of other
        workers."""
        name, viewer = call.rest, EVERYBODY if request.admin else request.owner
        if not name and viewer == self._identities.nobody.owner:
            return _json(403, {"error": {"message": _UNKNOWN, "type": "permission_error"}})
        # Only a name that an exchange can have is requested from the other workers.
        if name and _NAME.fullmatch(name) is None:
            return _json(404, unknown_path(f"/dragoman/exchanges/{name}"))
        others = await self.peers.ask(viewer, name) if self.peers is not None else []
        if not name:
            listed = [json_text.decode(one) for one in (await self._exchanges_bytes(viewer, ""), *others)]
            found = sorted([one for some in listed for one in some], key=lambda one: one["began"], reverse=True)
            return _json(200, {"exchanges": found})
        found_json = await self._exchanges_bytes(viewer, name) or next(iter(others), b"")
        return (200, _JSON, found_json) if found_json else _json(404, unknown_path(f"/dragoman/exchanges/{name}"))

    async def _stream_live_exchanges(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        """The exchanges of a client while they happen, to the same viewers as in `_show_exchanges`. A new configuration
        ends the stream, because keys may have changed."""
        viewer, admission = EVERYBODY if request.admin else request.owner, self._admission
        foreign = request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if foreign and "origin" not in request.headers:
            # A foreign page can load this address as a picture. The page could read nothing, but would use up one of
            # the few streams.
            why = "a page of another origin cannot watch this gateway"
            reply.send(*_json(403, {"error": {"message": why, "type": "permission_error"}}))
        elif viewer == self._identities.nobody.owner:
            reply.send(*_json(403, {"error": {"message": _UNKNOWN, "type": "permission_error"}}))
        elif live.is_full(self._exchanges, viewer):
            why = "too many pages watch this gateway. Close one of them, and try again."
            reply.send(*_json(503, {"error": {"message": why, "type": "overloaded_error"}}))
        elif request.method == "HEAD":
            reply.send(200, [("content-type", "text/event-stream")], b"")
        else:
            peers = self.peers.ask if self.peers is not None else None
            await live.stream_exchanges(
                self._exchanges,
                viewer,
                self._own_secrets,
                lambda: self._services.config,
                reply,
                lambda: self.ready and self._admission is admission,
                peers,
            )

    async def _exchanges_bytes(self, viewer: str, name: str) -> bytes:
        """The bytes of `exchanges_json`. A child process makes them where the exchanges are large."""
        found = self._exchanges.get(name) if name else self._exchanges
        if found is None or found.size <= LARGE // 2:
            return self.exchanges_json(viewer, name)
        return await run_in_child(self._services.children, partial(self.exchanges_json, viewer, name))

    def exchanges_json(self, viewer: str, name: str) -> bytes:
        """Exchanges of this worker as JSON. `name`: the name of one exchange (b"" if this worker does not have it); ""
        for the list of all; ">" and a time for the list of exchanges that ended after this time. `viewer` is the owner
        whose exchanges are shown, or EVERYBODY."""
        keys, config = self._own_secrets(), self._services.config
        if not name or name.startswith(">"):
            since = float(name[1:] or 0) if name else 0.0
            seen = [one for one in self._exchanges.all() if viewer in (EVERYBODY, one.request.owner)]
            if name:  # a page is connected to another worker
                seen = [one for one in seen if one.began + (one.seconds or 0.0) >= since][-live.MOST_OF_PEER :]
            return json_text.encode([exchange_row(one, config, keys) for one in seen])
        found = self._exchanges.get(name)
        if found is None or viewer not in (EVERYBODY, found.request.owner):
            return b""
        return json_text.encode(report(found, config, keys))


def _answer_internal_error(dialect: str, error: Exception, reply: ReplyWriter, hidden: Redactor) -> None:
    print_failure(error, hidden)
    # The status is already sent. Only a broken connection shows the client that the answer is not complete.
    if reply.started:
        reply.break_off()
        return
    reply.send(*fault_reply(dialect, Fault("server", internal_error_message(error), 500, "gateway_failed")))


def _needs_no_store(body: bytes, *, apart: bool) -> bool:
    """Whether a request references to no stored response and is not to be stored, judged by a search of the request's
    bytes. `apart`: clients have identities of their own."""
    return (
        contains(body, b'"store":false')
        and not contains(body, b'"previous_response_id"')
        and not contains(body, b'"conversation"')
        and not (may_name_items(body) if apart else may_escape_letters(body))
    )


def _connection_limits(bounds: Bounds) -> ConnectionLimits:
    return ConnectionLimits(bounds.connect, bounds.first_byte, bounds.idle)


def _json(status: int, value: Any) -> Answer:
    return status, _JSON, json_text.encode(value)


def _unguessable_names() -> Iterator[str]:
    """Names for exchanges that nobody can guess (128 random bits). A hundred are drawn at once, because a draw for each
    name costs twice as much."""
    while True:
        yield from f"ex_{os.urandom(1600).hex('-', 16).replace('-', ' ex_')}".split()


def _draw_index(weights: list[int]) -> int:
    return random.choices(range(len(weights)), weights if sum(weights) else None)[0]
