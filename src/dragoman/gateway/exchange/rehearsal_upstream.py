"""The rehearsal as an upstream: its answers in canon are written in the client's dialect. Nothing is sent anywhere.

The rehearsal is as strict as a real upstream. A request that breaks a rule of the dialect (`dragoman lint`) is refused,
and nothing is repaired.
"""

from __future__ import annotations

import asyncio

import msgspec

from ...canon.events import Fault
from ...canon.request import Request
from ...codec.surrogates.documents import without_surrogates
from ...context import Context
from ...dialect import Dialect
from ...dialect.endpoints_record import EndpointCall
from ...dialects import endpoints, get
from ...errors import WireError
from ...lint.runner import lint
from ..config import REHEARSAL
from ..http.server import ReplyWriter
from .client_stream_framing import array_frames

Headers = list[tuple[str, str]]

_CLOSED = ("tool_choice", "response_format", "think")
"""Fields with few legal values. A value that the reader did not understand is illegal."""
_SEALS = frozenset({"ANT-012", "GEM-008", "GEM-009"})
"""Rules about foreign or missing seals. They are skipped, because the rehearsal checks its own seals."""


def read(body: bytes, call: EndpointCall, model: str) -> Request | Fault:
    """The client's request in canon, for the rehearsal."""
    dialect = get(call.dialect)
    try:
        # Read as for an upstream of another dialect, so that tools of an item in mid-conversation become tools.
        context = Context(call.dialect, REHEARSAL)
        request = _read_request(body, dialect, context)
    except WireError as error:
        return Fault("invalid_request", str(error), 400, param=error.path)
    refused = endpoints(call.dialect).served.refused
    lost = refused(context.losses.all()) if refused is not None else None
    if lost is not None:
        return lost
    return msgspec.structs.replace(request, model=model)


def _read_request(body: bytes, dialect: Dialect, context: Context) -> Request:
    try:
        return dialect.read_request(body, context)
    except WireError:
        mended = without_surrogates(body)
        if mended is None:
            raise
    return dialect.read_request(mended, context)


def admit(body: bytes, call: EndpointCall, model: str, requested_model: str) -> Request | Fault:
    """The client's request in canon, or the fault that upstreams of this dialect would answer."""
    if not requested_model:
        return _refused("the request names no model. Set `model`.", "model", "model_required")
    request = read(body, call, model)
    if isinstance(request, Fault):
        return request
    form = endpoints(call.dialect).rehearsal
    limit, least = request.settings.max_tokens, form.least_tokens
    if limit is not None and least is not None and limit < least:
        return _refused(f"the token limit is {limit}. It must be at least {least}.", "max_tokens")
    for extra in (request.extra, request.choice.extra if request.choice is not None else None):
        unread = extra.get(call.dialect, {}) if extra is not None else {}
        for name in _CLOSED:
            if name in unread and name not in form.passed_over:
                return _refused(
                    f"{name} has an unknown value. Use a value of the dialect, or leave the field out.", name
                )
    for finding in lint(body, dialect=call.dialect, kind="request", model=requested_model):
        # A rule about the inside of an envelope names the inner rule that is broken.
        if finding.severity == "error" and _SEALS.isdisjoint((finding.rule, finding.message.partition(":")[0])):
            return _refused(f"{finding.path or '/'}: {finding.message} ({finding.rule})", finding.path.lstrip("/"))
    settings = request.settings
    if settings.thoughts is None and form.quiet:
        settings = msgspec.structs.replace(settings, thoughts=False)
        request = msgspec.structs.replace(request, settings=settings)
    return request


def _refused(why: str, param: str, code: str = "") -> Fault:
    return Fault("invalid_request", f"rehearsal: {why}", 400, code, param)


def tokens(request: Request) -> int:
    """An estimate of the tokens in a request."""
    from ... import rehearsal

    return rehearsal.estimate(request)


async def answer_rehearsal(
    request: Request,
    call: EndpointCall,
    requested_model: str,
    created: int,
    reply: ReplyWriter,
    whole: Headers,
    streamed: Headers,
    stream: bool,
) -> Fault | None:
    """Send the rehearsal's answer. None: the answer was sent."""
    from ... import rehearsal  # Imported here, so that only gateways with a rehearsal load the module.

    dialect = get(call.dialect)
    answer = rehearsal.answer(request, seals="checked" if "reasoning" in dialect.returns_seals_on else "ignored")
    if answer.fault is not None:
        return answer.fault
    context = Context("rehearsal", call.dialect, model=requested_model, answers=request, created=created)
    if not stream:
        await asyncio.sleep(answer.delay)
        response = answer.response()
        if isinstance(response, Fault):
            return response
        reply.send(200, whole, dialect.write_response(response, context))
        return None
    reply.start(200, streamed)
    writer = dialect.writer(context)
    frame = array_frames() if call.array else None
    for seconds, event in answer.events():
        if seconds:
            await asyncio.sleep(seconds)
        out = writer.send(event)
        reply.write(out if frame is None else frame.feed(out))
        await reply.drain()
    if answer.breaks_off:
        reply.break_off()
        return None
    rest = writer.close()
    reply.write(rest if frame is None else frame.feed(rest) + frame.close())
    reply.end()
    return None
