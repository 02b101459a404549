"""Code Assist requests: the envelope read into canon and written from canon, around a Gemini request."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Text
from ...canon.request import Request
from ...codec import json_text
from ...codec.admit import Admitted
from ...codec.call_ids import hashed
from ...codec.extras import carried, take_shared, with_shared
from ...context import Context
from ...errors import WireError
from ..gemini import request as gemini
from ..gemini.sdk_form import is_odd, rewritten
from . import wire
from .unsupported_fields import fitted, homed, unspelled

_KEY = "request"
_CHAT, _OPENROUTER = "openai-chat", "openrouter"
_SESSION = frozenset({wire.SESSION})
"""OpenRouter has a session of the same meaning: requests of one conversation."""
_PREFIX = "models/"
_UNNAMED = "unspecified"


def read_request(body: bytes, context: Context) -> Request:
    envelope, unknown, spelled = _admitted(body, context)
    held = envelope.request
    fields = carried(envelope, wire.ENVELOPE_EXTRAS) or {}
    if held.session_id:
        fields[wire.SESSION] = held.session_id
    strange, unknown = wire.parted(unknown, _KEY)
    fields |= strange
    model = envelope.model
    inner = held.model.removeprefix(_PREFIX) if held.model is not None else None
    if inner is not None and model is not None:
        fields[wire.MODEL] = json_text.raw(held.model)
    session = take_shared(fields, _SESSION) if context.target == _OPENROUTER else {}
    wire.report(context, fields)
    if model is None:
        # A request to count tokens: what names the model is inside.
        model = inner
        fields["model"] = json_text.raw(held.model)
    wire.unwrap(context, _KEY)
    try:
        request = gemini.read_admitted(Admitted(held, unknown, wire.inside(spelled, _KEY)), context)
    except WireError as error:
        raise wire.outside(error, _KEY) from None
    finally:
        wire.settle_source(context)
    extra = wire.with_fields(unspelled(request) if context.target != wire.NAME else request.extra, fields)
    extra = with_shared(extra, _CHAT, {"session_id": session[wire.SESSION]} if session else {})
    return Request(request.turns, model or "", request.tools, request.choice, request.settings, request.stream, extra)


def _admitted(body: bytes, context: Context) -> Admitted[wire.Envelope]:
    """The envelope, decoded. The request in it may have the form of Google's SDK."""
    try:
        admitted = wire.admit_request(body)
        if not admitted.unknown or not is_odd(wire.parted(admitted.unknown, _KEY)[1]):
            return admitted
    except WireError:
        admitted = None
    try:
        fields = json_text.fields(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        fields = {}
    found = rewritten(fields[_KEY]) if _KEY in fields else None
    if found is None:
        return admitted if admitted is not None else wire.admit_request(body)  # which says what is wrong, and where
    fields[_KEY] = Raw(found[0])
    context.moved.update(found[1])
    return wire.admit_request(json_text.encode(fields))


def write_request(request: Request, context: Context) -> bytes:
    mine = wire.mine(context)
    model = context.model or request.model
    if mine:
        context.source = wire.GEMINI
        request = msgspec.structs.replace(request, model="", turns=tuple([homed(turn) for turn in request.turns]))
    else:
        request = fitted(request, context)
        model = model.removeprefix(_PREFIX)
        if not model:
            context.lose("model.invented")
            model = _UNNAMED
    fields = dict(wire.own(request.extra))
    inner = gemini.write_request(request, context)
    if mine:
        context.source = wire.NAME
    out: dict[str, Any] = {}
    counted = fields.pop("model", None)
    if counted is not None:
        named = json_text.raw(_PREFIX + context.model) if context.model else counted
        if bytes(named) != b"null":
            inner = _with_field(inner, b"model", named)
    elif model:
        out["model"] = model
    for name in wire.BELOW:
        value = fields.pop(name, None)
        if value is not None:
            inner = _with_field(inner, name.rpartition("/")[2].encode(), value)
    if not mine:
        context.lose("id.invented", (), "user_prompt_id")
        out["user_prompt_id"] = _prompt_id(request)
    for name in wire.ENVELOPE_EXTRAS[:2]:
        if name in fields:
            out[name] = fields.pop(name)
    out[_KEY] = Raw(inner)
    for name, value in fields.items():
        out.setdefault(name, value)
    return json_text.encode(out)


def _with_field(document: bytes, name: bytes, value: Raw) -> bytes:
    return b'%b,"%b":%b}' % (document[:-1], name, bytes(value))


def _prompt_id(request: Request) -> str:
    """An id of what the user said last and where: the same in every step of a tool loop, as the field is meant, and
    however what the user said is cut into turns and texts."""
    words: list[str] = []
    steps = 0
    for turn in reversed(request.turns):
        if turn.role == "user" and not steps:
            words += [part.text for part in reversed(turn.parts) if isinstance(part, Text)]
        elif turn.role == "assistant" and words:
            steps += 1
    return hashed("".join([str(steps), *reversed(words)]), "prompt_")


def with_project(body: bytes, project: str | None) -> bytes:
    """A written request with the user's Google Cloud project in it, or without any, as the free tier demands.

    Translation knows no accounts: it leaves the project out, or as the client sent it. The caller puts it in.
    """
    fields = json_text.fields(body)
    fields.pop("project", None)
    if project is None:
        return json_text.encode(fields)
    first = {"model": fields.pop("model")} if "model" in fields else {}
    return json_text.encode({**first, "project": json_text.raw(project), **fields})
