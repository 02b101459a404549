"""Owns the models of upstreams, in any dialect, and of the rehearsal. They take canon requests and give canon events.

The history of a session may hold answers of other upstreams. Foreign seals are not sent, and other losses are reported.
Seals and thoughts of an answer are marked with their origin, because only that upstream accepts them in a later
request.
"""

from __future__ import annotations

import asyncio
import fnmatch
import platform
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Literal

import msgspec

from .. import __version__
from ..canon.events import Event, Fault, PartDelta, PartEnd, PartStart
from ..canon.fold_and_unfold import unfold
from ..canon.parts import Reasoning, Seal, ToolCall
from ..canon.request import Request
from ..codec import json_text
from ..codec.call_ids import DistinctIds
from ..codec.packed_seals import Origin, pack
from ..context import Context
from ..dialect import Dialect
from ..dialect.model_list_reader import read_list
from ..dialects import endpoints, get
from ..errors import ConfigError, FaultError, TransportError, WireError
from ..facts import profiles
from ..facts.windows_and_prices import UNKNOWN, WindowAndPrices
from ..translate.errors_with_status_200 import read_answer
from ..transport import upstream_url_and_headers
from ..transport.account_projects import AccountProjects
from ..transport.google_credentials import Tokens
from ..transport.http_client_interface import UpstreamAnswer, UpstreamClient
from ..transport.retry_decision import no_answer, seconds_until_date
from ..transport.secret_redaction import Redactor, upstream_secrets
from ..transport.upstream_record_and_environment import (
    REHEARSAL,
    Upstream,
    how_to_add,
    known_environments,
    with_usual_address,
)
from ..transport.window_price_and_answer_cost import FREE, window_and_prices
from .model_interface import Model, Report
from .seals_ids_and_names_for_upstream import SOURCE, fit_to_upstream

Binary = Literal["native", "summarise"]
"""How media in results are sent: as media if the dialect has a form for them, or as a line that names their type."""

LARGEST = 64 * 1024 * 1024
CHECK_SECONDS = 5.0
_HOSTED = frozenset({"web_search", "web_fetch"})


_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}


def user_agent() -> str:
    """The agent's name in requests to upstreams: `dragoman/0.1.0 (linux; x64)`."""
    machine = platform.machine().lower()
    return f"dragoman/{__version__} ({sys.platform}; {_ARCHITECTURES.get(machine, machine)})"


class NetworkAccess:
    """The network access for upstreams: client, environment, credentials."""

    def __init__(self, client: UpstreamClient, environment: Mapping[str, str], now: Callable[[], float]) -> None:
        self.client, self.environment, self.now = client, environment, now
        self.tokens = Tokens(now)
        self.projects = AccountProjects()

    async def headers(self, upstream: Upstream, more: Mapping[str, str]) -> list[tuple[str, str]]:
        """The headers of a request. ConfigError: there is no key."""
        token = (
            await self.tokens.get(upstream.credentials)
            if upstream_url_and_headers.auth_of_upstream(upstream) == "google"
            else ""
        )
        named = endpoints(upstream.dialect).agent.headers
        own = {"user-agent": user_agent()}
        own |= {name.lower(): value for name, value in (named(upstream.headers) if named is not None else {}).items()}
        return upstream_url_and_headers.merge_headers(
            upstream_url_and_headers.request_headers(upstream, self.environment, token, own), more
        )

    async def with_account_fields(self, upstream: Upstream, body: bytes) -> bytes:
        """The request with fields whose values come from the upstream: the project of the account."""
        form = endpoints(upstream.dialect).upstream
        if (
            form.project_search is None
            or upstream.project
            or upstream_url_and_headers.auth_of_upstream(upstream) != "google"
        ):
            return upstream_url_and_headers.with_cloud_project(upstream, body)

        async def ask(method: str, path: str, sent: bytes) -> bytes:
            own, target = await self.headers(upstream, {}), upstream_url_and_headers.path_of_upstream(upstream, path)
            async with await self.client.request(
                upstream_url_and_headers.address_of_upstream(upstream), method, target, own, sent
            ) as answer:
                found = await answer.read(LARGEST)
                return found if answer.status == 200 else b""

        return await self.projects.with_project(upstream.base_url + upstream.credentials, body, form, ask)


