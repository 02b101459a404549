"""Logs with a request and its answer on each line, in one dialect: `request` and `response`. Vertex AI writes the
results of a batch so.

The format is read only. For a fine-tuning set the answer becomes the last turn of the conversation; for other targets
the request is converted, or the answer with `--kind response`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from ....canon.request import Request
from ....canon.turns import Turn
from ....context import Context
from ....dialect import Dialect
from ....dialects import get
from ....errors import ConfigError, WireError
from ....translate.detect import detect
from ..file_format_record import FileFormat, LineRecord, members, unknown_members

NAME = "exchange"
_KNOWN = frozenset({"request", "response"})


def read(line: bytes) -> LineRecord:
    """Open one line."""
    found = members(line, NAME)
    if not found.keys() >= _KNOWN:
        raise WireError(NAME, "", "request and response")
    body, answer = bytes(found["request"]), bytes(found["response"])
    # Answers differ more between dialects than requests do. An error is not an answer, so its request decides.
    dialect = detect(answer)[0] if b'"error"' not in answer[:64] else ""
    dialect = dialect or detect(body)[0]
    if not dialect:
        raise WireError(NAME, "/request", "a request of a known dialect")
    return LineRecord(
        "exchange", body, get(dialect), at="/request", unread=unknown_members(found, _KNOWN), answer=answer
    )


@lru_cache(maxsize=16)
def conversation_reader(name: str) -> Dialect:
    """The dialect called `name`, with a reader of exchanges: the answer is the last turn of the request."""
    base = get(name)

    def read_request(body: bytes, context: Context) -> Request:
        request_length, _, both = body.partition(b"\n")
        cut = int(request_length)
        request = base.read_request(both[:cut], context)
        inner = Context(context.source, context.target, answer_paths=base.answer_paths)
        response = base.read_response(both[cut:], inner)
        context.losses.replay(inner.losses.noted())
        if response.alternatives:
            context.lose("answer.dropped", ("response",))
        context.lose("field.dropped", ("response",), "all but the turn of the answer", severity="info")
        parts = tuple([msgspec.structs.replace(part, at=("response", *part.at)) for part in response.parts])
        turn = Turn("assistant", parts, at=("response",))
        return msgspec.structs.replace(request, turns=(*request.turns, turn))

    return msgspec.structs.replace(base, read_request=read_request, fast=None)


def join_documents(record: LineRecord) -> bytes:
    """The document for `conversation_reader`: the length of the request, the request, the answer."""
    return b"%d\n%b%b" % (len(record.body), record.body, record.answer)


def _refuse(record: LineRecord) -> bytes:
    raise ConfigError("target", NAME, problem="the format can be read, but not written")


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these."""
    both = isinstance(document.get("request"), dict) and isinstance(document.get("response"), dict)
    return "request and response" if both and "custom_id" not in document else ""


FORMAT = FileFormat(
    NAME,
    "Logs with a request and its answer (read only)",
    "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini",
    "2026-11-18",
    # No line is written in this format, so the dialect has no meaning here.
    get("openai-chat"),
    read,
    _refuse,
    evidence,
    kinds=frozenset(),
)
