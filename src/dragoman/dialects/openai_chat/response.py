"""Reads and writes Chat Completions answers, with stop reasons and usage."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Part, Path, Text, ToolCall
from ...canon.request import Request
from ...canon.response import Alternative, Response, Stop, StopReason, Tier, Usage
from ...codec import answer_ids, answer_service_tiers, json_text
from ...codec.call_ids import hashed_id
from ...codec.dialect_extras import NULL, Fields, gather, restore, sent_fields
from ...codec.failure_sentence_in_answer import (
    FAILED,
    GAP,
    failure,
    in_order,
    is_exact,
    lose_stop,
    stop_detail,
    with_failure,
)
from ...codec.wire_decoding_with_unknown_fields import Admitted, Unknown
from ...context import Context
from . import wire
from .answer_audio_reader import becomes_words, has_audio_content, is_empty, with_transcript
from .message_content import read_assistant, read_legacy, text_value, write_assistant
from .reasoning_details import FIELD
from .search_result_reader import take_search, with_search
from .tool_result_writer import write_results_messages

_MESSAGE_EXTRAS = Fields("audio", "reasoning_details")
_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    # The finish reason of a legacy call (openai 3.49.0, 2026-11).
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "error": "error",
    # Words of Mistral, Zhipu and DeepSeek.
    "model_length": "context_full",
    "model_context_window_exceeded": "context_full",
    "sensitive": "content_filter",
    "network_error": "error",
    "insufficient_system_resource": "error",
}
_WORDS: dict[StopReason, str] = {
    "stop": "stop",
    # Chat has one word for a natural end and a stop sequence (openai 3.49.0, 2026-11).
    "stop_sequence": "stop",
    "length": "length",
    "context_full": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "stop",
    # Chat has no word for a pause or a failure (openai 3.49.0, 2026-11).
    "pause": "stop",
    "bad_tool_call": "stop",
    "error": "stop",
    "unknown": "stop",
}
_FINISH_REASONS = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
"""The words that the schema of an answer accepts (openai 3.49.0, 2026-11)."""
_SISTERS = (wire.NAME, "openrouter")
"""Dialects that can hold a finish reason of this dialect."""
_FILTERED = "function_call_filter"
"""Google's Chat endpoint dropped a call that it could not parse; the reason follows after a colon."""
_COMPLETION = "completion_tokens"
_EXACT: frozenset[StopReason] = frozenset({"stop", "length", "tool_calls", "content_filter", "refusal"})


def read_response(body: bytes, context: Context) -> Response:
    """Read an answer into canon, or an assistant message alone."""
    if b'"choices"' not in body:
        message, unknown, _ = wire.MESSAGE.admit(body)
        if message.role == "assistant" or message.tool_calls:
            return read_message(message, context, unknown)
    return read_admitted(wire.COMPLETION.admit(body), context)


def read_admitted(admitted: Admitted[wire.Completion], context: Context) -> Response:
    """Read a decoded answer."""
    answer, unknown, context.spelled = admitted
    answers = [_read_choice(choice, i, answer.id or "", context, unknown) for i, choice in enumerate(answer.choices)]
    # The choices of an answer may come in any order; `index` numbers them.
    answers = in_order(answers, [choice.index for choice in answer.choices])
    first = answers[0] if answers else Alternative((), Stop("unknown"))
    search = take_search(unknown[()], context) if () in unknown and answers else None
    if search is not None:
        parts = with_search(list(first.parts), search, answer.id or "")
        first = msgspec.structs.replace(first, parts=tuple(parts))
    usage = read_usage(answer.usage, context, unknown) if answer.usage is not None else None
    if answer.service_tier and usage is not None and context.target not in wire.KIN:
        tier = answer_service_tiers.read(answer.service_tier)
        if tier is not None:
            usage, answer.service_tier = answer_service_tiers.with_tier(usage, tier, TIER_AT), wire.NONE
    extra = sent_fields(answer, wire.COMPLETION_EXTRAS)
    whole = gather(context, (), unknown, extra) if unknown or extra else None
    if first.extra is not None:
        whole = {wire.NAME: {**(whole or {}).get(wire.NAME, {}), **_below_first(first.extra[wire.NAME])}}
    return Response(
        first.parts,
        first.stop,
        answer.id or "",
        answer.model or "",
        answer.created,
        usage,
        tuple(answers[1:]),
        whole,
    )


