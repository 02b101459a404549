"""An answer that came in the other shape than the client asked for: a stream to a whole answer, and the reverse. And a
request that asks for the one or the other.

All within the upstream's own dialect: what comes out is what it would have said, and is translated as that.
"""

from __future__ import annotations

from ...canon.events import Fault
from ...canon.fold import fold, unfold
from ...canon.parts import ToolCall
from ...codec import json_text
from ...codec.failed_answers import ended
from ...context import Context
from ...dialects import endpoints, get
from ...errors import FaultError
from ...translate.error_answers import read_answer


def whole(stream: bytes, dialect: str) -> bytes:
    """The answer that a stream tells. FaultError if it ends in one."""
    reader = get(dialect).reader(Context(dialect, dialect))
    told = fold([*reader.feed(stream), *reader.close()])
    if isinstance(told, Fault):
        raise FaultError(told)
    known, context = get(dialect), Context(dialect, dialect)
    return known.write_response(ended(told, context, known.broken_calls), context)


def comes_as_array(dialect: str) -> bool:
    """Whether a stream of the dialect may come as one JSON array."""
    end = get(dialect).stream_end
    return end is not None and end().arrays


def streamed(body: bytes, dialect: str) -> bytes:
    """The stream that tells an answer, all of it at once. FaultError if it is none."""
    response = read_answer(body, get(dialect), Context(dialect, dialect))
    writer = get(dialect).writer(Context(dialect, dialect))
    return b"".join([writer.send(event) for event in unfold(response)]) + writer.close()


def has_broken_call(body: bytes, dialect: str, client: str) -> bool:
    """Whether an answer has a call that is left out for a client: its arguments are no JSON object."""
    if get(client).broken_calls == "text":
        return False
    parts = read_answer(body, get(dialect), Context(dialect, dialect)).parts
    calls = [part for part in parts if type(part) is ToolCall and not part.custom]
    return any(json_text.object_raw(call.arguments) is None for call in calls)


def asking(body: bytes, dialect: str, *, stream: bool) -> bytes:
    """A request that asks for a stream, or for none."""
    return json_text.encode(endpoints(dialect).stream.asking(json_text.fields(body), stream))
