"""Reads and writes tool results: one message per result, in the order of the calls. Media follow in a user message,
because few models take them in a result.
"""

from __future__ import annotations

from typing import Any

from ...canon.parts import Media, Part, Text, ToolCall, ToolResult, plain_text
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.call_ids import send as send_id
from ...codec.dialect_extras import gather, with_misplaced_fields
from ...codec.media import as_text, note
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .call_pairing import Ids
from .media import read_image, write_image
from .message_content import write_content
from .original_values import ID, own, put_back, with_field
from .tools import ANY_NAMES, IDS, NAMES

_UNNAMED = "unknown_tool"
NO_RESULT = "Error: no result was recorded for this call."


def read_result(message: wire.Message, i: int, ids: Ids, unknown: Unknown) -> ToolResult:
    """The result in a message with the role tool."""
    at = ("messages", i)
    parts: list[Part] = []
    if message.content is not None:
        parts.append(Text(message.content, at=at + ("content",)))
    for j, image in enumerate(message.images or ()):
        parts.append(read_image(image, at + ("images", j)))
    extra = gather(ids.context, at, unknown) if unknown else None
    if message.tool_calls is not None or message.thinking is not None:
        extra = with_misplaced_fields(ids.context, at, message, ("tool_calls", "thinking"), extra)
    if message.role != "tool":  # the server lower-cases roles (sources, 2026-08)
        extra = with_field(extra, "role", json_text.raw(message.role))
    name = message.tool_name or ""
    call_id, mark = ids.of_result(message.tool_call_id or "", name, at)
    if mark is not None:
        extra = with_field(extra, ID, mark)
    return ToolResult(call_id, tuple(parts), name, extra=extra, at=at)


def write_results_messages(turn: Turn, calls: list[ToolCall], messages: list[Any], context: Context) -> None:
    """Write one message per result in the order of `calls`, because templates match results and calls by order (server
    sources, 2026-08).
    """
    mine = context.source == wire.NAME
    moved: list[Part] = []
    results: list[ToolResult] = []
    answered: set[str] = set()
    calls_by_id = {call.id: call for call in calls}
    for result in turn.parts:
        if not isinstance(result, ToolResult):
            context.lose("part.dropped", result.at)
        # A second result would be matched with the next call, because templates go by order (server sources, 2026-08).
        elif not mine and result.call_id in answered and result.call_id in calls_by_id:
            context.lose("result.duplicate", result.at)
        else:
            answered.add(result.call_id)
            results.append(result)
    if not mine:
        results = _in_order(results, calls, context)
    for result in results:
        messages.append(_write_result(result, calls_by_id.get(result.call_id), moved, context))
    if moved:
        messages.extend(write_content("user", tuple(moved), context))


def _in_order(results: list[ToolResult], calls: list[ToolCall], context: Context) -> list[ToolResult]:
    """The results in the order of the calls, then the results without a call.

    A call without a result gets one that states this. The server checks no ids (server sources, 2026-08), so it accepts
    an open call. But the template would match the result of a later call to the open call, and a model without a result
    repeats the call.
    """
    by_id = {result.call_id: result for result in results}
    out: list[ToolResult] = []
    for call in calls:
        found = by_id.get(call.id)
        if found is None:
            context.lose("result.invented", call.at, call.id)
            found = ToolResult(call.id, (Text(NO_RESULT),), call.name)
        out.append(found)
    ids = {call.id for call in calls}
    return out + [result for result in results if result.call_id not in ids]


def _write_result(result: ToolResult, call: ToolCall | None, moved: list[Part], context: Context) -> dict[str, Any]:
    mine = context.source == wire.NAME
    content = plain_text(result.parts)
    images: list[str] = []
    if content is None:
        content, images = _write_inside(result, moved, context)
    # A result has no error flag (server sources, 2026-08).
    if result.is_error:
        context.lose("result.error.as_text", result.at)
        # Without the word the model would take the text for the tool's answer.
        content = content if content.startswith("Error") else f"Error: {content}"
    if result.structured:
        context.lose("result.structured.as_text", result.at)
    if result.cache is not None:
        context.lose("cache.dropped", result.at)
    if result.seal is not None:
        context.lose("seal.dropped", result.at)
    message: dict[str, Any] = {"role": "tool", "content": content}
    if images:
        message["images"] = images
    name, namespace = (call.name, call.namespace) if call is not None else (result.name, "")
    if mine:
        name, namespace = result.name, ""
    # The template shows `tool_name` to the model, so it is never empty (server sources, 2026-08).
    elif not name and call is None:
        context.lose("call.name.invented", result.at, f"no call {result.call_id!r} in the history")
        name = _UNNAMED
    # Current servers also take `tool_call_id`; older servers and SDK 0.6.3 have only `tool_name`, so both are written
    # (2026-08).
    if name or not mine:
        message["tool_name"] = (ANY_NAMES if mine else NAMES).send(name, namespace, context, result.at)
    if result.call_id:
        message["tool_call_id"] = send_id(result.call_id, IDS, context, result.at)
    if result.extra is None:
        return message
    spelled, mark = own(result.extra, "role"), own(result.extra, ID)
    if spelled is not None:
        message["role"] = spelled
    if mark is not None:
        message["tool_call_id"] = json_text.plain(mark)
        if message["tool_call_id"] is None:
            del message["tool_call_id"]
    return put_back(message, result.extra)


def _write_inside(result: ToolResult, moved: list[Part], context: Context) -> tuple[str, list[str]]:
    """The text of a result, and its images if a client of this dialect sent them there. Whether a template shows images
    of a result depends on the model.
    """
    mine = context.source == wire.NAME
    texts: list[str] = []
    images: list[str] = []
    for part in result.parts:
        if part.cache is not None:
            context.lose("cache.dropped", part.at)
        if isinstance(part, Text):
            if part.citations:
                context.lose("citation.dropped", part.at)
            texts.append(part.text)
        elif not isinstance(part, Media):
            context.lose("part.dropped", part.at, type(part).__name__)
        elif context.binary == "summarise":
            context.lose("media.summarised", part.at)
            texts.append(note(part))
        elif mine and (image := write_image(part, context)) is not None:
            images.append(image)
        elif (words := as_text(part, context)) is not None:
            texts.append(words)
        else:
            texts.append(_move(part, result, moved, context))
    if len(texts) > 1:
        context.lose("result.texts.joined", result.at, f"{len(texts)} texts")
    return "\n".join(texts), images


def _move(media: Media, result: ToolResult, moved: list[Part], context: Context) -> str:
    """The text that replaces media in a result. The media follow in a user message."""
    # `images` is the only field for media, and takes base64 only, no address (server sources, 2026-08).
    if not media.data or media.kind != "image":
        context.lose("media.dropped", media.at, media.url or media.mime or media.kind)
        return note(media)
    context.lose("result.media.moved", media.at)
    moved.append(Text(f"[returned by tool call {result.call_id}]"))
    moved.append(media)
    return f"[tool call {result.call_id} returned {media.mime or media.kind}, attached below]"