def read_message(message: wire.Message, context: Context, unknown: Unknown) -> Response:
    """An assistant message alone, as clients keep it in their history."""
    parts = _with_sound(message, _read_parts(message, "", (), context, unknown), (), context)
    extra = gather(context, (), unknown, sent_fields(message, _MESSAGE_EXTRAS))
    if extra is not None:
        extra = {wire.NAME: {f"choices/0/message/{name}": value for name, value in extra[wire.NAME].items()}}
    return Response(tuple(parts), read_stop(None, parts, (), context), extra=extra)


def _read_choice(
    choice: wire.AnswerChoice, number: int, answer_id: str, context: Context, unknown: Unknown
) -> Alternative:
    at: Path = ("choices", number)
    wire.check_message(choice, f"/choices/{number}")
    parts = _read_parts(choice.message, f"{answer_id}:{number}", at + ("message",), context, unknown)
    if choice.message.audio:
        parts = _with_sound(choice.message, parts, at + ("message",), context)
    more = sent_fields(choice, wire.CHOICE_EXTRAS)
    if choice.message.audio or choice.message.reasoning_details:
        # Fields of the message are gathered with its choice.
        inner = sent_fields(choice.message, _MESSAGE_EXTRAS) or {}
        more = {**(more or {}), **{f"message/{name}": value for name, value in inner.items()}}
    for name in ("name", "tool_call_id"):  # fields of a request's message only
        value = getattr(choice.message, name)
        if value is not None:
            more = {**(more or {}), f"message/{name}": json_text.raw(value)}
    extra = gather(context, at, unknown, more) if unknown or more else None
    return Alternative(tuple(parts), read_stop(choice.finish_reason, parts, at, context), extra)


def _read_parts(message: wire.Message, salt: str, at: Path, context: Context, unknown: Unknown) -> list[Part]:
    parts = read_assistant(message, at, context, unknown, salt)
    legacy = message.function_call
    # Snowflake sends the field with empty members (recorded 2026-07).
    if legacy is not None and legacy.name:
        at = at + ("function_call",)
        context.lose("call.id.invented", at)
        parts.append(read_legacy(legacy, hashed_id(f"{salt}:{legacy.name}"), at, context, unknown))
    elif legacy is not None and text_value(legacy.arguments).strip():
        context.lose("field.dropped", at + ("function_call", "arguments"), "of a call without a name")
    return parts


def _with_sound(message: wire.Message, parts: list[Part], at: Path, context: Context) -> list[Part]:
    """The parts with the transcript of the message. The field stays if the target has the same field."""
    if not message.audio or not becomes_words(context):
        return parts
    if not has_audio_content(message.audio):
        if is_empty(message.audio):
            message.audio = wire.NONE
        return parts
    audio, message.audio = message.audio, wire.NONE
    return with_transcript(audio, parts, at, context)


def _below_first(fields: dict[str, Any]) -> dict[str, Any]:
    return {f"choices/0/{name}": value for name, value in fields.items()}


def read_stop(word: str | None, parts: list[Part], at: Path, context: Context) -> Stop:
    """The stop of an answer. If the word is too weak, the content decides, as for a `stop` after calls."""
    reason = _REASONS.get(word or "", "unknown")
    if reason == "unknown" and word and word.startswith(_FILTERED):
        reason = "bad_tool_call"
    if reason == "stop" or reason == "unknown":
        # With a forced tool_choice OpenAI answers `stop` beside calls (recorded 2025-10), so the parts decide.
        if parts and type(parts[-1]) is ToolCall:
            reason = "tool_calls"
        else:
            reason = _weak_reason(reason, word, parts)
    if not word or word == _WORDS[reason]:
        return Stop(reason)
    own = {"finish_reason": json_text.raw(word)}
    if word not in _REASONS:
        return Stop(reason, extra=context.keep(at, own))
    hosts = word not in _FINISH_REASONS and word != "error" and context.target not in _SISTERS
    detail = stop_detail(word, reason) if hosts else ""
    return Stop(reason, detail=detail, extra={wire.NAME: own}, word=word if hosts else "")


