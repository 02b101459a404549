"""Reads and writes Messages answers, with stop reasons and usage."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Raw

from ...canon.parts import Opaque, Path, Text, ToolCall
from ...canon.request import Request
from ...canon.response import Response, Stop, StopReason, Usage
from ...canon.turns import Turn
from ...codec import answer_ids, answer_service_tiers, json_text
from ...codec.dialect_extras import NULL, gather, restore, sent_fields
from ...codec.failure_sentence_in_answer import (
    FAILED,
    failure,
    is_exact,
    lose_missing_call,
    lose_stop,
    report_later_answers,
    with_failure,
)
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .history_writer import History
from .message_content_reader import marked, read_content
from .message_content_writer import BlockWriter
from .wire_by_block_type import admit_answer

_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    # After max_tokens a last tool_use may be incomplete (docs "Handling stop reasons", 2026-10).
    "max_tokens": "length",
    # The context window was full before max_tokens was reached (docs "Handling stop reasons", 2026-10).
    "model_context_window_exceeded": "context_full",
    "tool_use": "tool_calls",
    # A refusal may have stop_details with a category and an explanation (anthropic 2.8.0, 2026-11).
    "refusal": "refusal",
    # pause_turn: the loop of a server tool paused; the client sends the answer back as it is (docs "Handling stop
    # reasons", 2026-10).
    "pause_turn": "pause",
    # compaction is a beta stop reason: the client continues as after a pause (anthropic 2.8.0).
    "compaction": "pause",
}
_WORDS: dict[StopReason, str] = {
    "stop": "end_turn",
    "stop_sequence": "stop_sequence",
    "length": "max_tokens",
    "context_full": "model_context_window_exceeded",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
    "refusal": "refusal",
    "pause": "pause_turn",
    # Messages has no stop word for a failed answer.
    "bad_tool_call": "end_turn",
    "error": "end_turn",
    "unknown": "end_turn",
}
_EXACT = frozenset(_REASONS.values())
_FIGURE = re.compile(rb":(?!\s*0\s*[,}])")
"""A value other than 0 in an object."""


def read_response(body: bytes, context: Context) -> Response:
    """Read an answer into canon."""
    answer, unknown, context.spelled = admit_answer(body)
    parts = read_content(answer.content, ("content",), context, unknown, answer.model or "")
    usage = read_usage(answer.usage, ("usage",), context, unknown) if answer.usage is not None else None
    stop = plain_stop(answer.stop_reason, answer.stop_sequence, answer.stop_details)
    if stop is None or (stop.reason == "stop" and parts and type(parts[-1]) is not Text):
        called = any(type(part) is ToolCall for part in parts)
        stop = read_stop(answer.stop_reason, answer.stop_sequence, answer.stop_details, called, context)
        refusal = explanation(answer.stop_reason, answer.stop_details, context)
        if refusal is not None:
            parts.append(refusal)
    more = sent_fields(answer, wire.ANSWER_EXTRAS)
    extra = gather(context, (), unknown, more) if unknown or more else None
    return Response(tuple(parts), stop, answer.id or "", answer.model or "", None, usage, (), extra)


_SEQUENCE = ("stop_sequence",)
_PLAIN_STOPS = {"end_turn": Stop("stop"), "tool_use": Stop("tool_calls"), "max_tokens": Stop("length")}


def plain_stop(word: str | None, sequence: str | None, details: Raw) -> Stop | None:
    """The stop of an answer with a usual word and nothing else. None for any other."""
    if sequence is None and (details is wire.NONE or details == NULL):
        return _PLAIN_STOPS.get(word or "")
    return None


def read_stop(word: str | None, sequence: str | None, details: Raw, called: bool, context: Context) -> Stop:
    """The stop of an answer. If the word only means "ended", calls decide."""
    reason = _REASONS.get(word or "", "unknown")
    fields: dict[str, Raw] = {}
    detail = ""
    detail_at: Path = ()
    if details and details != NULL:
        fields["stop_details"] = details
        value = json_text.plain(details)
        if _explains(reason, value):
            rest = {name: raw for name, raw in json_text.fields(details).items() if name not in ("type", "explanation")}
            if rest:
                context.keep(("stop_details",), rest)
            if context.target in _OWN_FIELD:
                detail, detail_at = value["explanation"], _EXPLANATION
        else:
            detail = str(value.get("explanation") or value.get("category") or "") if isinstance(value, dict) else ""
            context.keep((), dict(fields))
    own = word if word is not None and (reason == "unknown" or word != _WORDS[reason]) else ""
    if own:
        fields["stop_reason"] = json_text.raw(own)
    if called and reason in ("stop", "unknown"):
        reason = "tool_calls"
    at = _SEQUENCE if sequence is not None else ("stop_reason",) if own else ()
    return Stop(reason, sequence, detail, {wire.NAME: fields} if fields else None, at, own, detail_at)


_EXPLANATION: Path = ("stop_details", "explanation")
_OWN_FIELD = frozenset({wire.NAME, "gemini", "code-assist"})
"""Dialects with a field for the explanation of a stop: `stop_details` here, `finishMessage` in Gemini."""


def _explains(reason: str, details: Any) -> bool:
    """Whether the details of a stop hold the words of a refusal."""
    return reason == "refusal" and isinstance(details, dict) and bool(details.get("explanation"))


def explanation(word: str | None, details: Raw, context: Context) -> Text | None:
    """The words of a refusal as a part, for dialects in which they are a part of the answer (`refusal`, openai 3.49.0,
    2026-11). Without them, the client gets an empty answer.
    """
    if not details or details == NULL or context.target in _OWN_FIELD:
        return None
    value = json_text.plain(details)
    return Text(str(value["explanation"]), True, at=_EXPLANATION) if _explains(word or "", value) else None


def read_usage(usage: wire.Usage, at: tuple[str, ...], context: Context, unknown: Unknown) -> Usage:
    """Token totals. This dialect counts cached tokens separately from `input_tokens` (anthropic 2.8.0, 2026-11); the
    canon includes them.
    """
    extra = None
    tier = answer_service_tiers.read(usage.service_tier) if usage.service_tier and context.target != wire.NAME else None
    more = sent_fields(usage, wire.USAGE_EXTRAS)
    if tier is not None and more is not None:
        del more["service_tier"]
    if more or unknown:
        more = more or {}
        quiet = {name: more.pop(name) for name in list(more) if _says_nothing(bytes(more[name]))}
        extra = gather(context, at, unknown, more or None) if more or unknown else None
        if context.target == wire.NAME:
            for name, value in quiet.items():
                extra = marked(extra, name, value)
    found = Usage(*read_counts(usage), extra)
    return found if tier is None else answer_service_tiers.with_tier(found, tier, (*at, "service_tier"))


def read_counts(usage: wire.Usage) -> tuple[int | None, int | None, int | None, int | None, int | None]:
    """The counts of the canon's Usage: input, output, cache reads and writes, thinking."""
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    prompt = usage.input_tokens
    # input_tokens excludes cached tokens; the canon's figure includes them (docs "Prompt caching", 2026-10).
    if prompt is not None:
        prompt += (read or 0) + (written or 0)
    # output_tokens includes thinking tokens (docs "Extended thinking", 2026-10).
    details = usage.output_tokens_details
    return prompt, usage.output_tokens, read, written, details.thinking_tokens if details is not None else None


