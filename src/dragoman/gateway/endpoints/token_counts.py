"""Token counts: asked of the upstream where it counts, in its own words; else estimated, and said to be.

A request to be counted is a request like any other, so it crosses like any other. What the upstream's counting endpoint
does not take of it (limits, sampling) is left out: it costs no tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from ...canon.events import Fault
from ...codec import json_text
from ...codec.surrogates.documents import fields_tolerant, without_surrogates
from ...errors import DragomanError, WireError
from ...seals.vault import Vault
from ...translate import translate_request
from ...transport.http_client import Headers
from ..config import REHEARSAL, Route, Upstream
from ..exchange import rehearsal_upstream, upstream_address
from ..exchange.child_tasks import done
from ..exchange.previous_responses import PreviousResponses
from ..exchange.refusal import fault_reply, no_model, untranslated
from ..exchange.routes import Choice
from ..exchange.side_requests import SideAnswer, ask_upstream
from ..services import Services
from .endpoint_table import Call

ESTIMATED: Headers = [("content-type", "application/json"), ("dragoman-estimate", "true")]
SECONDS = 10.0
_TAKEN = {
    "anthropic": frozenset(
        {"messages", "model", "system", "tools", "tool_choice", "thinking", "cache_control", "context_management"}
        | {"mcp_servers", "output_config", "output_format", "speed"}
    ),
    "openai-responses": frozenset(
        {"conversation", "input", "instructions", "model", "parallel_tool_calls", "previous_response_id", "reasoning"}
        | {"text", "tool_choice", "tools", "truncation"}
    ),
}
_TELLING = frozenset({"auth", "billing", "context_too_long", "invalid_request", "permission", "too_large"})
"""Faults that the client is told. After the others an estimate is worth more than nothing."""

Answer = tuple[int, Headers, bytes]


async def count(
    desk: Services,
    call: Call,
    headers: Mapping[str, str],
    body: bytes,
    vault: Vault,
    earlier: PreviousResponses | None = None,
) -> Answer:
    """The answer to a client that wants to know how many tokens a request has, those of `earlier` turns included.
    `vault`: the client's own."""
    given, model = await done(desk.children, body, partial(_request, call, body))
    plain = body if given is None else given
    route, choices = desk.routes.find(model, desk.draw)
    if model and not choices:
        return fault_reply(call.dialect, no_model(model, desk.config))
    if earlier is not None:
        native = bool(choices) and choices[0].upstream.dialect == call.dialect
        plain = body = earlier.body_for(choices[0]) if native else earlier.whole()
    if choices:
        found = await _asked(desk, call, headers, body, plain, route, choices[0], vault)
        if isinstance(found, Fault) and found.kind in _TELLING:
            return fault_reply(call.dialect, found)
        if not isinstance(found, Fault | None):
            return found
    estimate = await done(desk.children, plain, partial(_estimate, plain, call, model))
    if isinstance(estimate, Fault):
        return fault_reply(call.dialect, estimate)
    return 200, ESTIMATED, json_text.encode(_written(call.dialect, estimate))


def _estimate(plain: bytes, call: Call, model: str) -> int | Fault:
    request = rehearsal_upstream.read(plain, call, model)
    return request if isinstance(request, Fault) else rehearsal_upstream.tokens(request)


async def _asked(
    desk: Services,
    call: Call,
    headers: Mapping[str, str],
    body: bytes,
    plain: bytes,
    route: Route,
    choice: Choice,
    vault: Vault,
) -> Answer | Fault | None:
    """What the upstream counts; None when it does not."""
    upstream = choice.upstream
    try:
        path = "" if upstream.dialect == REHEARSAL else upstream_address.counting(upstream, choice.model)
    except WireError as error:
        return untranslated(error)
    if not path:
        return None
    sent = await done(desk.children, body, partial(_sent, call, body, plain, route, choice, vault))
    if sent is None:
        return None
    told = await ask_upstream(desk, upstream, "POST", path, headers, call.dialect, sent, SECONDS)
    if isinstance(told, Fault):
        return told
    if told.status >= 400:
        return told.fault(upstream.dialect)
    tokens = _tokens(told)
    if tokens is None:
        return None
    if upstream.dialect == call.dialect:
        return 200, [("content-type", "application/json")], told.body
    return 200, [("content-type", "application/json")], json_text.encode(_written(call.dialect, tokens))


