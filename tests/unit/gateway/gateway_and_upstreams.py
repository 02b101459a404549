"""A gateway and scripted upstreams on loopback, and a plain HTTP client for them. The tests of this folder use them."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dragoman.gateway.app import Gateway
from dragoman.gateway.config import Config, check_config
from dragoman.gateway.exchange.stored_responses import ResponseStore
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server

Answers = Callable[[IncomingRequest], tuple[int, list[tuple[str, str]], bytes]]


class Scripted:
    """An upstream that answers with a function of the test, and keeps the requests."""

    def __init__(self, answers: Answers) -> None:
        self.seen: list[IncomingRequest] = []
        self._answers = answers

    async def handle(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        self.seen.append(request)
        reply.send(*self._answers(request))

    def bodies(self) -> list[Any]:
        return [json.loads(request.body) for request in self.seen if request.body]


class Received(NamedTuple):
    """An answer of the gateway."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def ask(base: str, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Received:
    host, _, port = base.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    try:
        sent = json.dumps(body) if body is not None and not isinstance(body, bytes) else body
        connection.request(method, path, sent, dict(headers or {}))
        answer = connection.getresponse()
        return Received(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def through(
    use: Callable[[str], Any],
    config: Callable[[list[str]], Config],
    *upstreams: Scripted,
    environment: Mapping[str, str] | None = None,
    stored: ResponseStore | None = None,
) -> Any:
    """Run `use` in a thread with the address of a gateway. `config` gets the addresses of the upstreams."""

    async def inner() -> Any:
        servers = [Server(upstream.handle) for upstream in upstreams]
        places = [f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}" for server in servers]
        gateway = Gateway(check_config(config(places), "test"), environment or {}, stored)
        front = Server(gateway.handle)
        base = f"http://127.0.0.1:{await front.start('127.0.0.1', 0)}"
        try:
            return await asyncio.wait_for(asyncio.to_thread(use, base), 60)
        finally:
            await front.stop(1)
            for server in servers:
                await server.stop(1)
            gateway.close()

    return asyncio.run(inner())