def _says_nothing(value: bytes) -> bool:
    """The default tier, an unknown place, or a table of zeros."""
    return value in (b'"standard"', b'"not_available"') or (value[:1] == b"{" and not _FIGURE.search(value))


def write_response(response: Response, context: Context) -> bytes:
    """Write an answer from canon."""
    stop, parts = response.stop, response.parts
    if stop.reason in FAILED:
        parts = with_failure(parts, failure(stop, wire.NAME))
    content = BlockWriter(context).answer(parts)
    if response.alternatives:
        report_later_answers(response, context)
    out: dict[str, Any] = {
        "id": answer_ids.for_response(response.id, response.parts, answer_ids.MESSAGES, context),
        "type": "message",
        "role": "assistant",
        "model": context.model or response.model,
        "content": content,
    }
    if stop.reason == "tool_calls" and stop.extra is None and not stop.detail and parts and type(parts[-1]) is ToolCall:
        out["stop_reason"], out["stop_sequence"] = "tool_use", stop.sequence
    else:
        refused = any(type(part) is Text and part.refusal for part in response.parts)
        called = any(type(part) is ToolCall for part in response.parts)
        out.update(write_stop(stop, called, refused, context))
    figures = write_usage(counted(response.usage, context), context)
    if context.source != wire.NAME:
        # Clients with typed models expect these members, null if unused (anthropic 2.8.0, 2026-11).
        out.setdefault("stop_details", None)
        out["container"] = None
        if any(isinstance(part, Opaque) and part.kind in _BETA_BLOCKS for part in parts):
            out["context_management"] = figures["iterations"] = figures["speed"] = None
    out["usage"] = figures
    return json_text.encode(out if response.extra is None else restore(out, response.extra, wire.NAME))


