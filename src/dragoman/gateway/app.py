"""The gateway itself: takes requests from the server, finds out what they want, and has it done."""

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
from ..dialects import endpoints, installed
from ..errors import WireError
from ..transport.client_interface import Limits
from ..transport.code_assist_projects import CodeAssistProjects
from ..transport.google_credentials import Tokens
from ..transport.proxy_settings import client
from ..transport.redaction import Redactor
from .client_identity import Identities, apart, local, shown_keys
from .config import Bounds, Config
from .endpoints.endpoint_table import Call, EndpointTable
from .endpoints.other_requests import Answer, Handler, OtherRequests, nothing
from .exchange.breaker import Breakers
from .exchange.child_process import LARGE, ChildProcesses
from .exchange.child_tasks import in_child
from .exchange.exchange_log import ExchangeLog
from .exchange.exchange_report import report, summary
from .exchange.memory_seal_vault import BoundedVault
from .exchange.prepared_upstream_calls import UpstreamPlans
from .exchange.recent_exchanges import Exchange, Exchanges
from .exchange.refused_exchange import failed, nested, untranslated
from .exchange.relay import Refused, Relay, fault_reply, unknown_path
from .exchange.response_continuation import ResponseKeeping, may_escape_letters, may_name_items, recall
from .exchange.response_continuation import asked as refers
from .exchange.routes import Routes
from .exchange.secret_redaction import print_failure, redactor
from .exchange.stored_responses import ClientStored, MemoryStored, Stored
from .exchange.upstream_request_headers import client_key
from .http.allowed_hosts import AllowedHosts, target_authority, without_authority
from .http.allowed_origins import from_page, parameter_in
from .http.ollama_timed_reply import OllamaTimedReply
from .http.other_workers import EVERYBODY, OtherWorkers
from .http.reply_wrapper import Bodiless, WithHeaders
from .http.server import Gone, IncomingRequest, Reply
from .services import Services

_JSON = [("content-type", "application/json")]
_FOR_ADMINS = frozenset({"exchanges", "responses", "conversations", "ready"})
"""Verbs that show more to administrators."""
_NAME = re.compile(r"ex_[0-9a-f]{32}")
_UNKNOWN = (
    "without a key a client from elsewhere sees no list of exchanges, only one by its id; set listen.key_env for "
    "clients that see their own, or listen.admin_key_env for one that sees all"
)
_REFUSALS: dict[int, FaultKind] = {413: "too_large", 408: "timeout", 503: "overloaded"}
"""What the server itself refuses, by the status."""


