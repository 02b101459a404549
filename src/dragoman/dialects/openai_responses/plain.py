"""Plain Responses answers, read and written without the way through parts (see `canon.response.Plain`)."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Path
from ...canon.request import Request
from ...canon.response import Plain, PlainCall
from ...codec import jsontext
from ...codec.extras import NULL
from ...codec.ids import plain_calls
from . import wire
from .items import MADE_HERE, answer_id
from .response import around, filled
from .search import NAME as SEARCH

_CUT = {"reason": "max_output_tokens"}


class _Exact(Struct, forbid_unknown_fields=True, gc=False):
    """What is null or of one value in a plain answer is of that type, so that decoding checks it."""


class _Words(_Exact):
    text: str
    type: Literal["output_text"]
    annotations: list[Raw] | None = None
    logprobs: list[Raw] | None = None


class _Message(_Exact, tag_field="type", tag="message"):
    content: tuple[_Words]
    role: Literal["assistant"]
    id: str | None = None
    status: Literal["completed"] | None = None


class _Call(_Exact, tag_field="type", tag="function_call"):
    call_id: str
    name: str
    arguments: str
    id: str | None = None
    status: Literal["completed"] | None = None


class _InputDetails(_Exact):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(_Exact):
    reasoning_tokens: int | None = None


class _Usage(_Exact):
    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


_answer: Any = msgspec.defstruct(
    "Answer",
    [
        ("output", list[_Message | _Call]),
        ("usage", _Usage),
        ("id", str),
        ("model", str),
        ("status", Literal["completed"]),
        ("incomplete_details", None, None),
    ],
    bases=(wire.Answer,),
    kw_only=True,
)
_decode: Any = msgspec.json.Decoder(_answer).decode


def read_plain(body: bytes) -> Plain | None:
    try:
        answer = _decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    text = ""
    calls: list[PlainCall] = []
    for item in answer.output:
        if type(item) is _Call:
            calls.append(PlainCall(item.call_id, item.name, item.arguments))
        elif not text and not calls:
            words = item.content[0]
            text = words.text
            if not text or words.annotations or words.logprobs:
                return None
        else:
            return None
    usage = answer.usage
    if not (text or calls) or not (answer.id and answer.model) or (answer.error and answer.error != NULL):
        return None
    if usage.total_tokens != usage.input_tokens + usage.output_tokens or not plain_calls(calls):
        return None
    asked, answered = usage.input_tokens_details, usage.output_tokens_details
    return Plain(
        answer.id,
        answer.model,
        text,
        calls,
        "tool_calls" if calls else "stop",
        usage.input_tokens,
        usage.output_tokens,
        asked.cached_tokens if asked is not None else None,
        asked.cache_write_tokens if asked is not None else None,
        answered.reasoning_tokens if answered is not None else None,
        int(answer.created_at) if answer.created_at is not None else None,
        False,
        False,
        partial(_kept, answer),
    )


def _kept(answer: Any) -> list[tuple[Path, dict[str, Raw]]]:
    kept: list[tuple[Path, dict[str, Raw]]] = [
        (("output", i), {"id": jsontext.raw(item.id)}) for i, item in enumerate(answer.output) if item.id is not None
    ]
    return [*kept, ((), around(answer, own=False)[0])]


def write_plain(plain: Plain, model: str, created: int, answers: Request | None) -> bytes | None:
    cut = plain.stop == "length"
    output: list[Any] = []
    if plain.text:
        output.append(
            {
                "id": answer_id(plain.id, 0, "msg_"),
                "type": "message",
                "status": "incomplete" if cut else "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": plain.text, "annotations": [], "logprobs": []}],
            }
        )
    for call in plain.calls:
        if call.name == SEARCH or call.slot or not (plain.parsed or jsontext.is_object(call.arguments)):
            return None
        if call.before:
            name = answer_id(plain.id, len(output), MADE_HERE)
            output.append({"id": name, "type": "reasoning", "summary": [], "encrypted_content": call.before})
        output.append(
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "id": answer_id(plain.id, len(output), "fc_"),
                "status": "completed",
            }
        )
    details: dict[str, Any] = {"cached_tokens": plain.cache_read or 0}
    if plain.cache_write is not None:
        details["cache_write_tokens"] = plain.cache_write
    out: dict[str, Any] = {
        "id": plain.id,
        "object": "response",
        "created_at": created if plain.created is None else plain.created,
        "status": "incomplete" if cut else "completed",
        "model": model or plain.model,
        "output": output,
        "usage": {
            "input_tokens": plain.input,
            "input_tokens_details": details,
            "output_tokens": plain.output,
            "output_tokens_details": {"reasoning_tokens": plain.reasoning or 0},
            "total_tokens": plain.input + plain.output,
        },
    }
    if cut:
        out["incomplete_details"] = _CUT
    return filled(out, answers)
