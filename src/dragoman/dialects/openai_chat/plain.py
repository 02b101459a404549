"""Plain Chat Completions answers, read and written without the way through parts (see `canon.response.Plain`)."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Path
from ...canon.request import Request
from ...canon.response import Plain, PlainCall
from ...codec import jsontext
from ...codec.extras import carried
from ...codec.ids import plain_calls
from . import wire


class _Exact(Struct, forbid_unknown_fields=True, gc=False):
    """What is null or of one value in a plain answer is of that type, so that decoding checks it."""


class _Function(_Exact):
    name: str
    arguments: str


class _Call(_Exact):
    id: str
    function: _Function
    type: Literal["function"] = "function"


class _Message(_Exact):
    role: Literal["assistant"] = "assistant"
    content: str | None = None
    tool_calls: list[_Call] | None = None
    refusal: None = None
    annotations: list[Raw] | None = None
    audio: None = None
    function_call: None = None
    reasoning_content: None = None
    reasoning: None = None


class _Choice(_Exact):
    message: _Message
    finish_reason: Literal["stop", "tool_calls", "length"]
    index: int = 0
    logprobs: None = None


class _PromptDetails(_Exact):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    audio_tokens: Literal[0] | None = None


class _CompletionDetails(_Exact):
    reasoning_tokens: int | None = None
    audio_tokens: Literal[0] | None = None
    accepted_prediction_tokens: Literal[0] | None = None
    rejected_prediction_tokens: Literal[0] | None = None


class _Usage(_Exact):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Answer(_Exact):
    id: str
    model: str
    choices: tuple[_Choice]
    usage: _Usage
    created: int | None = None
    object: str | None = None
    service_tier: Raw = wire.NONE
    system_fingerprint: Raw = wire.NONE
    prompt_filter_results: Raw = wire.NONE
    timings: Raw = wire.NONE


_decode = msgspec.json.Decoder(_Answer).decode
_extras = wire.COMPLETION_EXTRAS.values
_NO_PROMPT, _NO_COMPLETION = _PromptDetails(), _CompletionDetails()


def read_plain(body: bytes) -> Plain | None:
    try:
        answer = _decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    choice, usage = answer.choices[0], answer.usage
    message = choice.message
    said, stop = message.tool_calls, choice.finish_reason
    if message.annotations or bool(said) != (stop == "tool_calls") or not (answer.id and answer.model):
        return None
    calls = [PlainCall(call.id, call.function.name, call.function.arguments) for call in said] if said else []
    text = message.content or ""
    if not plain_calls(calls) or not (text or calls):
        return None
    output, total = usage.completion_tokens, usage.total_tokens
    asked = usage.prompt_tokens_details or _NO_PROMPT
    thought = (usage.completion_tokens_details or _NO_COMPLETION).reasoning_tokens
    if total != usage.prompt_tokens + output or (thought is not None and thought > output):
        return None
    return Plain(
        answer.id,
        answer.model,
        text,
        calls,
        stop,
        usage.prompt_tokens,
        output,
        asked.cached_tokens,
        asked.cache_write_tokens,
        thought,
        answer.created,
        False,
        False,
        partial(_kept, answer) if any(_extras(answer)) else None,
    )


def _kept(answer: _Answer) -> list[tuple[Path, dict[str, Raw]]]:
    return [((), carried(answer, wire.COMPLETION_EXTRAS) or {})]


def _written(call: PlainCall) -> dict[str, Any] | None:
    function = {"name": call.name, "arguments": call.arguments}
    if call.slot:
        slot = {"google": {"thought_signature": call.slot}}
        return {"id": call.id, "type": "function", "function": function, "extra_content": slot}
    return {"id": call.id, "type": "function", "function": function}


def write_plain(plain: Plain, model: str, created: int, answers: Request | None) -> bytes | None:
    message: dict[str, Any] = {"role": "assistant", "content": plain.text or None}
    for call in plain.calls:
        if call.before or not (plain.parsed or jsontext.is_object(call.arguments)):
            return None
    if plain.calls:
        message["tool_calls"] = [_written(call) for call in plain.calls]
    message["refusal"] = None
    usage: dict[str, Any] = {"prompt_tokens": plain.input, "completion_tokens": plain.output}
    read, written = plain.cache_read, plain.cache_write
    if read is not None or written is not None:
        details = usage["prompt_tokens_details"] = {} if read is None else {"cached_tokens": read}
        if written is not None:
            details["cache_write_tokens"] = written
    if plain.reasoning is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": plain.reasoning}
    usage["total_tokens"] = plain.input + plain.output
    return jsontext.encode(
        {
            "id": plain.id,
            "object": "chat.completion",
            "created": created if plain.created is None else plain.created,
            "model": model or plain.model,
            "choices": [{"index": 0, "message": message, "finish_reason": plain.stop}],
            "usage": usage,
        }
    )
