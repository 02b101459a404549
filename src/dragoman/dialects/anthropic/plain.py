"""Plain Messages answers, read and written without the way through parts (see `canon.response.Plain`)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...canon.request import Request
from ...canon.response import Plain, PlainCall
from ...codec import jsontext
from ...codec.ids import plain_calls


class _Exact(Struct, forbid_unknown_fields=True, gc=False):
    """What is null or of one value in a plain answer is of that type, so that decoding checks it."""


class _Text(_Exact, tag_field="type", tag="text"):
    text: str
    citations: None = None


class _Call(_Exact, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: Raw


class _OutputDetails(_Exact):
    thinking_tokens: int | None = None


class _NothingCached(_Exact):
    ephemeral_5m_input_tokens: Literal[0] = 0
    ephemeral_1h_input_tokens: Literal[0] = 0


class _NothingRun(_Exact):
    web_search_requests: Literal[0] = 0
    web_fetch_requests: Literal[0] = 0


class _Usage(_Exact):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None
    cache_creation: _NothingCached | None = None
    server_tool_use: _NothingRun | None = None
    service_tier: Literal["standard"] | None = None
    inference_geo: Literal["not_available"] | None = None


class _Answer(_Exact):
    content: list[_Text | _Call]
    id: str
    model: str
    stop_reason: Literal["end_turn", "tool_use", "max_tokens"]
    usage: _Usage
    type: str | None = None
    role: str | None = None
    stop_sequence: None = None
    stop_details: None = None
    container: None = None
    context_management: None = None


_decode = msgspec.json.Decoder(_Answer).decode
_STOPS: dict[str, Literal["stop", "tool_calls", "length"]] = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
}
_WORDS = {stop: word for word, stop in _STOPS.items()}


def read_plain(body: bytes) -> Plain | None:
    try:
        answer = _decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    text = ""
    calls: list[PlainCall] = []
    for block in answer.content:
        if type(block) is _Call:
            arguments = str(block.input, "utf-8")
            if arguments[:1] != "{" or '"__raw"' in arguments[:16]:
                return None
            calls.append(PlainCall(block.id, block.name, arguments))
        elif not text and not calls and type(block) is _Text and block.text:
            text = block.text
        else:
            return None
    stop = _STOPS[answer.stop_reason]
    if calls:
        if stop != "tool_calls" or not plain_calls(calls):
            return None
    elif stop == "tool_calls" or not text:
        return None
    if not answer.id or not answer.model:
        return None
    usage = answer.usage
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    prompt = usage.input_tokens + (read or 0) + (written or 0)
    details = usage.output_tokens_details
    thought = details.thinking_tokens if details is not None else None
    return Plain(
        answer.id, answer.model, text, calls, stop, prompt, usage.output_tokens, read, written, thought, None, True
    )


def write_plain(plain: Plain, model: str, created: int, answers: Request | None) -> bytes | None:
    content: list[Any] = [{"type": "text", "text": plain.text}] if plain.text else []
    for call in plain.calls:
        if call.slot or not jsontext.is_object(call.arguments):
            return None
        if call.before:
            content.append({"type": "thinking", "thinking": "", "signature": call.before})
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": Raw(call.arguments)})
    read, written = plain.cache_read, plain.cache_write
    fresh = plain.input - (read or 0) - (written or 0)
    if fresh < 0:
        return None
    usage: dict[str, Any] = {"input_tokens": fresh}
    if written is not None:
        usage["cache_creation_input_tokens"] = written
    if read is not None:
        usage["cache_read_input_tokens"] = read
    usage["output_tokens"] = plain.output
    if plain.reasoning is not None:
        usage["output_tokens_details"] = {"thinking_tokens": plain.reasoning}
    return jsontext.encode(
        {
            "id": plain.id,
            "type": "message",
            "role": "assistant",
            "model": model or plain.model,
            "content": content,
            "stop_reason": _WORDS[plain.stop],
            "stop_sequence": None,
            "usage": usage,
        }
    )