class Gateway:
    """Serves every client endpoint. Give `handle` to a Server."""

    def __init__(
        self,
        config: Config,
        environment: Mapping[str, str],
        stored: Stored | None = None,
        secret: bytes = b"",
    ) -> None:
        """`stored` keeps responses and conversations; without one they are kept in memory. `secret` is the
        installation's (`store/secret.py`); without one the gateway draws a secret of its own."""
        bounds = config.bounds
        self._secret = secret or os.urandom(32)
        self._identities = Identities(config, environment, self._secret)
        self._apart = apart(config)
        self._host_names = AllowedHosts(config.listen)
        self._stored = stored if stored is not None else MemoryStored(bounds.stored_bytes)
        self._others = OtherRequests(self._stored)
        self._handlers: dict[str, Handler] = {
            "health": self._health,
            "ready": self._readiness,
            "exchanges": self._show,
            **self._others.handlers,
        }
        declared = {name: endpoints(name) for name in installed()}
        self._table = EndpointTable(declared, ("generate", *self._handlers))
        self._otherwise = self._table.timed | self._table.stored
        """Dialects of which the gateway itself knows more than how to translate them."""
        self._exchanges = Exchanges(bounds.exchanges, bounds.exchange_bytes)
        self._names = _names()
        self._under_way = 0
        self._most_under_way = bounds.concurrent
        self._admission = object()
        """Stands for who may ask what, as the configuration says it: another one with each."""
        self.ready = True
        """False: `/readyz` says so, and load balancers send nobody any more."""
        self.log: ExchangeLog | None = None
        """Where exchanges are logged."""
        self.peers: OtherWorkers | None = None
        """The other workers."""
        self._vault = BoundedVault(bounds.vault_bytes)
        self._desk = Services(
            config,
            Routes(config),
            client(_limits(bounds), environment, config.client),
            self._vault,
            environment,
            _drawn,
            time,
            Tokens(time),
            Breakers(),
            CodeAssistProjects(),
            UpstreamPlans(environment),
            self._exchanges,
            redactor(config, environment),
            ChildProcesses(bounds.translation_memory),
            self._table,
        )

    @property
    def config(self) -> Config:
        return self._desk.config

    def reload(self, config: Config) -> None:
        """A new configuration for exchanges to come; those under way go on with theirs."""
        self._identities = Identities(config, self._desk.environment, self._secret)
        self._apart = apart(config)
        self._host_names = AllowedHosts(config.listen)
        self._admission = object()
        self._most_under_way = config.bounds.concurrent
        self._others.listing.forget()
        self._desk.breakers.forget_changed(self._desk.config.upstreams, config.upstreams)
        self._desk = msgspec.structs.replace(
            self._desk,
            config=config,
            routes=Routes(config),
            sendings=UpstreamPlans(self._desk.environment),
            redactor=redactor(config, self._desk.environment),
        )
        self._desk.pool.limits = _limits(config.bounds)
        self._desk.children.memory = config.bounds.translation_memory
        self._vault.most = config.bounds.vault_bytes
        self._exchanges.bound(config.bounds.exchanges, config.bounds.exchange_bytes)

    def close(self) -> None:
        self._desk.pool.close()
        self._desk.children.close()
        if self.log is not None:
            self.log.close()

    def _hidden(self) -> list[str]:
        """The gateway's secrets: nothing that is shown may repeat them."""
        return [*self._desk.redactor.secrets, *self._desk.tokens.known()]

    def handle(self, request: IncomingRequest, reply: Reply) -> Awaitable[None]:
        """Serve a request. No coroutine of its own: each costs with every step of those below it."""
        known = request.known
        if known is not None and known.rests is self._admission:
            call, request.owner = known.note
            return self._generate(call, request, reply)
        return self._handle(request, reply)

    async def _handle(self, request: IncomingRequest, reply: Reply) -> None:
        asked = request.headers
        if request.refusal is None:
            refused = self._host_refusal(request)
            if refused is not None:
                self._refuse(self._table.nearest(request.path, asked), refused, request, reply)
                return
            if not request.path.startswith("/"):
                request.path = without_authority(request.path)
        paged = "origin" in asked or "sec-fetch-site" in asked
        if paged:
            page = from_page(asked, self._desk.config.listen, self._host_names)
            if isinstance(page, Fault):
                self._refuse(self._table.nearest(request.path, asked), page, request, reply)
                return
            if page is not None:
                reply = WithHeaders(reply, page)
        method = request.method or "POST"
        if method == "OPTIONS":
            reply.send(200, [("allow", "GET, POST, DELETE, OPTIONS")], b"")
            return
        if method == "HEAD":
            method, reply = "GET", Bodiless(reply)
        call = self._table.match(method, request.path, request.query, asked)
        if request.refusal is not None:
            status, why = request.refusal
            kind = _REFUSALS.get(status, "invalid_request")
            dialect = call.dialect if call is not None and call.dialect else self._table.nearest(request.path, asked)
            _, headers, body = fault_reply(dialect, Fault(kind, why, status))
            reply.send(status, headers, body)  # no dialect has a status of its own for what HTTP itself refuses
            self._log_refusal(dialect, status, why, request)
        elif call is None:
            reply.send(*nothing(self._table, request))
            self._log_refusal(
                self._table.nearest(request.path, asked), reply.status, "there is nothing at this path", request
            )
        elif self._admitted(call, request, reply):
            if call.verb == "generate":
                if request.known is not None and not paged and not self._table.shows_key(request.query):
                    request.known.note, request.known.rests = (call, request.owner), self._admission
                await self._generate(call, request, reply)
                return
            try:
                await self._look(call, request, reply)
            except Gone:
                raise
            except Exception as error:  # noqa: BLE001 a mistake of ours: the client is told, and who runs the gateway
                _failed(call.dialect or self._table.usual, error, reply, self._desk.redactor)

    def _refuse(self, dialect: str, fault: Fault, request: IncomingRequest, reply: Reply) -> None:
        """Answer a client that is not served, and log that."""
        reply.send(*fault_reply(dialect, fault))
        self._log_refusal(dialect, reply.status, fault.message, request)

    def _log_refusal(self, dialect: str, status: int, why: str, request: IncomingRequest) -> None:
        if self.log is not None:
            keys = [*self._hidden(), *shown_keys(request.headers)]
            self.log.refused(dialect, status, f"{request.method} {request.path}", why, request.headers, keys)

    def _host_refusal(self, request: IncomingRequest) -> Fault | None:
        """Why the host that a request names is not ours; its target may name one besides its header."""
        names, target = self._host_names, request.path
        if not target.startswith("/") and "://" in target:
            found = names.refusal(target_authority(target))
            if found is not None:
                return found
        return names.refusal(request.headers.get("host"), required=request.chunks)

    def _admitted(self, call: Call, request: IncomingRequest, reply: Reply) -> bool:
        """Whether the client is served; if not, it has been told."""
        if self._table.shows_key(request.query) and call.dialect in self._table.key_parameter:
            if not client_key(request.headers):
                parameter, header = self._table.key_parameter[call.dialect]
                request.headers = {**request.told(), header: parameter_in(request.query, parameter)}
        if call.verb in ("health", "ready", "home"):
            return True
        client = self._identities.client(request.headers)
        if isinstance(client, Fault):
            self._refuse(call.dialect or self._table.usual, client, request, reply)
            return False
        request.owner, request.admin = client
        return True

    async def _generate(self, call: Call, request: IncomingRequest, reply: Reply) -> None:
        dialect = call.dialect
        exchange = Exchange(next(self._names), time(), dialect, request)
        began = monotonic()
        outer, earlier, keeping = reply, None, None
        try:
            if dialect in self._otherwise:
                if dialect in self._table.timed:
                    outer = OllamaTimedReply(reply)
                elif not _forgettable(request.body, apart=self._apart):
                    known = refers(request.body)
                    stored = ClientStored(self._stored, request.owner)
                    earlier = await recall(stored, request.body, known, self._desk.children, apart=self._apart)
                    if known.store:
                        outer = keeping = ResponseKeeping(reply, exchange, known, stored)
            relay = Relay(self._desk, call, request, outer, exchange, earlier)
            self._under_way += 1
            try:
                if self._under_way > self._most_under_way:
                    why = f"more than {self._most_under_way} exchanges are under way"
                    why += ". Ask again, or raise bounds.concurrent."
                    raise Refused(Fault("overloaded", why, 503, retry_after=1.0))
                await relay.run()
                if keeping is not None:
                    await keeping.finish()
            except Refused as refused:
                exchange.error = refused.fault.message
                relay.refuse(refused)
            except (Gone, asyncio.CancelledError):
                exchange.error = "the client left"
                raise
            finally:
                self._under_way -= 1
                exchange.status = outer.status
                exchange.seconds = monotonic() - began
                if self.log is not None:
                    self.log.add(exchange, self._hidden() if exchange.error else ())
                self._exchanges.add(exchange)
        except Gone:
            raise
        except Exception as error:  # noqa: BLE001 a mistake of ours: the client is told, and who runs the gateway
            _failed(dialect, error, reply, self._desk.redactor)

    async def _look(self, call: Call, request: IncomingRequest, reply: Reply) -> None:
        """Everything that is no exchange."""
        if call.verb in _FOR_ADMINS:
            request.admin = self._is_admin(request, reply)
        try:
            reply.send(*await self._handlers[call.verb](self._desk, call, request))
        except Refused as refused:
            reply.send(*refused.reply(call.dialect))
        except WireError as error:
            reply.send(*Refused(untranslated(error)).reply(call.dialect))
        except RecursionError:
            reply.send(*Refused(nested()).reply(call.dialect))

    async def _health(self, desk: Services, call: Call, request: IncomingRequest) -> Answer:
        return 200, _JSON, b'{"status":"ok"}'

    async def _readiness(self, desk: Services, call: Call, request: IncomingRequest) -> Answer:
        unwell = desk.breakers.report(desk.config.upstreams, monotonic())
        if not request.admin:
            for one in unwell.values():  # an upstream wrote it about the request of one client
                del one["last"]
        return _told(200 if self.ready else 503, {"ready": self.ready, "upstreams": unwell})

    def _is_admin(self, request: IncomingRequest, reply: Reply) -> bool:
        """Whether the client may see what is kept for all: by an admin key, or from this machine where there are no
        keys at all."""
        if self._identities.no_keys:
            return local(reply.peer(), request.headers)
        client = self._identities.client(request.headers)
        return not isinstance(client, Fault) and client.admin

    async def _show(self, desk: Services, call: Call, request: IncomingRequest) -> Answer:
        """One exchange of a client, or all of them: those that went through other workers too."""
        name, viewer = call.rest, EVERYBODY if request.admin else request.owner
        if not name and viewer == self._identities.nobody.owner:
            return _told(403, {"error": {"message": _UNKNOWN, "type": "permission_error"}})
        if name and _NAME.fullmatch(name) is None:
            return _told(404, unknown_path(f"/dragoman/exchanges/{name}"))
        others = await self.peers.ask(viewer, name) if self.peers is not None else []
        if not name:
            listed = [json_text.decode(said) for said in (await self._shown(viewer, ""), *others)]
            found = sorted([one for some in listed for one in some], key=lambda one: one["began"], reverse=True)
            return _told(200, {"exchanges": found})
        said = await self._shown(viewer, name) or next(iter(others), b"")
        return (200, _JSON, said) if said else _told(404, unknown_path(f"/dragoman/exchanges/{name}"))

    async def _shown(self, viewer: str, name: str) -> bytes:
        """What `told` gives: made in a child where much is to be read for it."""
        found = self._exchanges.get(name) if name else self._exchanges
        if found is None or found.size <= LARGE // 2:
            return self.told(viewer, name)
        return await in_child(self._desk.children, partial(self.told, viewer, name))

    def told(self, viewer: str, name: str) -> bytes:
        """What went through here, as JSON: one exchange by its name (b"" if it did not), or all for "". `viewer` is the
        owner whose exchanges they are, or EVERYBODY."""
        keys = self._hidden()
        if not name:
            seen = [one for one in self._exchanges.all() if viewer in (EVERYBODY, one.request.owner)]
            return json_text.encode([summary(one, keys) for one in seen])
        found = self._exchanges.get(name)
        if found is None or viewer not in (EVERYBODY, found.request.owner):
            return b""
        return json_text.encode(report(found, keys))


