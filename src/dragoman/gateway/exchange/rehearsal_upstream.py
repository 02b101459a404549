"""The rehearsal as an upstream: answers in canon, written in the client's dialect, nothing sent anywhere.

It is as strict as the real ones: what breaks a rule of the dialect (`dragoman lint`) is refused, and nothing is mended.
"""

from __future__ import annotations

import asyncio

import msgspec

from ...canon.events import Fault
from ...canon.request import Request
from ...codec.surrogates.documents import without_surrogates
from ...context import Context
from ...dialect import Dialect
from ...dialects import endpoints, get
from ...endpoints.records import Call
from ...errors import WireError
from ...lint.runner import lint
from ..config import REHEARSAL
from ..http.answer_framing import array_frames
from ..http.server import Reply

Headers = list[tuple[str, str]]

_CLOSED = ("tool_choice", "response_format", "think")
"""Fields with few legal values; one that was not understood is none of them."""
_SEALS = frozenset({"ANT-012", "GEM-008", "GEM-009"})
"""Rules by which a seal of the rehearsal is a stranger's, or is missing: it looks at its seals itself."""


def read(body: bytes, call: Call, model: str) -> Request | Fault:
    """The client's request in canon, for the rehearsal to answer."""
    dialect = get(call.dialect)
    try:
        # Read as for an upstream of another dialect: tools that come by an item in mid-conversation are tools.
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


def admit(body: bytes, call: Call, model: str, asked: str) -> Request | Fault:
    """The same, with what upstreams of this dialect refuse refused. `asked` is the model that the client named."""
    if not asked:
        return _refused("the request names no model", "model", "model_required")
    request = read(body, call, model)
    if isinstance(request, Fault):
        return request
    form = endpoints(call.dialect).rehearsal
    limit, least = request.settings.max_tokens, form.least_tokens
    if limit is not None and least is not None and limit < least:
        return _refused(f"the limit of tokens is {limit}; it must be {least} at least", "max_tokens")
    for extra in (request.extra, request.choice.extra if request.choice is not None else None):
        unread = extra.get(call.dialect, {}) if extra is not None else {}
        for name in _CLOSED:
            if name in unread and name not in form.passed_over:
                return _refused(f"{name} has a value that is not known", name)
    for finding in lint(body, dialect=call.dialect, kind="request", model=asked):
        # A rule about what is inside an envelope names the rule that is broken there.
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
    """An estimate of what a request costs."""
    from ... import rehearsal

    return rehearsal.estimate(request)


async def answer_rehearsal(
    request: Request,
    call: Call,
    asked: str,
    created: int,
    reply: Reply,
    whole: Headers,
    streamed: Headers,
    stream: bool,
) -> Fault | None:
    """Answer; None when the client has its answer."""
    from ... import rehearsal  # only gateways that rehearse load it

    dialect = get(call.dialect)
    answer = rehearsal.answer(request, seals="checked" if "reasoning" in dialect.echoes else "ignored")
    if answer.fault is not None:
        return answer.fault
    context = Context("rehearsal", call.dialect, model=asked, answers=request, created=created)
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
        reply.cut()
        return None
    rest = writer.close()
    reply.write(rest if frame is None else frame.feed(rest) + frame.close())
    reply.end()
    return None
