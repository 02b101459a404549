"""One exchange: a client's request to an upstream, the upstream's answer to the client.

Tries the places that the route gives, one after the other, as long as no byte has reached the client. Translation is
the library's; here is what happens in between: waiting, retrying, giving up, and saying so in the client's dialect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ..canon.events import Fault, FaultKind
from ..codec import jsontext
from ..codec.vault import Vault
from ..crossing import Crossing
from ..dialects import get
from ..errors import ConfigError, FaultError, LossError, RepairError, TransportError, WireError
from ..translate import StreamTranslator, Translation, translate_request, translate_response
from ..transport.http import Answer, Pool
from . import stage, upstreams
from .config import REHEARSAL, Config, Route
from .exchanges import Exchange, compact
from .framing import array_frames, keep_alive, media_type
from .paths import Call
from .routes import Choice, Routes
from .server import Incoming, Reply

RETRIED: frozenset[FaultKind] = frozenset({"rate_limit", "overloaded", "server", "upstream_bad", "timeout"})
"""Faults after which the same place may be asked again."""
ELSEWHERE: frozenset[FaultKind] = RETRIED | {"auth", "billing", "permission", "not_found"}
"""Faults after which another place may do better."""
MAX_WAIT = 20.0
_FAULTS: dict[str, tuple[FaultKind, int]] = {
    "connect": ("upstream_bad", 502),
    "closed": ("upstream_bad", 502),
    "upstream_bad": ("upstream_bad", 502),
    "timeout": ("timeout", 504),
}


class _Head(Struct):
    """What a request's body says about where it goes."""

    model: str = ""
    stream: bool | None = None


_head = msgspec.json.Decoder(_Head).decode