class UpstreamModel:
    """A model of a host with a dialect."""

    def __init__(
        self,
        name: str,
        upstream: Upstream,
        model: str,
        net: NetworkAccess,
        known: WindowAndPrices = UNKNOWN,
        binary: Binary = "native",
    ) -> None:
        self.name, self._known, self._binary = name, known, binary
        self._upstream, self._model, self._net = upstream, model, net
        self._dialect = get(upstream.dialect)
        self._host = upstream_url_and_headers.host_of_upstream(upstream)
        self._profile = profiles.lookup(upstream.dialect, model)
        rows = [row for row in self._dialect.hosted if not row.needs or getattr(self._profile, row.needs)]
        self.hosted = frozenset([row.family for row in rows if row.family in _HOSTED])
        self._window = self._dialect.endpoints().agent.window

    async def known(self) -> WindowAndPrices:
        """The model's window and prices. A window that is unknown here is requested from the upstream."""
        # Only one request is sent, even if no answer comes.
        form, self._window = self._window, None
        if form is not None and self._known.context is None:
            payload = json_text.encode(form.asked(self._model))
            body = await self._read("POST", form.path, payload)
            try:
                shown = json_text.decode(body) if body else None
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                shown = None
            window = form.read(shown) if isinstance(shown, dict) else None
            if window is not None:
                self._known = msgspec.structs.replace(self._known, context=window)
        return self._known

    async def _read(self, method: str, path: str, sent: bytes) -> bytes:
        """The body of the answer to a question about the model; b"" where there is no good answer in time."""
        upstream, net = self._upstream, self._net
        try:
            own, target = await net.headers(upstream, {}), upstream_url_and_headers.path_of_upstream(upstream, path)
            async with asyncio.timeout(CHECK_SECONDS):
                async with await net.client.request(
                    upstream_url_and_headers.address_of_upstream(upstream), method, target, own, sent
                ) as answer:
                    body = await answer.read(LARGEST)
                    return body if answer.status == 200 else b""
        except (TimeoutError, TransportError, ConfigError):
            return b""  # the next request to the model will show the fault

    async def _with_window(self, request: Request) -> Request:
        """The request with the model's window, for an upstream that would use a smaller one."""
        form, name = self._dialect.endpoints().agent.window, self._dialect.name
        window = (await self.known()).context
        given = (request.extra or {}).get(name, {})
        # A window in the request itself wins.
        if form is None or window is None or form.field in given:
            return request
        extra = {**(request.extra or {}), name: {**given, form.field: json_text.raw(window)}}
        return msgspec.structs.replace(request, extra=extra)

    async def ask(self, request: Request, lost: Report) -> AsyncGenerator[Event, None]:
        streams = self._upstream.stream != "never"
        request = await self._with_window(request)
        context = Context(SOURCE, self._dialect.name, model=self._model, profile=self._profile, binary=self._binary)
        sent, origin = fit_to_upstream(
            msgspec.structs.replace(request, stream=streams), self._dialect, self._host, context
        )
        body = self._dialect.write_request(sent, context)
        lost(context.losses.all())
        converter = _AnswerForSession(self._dialect, origin, context)
        back = Context(self._dialect.name, SOURCE, answers=sent)
        back.answer_paths = self._dialect.answer_paths
        try:
            async with aclosing(self._events(body, streams, context, back)) as events:
                async for event in events:
                    yield self._redact(event) if type(event) is Fault else converter.convert(event, back)
        except TransportError as error:
            yield self._redact(no_answer(error))
        except WireError as error:
            yield self._redact(Fault("upstream_bad", f"the answer is not {self._dialect.name}: {error}", 502))
        except ConfigError as error:
            yield Fault("auth", f"{self.name} cannot be asked: {error}", 401)
        finally:
            # Also if the answer breaks off: the losses so far are reported.
            back.settle(self._dialect.minor_fields)
            lost(back.losses.all())

    async def check(self) -> None:
        """Request the upstream's list of models. ConfigError where the key is missing or refused."""
        upstream, net = self._upstream, self._net
        own = await net.headers(upstream, {})
        lists = endpoints(upstream.dialect).models
        path = (lists.project_path if upstream.project else "") or lists.path
        if not path:
            return
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                target = upstream_url_and_headers.path_of_upstream(upstream, path)
                async with await net.client.request(
                    upstream_url_and_headers.address_of_upstream(upstream), "GET", target, own, b""
                ) as answer:
                    body = await answer.read(LARGEST)
        except (TimeoutError, TransportError):
            return  # the next request to the model will show whether the upstream can be reached
        # Any other status shows nothing about the key: a host may have no list of models.
        if answer.status in (401, 403):
            where = f"the key in {upstream.key_env}" if upstream.key_env else "the key"
            problem = f"the upstream refuses {where} (status {answer.status}). Set a valid key, and start again"
            raise ConfigError("model", self.name, problem=problem)
        for listed in read_list(body, lists):
            if listed.name == self._model and listed.context and self._known.context is None:
                self._known = msgspec.structs.replace(self._known, context=listed.context)

    async def close(self) -> None:
        """Nothing to close: the connections belong to `NetworkAccess`."""

    def _redact(self, fault: Fault) -> Fault:
        """A fault without secrets: an upstream may repeat the refused key in its message."""
        known = upstream_secrets(self._upstream, self._net.environment)
        return Redactor([*known, *self._net.tokens.known()]).fault(fault)

    async def _events(self, body: bytes, streams: bool, context: Context, back: Context) -> AsyncGenerator[Event, None]:
        upstream, net = self._upstream, self._net
        headers = await net.headers(upstream, context.headers)
        body = await net.with_account_fields(upstream, body)
        try:
            target = upstream_url_and_headers.generation_path(upstream, self._model, stream=streams)
        except WireError as error:
            yield Fault("invalid_request", f"{self.name} cannot be asked: {error}", 400, param="model")
            return
        address = upstream_url_and_headers.address_of_upstream(upstream)
        async with await net.client.request(address, "POST", target, headers, body) as answer:
            if answer.status >= 300:
                yield await self._fault(answer)
            elif not streams or (self._dialect.framing == "sse" and _is_json(answer)):
                for event in await self._whole(answer, back):
                    yield event
            else:
                reader = self._dialect.reader(back)
                async for piece in answer.pieces():
                    for event in reader.feed(piece):
                        yield event
                for event in reader.close():
                    yield event

    async def _whole(self, answer: UpstreamAnswer, back: Context) -> list[Event]:
        """The events of an answer that came as a whole."""
        body = await answer.read(LARGEST)
        try:
            return unfold(read_answer(body, self._dialect, back))
        except FaultError as error:
            return [error.fault]

    async def _fault(self, answer: UpstreamAnswer) -> Fault:
        body = await answer.read(LARGEST)
        # Redirects are not followed, because they could carry the key to another host.
        if answer.status < 400:
            target = answer.header("location") or "nowhere"
            return Fault("upstream_bad", f"{self.name} answers with a redirect to {target}", 502)
        fault = self._dialect.read_fault(body, answer.status, dict(answer.headers))
        if answer.status == 401 and self._upstream.key_env:
            advice = (
                f"set {self._upstream.key_env} to a valid key, or run: dragoman login {self.name.partition('/')[0]}"
            )
            fault = msgspec.structs.replace(fault, message=f"{fault.message} (the upstream refuses the key: {advice})")
        seconds = (
            seconds_until_date(answer.header("retry-after"), self._net.now()) if fault.retry_after is None else None
        )
        return fault if seconds is None else msgspec.structs.replace(fault, retry_after=seconds)


