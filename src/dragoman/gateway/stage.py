"""The rehearsal as an upstream: answers in canon, written in the client's dialect, nothing sent anywhere."""

from __future__ import annotations

import asyncio

import msgspec

from ..canon.events import Fault
from ..canon.request import Request
from ..crossing import Crossing
from ..dialects import get
from ..errors import WireError
from .framing import array_frames
from .paths import Call
from .server import Reply

Headers = list[tuple[str, str]]


def read(body: bytes, call: Call, model: str) -> Request | Fault:
    """The client's request in canon, for the rehearsal to answer."""
    dialect = get(call.dialect)
    try:
        request = dialect.read_request(body, Crossing(call.dialect, call.dialect))
    except WireError as error:
        return Fault("invalid_request", str(error), 400, param=error.path)
    return msgspec.structs.replace(request, model=model)


def tokens(request: Request) -> int:
    """An estimate of what a request costs."""
    from .. import rehearsal

    return rehearsal.estimate(request)


async def play(
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
    from .. import rehearsal  # only gateways that rehearse load it

    dialect = get(call.dialect)
    answer = rehearsal.answer(request, seals="checked" if dialect.echoes else "ignored")
    if answer.fault is not None:
        return answer.fault
    crossing = Crossing("rehearsal", call.dialect, model=asked, answers=request, created=created)
    if not stream:
        await asyncio.sleep(answer.delay)
        response = answer.response()
        if isinstance(response, Fault):
            return response
        reply.send(200, whole, dialect.write_response(response, crossing))
        return None
    reply.start(200, streamed)
    writer = dialect.writer(crossing)
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
