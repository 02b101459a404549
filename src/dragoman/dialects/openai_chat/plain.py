"""Plain Chat Completions answers, read and written without the way through parts (see `canon.response.Plain`)."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...canon.request import Request
from ...canon.response import Named, Plain, PlainCall
from ...codec import jsontext
from ...codec.extras import NULL, said
from ...codec.plain import NOT_PLAIN, CallId, Exact, Word
from . import wire


class _Function(PlainCall, forbid_unknown_fields=True, gc=False):
    pass


class _Call(Exact):
    id: CallId
    function: _Function
    type: Literal["function"] = "function"


class _Message(Exact):
    role: Literal["assistant"] = "assistant"
    content: str | None = None
    tool_calls: list[_Call] | None = None
    refusal: None = None
    annotations: tuple[()] | None = None
    audio: None = None
    function_call: None = None
    reasoning_content: None = None
    reasoning: None = None


class _Choice(Exact):
    message: _Message
    finish_reason: Literal["stop", "tool_calls", "length"]
    index: int = 0
    logprobs: None = None


class _PromptDetails(Exact):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    audio_tokens: Literal[0] | None = None


class _CompletionDetails(Exact):
    reasoning_tokens: int | None = None
    audio_tokens: Literal[0] | None = None
    accepted_prediction_tokens: Literal[0] | None = None
    rejected_prediction_tokens: Literal[0] | None = None


class _Usage(Exact, kw_only=True):
    prompt_tokens: int
    completion_tokens: int
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None
    total_tokens: int


class _Answer(Exact):
    id: Word
    model: Word
    choices: tuple[_Choice]
    usage: _Usage
    created: int | None = None
    object: str | None = None
    service_tier: Raw = NULL
    system_fingerprint: Raw = NULL
    prompt_filter_results: Raw = NULL
    timings: Raw = NULL


class _Called(Struct, gc=False):
    """A call as it is written."""

    id: str
    type: str
    function: PlainCall
    extra_content: dict[str, Any] | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Answer).decode
_NOTHING_ASKED, _NOTHING_TOLD = _PromptDetails(), _CompletionDetails()


def read_plain(body: bytes) -> Plain | None:
    try:
        answer = _decode(body)
    except NOT_PLAIN:
        return None
    choice, usage = answer.choices[0], answer.usage
    message, stop = choice.message, choice.finish_reason
    text, said = message.content or "", message.tool_calls
    calls: dict[str, PlainCall] = {}
    if said:
        calls = {call.id: call.function for call in said}
        if stop != "tool_calls" or len(calls) < len(said):
            return None
    elif stop == "tool_calls" or not text:
        return None
    prompt, output = usage.prompt_tokens, usage.completion_tokens
    asked = usage.prompt_tokens_details or _NOTHING_ASKED
    thought = (usage.completion_tokens_details or _NOTHING_TOLD).reasoning_tokens
    if usage.total_tokens != prompt + output or (thought is not None and thought > output):
        return None
    return Plain(
        answer.id,
        answer.model,
        text,
        calls,
        stop,
        prompt,
        output,
        asked.cached_tokens,
        asked.cache_write_tokens,
        thought,
        answer.created,
        False,
        partial(_kept, answer),
    )


def _kept(answer: _Answer) -> Named:
    return (((), said(answer, wire.COMPLETION_EXTRAS)),)


def write_plain(plain: Plain, model: str, created: int, answers: Request | None) -> bytes | None:
    message: dict[str, Any] = {"role": "assistant", "content": plain.text or None}
    calls = plain.calls
    if calls:
        if plain.thoughts is not None:
            return None
        if plain.slots is None:
            message["tool_calls"] = [_Called(call_id, "function", call) for call_id, call in calls.items()]
        else:
            slots = {call_id: {"google": {"thought_signature": packed}} for call_id, packed in plain.slots.items()}
            message["tool_calls"] = [
                _Called(call_id, "function", call, slots.get(call_id, UNSET)) for call_id, call in calls.items()
            ]
    message["refusal"] = None
    read, written, thought = plain.cache_read, plain.cache_write, plain.reasoning
    return jsontext.encode(
        {
            "id": plain.id,
            "object": "chat.completion",
            "created": created if plain.created is None else plain.created,
            "model": model or plain.model,
            "choices": [{"index": 0, "message": message, "finish_reason": plain.stop}],
            "usage": _Usage(
                prompt_tokens=plain.input,
                completion_tokens=plain.output,
                prompt_tokens_details=None if read is None and written is None else _PromptDetails(read, written),
                completion_tokens_details=None if thought is None else _CompletionDetails(thought),
                total_tokens=plain.input + plain.output,
            ),
        }
    )
