"""Reads and writes Code Assist answers: the envelope. Gemini's code reads and writes the answer inside."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.request import Request
from ...canon.response import Response
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.answer_ids import original_id
from ...codec.dialect_extras import sent_fields
from ...context import Context
from ...errors import WireError
from ..gemini import response as gemini
from . import wire
from .unsupported_field_removal import fitted_turns

_KEY = "response"
_OUTSIDE = ("traceId", *wire.WRAPPED_EXTRAS)
_GEMINI_FIELDS = (b'"candidates"', b'"parts"')


def read_response(body: bytes, context: Context) -> Response:
    """Read an answer into canon."""
    wrapped, unknown, spelled = wire.admit_answer(body)
    if wrapped.response is None and not any(getattr(wrapped, name) for name in _OUTSIDE):
        return _read_without_envelope(body, context)
    # `response` may be absent: the answer then has no candidates (gemini-cli 0.56, 2026-08).
    answer = wrapped.response if wrapped.response is not None else wire.InnerAnswer()
    fields, unknown = wire.parted(unknown, _KEY)
    fields = {**(sent_fields(wrapped, wire.WRAPPED_EXTRAS) or {}), **fields, **wire.traced(answer, wrapped.traceId)}
    if answer.automaticFunctionCallingHistory:
        fields[wire.HISTORY] = answer.automaticFunctionCallingHistory
    wire.report(context, fields)
    wire.unwrap(context, _KEY)
    try:
        response = gemini.read_admitted((answer, unknown, wire.inside(spelled, _KEY)), context)
    except WireError as error:
        raise wire.outside(error, _KEY) from None
    finally:
        wire.settle_source(context)
    return msgspec.structs.replace(response, extra=wire.with_fields(response.extra, fields))


def _read_without_envelope(body: bytes, context: Context) -> Response:
    """A Gemini answer without the envelope, or the content of a model alone: clients keep answers in these forms."""
    if not any(mark in body for mark in _GEMINI_FIELDS):
        raise WireError(wire.NAME, f"/{_KEY}", "an object with candidates")
    context.source = wire.GEMINI
    try:
        return gemini.read_response(body, context)
    except WireError as error:
        raise wire.outside(error, "") from None
    finally:
        wire.settle_source(context)


def write_response(response: Response, context: Context) -> bytes:
    """Write an answer from canon."""
    mine = wire.mine(context)
    fields = dict(wire.own(response.extra))
    out: dict[str, Any] = {}
    # gemini-cli uses `traceId` as the id of the answer (0.56, 2026-08).
    trace: Raw | None = fields.pop("traceId", None)
    if trace is None and response.id:
        trace = json_text.raw(original_id(response.id))
        # The id is written once: as `traceId`, not also as `responseId` of the inner answer.
        response = msgspec.structs.replace(response, id="")
    if mine:
        context.source = wire.GEMINI
    inner = gemini.write_response(response, context)
    if mine:
        context.source = wire.NAME
    history = fields.pop(wire.HISTORY, None)
    if history is not None:
        inner = b'%b%b"automaticFunctionCallingHistory":%b}' % (inner[:-1], b"," if len(inner) > 2 else b"", history)
    out[_KEY] = Raw(inner)
    if trace is not None and bytes(trace) != b"null":
        out["traceId"] = trace
    for name, value in fields.items():
        out.setdefault(name, value)
    return json_text.encode(out)


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The contents to append to `request.contents`: the model's content without thoughts, then one content with all
    results.
    """
    if wire.mine(context):
        context.source = wire.GEMINI
    turns = fitted_turns((Turn("assistant", response.parts),), context)
    return gemini.write_results(msgspec.structs.replace(response, parts=turns[0].parts), results, context)
