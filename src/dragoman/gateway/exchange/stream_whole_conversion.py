"""Turns a stream into a whole answer, and a whole answer into a stream, if the client demanded the other form. Also
writes the request field that asks for a stream.

Everything stays within the upstream's dialect: the result is the answer that the upstream would have sent in the other
form. The translation follows later.
"""

from __future__ import annotations

from ...canon.events import Fault
from ...canon.fold_and_unfold import fold, unfold
from ...canon.parts import ToolCall
from ...codec import json_text
from ...codec.failure_sentence_in_answer import with_fitting_stop
from ...context import Context
from ...dialects import endpoints, get
from ...errors import FaultError
from ...translate.errors_with_status_200 import read_answer


def stream_to_whole(stream: bytes, dialect: str) -> bytes:
    """A stream as a whole answer. FaultError if the stream ends with a fault."""
    reader = get(dialect).reader(Context(dialect, dialect))
    folded = fold([*reader.feed(stream), *reader.close()])
    if isinstance(folded, Fault):
        raise FaultError(folded)
    known, context = get(dialect), Context(dialect, dialect)
    return known.write_response(with_fitting_stop(folded, context, known.broken_calls), context)


def comes_as_array(dialect: str) -> bool:
    """Whether a stream of the dialect may come as one JSON array."""
    end = get(dialect).stream_end
    return end is not None and end().arrays


def whole_to_stream(body: bytes, dialect: str) -> bytes:
    """A whole answer as a stream, in one piece. FaultError if the body is a fault."""
    response = read_answer(body, get(dialect), Context(dialect, dialect))
    writer = get(dialect).writer(Context(dialect, dialect))
    return b"".join([writer.send(event) for event in unfold(response)]) + writer.close()


def has_broken_call(body: bytes, dialect: str, client: str) -> bool:
    """Whether an answer has a call that the client does not get, because the arguments are not a JSON object."""
    if get(client).broken_calls == "text":
        return False
    parts = read_answer(body, get(dialect), Context(dialect, dialect)).parts
    calls = [part for part in parts if type(part) is ToolCall and not part.custom]
    return any(json_text.object_raw(call.arguments) is None for call in calls)


def with_stream_demand(body: bytes, dialect: str, *, stream: bool) -> bytes:
    """A request whose body demands a stream, or a whole answer."""
    return json_text.encode(endpoints(dialect).stream.asking(json_text.fields(body), stream))
