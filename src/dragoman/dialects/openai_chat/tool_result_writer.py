"""Writes tool results: one message for each result, directly after the calls. Media move into a user message after
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...canon.parts import Media, Part, Text, ToolCall, ToolResult, plain_text
from ...canon.turns import Turn
from ...codec.call_ids import send as send_id
from ...codec.dialect_extras import restore
from ...codec.media import as_text
from ...context import Context
from . import wire
from .cache_marks import written_mark
from .message_content import write_content
from .tools import IDS

NO_RESULT = "Error: no result was recorded for this call."


def write_results_messages(turn: Turn, calls: Sequence[ToolCall] | None, messages: list[Any], context: Context) -> None:
    """Write one message for each result, and one result for each call (if `calls` are known: OpenAI refuses anything
    else, reported by users, 2026). Media, which a tool message cannot hold (openai 3.49.0: text parts only), and
    results without a call go into one user message after the last result.
    """
    moved: list[Part] = []
    open_ids: dict[str, int] | None = None
    if calls is not None:
        open_ids = {}
        for call in calls:
            open_ids[call.id] = open_ids.get(call.id, 0) + 1
    answered: set[str] = set()
    for result in turn.parts:
        if type(result) is not ToolResult:
            context.lose("part.dropped", result.at)
            continue
        if open_ids is not None:
            if open_ids.get(result.call_id):
                open_ids[result.call_id] -= 1
                answered.add(result.call_id)
            # Each call takes exactly one tool message (lint rule OAC-004).
            elif result.call_id in answered:
                context.lose("result.duplicate", result.at)
                continue
            else:
                # A tool message must answer a call of the preceding assistant message (lint rule OAC-005).
                context.lose("result.orphaned", result.at)
                moved.append(Text(_orphan_head(result)))
                moved.extend(result.parts)
                continue
        messages.append(_write_result(result, moved, context))
    if open_ids and calls:
        answer_for([call for call in calls if open_ids[call.id]], messages, context)
    if moved:
        # Media follow the last tool message: nothing may be between the results of a step (400, reported by users,
        # 2026-11).
        messages.append({"role": "user", "content": write_content(tuple(moved), context)})


def _write_result(result: ToolResult, moved: list[Part], context: Context) -> dict[str, Any]:
    content: Any = plain_text(result.parts)
    call_id = send_id(result.call_id, IDS, context, result.at)
    if content is None:
        content = _result_content(result, call_id, moved, context)
    if result.is_error:
        # A result has no error flag (openai 3.49.0, 2026-11).
        context.lose("result.error.as_text", result.at)
        content = _as_error(content)
    if result.structured:
        # A result is text only (openai 3.49.0, 2026-11).
        context.lose("result.structured.as_text", result.at)
    if result.cache is not None and not content:
        # Anthropic refuses a mark on an empty text: "cache_control cannot be set for empty text blocks" (400, 2025).
        context.lose("cache.dropped", result.at, "on an empty text")
    elif result.cache is not None:
        mark = written_mark(result.cache, result.at, context)
        content = _with_mark(content, mark, result, context) if mark else content
    message = {"role": "tool", "tool_call_id": call_id, "content": content}
    return message if result.extra is None else restore(message, result.extra, wire.NAME)


def answer_for(calls: Sequence[ToolCall], messages: list[Any], context: Context) -> None:
    """Error results for calls without one: the server refuses open calls (lint rule OAC-004)."""
    for call in calls:
        context.lose("result.invented", call.at, call.id)
        call_id = send_id(call.id, IDS, context, call.at)
        messages.append({"role": "tool", "tool_call_id": call_id, "content": NO_RESULT})


def _orphan_head(result: ToolResult) -> str:
    of = f" of {result.name}" if result.name else ""
    call = f", call {result.call_id}" if result.call_id else ""
    return f"[result{of}{call}{', failed' if result.is_error else ''}]"


def _with_mark(content: Any, mark: dict[str, Any], result: ToolResult, context: Context) -> Any:
    """Content with the cache mark of a result on its last part. The part's own mark stays."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    last = {**mark, **parts[-1]}
    if any(last[name] != value for name, value in mark.items()):
        context.lose("cache.dropped", result.at, "the last part of the result has a mark with another ttl")
    return [*parts[:-1], last]


def _result_content(result: ToolResult, call_id: str, moved: list[Part], context: Context) -> Any:
    texts: list[Part] = []
    for part in result.parts:
        # Media that a client of this dialect wrote stay: llama.cpp accepts an image (recorded traffic, 2026-11).
        if isinstance(part, Media) and not (context.source == wire.NAME and part.at):
            words = None if context.binary == "summarise" else as_text(part, context)
            texts.append(_move(part, call_id, moved, context) if words is None else Text(words, at=part.at))
        else:
            texts.append(part)
    return write_content(tuple(texts), context)


def _move(media: Media, call_id: str, moved: list[Part], context: Context) -> Text:
    what = media.mime or media.kind
    if context.binary == "summarise":
        context.lose("media.summarised", media.at)
        return Text(f"Binary content of type {what} was processed.")
    context.lose("result.media.moved", media.at)
    moved.append(Text(f"[returned by tool call {call_id}]"))
    moved.append(media)
    return Text(f"[tool call {call_id} returned {what}, attached below]")


def _as_error(content: Any) -> Any:
    if isinstance(content, str):
        return content if content.startswith("Error") else f"Error: {content}"
    return [{"type": "text", "text": "Error:"}, *content]
