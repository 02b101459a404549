"""Chat Completions answers: read into canon, written from canon; stop reasons and usage."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Part, Path, Text, ToolCall
from ...canon.request import Request
from ...canon.response import Alternative, Response, Stop, StopReason, Usage
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.extras import carried, gather, restore
from ...codec.ids import hashed
from ...crossing import Crossing
from . import wire
from .message import read_assistant, read_legacy, write_assistant
from .results import write_results_messages

_MESSAGE_EXTRAS = ("audio", "reasoning_details")
_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "error": "error",
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
_COMPLETION = "completion_tokens"
_EXACT: frozenset[StopReason] = frozenset({"stop", "length", "tool_calls", "content_filter", "refusal"})


def read_response(body: bytes, crossing: Crossing) -> Response:
    if b'"choices"' not in body:
        message, unknown, _ = wire.MESSAGE.admit(body)
        if message.role == "assistant" or message.tool_calls:
            return _read_message(message, crossing, unknown)
    answer, unknown, _ = wire.COMPLETION.admit(body)
    answers = [_read_choice(choice, i, answer.id or "", crossing, unknown) for i, choice in enumerate(answer.choices)]
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


def _read_message(message: wire.Message, crossing: Crossing, unknown: Unknown) -> Response:
    """An assistant's message by itself, as clients keep it in their history."""
    parts = _read_parts(message, "", (), crossing, unknown)
    extra = gather(crossing, (), unknown, carried(message, _MESSAGE_EXTRAS))
    if extra is not None:
        extra = {wire.NAME: {f"choices/0/message/{name}": value for name, value in extra[wire.NAME].items()}}
    return Response(tuple(parts), read_stop(None, parts, (), crossing), extra=extra)


def _read_choice(
    choice: wire.AnswerChoice, number: int, answer_id: str, crossing: Crossing, unknown: Unknown
) -> Alternative:
    at: Path = ("choices", number)
    parts = _read_parts(choice.message, f"{answer_id}:{number}", at + ("message",), crossing, unknown)
    # Fields of the message itself are gathered with its choice.
    more = {f"message/{name}": value for name, value in (carried(choice.message, _MESSAGE_EXTRAS) or {}).items()}
    extra = gather(crossing, at, unknown, {**(carried(choice, wire.CHOICE_EXTRAS) or {}), **more} or None)
    return Alternative(tuple(parts), read_stop(choice.finish_reason, parts, at, crossing), extra)


def _read_parts(message: wire.Message, salt: str, at: Path, crossing: Crossing, unknown: Unknown) -> list[Part]:
    parts = read_assistant(message, at, crossing, unknown, salt)
    legacy = message.function_call
    if legacy is not None and legacy.name:  # some hosts send it with empty fields
        at = at + ("function_call",)
        crossing.lose("call.id.invented", at)
        parts.append(read_legacy(legacy, hashed(f"{salt}:{legacy.name}"), at, crossing, unknown))
    return parts


def _below_first(fields: dict[str, Any]) -> dict[str, Any]:
    return {f"choices/0/{name}": value for name, value in fields.items()}


def read_stop(word: str | None, parts: list[Part], at: Path, crossing: Crossing) -> Stop:
    """Why it ended, decided by the content where the word is too weak: hosts say `stop` after calls, too."""
    reason = _REASONS.get(word or "", "unknown")
    if reason in ("stop", "unknown"):
        if any(isinstance(part, ToolCall) for part in parts):
            reason = "tool_calls"
        elif any(isinstance(part, Text) and part.refusal for part in parts):
            reason = "refusal"
        elif word and word not in _REASONS:
            reason = "stop"
    if not word or word == _WORDS[reason]:
        return Stop(reason)
    own = {"finish_reason": jsontext.raw(word)}
    return Stop(reason, extra={wire.NAME: own} if word in _REASONS else crossing.keep(at, own))


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
    output = usage.completion_tokens
    thought = completion.reasoning_tokens if completion is not None else None
    own: dict[str, Raw] | None = None
    if output is not None and thought is not None and thought > output:
        # xAI and others do not count thinking among the completion tokens.
        own = {_COMPLETION: jsontext.raw(output)}
        output += thought
    total = usage.total_tokens
    if total is not None and total != (usage.prompt_tokens or 0) + (output or 0):
        more["total_tokens"] = jsontext.raw(total)
    extra = gather(crossing, ("usage",), unknown, more or None)
    if own is not None:
        extra = {wire.NAME: {**(extra or {}).get(wire.NAME, {}), **own}}
    return Usage(
        usage.prompt_tokens,
        output,
        prompt.cached_tokens if prompt is not None else None,
        prompt.cache_write_tokens if prompt is not None else None,
        thought,
        extra,
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
    refused = any(isinstance(part, Text) and part.refusal for part in parts)
    return {"index": index, "message": message, "finish_reason": write_stop(stop, refused, crossing)}


def write_stop(stop: Stop, refused: bool, crossing: Crossing) -> Any:
    """The finish reason. `refused`: the message says in its refusal that the model said no."""
    if stop.extra is not None and wire.NAME in stop.extra:
        return stop.extra[wire.NAME]["finish_reason"]
    word = _WORDS[stop.reason]
    if stop.reason == "refusal" and not refused:
        word = "content_filter"
    elif stop.reason in _EXACT and not stop.detail:
        return word
    crossing.lose("stop.approximated", (), f"{stop.detail or stop.sequence or stop.reason} is sent as {word}")
    return word


def write_usage(usage: Usage, crossing: Crossing) -> dict[str, Any]:
    prompt, completion = usage.input or 0, usage.output or 0
    if usage.input is None or usage.output is None:
        crossing.lose("usage.invented")
    out: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    asked: dict[str, Any] = {}
    if usage.cache_read is not None:
        asked["cached_tokens"] = usage.cache_read
    if usage.cache_write is not None:
        asked["cache_write_tokens"] = usage.cache_write
    said: dict[str, Any] = {} if usage.reasoning is None else {"reasoning_tokens": usage.reasoning}
    out["prompt_tokens_details"], out["completion_tokens_details"] = asked, said
    if usage.extra is not None and _COMPLETION in usage.extra.get(wire.NAME, {}):
        del out[_COMPLETION]
    out = restore(out, usage.extra, wire.NAME)
    for name, details in (("prompt_tokens_details", asked), ("completion_tokens_details", said)):
        if not details:
            del out[name]
    out.setdefault("total_tokens", prompt + completion)
    return out


def write_results(response: Response, results: Request, crossing: Crossing) -> bytes:
    """What to append to `messages`: the assistant's message, then one message a result."""
    messages: list[Any] = []
    calls = [part for part in response.parts if isinstance(part, ToolCall)]
    assistant = write_assistant(response.parts, crossing, request=True)
    if assistant is not None:
        messages.append(assistant)
    for turn in results.turns:
        write_results_messages(turn, calls, messages, crossing)
    return jsontext.encode(messages)
