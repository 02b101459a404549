"""Reads and writes Ollama answers, with their stop reason, time and usage."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ...canon.parts import Extra, Part, Path, ToolCall
from ...canon.request import Request
from ...canon.response import Response, Stop, StopReason, Usage
from ...codec import json_text
from ...codec.dialect_extras import gather, sent_fields, with_misplaced_fields
from ...codec.failure_sentence_in_answer import (
    FAILED,
    GAP,
    failure,
    is_exact,
    lose_missing_call,
    lose_stop,
    report_later_answers,
    with_failure,
)
from ...context import Context
from . import wire
from .call_pairing import Ids, seed
from .message_content import read_assistant, write_assistant
from .original_values import own, put_back, with_field
from .tool_results import write_results_messages

# `load` and `unload` end an answer without content: the request only loaded or freed the model (server documentation,
# 2026-08).
_REASONS: dict[str, StopReason] = {"stop": "stop", "length": "length", "load": "stop", "unload": "stop"}
_EXACT: frozenset[StopReason] = frozenset({"stop", "length", "tool_calls"})
_ID_AT: dict[str, Path] = {"gemini": ("responseId",), "code-assist": ("responseId",)}
"""The place of the answer's id in dialects that do not call it `id`."""
_YEAR_10000 = 253402300800
MESSAGE: Path = ("message",)


def read_response(body: bytes, context: Context) -> Response:
    """Read an answer into canon."""
    if b'"message"' not in body:
        message, unknown, _ = wire.MESSAGE.admit(body)
        if message.role == "assistant" or message.tool_calls:
            # An assistant message alone, as clients keep it in their history.
            parts = read_assistant(message, (), Ids(context, seed(None, context)), unknown)
            extra = gather(context, (), unknown) if unknown else None
            extra = with_misplaced_fields(context, (), message, ("tool_name", "tool_call_id"), extra)
            if extra is not None:
                extra = {wire.NAME: {f"message/{name}": value for name, value in extra[wire.NAME].items()}}
            return Response(tuple(parts), read_stop(None, parts, context), extra=extra)
    answer, unknown, context.spelled = wire.ANSWER.admit(body)
    message = answer.message
    parts = read_assistant(message, MESSAGE, Ids(context, seed(answer.created_at, context)), unknown)
    if message.tool_name is not None or message.tool_call_id is not None:
        for name in ("tool_name", "tool_call_id"):
            if getattr(message, name) is not None:
                unknown.setdefault(MESSAGE, {})[name] = json_text.raw(getattr(message, name))
    extra = gather(context, (), unknown, sent_fields(answer, wire.ANSWER_EXTRAS))
    created, extra = read_created(answer.created_at, extra, context)
    stop = read_stop(answer.done_reason, parts, context)
    return Response(tuple(parts), stop, "", answer.model or "", created, read_usage(answer), extra=extra)


def read_created(text: str | None, extra: Extra | None, context: Context) -> tuple[int | None, Extra | None]:
    """The Unix time of an RFC 3339 time. The exact text is kept as an extra."""
    if text is None:
        return None, extra
    value = json_text.raw(text)
    created = read_time(text)
    if created is None:
        context.keep((), {"created_at": value})
    return created, with_field(extra, "created_at", value)


def read_time(text: str) -> int | None:
    """The Unix time of an RFC 3339 time; None if it is malformed."""
    try:
        read = datetime.fromisoformat(text)
        # A time without an offset is UTC here; Python would use the zone of this machine.
        return int((read if read.tzinfo is not None else read.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def write_time(created: int) -> str:
    """The RFC 3339 text of a Unix time."""
    return datetime.fromtimestamp(created if 0 < created < _YEAR_10000 else 0, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_stop(word: str | None, parts: list[Part], context: Context) -> Stop:
    """The stop reason. A turn with calls also ends with `stop` (server sources, 2026-08), so the parts decide."""
    reason = _REASONS.get(word or "", "stop" if word else "unknown")
    if reason in ("stop", "unknown") and any(type(part) is ToolCall for part in parts):
        reason = "tool_calls"
    if not word or word in ("stop", "length"):
        return Stop(reason)
    return Stop(reason, extra={wire.NAME: {"done_reason": json_text.raw(word)}}, word=word)


def read_usage(answer: wire.Answer) -> Usage | None:
    """The token counts. `eval_count` includes thinking tokens. `prompt_eval_count` may be absent if the prompt was
    cached (2026-08).
    """
    if answer.prompt_eval_count is None and answer.eval_count is None:
        return None
    return Usage(answer.prompt_eval_count, answer.eval_count)


def write_response(response: Response, context: Context) -> bytes:
    """Write an answer from canon."""
    if response.alternatives:
        report_later_answers(response, context)
    out: dict[str, Any] = head(response.id, response.model, response.created, response.extra, context)
    out["message"] = write_assistant(
        with_failure(response.parts, failure(response.stop, wire.NAME), GAP), context, request=False
    )
    called = any(type(part) is ToolCall for part in response.parts)
    write_end(response.stop, called, response.usage, out, context)
    return json_text.encode(put_back(out, response.extra))


def head(answer_id: str, model: str, created: int | None, extra: Extra | None, context: Context) -> dict[str, Any]:
    """The fields before the message, in an answer and in every line of a stream. An answer has no id."""
    if answer_id:
        context.lose("id.dropped", _ID_AT.get(context.source, ("id",)), answer_id)
    stamp = own(extra, "created_at")
    return {
        "model": context.model or model,
        "created_at": stamp or write_time(context.created if created is None else created),
    }


def write_end(stop: Stop, called: bool, usage: Usage | None, out: dict[str, Any], context: Context) -> None:
    """Write the end of an answer: stop reason and usage. `called`: the answer has a call."""
    lose_missing_call(stop, called, "stop", context)
    # A whole answer has the shape of the last line of a stream (server sources, 2026-08).
    out["done"] = True
    out["done_reason"] = _write_stop(stop, context)
    if usage is None:
        return
    if usage.input is not None:
        out["prompt_eval_count"] = usage.input
    if usage.output is not None:
        out["eval_count"] = usage.output
    if usage.total is not None:
        context.lose("usage.dropped", context.answer_paths.usage, f"the total, {usage.total}, which is not the sum")
    if usage.tier is not None:
        context.lose("tier.dropped", usage.tier.at, usage.tier.word)
    # The counts of an answer are prompt_eval_count and eval_count; all other figures are durations (server sources,
    # 2026-08).
    if usage.cache_read or usage.cache_write or usage.reasoning:
        context.lose(
            "usage.dropped", context.answer_paths.usage, "there are no separate counts of cached and thinking tokens"
        )


def _write_stop(stop: Stop, context: Context) -> Any:
    original = own(stop.extra, "done_reason")
    if original is not None:
        return original
    # There are no other words for an answer: the rest are `load` and `unload` (server sources, 2026-08).
    word = "length" if stop.reason in ("length", "context_full") else "stop"
    if context.source != wire.NAME:
        lose_stop(stop, word, context, exact=is_exact(stop, _EXACT), written=stop.reason in FAILED)
    return word


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The messages to append to `messages`: the assistant's message, then one message per result."""
    messages: list[Any] = []
    calls = [part for part in response.parts if type(part) is ToolCall]
    assistant = write_assistant(response.parts, context, request=True)
    if assistant is not None:
        messages.append(assistant)
    for turn in results.turns:
        write_results_messages(turn, calls, messages, context)
    return json_text.encode(messages)