def _failed(dialect: str, error: Exception, reply: Reply, hidden: Redactor) -> None:
    print_failure(error, hidden)
    if reply.started:
        reply.cut()
        return
    reply.send(*fault_reply(dialect, Fault("server", failed(error), 500, "gateway_failed")))


def _forgettable(body: bytes, *, apart: bool) -> bool:
    """A request that neither refers to anything nor is to be kept, as far as a glance tells. `apart`: clients have
    identities."""
    find = body.find
    return (
        find(b'"store":false') >= 0
        and find(b'"previous_response_id"') < 0
        and find(b'"conversation"') < 0
        and not (may_name_items(body) if apart else may_escape_letters(body))
    )


def _limits(bounds: Bounds) -> Limits:
    return Limits(bounds.connect, bounds.first_byte, bounds.idle)


def _told(status: int, value: Any) -> Answer:
    return status, _JSON, json_text.encode(value)


def _names() -> Iterator[str]:
    """Names for exchanges that nobody guesses (128 bits), drawn by the hundred: each by itself costs twice as much."""
    while True:
        yield from f"ex_{os.urandom(1600).hex('-', 16).replace('-', ' ex_')}".split()


def _drawn(weights: list[int]) -> int:
    return random.choices(range(len(weights)), weights if sum(weights) else None)[0]
