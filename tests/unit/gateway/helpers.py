"""A gateway, a plain HTTP client and scripted upstreams on loopback. The tests of this folder use them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

import msgspec
from bench import payloads

from dragoman.facts.windows_and_prices import WindowAndPrices
from dragoman.gateway.app import Gateway
from dragoman.gateway.config import Bounds, Config, Route, Target, Upstream, check_config
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server, ServerBounds

Handler = Callable[[IncomingRequest, ReplyWriter], Awaitable[None]]

DIALECTS = tuple(payloads.names())
PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "openrouter": "/api/v1/chat/completions",
    "ollama": "/api/chat",
    "gemini": "/v1beta/models/m:generateContent",
    "code-assist": "/v1internal:generateContent",
}


def path_of(dialect: str, *, stream: bool = False) -> str:
    path = PATHS[dialect]
    return path.replace(":generateContent", ":streamGenerateContent?alt=sse") if stream else path


class Received(NamedTuple):
    """An answer of the gateway."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Front:
    """A running gateway, with methods that send requests to it."""

    def __init__(self, port: int, gateway: Gateway) -> None:
        self.port = port
        self.gateway = gateway

    async def ask(self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Received:
        reader, writer = await self.open(path, body, headers)
        try:
            return await read_answer(reader)
        finally:
            writer.close()

    async def open(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request. The caller reads the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request(path, body, headers))
        return reader, writer

    async def generate(self, dialect: str, *, stream: bool = False, model: str = "m") -> Received:
        return await self.ask(path_of(dialect, stream=stream), request_body(dialect, stream=stream, model=model))

    async def exchange(self, received: Received) -> Any:
        return (await self.ask(f"/dragoman/exchanges/{received.headers['dragoman-exchange']}")).json()


def request(path: str, body: bytes | None, headers: Mapping[str, str] | None = None) -> bytes:
    lines = [
        f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
        "host: 127.0.0.1",
        f"content-length: {len(body or b'')}",
    ]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


def request_body(dialect: str, *, stream: bool = False, model: str = "m") -> bytes:
    """A short request."""
    messages = [{"role": "user", "content": "hi"}]
    body: dict[str, Any]
    if dialect == "openai-responses":
        body = {"model": model, "input": "hi", "stream": stream, "store": False}
    elif dialect == "gemini":
        body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    elif dialect == "code-assist":
        body = {"model": model, "project": "p", "request": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}}
    else:
        body = {"model": model, "messages": messages, "stream": stream}
        if dialect == "anthropic":
            body["max_tokens"] = 9
    return json.dumps(body).encode()


async def read_answer(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    else:
        body = b"".join([piece async for piece in chunks(reader)])
    return Received(int(head[0].split()[1]), headers, body)


async def chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the chunks of a body as they arrive. The end of the connection before the last chunk is an error."""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")


class ScriptedUpstream:
    """An upstream that runs one handler for each request (the last handler again and again), and keeps the requests."""

    def __init__(self, *steps: Handler, dialect: str = "openai-chat") -> None:
        self.dialect = dialect
        self.seen: list[IncomingRequest] = []
        self._steps = steps

    async def handle(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        self.seen.append(request)
        await self._steps[min(len(self.seen), len(self._steps)) - 1](request, reply)


def whole(dialect: str) -> Handler:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(200, [("content-type", "application/json")], payloads.response(dialect))

    return step


def failing(status: int, *headers: tuple[str, str], body: bytes = b'{"error": {"message": "no luck"}}') -> Handler:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(status, [("content-type", "application/json"), *headers], body)

    return step


def streaming(
    frames: list[bytes], then: Callable[[ReplyWriter], None] = ReplyWriter.end, *, pause: float = 0.0
) -> Handler:
    async def step(request: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", "text/event-stream")])
        for frame in frames:
            reply.write(frame)
            await asyncio.sleep(pause)
        then(reply)

    return step


async def silent(request: IncomingRequest, reply: ReplyWriter) -> None:
    await asyncio.sleep(30)


@asynccontextmanager
async def gateway_to(
    *scripted: ScriptedUpstream,
    bounds: Bounds | None = None,
    upstream: Mapping[str, Any] | None = None,
    route: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    models: Mapping[str, WindowAndPrices] | None = None,
) -> AsyncIterator[Front]:
    """A gateway with one route for all models, to the upstreams `a`, `b`, ... in that order."""
    async with AsyncExitStack() as stack:
        upstreams = {}
        for name, one in zip("abcdef", scripted, strict=False):
            server = Server(one.handle)
            port = await server.start("127.0.0.1", 0)
            stack.push_async_callback(server.stop, 0)
            settings = {"auth": "none", **(upstream or {})}
            upstreams[name] = Upstream(one.dialect, f"http://127.0.0.1:{port}", **settings)
        to = tuple([Target(name) for name in upstreams])
        given = {"retries": 0, "backoff": 0.01, **(route or {})}
        routes = (Route("*", to, **given),)
        config = Config(upstreams=upstreams, routes=routes, bounds=bounds or Bounds(), models=dict(models or {}))
        async with gateway(check_config(config, "test"), environment or {}) as front:
            yield front


@asynccontextmanager
async def gateway(config: Config, environment: Mapping[str, str]) -> AsyncIterator[Front]:
    found = Gateway(config, environment)
    bounds = ServerBounds(config.bounds.head, config.bounds.body)
    server = Server(found.handle, bounds)
    port = await server.start("127.0.0.1", 0)
    try:
        yield Front(port, found)
    finally:
        await server.stop(0)
        found.close()


def run(scenario: Awaitable[Any]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(scenario, 60)

    return asyncio.run(bounded())


def message_of(dialect: str, body: bytes) -> str:
    """The message of a fault in a dialect."""
    received = msgspec.json.decode(body)
    error = received["error"]
    return str(error if dialect == "ollama" else error["message"])
