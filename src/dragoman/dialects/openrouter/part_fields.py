"""Owns the fields on parts: cache marks in OpenRouter's form, and media that OpenRouter accepts beyond Chat."""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.parts import Extra, Media, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.media import data_url
from ...context import Context
from ..openai_chat.message_content import write_media
from . import wire
from .settings import cache_mark

MARK = "cache_control"
MOST_MARKS = 4
"""The most cache marks in a request, including the automatic one: the limit of Anthropic's models (Anthropic's docs
"Prompt caching", 2026-11).
"""


def mark_taken(extra: Extra | None) -> Extra | None:
    """`extra` with the cache mark under this dialect's name, because Chat's upstreams do not have the mark."""
    if extra is None or MARK not in extra.get(wire.CHAT, {}):
        return extra
    rest = dict(extra[wire.CHAT])
    mark = {MARK: rest.pop(MARK)}
    left = {name: fields for name, fields in extra.items() if name != wire.CHAT}
    return wire.with_own({**left, wire.CHAT: rest} if rest else left, mark)


def report_mark(extra: Extra | None, at: Path, context: Context) -> None:
    """Report the members of a cache mark other than its lifetime. No other dialect has them."""
    mark = wire.own(extra).get(MARK)
    if mark is not None and json_text.is_object(mark):
        more = {name: value for name, value in json_text.fields(mark).items() if name not in ("type", "ttl")}
        wire.report(context, (*at, MARK), more)


def marks_taken(turn: Turn, context: Context) -> Turn:
    """The turn with the cache marks of its parts under this dialect's name."""
    return _each(turn, lambda part: _mark_taken(part, context))


def _mark_taken(part: Part, context: Context) -> Part:
    if type(part) is ToolResult:
        inner = tuple([_mark_taken(one, context) for one in part.parts])
        if any(new is not old for new, old in zip(inner, part.parts, strict=True)):
            part = msgspec.structs.replace(part, parts=inner)
    extra = mark_taken(part.extra)
    if extra is not part.extra:
        report_mark(extra, part.at, context)
    return part if extra is part.extra else msgspec.structs.replace(part, extra=extra)


def marks_homed(turn: Turn) -> Turn:
    """The turn of a document of this dialect, with its own fields under Chat's name."""
    return _each(turn, _with_fields_of_chat)


def _with_fields_of_chat(part: Part) -> Part:
    if type(part) is ToolResult:
        inner = tuple([_with_fields_of_chat(one) for one in part.parts])
        if any(new is not old for new, old in zip(inner, part.parts, strict=True)):
            part = msgspec.structs.replace(part, parts=inner)
    extra = wire.with_fields_of_chat(part.extra)
    return part if extra is part.extra else msgspec.structs.replace(part, extra=extra)


def _each(turn: Turn, change: Any) -> Turn:
    parts = tuple([change(part) for part in turn.parts])
    if all(new is old for new, old in zip(parts, turn.parts, strict=True)):
        return turn
    return msgspec.structs.replace(turn, parts=parts)


def fitted_turn(turn: Turn, context: Context) -> Turn:
    """A turn of another dialect, with cache marks and media in the form of this dialect."""

    def fit(part: Part) -> Part:
        if type(part) is ToolResult:
            return _fitted_result(part, context)
        # System messages hold texts only in Chat (openai 3.49.0, 2026-11): Chat's writer reports media there.
        if type(part) is Media and turn.role not in ("system", "developer"):
            return _fitted_media(part, context, inside=False)
        return part if type(part) is ToolCall else _marked(part, context)

    return _each(turn, fit)


def limit_cache_marks(request: Request, context: Context) -> Request:
    """A request of another dialect with at most `MOST_MARKS` cache marks. The first ones are removed, because a later
    mark covers everything before it.
    """
    tools = [tool for tool in request.tools if type(tool) is Tool and tool.cache is not None]
    parts = [part for turn in request.turns for part in turn.parts if _has_mark(part)]
    spare = len(tools) + len(parts) + (request.settings.cache is not None) - MOST_MARKS
    if spare <= 0:
        return request
    marked: list[Any] = [*tools, *parts]
    surplus = {id(one): one for one in marked[:spare]}
    for one in surplus.values():
        context.lose("cache.dropped", one.at, f"more than {MOST_MARKS} marks")
    new_tools = tuple([_unmarked(tool) if id(tool) in surplus else tool for tool in request.tools])
    turns = [_each(turn, lambda part: _unmarked(part) if id(part) in surplus else part) for turn in request.turns]
    return msgspec.structs.replace(request, tools=new_tools, turns=tuple(turns))