def _weak_reason(reason: StopReason, word: str | None, parts: list[Part]) -> StopReason:
    for part in parts:
        if type(part) is ToolCall:
            return "tool_calls"
    for part in parts:
        if type(part) is Text and part.refusal:
            return "refusal"
    return "stop" if word and word not in _REASONS else reason


def read_usage(usage: wire.Usage, context: Context, unknown: Unknown) -> Usage:
    """Token counts. Names of other hosts for the same figures are read for other dialects."""
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    more: dict[str, Any] = {}
    if prompt is not None and (counts := sent_fields(prompt, PROMPT_EXTRAS)):
        more |= {f"prompt_tokens_details/{name}": json_text.raw(value) for name, value in counts.items()}
    if completion is not None and (counts := sent_fields(completion, COMPLETION_EXTRAS)):
        more |= {f"completion_tokens_details/{name}": json_text.raw(value) for name, value in counts.items()}
    output = usage.completion_tokens
    thought = completion.reasoning_tokens if completion is not None else None
    own: dict[str, Raw] | None = None
    total = usage.total_tokens
    # completion_tokens includes reasoning tokens (openai 3.49.0, 2026-11); some hosts count them apart.
    if output is not None and thought and is_apart(thought, usage.prompt_tokens or 0, output, total):
        own = {_COMPLETION: json_text.raw(output)}
        output += thought
    if total == (usage.prompt_tokens or 0) + (output or 0):
        total = None
    tier: Tier | None = None
    # prompt_tokens includes cached tokens (openai 3.49.0, 2026-11).
    read, written = (prompt.cached_tokens, prompt.cache_write_tokens) if prompt is not None else (None, None)
    if unknown and context.target != wire.NAME:
        usage_fields = unknown.get(("usage",), {})
        read, written, thought = take_figures(usage_fields, read, written, thought)
        if context.target not in wire.KIN and "service_tier" in usage_fields:  # Mistral
            tier = _tier_in(usage_fields)
    extra = gather(context, ("usage",), unknown, more or None) if unknown or more else None
    if own is not None:
        extra = {wire.NAME: {**(extra or {}).get(wire.NAME, {}), **own}}
    return Usage(
        usage.prompt_tokens,
        output,
        read,
        written,
        thought,
        extra,
        total,
        tier,
    )


def with_earlier_counts(usage: Usage, earlier: Usage) -> Usage:
    """The counts of a later chunk of a stream. Counts that this chunk does not have are taken from an earlier chunk."""
    names = ("input", "output", "cache_read", "cache_write", "reasoning", "tier")
    absent = {
        name: getattr(earlier, name)
        for name in names
        if getattr(usage, name) is None and getattr(earlier, name) is not None
    }
    if earlier.extra is not None and earlier.extra != usage.extra:
        absent["extra"] = {
            dialect: {**fields, **(usage.extra or {}).get(dialect, {})} for dialect, fields in earlier.extra.items()
        }
    return msgspec.structs.replace(usage, **absent) if absent else usage


def is_apart(thought: int, prompt: int, output: int, total: int | None) -> bool:
    """Whether thinking is counted outside the completion tokens, as xAI and others do. The total decides if it equals
    one of the two sums. Otherwise thinking is counted outside if there are more thinking tokens than completion tokens.
    """
    return total == prompt + output + thought or (thought > output and total != prompt + output)


def _tier_in(fields: dict[str, Raw]) -> Tier | None:
    word = answer_service_tiers.read(fields["service_tier"])
    if word is None:
        return None
    del fields["service_tier"]
    return Tier(word, ("usage", *TIER_AT))


TIER_AT: Path = ("service_tier",)

