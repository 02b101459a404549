"""One exchange: a client's request to an upstream, the upstream's answer to the client.

Tries the places that the route gives, one after the other, as long as no byte has reached the client. Translation is
the library's; here is what happens in between: waiting, retrying, giving up, and saying so in the client's dialect.
"""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ..canon.events import Fault, FaultKind
from ..codec import jsontext
from ..codec.vault import Vault
from ..dialects import get
from ..errors import ConfigError, FaultError, LossError, RepairError, TransportError, WireError
from ..translate import (
    Head,
    StreamTranslator,
    Translation,
    look,
    pass_request,
    seen,
    translate_request,
    translate_response,
)
from ..transport.client import Answer, Client, Headers
from ..transport.google import Tokens
from ..transport.projects import Projects
from ..transport.retry import RETRIED, no_answer, until, wait
from . import headers, reshape, stage, upstreams
from .asides import Told
from .asides import ask as aside
from .breaker import FAILURES, Breaker, Breakers
from .config import REHEARSAL, Config, Route, Upstream
from .exchanges import Exchange, Exchanges, Tape, Try, compact, compact_repairs
from .framing import media_type
from .passing import Passing
from .paths import Call
from .pouring import Pouring, Translator
from .refusal import Refused, fault_reply, named, no_model, resting, unheld, unknown_path
from .routes import Choice, Routes
from .server import Gone, Incoming, Reply
from .taped import Taped
from .upstreams import HOPS, INSTANCE, Sending, Sendings

if TYPE_CHECKING:
    from .earlier import Earlier

ELSEWHERE: frozenset[FaultKind] = RETRIED | {
    *("auth", "billing", "permission", "not_found", "context_too_long", "too_large")
}
"""Faults after which another place may do better."""


_ERROR = re.compile(rb'\s*\{\s*"error"\s*:\s*[{"]')

__all__ = ["Desk", "Refused", "Relay", "fault_reply", "unknown_path"]


class _Unfit(Exception):
    """A place cannot be asked without losing more than the route tolerates."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.message)


class Desk(NamedTuple):
    """What every exchange needs."""

    config: Config
    routes: Routes
    pool: Client
    vault: Vault
    environment: Mapping[str, str]
    draw: Callable[[list[int]], int]
    now: Callable[[], float]
    tokens: Tokens
    """Google's access tokens."""
    breakers: Breakers
    projects: Projects
    """Of Google's accounts."""
    sendings: Sendings
    exchanges: Exchanges
    """What went through lately."""