def _has_mark(part: Part) -> bool:
    """Whether a part is written with a cache mark. The mark of a result is on its last text."""
    if type(part) is ToolResult:
        return part.cache is not None or any(inner.cache is not None for inner in part.parts)
    return part.cache is not None and type(part) is not ToolCall and type(part) is not Reasoning


def _unmarked(one: Any) -> Any:
    changes: dict[str, Any] = {"cache": None}
    if MARK in (one.extra or {}).get(wire.CHAT, {}):
        left = {name: value for name, value in one.extra[wire.CHAT].items() if name != MARK}
        changes["extra"] = {**one.extra, wire.CHAT: left} if left else None
    if type(one) is ToolResult:
        changes["parts"] = tuple([_unmarked(inner) if inner.cache is not None else inner for inner in one.parts])
    return msgspec.structs.replace(one, **changes)


def _marked(part: Part, context: Context) -> Part:
    """The part with its cache mark in the extra, from which Chat's writer writes it."""
    if part.cache is None:
        return part
    # Anthropic refuses a cache mark on an empty text (docs "Prompt caching", 2026-10), and OpenRouter forwards marks.
    if type(part) is Text and not part.text:
        context.lose("cache.dropped", part.at, "on an empty text")
        return msgspec.structs.replace(part, cache=None)
    if MARK in (part.extra or {}).get(wire.CHAT, {}):
        return msgspec.structs.replace(part, cache=None)
    mark = json_text.raw(cache_mark(part.cache, part.at, context))
    return msgspec.structs.replace(part, cache=None, extra=wire.with_chat(part.extra, {MARK: mark}))


def _fitted_result(result: ToolResult, context: Context) -> ToolResult:
    parts = list(result.parts)
    changes: dict[str, Any] = {}
    # Marks are documented on parts and at the top level (openrouter 1.3.84, 2026-11), so the mark of a result moves to
    # its last part.
    if result.cache is not None and parts:
        changes["cache"] = None
        if parts[-1].cache is None:
            parts[-1] = msgspec.structs.replace(parts[-1], cache=result.cache)
        elif parts[-1].cache != result.cache:
            context.lose("cache.dropped", result.at, "the last part of the result has a mark with another ttl")
    for i, part in enumerate(parts):
        if type(part) is Media and context.binary != "summarise":
            parts[i] = _fitted_media(part, context, inside=True)
        elif type(part) is Text:
            parts[i] = _marked(part, context)
    if any(new is not old for new, old in zip(parts, result.parts, strict=True)):
        changes["parts"] = tuple(parts)
    return msgspec.structs.replace(result, **changes) if changes else result


def _fitted_media(media: Media, context: Context, *, inside: bool) -> Part:
    """Media that Chat's writer does not write: media in a result, a video, a document by its address. OpenRouter
    accepts any part in a tool message (openrouter 1.3.84). The part is written whole.
    """
    written: dict[str, Any] | None = None
    if media.kind == "video" and (media.url or media.data):
        url = {"url": media.url or data_url(media.mime, media.data)}
        written = {"type": "video_url", "video_url": url}
        if media.name:
            context.lose("media.name.dropped", media.at, media.name)
    elif media.kind == "document" and media.url and not media.data:
        if media.detail:
            context.lose("media.detail.dropped", media.at, media.detail)
        name = {"filename": media.name} if media.name else {}
        # `file_data` takes an address as well as a data URL (openrouter 1.3.84, 2026-11).
        written = {"type": "file", "file": {**name, "file_data": media.url}}
    elif inside and not media.file:
        written = write_media(media, context)
    if written is None:
        return _marked(media, context)
    if media.seal is not None:
        context.lose("seal.dropped", media.at)
    if media.cache is not None:
        written[MARK] = cache_mark(media.cache, media.at, context)
    fields = (media.extra or {}).get(wire.CHAT, {})
    return Opaque(wire.CHAT, str(written["type"]), json_text.raw({**fields, **written}), at=media.at)