_CACHE_READ = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens", "num_cached_tokens")
_CACHE_WRITE = ("cache_creation_input_tokens",)
_THOUGHT = ("reasoning_tokens",)
"""Names of these figures at DeepSeek, Moonshot, hosts like vLLM, and proxies in front of Claude."""
_CACHE_MISS = "prompt_cache_miss_tokens"
"""The complement of the hits. It has no meaning of its own."""
_HOST_FIGURES = frozenset({*_CACHE_READ, *_CACHE_WRITE, *_THOUGHT, _CACHE_MISS})


def take_figures(
    fields: dict[str, Raw], read: int | None, written: int | None, thought: int | None
) -> tuple[int | None, int | None, int | None]:
    """The tokens read from the cache, the tokens written to it, and the tokens of thoughts. A host may have its own
    names for these counts, which are then removed from `fields`.
    """
    if fields.keys().isdisjoint(_HOST_FIGURES):
        return read, written, thought
    # DeepSeek and others have other names for the cached tokens (recorded 2026-08).
    read = _other_word(fields, _CACHE_READ, read)
    written = _other_word(fields, _CACHE_WRITE, written)
    thought = _other_word(fields, _THOUGHT, thought)
    fields.pop(_CACHE_MISS, None)
    return read, written, thought


def _other_word(fields: dict[str, Raw], names: tuple[str, ...], count: int | None) -> int | None:
    """The count, which may be under a host's own name, or under both names with the same value."""
    for name in names:
        found = json_text.plain(fields[name]) if name in fields else None
        if type(found) is int and (count is None or count == found):
            del fields[name]
            count = found
    return count


PROMPT_EXTRAS = Fields("audio_tokens", "image_tokens", "text_tokens", "video_tokens")
COMPLETION_EXTRAS = Fields(*PROMPT_EXTRAS[:3], "accepted_prediction_tokens", "rejected_prediction_tokens")
"""Figures that only this dialect has."""


def write_response(response: Response, context: Context) -> bytes:
    """Write an answer from canon."""
    choices: list[Any] = [_write_choice(response.parts, response.stop, 0, context)]
    for i, other in enumerate(response.alternatives):
        choices.append(restore(_write_choice(other.parts, other.stop, i + 1, context), other.extra, wire.NAME))
    out: dict[str, Any] = {
        "id": answer_ids.for_response(response.id, response.parts, id_prefix(context), context),
        "object": "chat.completion",
        "created": context.created if response.created is None else response.created,
        "model": context.model or response.model,
        "choices": choices,
    }
    if response.usage is not None:
        out["usage"] = write_usage(response.usage, context)
        tier = answer_service_tiers.write(response.usage, answer_service_tiers.OPENAI, context)
        if tier is not None:
            out["service_tier"] = tier
    if response.extra is not None:
        restore(out, response.extra, wire.NAME)
    if context.source != context.target:
        _complete(out, context)
    return json_text.encode(out)


def id_prefix(context: Context) -> str:
    """The prefix of answer ids. OpenRouter has its own prefix, `gen-` (recorded 2026)."""
    return answer_ids.CHAT if context.target == wire.NAME else answer_ids.OPENROUTER


def _complete(out: dict[str, Any], context: Context) -> None:
    """Add the fields that the schema of an answer requires. An answer of this dialect stays unchanged."""
    for choice in out["choices"]:
        # Typed clients expect `logprobs` in every choice (openai 3.49.0, 2026-11).
        scores = choice.setdefault("logprobs", None)
        if isinstance(scores, Raw) and json_text.is_object(scores):
            choice["logprobs"] = {"content": None, "refusal": None, **json_text.fields(scores)}
    if context.target == wire.NAME and out.get(_PRINT) == NULL:
        # OpenRouter's schema requires the field and allows null; OpenAI's schema allows a text only (2026-08).
        del out[_PRINT]


_PRINT = "system_fingerprint"


