"""Chat Completions answers: read into canon, written from canon; stop reasons and usage."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Part, Text, ToolCall
from ...canon.request import Request
from ...canon.response import Alternative, Response, Stop, StopReason, Usage
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.extras import carried, gather, restore
from ...codec.ids import hashed
from ...crossing import Crossing
from . import wire
from .message import read_assistant, text_value, write_assistant
from .request import write_result_messages

_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
_WORDS: dict[StopReason, str] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "context_full": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "stop",
    "pause": "stop",
    "bad_tool_call": "stop",
    "error": "stop",
    "unknown": "stop",
}
_EXACT: frozenset[StopReason] = frozenset({"stop", "length", "tool_calls", "content_filter", "refusal"})


def read_response(body: bytes, crossing: Crossing) -> Response:
    answer, unknown, _ = wire.COMPLETION.admit(body)
    answers: list[Alternative] = []
    for i, choice in enumerate(answer.choices):
        at = ("choices", i)
        message_at = at + ("message",)
        message = choice.message
        parts = read_assistant(message, message_at, crossing, unknown)
        if message.function_call is not None and message.function_call.name:  # some hosts send it with empty fields
            legacy = message.function_call
            call_id = hashed(f"{answer.id}:{i}")
            crossing.lose("call.id.invented", (*message_at, "function_call"))
            parts.append(
                ToolCall(call_id, legacy.name or "", text_value(legacy.arguments), at=message_at + ("function_call",))
            )
        # Fields of the message itself are gathered with its choice.
        more = {f"message/{k}": v for k, v in (carried(message, ("audio", "reasoning_details")) or {}).items()}
        extra = gather(crossing, at, unknown, {**(carried(choice, wire.CHOICE_EXTRAS) or {}), **more} or None)
        answers.append(Alternative(tuple(parts), read_stop(choice.finish_reason, parts, crossing), extra))
    first = answers[0] if answers else Alternative((), Stop("unknown"))
    usage = read_usage(answer.usage, crossing, unknown) if answer.usage is not None else None
    extra = gather(crossing, (), unknown, carried(answer, wire.COMPLETION_EXTRAS))
    if first.extra is not None:
        extra = {wire.NAME: {**(extra or {}).get(wire.NAME, {}), **_below_first(first.extra[wire.NAME])}}
    return Response(
        first.parts,
        first.stop,
        answer.id or "",
        answer.model or "",
        answer.created,
        usage,
        tuple(answers[1:]),
        extra,
    )


def _below_first(fields: dict[str, Any]) -> dict[str, Any]:
    return {f"choices/0/{name}": value for name, value in fields.items()}


def read_stop(word: str | None, parts: list[Part], crossing: Crossing) -> Stop:
    """Why it ended, decided by the content where the word is too weak: hosts say `stop` after calls, too."""
    reason = _REASONS.get(word or "", "unknown")
    if reason in ("stop", "unknown"):
        if any(isinstance(part, ToolCall) for part in parts):
            reason = "tool_calls"
        elif any(isinstance(part, Text) and part.refusal for part in parts):
            reason = "refusal"
        elif word and word not in _REASONS:
            reason = "error" if word == "error" else "stop"
    if not word or word == _WORDS[reason]:
        return Stop(reason)
    own = {"finish_reason": jsontext.raw(word)}
    return Stop(reason, extra={wire.NAME: own} if word in _REASONS else crossing.keep(("choices", 0), own))


def read_usage(usage: wire.Usage, crossing: Crossing, unknown: Unknown) -> Usage:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    more: dict[str, Any] = {}
    for name, details, known in (
        ("prompt_tokens_details", prompt, ("cached_tokens", "cache_write_tokens")),
        ("completion_tokens_details", completion, ("reasoning_tokens",)),
    ):
        if details is None:
            continue
        for field in details.__struct_fields__:
            value = getattr(details, field)
            if value and field not in known:
                more[f"{name}/{field}"] = jsontext.raw(value)
    total = usage.total_tokens
    if total is not None and total != (usage.prompt_tokens or 0) + (usage.completion_tokens or 0):
        more["total_tokens"] = jsontext.raw(total)
    return Usage(
        usage.prompt_tokens,
        usage.completion_tokens,
        prompt.cached_tokens if prompt is not None else None,
        prompt.cache_write_tokens if prompt is not None else None,
        completion.reasoning_tokens if completion is not None else None,
        gather(crossing, ("usage",), unknown, more or None),
    )


def write_response(response: Response, crossing: Crossing) -> bytes:
    choices = [_write_choice(response.parts, response.stop, 0, crossing)]
    for i, other in enumerate(response.alternatives):
        choices.append(restore(_write_choice(other.parts, other.stop, i + 1, crossing), other.extra, wire.NAME))
    response_id = response.id
    if not response_id:
        response_id = hashed(repr(response.parts), "chatcmpl_")
        crossing.lose("id.invented")
    out: dict[str, Any] = {
        "id": response_id,
        "object": "chat.completion",
        "created": crossing.created if response.created is None else response.created,
        "model": crossing.model or response.model,
        "choices": choices,
    }
    if response.usage is not None:
        out["usage"] = write_usage(response.usage, crossing)
    return jsontext.encode(restore(out, response.extra, wire.NAME))


def _write_choice(parts: tuple[Part, ...], stop: Stop, index: int, crossing: Crossing) -> dict[str, Any]:
    message = write_assistant(parts, crossing, request=False)
    return {"index": index, "message": message, "finish_reason": write_stop(stop, crossing)}


def write_stop(stop: Stop, crossing: Crossing) -> Any:
    if stop.extra is not None and wire.NAME in stop.extra:
        return stop.extra[wire.NAME]["finish_reason"]
    if stop.reason not in _EXACT:
        crossing.lose("stop.approximated", (), f"{stop.reason} is sent as {_WORDS[stop.reason]}")
    return _WORDS[stop.reason]


def write_usage(usage: Usage, crossing: Crossing) -> dict[str, Any]:
    prompt, completion = usage.input or 0, usage.output or 0
    out: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    details: dict[str, int] = {}
    if usage.cache_read is not None:
        details["cached_tokens"] = usage.cache_read
    if usage.cache_write is not None:
        details["cache_write_tokens"] = usage.cache_write
    if details:
        out["prompt_tokens_details"] = details
    if usage.reasoning is not None:
        out["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    out = restore(out, usage.extra, wire.NAME)
    out.setdefault("total_tokens", prompt + completion)
    return out


def write_results(response: Response, results: Request, crossing: Crossing) -> bytes:
    """What to append to `messages`: the assistant's message, then one message a result."""
    messages: list[Any] = []
    assistant = write_assistant(response.parts, crossing, request=True)
    if assistant is not None:
        messages.append(assistant)
    for turn in results.turns:
        write_result_messages(turn, messages, crossing)
    return jsontext.encode(messages)