class Relay:
    """Carries one exchange."""

    # What few exchanges set is found in the class until one does.
    _said: Headers = []  # what the upstream says beside its answer
    _stream = False
    _pouring: Pouring | None = None
    _verbatim: tuple[Fault, bytes, int] | None = None
    _head: Head | None = None

    def __init__(
        self,
        desk: Desk,
        call: Call,
        request: Incoming,
        reply: Reply,
        exchange: Exchange,
        earlier: Earlier | None = None,
    ) -> None:
        """`earlier` has the turns that the request refers to and does not bring."""
        self._desk = desk
        self._earlier = earlier
        self._call = call
        self._request = request
        self._reply = reply
        self._exchange = exchange
        self._began = monotonic()
        self._end = self._began + desk.config.bounds.total

    async def run(self) -> None:
        """Serve the request. Raises Refused with the fault to send, as long as nothing has been sent."""
        exchange, desk = self._exchange, self._desk
        if INSTANCE in self._request.headers.get(HOPS, ""):
            why = "the request comes from this gateway itself: an upstream's base_url leads back to it"
            raise Refused(Fault("invalid_request", why, 400, "loop"))
        exchange.model, exchange.stream = model, self._stream = self._wanted()
        route, choices = desk.routes.find(model, desk.draw)
        if not choices:
            raise Refused(no_model(model, desk.config))
        if self._stream:
            self._pouring = Pouring(self._call, self._reply, desk.config.bounds, self.headers)
        try:
            fault = await self._places(choices, route, model)
        except Gone:
            raise
        except Refused as refused:
            if not self._reply.started:
                raise
            fault = refused.fault
        except Exception as error:  # noqa: BLE001 a mistake of ours: the client is told, and who runs the gateway
            traceback.print_exception(error)
            fault = Fault("server", f"the gateway failed: {type(error).__name__}", 500, "gateway_failed")
        finally:
            if self._pouring is not None:
                self._pouring.stop()
        if fault is None or self._reply.ended:
            return
        if self._pouring is None or not self._reply.started:
            raise Refused(*self._verbatim) if self._verbatim and self._verbatim[0] is fault else Refused(fault)
        exchange.error = fault.message
        self._pouring.fail(fault, self._told())

    async def _places(self, choices: list[Choice], route: Route, model: str) -> Fault | None:
        """Ask one place after the other; None when the client has its answer, else what to tell it: the first fault
        after which it may ask again, or the first of all."""
        told: Fault | None = None
        for choice in choices:
            try:
                fault = await self._ask(choice, route, model)
                more = fault is not None and fault.kind in ELSEWHERE
            except _Unfit as unfit:
                fault, more = unfit.fault, True
            if fault is None:
                return None
            if told is None or (fault.kind in RETRIED and told.kind not in RETRIED):
                told = fault
            if not more or self._reply.started:
                break
        return told

    def _wanted(self) -> tuple[str, bool]:
        """The model and whether the answer is to be streamed."""
        call = self._call
        if call.model and call.stream is not None:
            return call.model, call.stream  # the address says it
        head = seen(self._request.body, call.dialect)
        if head is None:
            self._head = look(self._request.body)
            head = self._head or Head()  # the reader of the dialect will say what is wrong, and where
        stream = head.stream if call.stream is None else call.stream
        return call.model or head.model or "", call.dialect == "ollama" if stream is None else stream

    async def _ask(self, choice: Choice, route: Route, model: str) -> Fault | None:
        """Ask one place, unless it is left alone."""
        exchange, upstream = self._exchange, choice.upstream
        breaker = self._desk.breakers[choice.name]
        now = monotonic()
        if not breaker.admits(upstream, now):
            return self._failed(choice, resting(choice.name, breaker, now))
        exchange.upstream, exchange.upstream_model = choice.name, choice.model
        exchange.upstream_dialect = upstream.dialect
        try:
            if upstream.dialect == REHEARSAL:
                return await self._rehearse(choice, model)
            stream = self._stream if upstream.stream == "auto" else upstream.stream == "always"
            sending = self._desk.sendings.get(
                choice, self._call.dialect, self._request.headers, stream=stream, pass_key=route.client_key
            )
            asked = self._translated(choice, route, sending)
            fault = await self._tries(choice, route, sending, asked, breaker)
            if fault is None or fault.kind != "invalid_request" or route.repair != "report" or self._reply.started:
                return fault
            if asked.source == asked.target:  # its bytes went as they were: now it is worth to look what is wrong
                mended = self._translated(choice, route, sending, mend=True)
                if mended.repairs:
                    return await self._tries(choice, route, sending, mended, breaker)
            return fault
        finally:
            breaker.spared()

    async def _rehearse(self, choice: Choice, asked: str) -> Fault | None:
        call = self._call
        request = stage.admit(self._body(choice), call, choice.model, asked)
        if isinstance(request, Fault):
            return request
        self._exchange.attempts += 1
        if self._pouring is not None:
            self._pouring.stop()
        streamed = self.headers(media_type(call.dialect, array=call.array))
        created = int(self._desk.now())
        whole = self.headers("application/json")
        taped = Taped(self._reply, self._told())
        return await stage.play(request, call, asked, created, taped, whole, streamed, self._stream)

    def _body(self, choice: Choice) -> bytes:
        return self._request.body if self._earlier is None else self._earlier.body_for(choice)

    def _translated(self, choice: Choice, route: Route, sending: Sending, *, mend: bool = False) -> Translation:
        """The request for one place. Within one dialect bytes pass untouched: what is broken in them is mended only
        with `mend`, once the upstream has refused them."""
        call, exchange = self._call, self._exchange
        untouched = sending.kindred and route.repair != "refuse" and not mend
        try:
            asked = (
                self._passed(self._head, choice)
                if untouched and self._earlier is None and self._head is not None and sending.usual
                else None
            ) or translate_request(
                self._body(choice),
                source=call.dialect,
                target=choice.upstream.dialect,
                model=choice.model,
                tolerance=None if route.tolerance == "error" else route.tolerance,
                binary=route.binary,
                repair=None if route.repair == "off" or untouched else route.repair,
                seals=route.seals,
                vault=self._desk.vault,
                resolver=self._earlier if not sending.kindred else None,
                host=sending.host,
                stand_ins=route.stand_ins,
            )
        except WireError as error:
            raise Refused(Fault("invalid_request", str(error), 400, param=named(error.path))) from None
        except LossError as error:
            first = error.losses[0]
            raise _Unfit(Fault("invalid_request", str(error), 400, first.code, named(first.path))) from None
        except RepairError as error:
            repair = error.repairs[0]
            raise Refused(Fault("invalid_request", str(error), 400, repair.name, named(repair.path))) from None
        asked.asked = self._call.model or asked.asked
        exchange.losses, exchange.repairs = asked.losses, asked.repairs
        if call.dialect == "anthropic" and (lost := unheld(asked.losses)) is not None:
            raise Refused(lost)
        if sending.lost:
            exchange.losses += headers.unheard(choice.upstream.dialect, call.dialect, self._request.headers)
        if asked.stream is not sending.stream and sending.stream_in_body:
            # What silence means there; a translated request is never silent.
            said = asked.stream if asked.stream is not None else asked.target == call.dialect == "ollama"
            if said is not sending.stream and (asked.target != call.dialect or choice.upstream.stream != "auto"):
                asked.body = _with_stream(asked, sending.stream)
        exchange.sent = asked.body = upstreams.fitted(choice.upstream, asked.body)
        return asked

    def _passed(self, head: Head, choice: Choice) -> Translation | None:
        """The client's own bytes, if they can go as they are. Seals under our mark go only to a gateway of our kind,
        which knows them, and is known by its answers."""
        body, dialect = self._request.body, self._call.dialect
        asked = pass_request(body, head, dialect=dialect, model=choice.model)
        if asked is None and any(one.answered_by_us() for one in self._desk.exchanges.of(choice.name)):
            asked = pass_request(body, head, dialect=dialect, model=choice.model, marked=True)
        return asked

    async def _tries(
        self, choice: Choice, route: Route, sending: Sending, asked: Translation, breaker: Breaker
    ) -> Fault | None:
        """Ask one place, again if it may help; None when the client has its answer."""
        upstream, reply, now = choice.upstream, self._reply, monotonic
        attempt = 0
        while True:
            self._exchange.attempts += 1
            again = True
            try:
                fault = await self._once(choice, route, sending, asked)
            except TransportError as error:
                fault = no_answer(error)
                again = error.kind != "timeout"  # it had its time
            if fault is None:
                breaker.passed()
                return None
            self._failed(choice, fault)
            if fault.kind in FAILURES:
                breaker.failed(upstream, now(), fault.message)
            else:
                breaker.passed()
            if reply.ended:
                self._exchange.error = fault.message
                return None
            if not again or reply.started or fault.kind not in RETRIED or attempt >= route.retries:
                return fault
            seconds = wait(fault, route.backoff, attempt)
            if seconds > self._desk.config.bounds.retry_wait or now() + seconds >= self._end:
                return fault
            await asyncio.sleep(seconds)
            attempt += 1
            if reply.started or not breaker.admits(upstream, now()):
                return fault

    def _failed(self, choice: Choice, fault: Fault) -> Fault:
        self._exchange.tries.append(Try(choice.name, choice.model, fault.kind, fault.status, fault.message))
        return fault

    async def _with_project(self, upstream: Upstream, body: bytes) -> bytes:
        async def ask(method: str, path: str, sent: bytes) -> bytes:
            told = await aside(self._desk, upstream, method, path, {}, "code-assist", sent)
            return told.body if isinstance(told, Told) and told.status == 200 else b""

        return await self._desk.projects.fitted(upstream.base_url + upstream.credentials, body, ask)

    async def _once(self, choice: Choice, route: Route, sending: Sending, asked: Translation) -> Fault | None:
        desk, upstream, exchange, bounds = self._desk, choice.upstream, self._exchange, self._desk.config.bounds
        own: Iterable[tuple[str, str]]
        try:
            token = await desk.tokens.get(upstream.credentials) if sending.google else ""
            own = sending.headers(self._request.headers, token)
        except ConfigError as error:
            return Fault("auth", f"the gateway has no key for {choice.name}: {error}", 401)
        if token and upstream.dialect == "code-assist" and not upstream.project:
            exchange.sent = asked.body = await self._with_project(upstream, asked.body)
        if asked.headers:
            own = upstreams.beside(own, asked.headers)
        first = min(bounds.first_byte, self._end - monotonic())
        answer = await desk.pool.request(sending.address, "POST", sending.target, own, asked.body, first_byte=first)
        try:
            now = monotonic()
            exchange.answer_after = now - self._began
            exchange.answer_status = status = answer.status
            exchange.answer_headers = self._said = answer.headers
            exchange.answered = exchange.told = None
            answer.within(self._end - now, bounds.total)
            if status >= 300:
                return await self._fault(choice, answer)
            return await self._take(route, asked, answer, streams=sending.stream)
        finally:
            answer.close()

    async def _fault(self, choice: Choice, answer: Answer) -> Fault:
        """What an upstream says that does not serve the request."""
        body = await self._read(answer)
        if answer.status < 400:
            place = answer.header("location")
            return Fault("upstream_bad", f"{choice.name} answers with a redirect to {place or 'nowhere'}", 502)
        fault = get(choice.upstream.dialect).read_fault(body, answer.status, dict(answer.headers))
        if fault.retry_after is None:
            seconds = until(answer.header("retry-after"), self._desk.now())
            fault = fault if seconds is None else msgspec.structs.replace(fault, retry_after=seconds)
        if choice.upstream.dialect == self._call.dialect and body.lstrip()[:1] == b"{":
            self._verbatim = (fault, body, answer.status)
        return fault

    async def _read(self, answer: Answer) -> bytes:
        bounds = self._desk.config.bounds
        self._exchange.answered = body = await answer.read(bounds.answer, bounds.idle)
        return body

    async def _take(self, route: Route, asked: Translation, answer: Answer, *, streams: bool) -> Fault | None:
        """A good answer, which may be in the other shape than the one that was asked for."""
        kind = answer.header("content-type")
        if streams and kind.startswith("application/json") and get(asked.target).framing == "sse":
            streams = False
        elif not streams and kind.startswith(("text/event-stream", "application/x-ndjson")):
            streams = True
        if streams and self._pouring is not None:
            translator = self._translator(asked, route)
            self._exchange.answered = answered = Tape()
            fault = await self._pouring.pour(answer, translator, answered, self._told())
            self._exchange.losses += translator.losses
            return fault
        body = await self._read(answer)
        try:
            if streams:
                body = reshape.whole(body, asked.target)
            told = (
                self._answered(asked, route, body)
                if self._pouring is None
                else self._told_in_events(asked, route, body)
            )
        except FaultError as error:
            return error.fault
        except WireError as error:
            return Fault("upstream_bad", f"the upstream's answer is not {asked.target}: {error}", 502)
        self._send(told)
        return None

    def _translator(self, asked: Translation, route: Route) -> Translator:
        if asked.source == asked.target and not asked.wrapped:
            return Passing(asked.target)
        return StreamTranslator(
            source=asked.target,
            target=asked.source,
            answers=asked,
            created=int(self._desk.now()),
            seals=route.seals,
            vault=self._desk.vault,
        )

    def _answered(self, asked: Translation, route: Route, body: bytes) -> bytes:
        """A whole answer in the client's dialect. FaultError if it is one for all its good status."""
        if asked.source == asked.target:
            if _ERROR.match(body) is not None:
                raise FaultError(get(asked.target).read_fault(body, 502, {}), body)
            if not asked.wrapped and jsontext.is_document(body):
                return body
        told = translate_response(
            body,
            source=asked.target,
            target=asked.source,
            answers=asked,
            created=int(self._desk.now()),
            seals=route.seals,
            vault=self._desk.vault,
        )
        if losses := told.losses:
            self._exchange.losses += losses
        return told.body

    def _told_in_events(self, asked: Translation, route: Route, body: bytes) -> bytes:
        """A whole answer for a client that wants a stream."""
        translator = self._translator(asked, route)
        told = translator.feed(reshape.streamed(body, asked.target)) + translator.close()
        if translator.fault is not None:
            raise FaultError(translator.fault)
        self._exchange.losses += translator.losses
        return told

    def _send(self, body: bytes) -> None:
        """An answer that is all there."""
        if self._pouring is not None:
            self._pouring.finish(body, self._told())
            return
        self._exchange.told = body
        self._reply.send(200, self.headers("application/json"), body)

    def _told(self) -> Tape:
        if not isinstance(self._exchange.told, Tape):
            self._exchange.told = Tape()
        return self._exchange.told

    def refuse(self, refused: Refused) -> None:
        """Send the fault that the exchange ends with."""
        out = self.headers("application/json")
        known = dict(out)
        if not refused.fault.request_id:
            refused.fault = msgspec.structs.replace(refused.fault, request_id=known.get("x-request-id", ""))
        status, more, body = refused.reply(self._call.dialect)
        self._exchange.told = body
        self._reply.send(status, [*out, *[one for one in more if one[0] not in known]], body)

    def headers(self, kind: str) -> list[tuple[str, str]]:
        """The headers of an answer to the client, which goes out with them."""
        exchange = self._exchange
        exchange.first_byte = monotonic() - self._began
        said = headers.homeward(
            self._call.dialect, exchange.upstream_dialect, self._said, exchange.id, self._request.headers
        )
        out = [("content-type", kind), ("dragoman-exchange", exchange.id), *said]
        if self._stream:
            out += [("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no")]
        if exchange.losses:
            out.append(("dragoman-losses", compact(exchange.losses)))
        if exchange.repairs:
            out.append(("dragoman-repairs", compact_repairs(exchange.repairs)))
        return out


def _with_stream(asked: Translation, stream: bool) -> bytes:
    """A request that asks for a stream, or for none. Chat streams count their tokens only when told to."""
    fields = jsontext.fields(asked.body) | {"stream": jsontext.raw(stream)}
    if asked.target in ("openai-chat", "openrouter"):
        if stream:
            fields.setdefault("stream_options", jsontext.raw({"include_usage": True}))
        else:
            fields.pop("stream_options", None)
    return jsontext.encode(fields)
