"""The gateway itself: takes requests from the server, finds out what they want, and has it done."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from .. import __version__
from ..canon.events import Fault, FaultKind
from ..codec import jsontext
from ..codec.vault import MemoryVault
from ..transport.http import Limits, Pool
from . import models, stage
from .config import Config
from .exchanges import Exchange, Exchanges, report, summary
from .paths import Call, match
from .relay import Desk, Refused, Relay, fault_reply, unknown_path
from .routes import Routes
from .server import Gone, Incoming, Reply

_JSON = [("content-type", "application/json")]


class Gateway:
    """Serves every client endpoint. Give `handle` to a Server."""

    def __init__(self, config: Config, environment: Mapping[str, str]) -> None:
        bounds = config.bounds
        self._exchanges = Exchanges(bounds.exchanges)
        self._under_way = 0
        self.ready = True
        """False: `/readyz` says so, and load balancers send nobody any more."""
        limits = Limits(bounds.connect, bounds.first_byte, bounds.idle)
        self._desk = Desk(config, Routes(config), Pool(limits), MemoryVault(), environment, _drawn, time.time)

    def reload(self, config: Config) -> None:
        """A new configuration for exchanges to come; those under way go on with theirs."""
        self._desk = self._desk._replace(config=config, routes=Routes(config))

    def close(self) -> None:
        self._desk.pool.close()

    async def handle(self, request: Incoming, reply: Reply) -> None:
        call = match(request.method or "POST", request.path, request.query, request.headers)
        if request.refusal is not None:
            status, why = request.refusal
            kind: FaultKind = "too_large" if status == 413 else "timeout" if status == 408 else "invalid_request"
            fault = Fault(kind, why, status)
            reply.send(*fault_reply(call.dialect if call is not None and call.dialect else "openai-chat", fault))
        elif call is None:
            reply.send(404, _JSON, jsontext.encode(unknown_path(request.path)))
        elif call.verb == "generate":
            await self._generate(call, request, reply)
        else:
            self._look(call, request, reply)

    async def _generate(self, call: Call, request: Incoming, reply: Reply) -> None:
        desk = self._desk
        exchange = Exchange(f"ex_{os.urandom(8).hex()}", desk.now(), call.dialect, request.path)
        exchange.asked, exchange.headers = request.body, request.headers
        began = time.perf_counter()
        self._under_way += 1
        relay = Relay(desk, call, request, reply, exchange)
        try:
            if self._under_way > desk.config.bounds.concurrent:
                why = f"more than {desk.config.bounds.concurrent} exchanges are under way"
                raise Refused(Fault("overloaded", why, 503, retry_after=1.0))
            await relay.run()
        except Refused as refused:
            exchange.error = refused.fault.message
            status, headers, body = fault_reply(call.dialect, refused.fault)
            reply.send(status, [*relay.headers("application/json"), *headers[1:]], body)
        except (Gone, asyncio.CancelledError):
            exchange.error = "the client left"
            raise
        finally:
            self._under_way -= 1
            exchange.status = reply.status
            exchange.seconds = time.perf_counter() - began
            self._exchanges.add(exchange)

    def _look(self, call: Call, request: Incoming, reply: Reply) -> None:
        """Everything that needs no upstream."""
        verb = call.verb
        if verb == "health":
            reply.send(200, _JSON, b'{"status":"ok"}')
        elif verb == "ready":
            reply.send(200 if self.ready else 503, _JSON, b'{"ready":true}' if self.ready else b'{"ready":false}')
        elif verb == "exchanges":
            self._show(call.rest, reply)
        elif verb in ("models", "running"):
            found = [] if verb == "running" else self._desk.routes.known()
            _send(reply, 200, models.listed(call.dialect, found))
        elif verb in ("model", "show"):
            self._model(call, request, reply)
        elif verb == "version":
            _send(reply, 200, {"version": __version__})
        elif verb == "count":
            self._count(call, request, reply)
        else:
            why = f"the gateway does not serve {request.path} yet"
            reply.send(*fault_reply(call.dialect, Fault("not_found", why, 404)))

    def _model(self, call: Call, request: Incoming, reply: Reply) -> None:
        name = call.model
        if call.verb == "show":
            try:
                asked = jsontext.decode(request.body)
            except msgspec.DecodeError:
                asked = {}
            name = str(asked.get("model") or asked.get("name") or "") if isinstance(asked, dict) else ""
        _, choices = self._desk.routes.find(name, self._desk.draw)
        if not choices or not name:
            reply.send(*fault_reply(call.dialect, Fault("not_found", f"there is no model {name!r}", 404)))
            return
        found = (name, choices[0].name)
        _send(reply, 200, models.shown(found) if call.verb == "show" else models.entry(call.dialect, found))

    def _count(self, call: Call, request: Incoming, reply: Reply) -> None:
        """Tokens of a request: estimated from its text, tools and media, and said to be an estimate."""
        found = stage.read(request.body, call, call.model)
        if isinstance(found, Fault):
            reply.send(*fault_reply(call.dialect, found))
            return
        headers = [*_JSON, ("dragoman-estimate", "true")]
        reply.send(200, headers, jsontext.encode(_counted(call.dialect, stage.tokens(found))))

    def _show(self, name: str, reply: Reply) -> None:
        if not name:
            _send(reply, 200, {"exchanges": [summary(one) for one in reversed(self._exchanges.all())]})
            return
        found = self._exchanges.get(name)
        if found is None:
            _send(reply, 404, unknown_path(f"/dragoman/exchanges/{name}"))
        else:
            _send(reply, 200, report(found))


def _counted(dialect: str, tokens: int) -> dict[str, Any]:
    """A count in the dialect's shape."""
    if dialect in ("gemini", "code-assist"):
        return {"totalTokens": tokens}
    if dialect == "openai-responses":
        return {"object": "response.input_tokens", "input_tokens": tokens}
    return {"input_tokens": tokens}


def _send(reply: Reply, status: int, value: Any) -> None:
    reply.send(status, _JSON, jsontext.encode(value))


def _drawn(weights: list[int]) -> int:
    return random.choices(range(len(weights)), weights if sum(weights) else None)[0]