def _write_choice(parts: tuple[Part, ...], stop: Stop, index: int, context: Context) -> dict[str, Any]:
    stop = own_word(stop, context)
    parts = with_failure(parts, failure(stop, wire.NAME), GAP)
    message = write_assistant(parts, context, request=False) or {}
    stop = stop_for_calls(stop, "tool_calls" in message, context, index)
    finish = write_stop(stop, message.get("refusal") is not None, context, index)
    return {"index": index, "message": message, "finish_reason": finish}


def own_word(stop: Stop, context: Context) -> Stop:
    """The stop without a word of a related dialect that the schema of this dialect refuses (OpenRouter's `error`)."""
    if stop.extra is None or wire.NAME not in stop.extra or context.source == context.target:
        return stop
    word = json_text.plain(stop.extra[wire.NAME]["finish_reason"])
    if context.target != wire.NAME or word in _FINISH_REASONS:
        return stop
    return msgspec.structs.replace(stop, extra=None, word=str(word))


def stop_for_calls(stop: Stop, calls: bool, context: Context, number: int) -> Stop:
    """The stop of an answer that ended with calls but has none to write."""
    if calls or stop.reason != "tool_calls":
        return stop
    context.lose("stop.approximated", context.stopped(stop, number), "tool_calls without a call is sent as stop")
    return Stop("stop")


def write_stop(stop: Stop, refused: bool, context: Context, number: int = 0) -> Any:
    """The finish reason. `refused`: the message has a refusal."""
    if stop.extra is not None and wire.NAME in stop.extra:
        return stop.extra[wire.NAME]["finish_reason"]
    word = _WORDS[stop.reason]
    if stop.reason == "refusal" and not refused:
        # A refusal without its text is written as content_filter.
        word = "content_filter"
    exact = is_exact(stop, _EXACT) and not (stop.reason == "refusal" and not refused)
    lose_stop(stop, word, context, number, exact=exact, written=stop.reason in FAILED)
    return word


def write_usage(usage: Usage, context: Context) -> dict[str, Any]:
    """The usage object."""
    prompt, completion = usage.input or 0, usage.output or 0
    if usage.input is None or usage.output is None:
        # Typed clients expect both counts (openai 3.49.0, 2026-11).
        context.lose("usage.invented", context.answer_paths.usage)
    out: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if usage.extra is not None and wire.NAME in usage.extra:
        return _write_own_usage(usage, out)
    if usage.cache_read is not None:
        details = out["prompt_tokens_details"] = {"cached_tokens": usage.cache_read}
        if usage.cache_write is not None:
            details["cache_write_tokens"] = usage.cache_write
    elif usage.cache_write is not None:
        out["prompt_tokens_details"] = {"cache_write_tokens": usage.cache_write}
    if usage.reasoning is not None:
        out["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    out["total_tokens"] = prompt + completion if usage.total is None else usage.total
    return out


def _write_own_usage(usage: Usage, out: dict[str, Any]) -> dict[str, Any]:
    """Add the figures that only this dialect has."""
    prompt_details = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    completion_details = {"reasoning_tokens": usage.reasoning}
    for name, details in (("prompt_tokens_details", prompt_details), ("completion_tokens_details", completion_details)):
        out[name] = {key: value for key, value in details.items() if value is not None}
    total = out["prompt_tokens"] + out["completion_tokens"] if usage.total is None else usage.total
    if usage.extra is not None and _COMPLETION in usage.extra[wire.NAME]:
        del out[_COMPLETION]
    out = restore(out, usage.extra, wire.NAME)
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        if not out[name]:
            del out[name]
    out.setdefault("total_tokens", total)
    return out


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The messages to append: the assistant's message, then one message for each result."""
    messages: list[Any] = []
    calls = [part for part in response.parts if type(part) is ToolCall]
    assistant = write_assistant(response.parts, context, request=True)
    listed = (response.extra or {}).get(wire.NAME, {}).get(f"choices/0/message/{FIELD}")
    if listed is not None and context.source == wire.NAME:  # seals that the client must return
        assistant = {**(assistant or {"role": "assistant", "content": None}), FIELD: listed}
    if assistant is not None:
        messages.append(assistant)
    for turn in results.turns:
        write_results_messages(turn, calls, messages, context)
    return json_text.encode(messages)
