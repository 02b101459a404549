"""Owns cache marks: marks that are written on parts, and marks that are read from whole messages and from calls.

Clients of LiteLLM and OpenRouter send marks on messages and calls beside marks on parts. Such a mark applies after the
last part of the message. It is read only for other dialects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Media, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.dialect_extras import NULL
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .tools import CACHE_CONTROL, lifetime


def take_marks(unknown: Unknown) -> dict[Path, Raw]:
    """The marks of messages and calls by path. They are removed from the unknown fields."""
    found: dict[Path, Raw] = {}
    for at in [at for at, fields in unknown.items() if CACHE_CONTROL in fields and _is_marked(at)]:
        fields = unknown[at]
        # A mark of another form stays an unknown field, and is reported as such.
        if json_text.is_object(fields[CACHE_CONTROL]):
            found[at] = fields[CACHE_CONTROL]
            unknown[at] = {name: value for name, value in fields.items() if name != CACHE_CONTROL}
    return found


def _is_marked(at: Path) -> bool:
    """Whether the path is that of a message or a call."""
    return at[:1] == ("messages",) and (len(at) == 2 or (len(at) == 4 and at[2] == "tool_calls"))


def with_marks(request: Request, marks: Mapping[Path, Raw], context: Context) -> Request:
    """The request with these marks on the parts of its turns."""
    turns = tuple([_with_marks(turn, marks, context) for turn in request.turns])
    return msgspec.structs.replace(request, turns=turns)


def _with_marks(turn: Turn, marks: Mapping[Path, Raw], context: Context) -> Turn:
    parts = list(turn.parts)
    for i, part in enumerate(parts):
        if isinstance(part, ToolCall | ToolResult) and part.at in marks:
            parts[i] = _marked(part, marks, part.at, context)
    if turn.role != "tool" and turn.at in marks:
        last = _last(parts)
        if last is not None:
            parts[last] = _marked(parts[last], marks, turn.at, context)
        else:
            context.lose("cache.dropped", (*turn.at, CACHE_CONTROL), "on an empty message")
    return turn if parts == list(turn.parts) else msgspec.structs.replace(turn, parts=tuple(parts))


def _last(parts: list[Part]) -> int | None:
    """The index of the last text, file or image; else of the last call."""
    for kinds in ((Text, Media), (ToolCall,)):
        for i in range(len(parts) - 1, -1, -1):
            part = parts[i]
            if isinstance(part, kinds) and not (type(part) is Text and not part.text):
                return i
    return None


def _marked(part: Part, marks: Mapping[Path, Raw], at: Path, context: Context) -> Part:
    for name, value in json_text.fields(marks[at]).items():
        if name not in ("type", "ttl") and value != NULL:
            context.lose("field.dropped", (*at, CACHE_CONTROL, name))
    if part.cache is not None:
        return part  # its own mark covers the same prefix
    context.marks[part.at] = (*at, CACHE_CONTROL)
    return msgspec.structs.replace(part, cache=lifetime(marks[at]))


_BREAKPOINT = "prompt_cache_breakpoint"
# OpenAI has the lifetimes 30m and 12h (openai 3.49.0, 2026-11), Anthropic has 5m and 1h. Each becomes the nearest
# lifetime of the other provider.
_LIFETIMES = {"5m": "30m", "1h": "12h"}
_ANTHROPICS_LIFETIMES = {"30m": "5m", "12h": "1h", "24h": "1h"}
_MOST = 4
"""Marks of Anthropic's form in one request: the limit of Claude on any host."""


def takes_marks(context: Context) -> bool:
    """Whether the model takes marks on parts."""
    return not context.gates(wire.NAME) or context.profile.cache_marks or takes_anthropics(context)


def takes_anthropics(context: Context) -> bool:
    """Whether marks of other dialects are written in Anthropic's form."""
    return context.profile.cache_control and context.source != wire.NAME and context.target == wire.NAME


def capped_marks(request: Request, context: Context) -> Request:
    """The request with no more marks than Claude takes (lint rule ANT-016). The first marks are removed: a later mark
    covers everything before it."""
    marked = [part for turn in request.turns for part in turn.parts if _is_written(part)]
    if len(marked) <= _MOST:
        return request
    gone = {id(part) for part in marked[:-_MOST]}
    turns = []
    for turn in request.turns:
        parts = [_without_mark(part, context) if id(part) in gone else part for part in turn.parts]
        turns.append(msgspec.structs.replace(turn, parts=tuple(parts)))
    return msgspec.structs.replace(request, turns=tuple(turns))


def _is_written(part: Part) -> bool:
    """Whether a part is written with a mark. The mark of a result is on its last text."""
    if isinstance(part, ToolResult):
        return part.cache is not None or any(inner.cache is not None for inner in part.parts)
    return part.cache is not None and isinstance(part, Text | Media)


def _without_mark(part: Part, context: Context) -> Part:
    context.lose("cache.dropped", part.at, f"more than {_MOST} marks")
    if isinstance(part, ToolResult):
        inner = [msgspec.structs.replace(one, cache=None) for one in part.parts]
        return msgspec.structs.replace(part, cache=None, parts=tuple(inner))
    return msgspec.structs.replace(part, cache=None)


def written_mark(ttl: str, at: Path, context: Context) -> dict[str, Any]:
    """The field for a cache mark, with the nearest lifetime that the form has; no field for models that take no
    marks."""
    if not takes_marks(context):
        context.lose("cache.dropped", at)
        return {}
    anthropics = takes_anthropics(context)
    own = (_ANTHROPICS_LIFETIMES if anthropics else _LIFETIMES).get(ttl, ttl)
    if own != ttl:
        context.lose("cache.approximated", at, f"ttl {ttl} is sent as {own}")
    mark = {"type": "ephemeral"} if anthropics else {"mode": "explicit"}
    if own:
        mark["ttl"] = own
    return {CACHE_CONTROL if anthropics else _BREAKPOINT: mark}