def _is_json(answer: UpstreamAnswer) -> bool:
    """Whether an answer came as a whole although the request wanted a stream."""
    return answer.header("content-type").startswith("application/json")


class _AnswerForSession:
    """Converts the events of an answer for the session: our tool names, unique call ids, seals with their origin."""

    def __init__(self, dialect: Dialect, origin: Origin, context: Context) -> None:
        self._origin, self._borrowed = origin, dialect.call_slots
        self._renamed = context.renamed
        self._ids = DistinctIds()
        known = context.host
        # Such a host wants its thoughts back, although they have no seal.
        self._wanted = Seal(origin.dialect, "", "", origin.model, origin.host) if known and known.echo else None

    def convert(self, event: Event, back: Context) -> Event:
        if isinstance(event, PartStart):
            part = event.part
            change: dict[str, Any] = {}
            if isinstance(part, ToolCall):
                part = self._ids.call(part, back)
                if part.name in self._renamed:
                    change["namespace"], change["name"] = self._renamed[part.name]
            if part.seal is not None:
                change["seal"] = self._with_origin(part.seal)
            elif isinstance(part, Reasoning) and self._wanted is not None:
                change["seal"] = self._wanted
            part = msgspec.structs.replace(part, **change) if change else part
            return event if part is event.part else PartStart(event.index, part, event.answer)
        if isinstance(event, PartDelta) and event.seal is not None:
            return msgspec.structs.replace(event, seal=self._with_origin(event.seal))
        # The session keeps no fields that only one dialect has.
        if isinstance(event, PartEnd) and event.extra is not None:
            return PartEnd(event.index, None, event.cut)
        return event

    def _with_origin(self, seal: Seal) -> Seal:
        origin, kind, data = self._origin, seal.kind, seal.data
        if seal.dialect in self._borrowed:
            kind = seal.dialect
        elif seal.dialect != origin.dialect:
            # The upstream is a dragoman gateway, which needs the whole slot back, with its mark.
            kind, data = "", pack(seal)
        return Seal(origin.dialect, data, kind, origin.model, origin.host)