class Refused(Exception):
    """The exchange ends with a fault for the client."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.message)


class Desk(NamedTuple):
    """What every exchange needs."""

    config: Config
    routes: Routes
    pool: Pool
    vault: Vault
    environment: Mapping[str, str]
    draw: Callable[[list[int]], int]
    now: Callable[[], float]


class Relay:
    """Carries one exchange."""

    def __init__(self, desk: Desk, call: Call, request: Incoming, reply: Reply, exchange: Exchange) -> None:
        self._desk = desk
        self._call = call
        self._request = request
        self._reply = reply
        self._exchange = exchange
        self._stream = False

    async def run(self) -> None:
        """Serve the request. Raises Refused with the fault to send, as long as nothing has been sent."""
        exchange = self._exchange
        model, stream = self._wanted()
        self._stream = exchange.stream = stream
        exchange.model = model
        route, choices = self._desk.routes.find(model, self._desk.draw)
        if not choices:
            raise Refused(_no_model(model, self._desk.config))
        last: Fault | None = None
        for choice in choices:
            exchange.upstream, exchange.upstream_model = choice.name, choice.model
            exchange.upstream_dialect = choice.upstream.dialect
            if choice.upstream.dialect == REHEARSAL:
                last = await self._rehearse(choice, model)
            else:
                last = await self._try(choice, route, self._translated(choice, route))
            if last is None or last.kind not in ELSEWHERE:
                break
        if last is not None:
            raise Refused(last)

    def _wanted(self) -> tuple[str, bool]:
        """The model and whether the answer is to be streamed."""
        call, body = self._call, self._request.body
        try:
            head = _head(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            head = _Head()  # the reader of the dialect will say what is wrong, and where
        model = call.model or head.model
        if call.stream is not None:
            return model, call.stream
        return model, bool(head.stream) if head.stream is not None else call.dialect == "ollama"

    async def _rehearse(self, choice: Choice, asked: str) -> Fault | None:
        call = self._call
        request = stage.read(self._request.body, call, choice.model)
        if isinstance(request, Fault):
            return request
        streamed = self.headers(media_type(call.dialect, array=call.array))
        created = int(self._desk.now())
        whole = self.headers("application/json")
        return await stage.play(request, call, asked, created, self._reply, whole, streamed, self._stream)

    def _translated(self, choice: Choice, route: Route) -> Translation:
        call, exchange = self._call, self._exchange
        try:
            asked = translate_request(
                self._request.body,
                source=call.dialect,
                target=choice.upstream.dialect,
                model=choice.model,
                tolerance=None if route.tolerance == "error" else route.tolerance,
                binary=route.binary,
                repair=None if route.repair == "off" else route.repair,
                seals=route.seals,
                vault=self._desk.vault,
                host=upstreams.host(choice.upstream),
            )
        except WireError as error:
            raise Refused(Fault("invalid_request", str(error), 400, param=error.path)) from None
        except LossError as error:
            first = error.losses[0]
            raise Refused(Fault("invalid_request", str(error), 400, first.code, first.path)) from None
        except RepairError as error:
            raise Refused(
                Fault("invalid_request", str(error), 400, error.repairs[0].name, error.repairs[0].path)
            ) from None
        asked.asked = self._call.model or asked.asked
        exchange.losses, exchange.repairs = asked.losses, asked.repairs
        if get(asked.target).splice_model and asked.stream is not self._stream and asked.target != call.dialect:
            asked.body = jsontext.encode(jsontext.fields(asked.body) | {"stream": jsontext.raw(self._stream)})
        exchange.sent = asked.body
        return asked

    async def _try(self, choice: Choice, route: Route, asked: Translation) -> Fault | None:
        """Ask one place, again if it may help; None when the client has its answer."""
        fault: Fault | None = None
        for attempt in range(route.retries + 1):
            if attempt:
                wait = fault.retry_after if fault is not None and fault.retry_after is not None else 0.25 * 2**attempt
                if wait > MAX_WAIT:
                    break
                await asyncio.sleep(wait)
            self._exchange.attempts += 1
            try:
                fault = await self._once(choice, route, asked)
            except TransportError as error:
                kind, status = _FAULTS[error.kind]
                fault = Fault(kind, str(error), status)
            if fault is None or fault.kind not in RETRIED or self._reply.started:
                break
        return fault

    async def _once(self, choice: Choice, route: Route, asked: Translation) -> Fault | None:
        desk, upstream = self._desk, choice.upstream
        try:
            headers = upstreams.headers(upstream, desk.environment, self._call.dialect, self._request.headers)
        except ConfigError as error:
            return Fault("auth", f"the gateway has no key for {choice.name}: {error}", 401)
        target = upstreams.target(upstream, choice.model, stream=self._stream)
        async with await desk.pool.request(
            upstreams.address(upstream), "POST", target, headers, asked.body, first_byte=desk.config.bounds.first_byte
        ) as answer:
            if answer.status >= 400:
                body = await answer.read(desk.config.bounds.answer)
                return get(upstream.dialect).read_fault(body, answer.status, dict(answer.headers))
            if self._stream:
                await self._pour(choice, route, asked, answer)
                return None
            body = await answer.read(desk.config.bounds.answer)
            return self._answered(choice, route, asked, body)

    def _answered(self, choice: Choice, route: Route, asked: Translation, body: bytes) -> Fault | None:
        client, dialect = self._call.dialect, choice.upstream.dialect
        try:
            told = translate_response(
                body,
                source=dialect,
                target=client,
                answers=asked,
                created=int(self._desk.now()),
                seals=route.seals,
                vault=self._desk.vault,
            )
        except FaultError as error:
            return error.fault
        except WireError as error:
            return Fault("upstream_bad", f"the upstream's answer is not {dialect}: {error}", 502)
        self._exchange.losses += told.losses
        self._reply.send(200, self.headers("application/json"), told.body)
        return None

    async def _pour(self, choice: Choice, route: Route, asked: Translation, answer: Answer) -> None:
        """A stream, as it comes: all events of one read in one write."""
        client, reply, bounds = self._call.dialect, self._reply, self._desk.config.bounds
        translator = StreamTranslator(
            source=choice.upstream.dialect,
            target=client,
            answers=asked,
            created=int(self._desk.now()),
            seals=route.seals,
            vault=self._desk.vault,
        )
        frame = array_frames() if self._call.array else None
        reply.start(200, self.headers(media_type(client, array=self._call.array)))
        loop = asyncio.get_running_loop()
        pulse = _Pulse(reply, keep_alive(client) if frame is None else b"", bounds.keep_alive, loop)
        end = loop.call_later(
            bounds.total, answer.fail, "timeout", f"the answer took more than {bounds.total:g} seconds"
        )
        try:
            async for piece in answer.pieces(bounds.idle):
                out = translator.feed(piece)
                if out:
                    pulse.last = loop.time()
                    reply.write(out if frame is None else frame.feed(out))
                    await reply.drain()
            rest = translator.close()
        except TransportError as error:
            rest = self._cut(translator, client, choice, str(error))
        except WireError as error:
            rest = self._cut(translator, client, choice, f"the upstream sent a broken frame: {error}")
        finally:
            pulse.stop()
            end.cancel()
        reply.write(rest if frame is None else frame.feed(rest) + frame.close())
        reply.end()
        self._exchange.losses += translator.losses

    def _cut(self, translator: StreamTranslator, client: str, choice: Choice, why: str) -> bytes:
        """The upstream's stream broke off: one fault event, never a good ending."""
        self._exchange.error = why
        if choice.upstream.dialect != client:
            return translator.close()
        return get(client).writer(Crossing(client, client)).send(Fault("upstream_bad", why, 502))

    def headers(self, kind: str) -> list[tuple[str, str]]:
        """The headers of an answer to the client."""
        name = self._exchange.id
        out = [("content-type", kind), ("dragoman-exchange", name), ("x-request-id", name)]
        if self._call.dialect == "anthropic":
            out.append(("request-id", name))
        if self._stream:
            out += [("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no")]
        if self._exchange.losses:
            out.append(("dragoman-losses", compact(self._exchange.losses)))
        return out


class _Pulse:
    """A sign of life for the client while the upstream is silent."""

    def __init__(self, reply: Reply, beat: bytes, seconds: float, loop: asyncio.AbstractEventLoop) -> None:
        self.last = loop.time()
        self._reply = reply
        self._beat = beat
        self._seconds = seconds
        self._loop = loop
        self._timer = loop.call_later(seconds, self._tick) if beat and seconds > 0 else None

    def _tick(self) -> None:
        if self._loop.time() - self.last >= self._seconds * 0.9:
            self._reply.write(self._beat)
        self._timer = self._loop.call_later(self._seconds, self._tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _no_model(model: str, config: Config) -> Fault:
    known = ", ".join([name for name in config.upstreams if name != REHEARSAL]) or REHEARSAL
    if not model:
        return Fault("invalid_request", "the request names no model", 400, "model_required", "/model")
    why = f"no upstream serves the model {model!r}; say upstream/model (upstreams: {known}) or add a route"
    return Fault("not_found", why, 404, "model_not_found", "/model")


def fault_reply(dialect: str, fault: Fault) -> tuple[int, list[tuple[str, str]], bytes]:
    """A fault in the client's dialect."""
    body, status, headers = get(dialect).write_fault(fault)
    return status, [("content-type", "application/json"), *headers.items()], body


def unknown_path(path: str) -> dict[str, Any]:
    return {"error": {"message": f"there is nothing at {path}", "type": "not_found"}}