def _sent(call: Call, body: bytes, plain: bytes, route: Route, choice: Choice, vault: Vault) -> bytes | None:
    """What is sent to the upstream's counting endpoint; None for a request that cannot be read."""
    upstream = choice.upstream
    try:
        if upstream.dialect == call.dialect:
            return _renamed(call.dialect, body, choice.model)
        crossed = translate_request(
            plain,
            source=call.dialect,
            target=upstream.dialect,
            model=choice.model,
            binary=route.binary,
            seals=route.seals,
            vault=vault,
            host=upstream_address.host(upstream),
            stand_ins=route.stand_ins,
            same_account=route.same_account,
        )
        return _counted(upstream, crossed.body, choice.model)
    except (DragomanError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None  # the estimate's reader says what is wrong with it


def _request(call: Call, body: bytes) -> tuple[bytes | None, str]:
    """The request that is to be counted, as it would be asked (None: as it is), and its model."""
    try:
        fields = json_text.fields(body)
        if call.dialect == "gemini" and "generateContentRequest" in fields:
            inner = json_text.fields(fields["generateContentRequest"])
            inner.pop("model", None)
            return json_text.encode(inner), call.model
        if call.dialect == "code-assist":
            inner = json_text.fields(fields.get("request", b"{}"))
            named = inner.pop("model", None) or fields.get("model")
            model = json_text.plain(named) if named else ""
            model = model.removeprefix("models/") if isinstance(model, str) else ""
            return json_text.encode({"model": model, "request": inner}), model
        model = json_text.plain(fields["model"]) if "model" in fields else ""
    except (msgspec.DecodeError, DragomanError, RecursionError, UnicodeDecodeError):
        mended = without_surrogates(body)
        if mended is None:
            return None, call.model
        given, model = _request(call, mended)
        return mended if given is None else given, model
    return None, call.model or (model if isinstance(model, str) else "")


def _renamed(dialect: str, body: bytes, model: str) -> bytes:
    """The client's own request to count, with the model's name at the upstream."""
    fields = fields_tolerant(body)
    if dialect == "code-assist":
        inner = json_text.fields(fields.get("request", b"{}"))
        return json_text.encode({"request": {**inner, "model": f"models/{model}"}})
    if dialect == "gemini":
        if "generateContentRequest" in fields:
            inner = json_text.fields(fields["generateContentRequest"])
            fields["generateContentRequest"] = json_text.raw({**inner, "model": f"models/{model}"})
        return json_text.encode(fields)
    return json_text.encode({**fields, "model": model})


def _counted(upstream: Upstream, written: bytes, model: str) -> bytes:
    """A request that was written for an upstream, as its counting endpoint takes it."""
    fields: dict[str, Any] = dict(json_text.fields(written))
    if upstream.dialect == "gemini":
        if upstream.project:  # Vertex takes the fields as they are, but for a few
            return json_text.encode({name: fields[name] for name in fields if name not in ("toolConfig", "labels")})
        return json_text.encode({"generateContentRequest": {"model": f"models/{model}", **fields}})
    if upstream.dialect == "code-assist":
        contents = json_text.fields(fields.get("request", b"{}")).get("contents", json_text.raw([]))
        return json_text.encode({"request": {"model": f"models/{model}", "contents": contents}})
    return json_text.encode({name: value for name, value in fields.items() if name in _TAKEN[upstream.dialect]})


class _Total(msgspec.Struct):
    input_tokens: int | None = None
    totalTokens: int | None = None


def _tokens(told: SideAnswer) -> int | None:
    try:
        found = msgspec.json.decode(told.body, type=_Total)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return found.input_tokens if found.input_tokens is not None else found.totalTokens


def _written(dialect: str, tokens: int) -> dict[str, Any]:
    """A count in the dialect's shape."""
    if dialect in ("gemini", "code-assist"):
        return {"totalTokens": tokens}
    if dialect == "openai-responses":
        return {"object": "response.input_tokens", "input_tokens": tokens}
    return {"input_tokens": tokens}