class RehearsalModel:
    """The rehearsal: a built-in upstream without a model."""

    hosted: frozenset[str] = frozenset()

    def __init__(self, name: str) -> None:
        self.name = name

    async def known(self) -> WindowAndPrices:
        """The rehearsal has no cost, and takes a request of any length."""
        return FREE

    async def ask(self, request: Request, lost: Report) -> AsyncGenerator[Event, None]:
        from .. import rehearsal  # imported late: only a rehearsal needs it

        answer = rehearsal.answer(msgspec.structs.replace(request, model=self.name))
        for seconds, event in answer.events():
            if seconds:
                await asyncio.sleep(seconds)
            yield event
        if answer.breaks_off:
            yield Fault("upstream_bad", "rehearsal: the stream breaks off, as the script demands", 502)

    async def check(self) -> None:
        """The rehearsal needs no key."""

    async def close(self) -> None:
        """There is nothing to close."""


class Upstreams:
    """Finds models by name: `upstream/model`, or a model of one of the upstreams."""

    def __init__(
        self,
        upstreams: Mapping[str, Upstream],
        net: NetworkAccess,
        own: Mapping[str, WindowAndPrices] | None = None,
        binary: Binary = "native",
    ) -> None:
        """`own` are the user's windows and prices by `upstream/model`, with * for any characters."""
        self._own, self._binary = own or {}, binary
        self._upstreams = {
            name: with_usual_address(upstream) for name, upstream in upstreams.items() if name != REHEARSAL
        }
        self._net = net
        self._known: dict[str, Model] = {}

    def __call__(self, name: str) -> Model:
        if name not in self._known:
            self._known[name] = self._find_model(name)
        return self._known[name]

    def _find_model(self, name: str) -> Model:
        where, slash, model = name.partition("/")
        if where == REHEARSAL:
            return RehearsalModel(name if slash else f"{REHEARSAL}/rules")
        # A model's own name may contain a slash, so the part before must be an upstream.
        if slash and where in self._upstreams and model:
            return self._make_model(where, self._upstreams[where], model)
        for own, upstream in self._upstreams.items():
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in upstream.models):
                return self._make_model(own, upstream, name)
        advice = how_to_add(name)
        if advice and where not in self._upstreams:
            raise ConfigError("model", name, problem=f"no upstream is configured for it. {advice}")
        raise ConfigError("model", name, tuple([f"{own}/MODEL" for own in (*self._upstreams, REHEARSAL)]))

    def _make_model(self, name: str, upstream: Upstream, model: str) -> UpstreamModel:
        known = window_and_prices(name, upstream, model, self._own)
        return UpstreamModel(f"{name}/{model}", upstream, model, self._net, known, self._binary)


def usual_model(upstreams: Mapping[str, Upstream], environment: Mapping[str, str]) -> str:
    """The default model: DRAGOMAN_MODEL, else the usual model of the first upstream that has one, else the rehearsal if
    there is no upstream. ConfigError: no upstream has a usual model."""
    if environment.get("DRAGOMAN_MODEL"):
        return environment["DRAGOMAN_MODEL"]
    usual = {one.name: one.usual_model for _, one in known_environments() if one.usual_model}
    for name, upstream in upstreams.items():
        if name in usual and upstream.dialect != REHEARSAL:
            return f"{name}/{usual[name]}"
        plain = [model for model in upstream.models if "*" not in model]
        if plain and upstream.dialect != REHEARSAL:
            return f"{name}/{plain[0]}"
    others = tuple([f"{name}/MODEL" for name, upstream in upstreams.items() if upstream.dialect != REHEARSAL])
    if others:
        raise ConfigError("model", "", others, "no model is named, and no upstream has a default model")
    return f"{REHEARSAL}/rules"
