"""Owns cache marks on whole messages and on calls, which clients of LiteLLM and OpenRouter send beside marks on parts.

Such a mark applies after the last part of the message. It is read only for other dialects.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from ...canon.parts import Media, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.admit import Unknown
from ...codec.dialect_extras import NULL
from ...context import Context
from .tools import CACHE_CONTROL, lifetime


def take_marks(unknown: Unknown) -> dict[Path, Raw]:
    """The marks of messages and calls by path. They are removed from the unknown fields."""
    found: dict[Path, Raw] = {}
    for at in [at for at, fields in unknown.items() if CACHE_CONTROL in fields and _is_marked(at)]:
        fields = unknown[at]
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