_BETA_BLOCKS = ("mcp_tool_use", "mcp_tool_result")
"""Blocks that only the schema of a `BetaMessage` has (2026-08). The other fields that it requires are then
written too.
"""


def counted(usage: Usage | None, context: Context) -> Usage:
    """The usage of an answer. Zeros in place of unknown figures are reported."""
    if usage is None or (context.source != wire.NAME and (usage.input is None or usage.output is None)):
        context.lose("usage.invented", () if usage is None else context.answer_paths.usage)
    return usage or Usage()


def write_stop(stop: Stop, called: bool, refused: bool, context: Context) -> dict[str, Any]:
    """`stop_reason`, `stop_sequence` and, if there is a detail, `stop_details`."""
    reason = stop.reason
    # A refused answer has its own stop word, which clients check (docs "Handling stop reasons", 2026-10).
    if refused and reason == "stop":
        reason = "refusal"
    word: str | None = _WORDS[reason]
    if reason == "tool_calls" and not called:
        word = "end_turn"
        lose_missing_call(stop, called, word, context)
    elif stop.word and context.source == wire.NAME:
        pass  # the original word is restored below
    elif reason == "unknown" and context.source == wire.NAME:
        word = None
    else:
        exact = reason in _EXACT and (word == "refusal" or is_exact(stop, _EXACT))
        lose_stop(stop, word or "", context, exact=exact, written=word == "refusal" or reason in FAILED)
    out: dict[str, Any] = {"stop_reason": word, "stop_sequence": stop.sequence}
    own = stop.extra.get(wire.NAME) if stop.extra is not None else None
    if own is not None:
        out.update(own)
    elif stop.detail and word == "refusal":
        out["stop_details"] = {"type": "refusal", "category": None, "explanation": stop.detail}
    return out


def write_usage(usage: Usage, context: Context) -> dict[str, Any]:
    """The usage object: `input_tokens` without cached tokens."""
    read, written = usage.cache_read, usage.cache_write
    # input_tokens excludes cached tokens (docs "Prompt caching", 2026-10).
    fresh = (usage.input or 0) - (read or 0) - (written or 0)
    if fresh < 0:
        # Some hosts do not include cached tokens in the total. This dialect has fields for both figures.
        context.lose("usage.approximated", context.answer_paths.usage, "more cached tokens than tokens")
        fresh = usage.input or 0
    if usage.total is not None:
        context.lose("usage.dropped", context.answer_paths.usage, f"the total, {usage.total}, which is not the sum")
    out: dict[str, Any] = {"input_tokens": fresh}
    own = context.source == wire.NAME
    if written is not None or not own:
        out["cache_creation_input_tokens"] = written
    if read is not None or not own:
        out["cache_read_input_tokens"] = read
    out["output_tokens"] = usage.output or 0
    if usage.reasoning is not None:
        out["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    if not own:
        out |= _UNCOUNTED
        tier = answer_service_tiers.write(usage, answer_service_tiers.MESSAGES, context)
        if tier is not None:
            out["service_tier"] = tier
    return out if usage.extra is None else restore(out, usage.extra, wire.NAME)


_UNCOUNTED = {"cache_creation": None, "server_tool_use": None, "service_tier": None, "inference_geo": None}
"""Figures that the schema of an answer requires, and that no other dialect has."""


def write_results(response: Response, results: Request, context: Context) -> bytes:
    """The messages to append: the assistant's message, then one user message with all results."""
    history = History(BlockWriter(context), context)
    turns = (Turn("assistant", response.parts), *results.turns)
    for i, turn in enumerate(turns):
        history.turn(turn, turns, i)
    return json_text.encode(history.finish())
