"""Removes the fields of a Chat request that OpenRouter does not have, and reports them.

The names come from OpenRouter's published schema of 2026-08-22, and from its documentation for fields that the schema
lacks. Chat hosts have many fields of their own, such as `thinking` and `grammar`. OpenRouter forwards unknown fields to
a provider, or refuses them.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Reasoning, ToolCall, ToolResult
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Turn
from ...context import Context
from . import wire

Tools = tuple[Tool | HostedTool, ...]

_REQUEST = frozenset(wire.REQUEST_EXTRAS) | {
    "cache_control",
    "include_reasoning",
    "logit_bias",
    "metadata",
    "modalities",
    "prediction",
    "prompt_cache_options",
    "reasoning",
    "service_tier",
    "top_k",
    "verbosity",
}
_INNER = _REQUEST - {"modalities"}
"""Objects of a request that are forwarded whole, with any members."""
_MESSAGE = frozenset({"name", "model", "images", "audio", "reasoning", "reasoning_details", "refusal"})
_PART = frozenset({"cache_control", "prompt_cache_breakpoint"})
_PARTS = frozenset({"text", "image_url", "input_audio", "input_video", "video_url", "file", "refusal"})
"""The kinds of parts in OpenRouter's schema."""
_QUIET = frozenset({"index", "status", "audio", "annotations", "name", "object", "created"})
"""Fields whose loss has no effect: fields of an answer that clients send back, and the tool name of a result, which the
call also has.
"""


def of_request(extra: Extra | None, context: Context) -> Extra | None:
    """The extra of a Chat request without the fields that OpenRouter does not have."""
    return _known(extra, _REQUEST, (), context, _INNER)


def of_turn(turn: Turn, context: Context) -> Turn:
    """A turn of a Chat request without the fields and the kinds of parts that OpenRouter does not have."""
    extra = _known(turn.extra, _MESSAGE, turn.at, context)
    parts = [known for part in turn.parts if (known := _of_part(part, context)) is not None]
    if extra is turn.extra and len(parts) == len(turn.parts):
        if all(new is old for new, old in zip(parts, turn.parts, strict=True)):
            return turn
    return msgspec.structs.replace(turn, parts=tuple(parts), extra=extra)


def of_tools(tools: Tools, context: Context) -> Tools:
    """Declarations of a Chat request without the fields that OpenRouter does not have."""
    if all(tool.extra is None for tool in tools if type(tool) is Tool):
        return tools
    return tuple([_of_tool(tool, context) if type(tool) is Tool else tool for tool in tools])


def _of_tool(tool: Tool, context: Context) -> Tool:
    extra = tool.extra
    if extra is not None and tool.at[:1] == ("functions",):
        # In the older list `functions` a declaration has no object `function` around it.
        fields = {name.removeprefix("function/"): value for name, value in extra.get(wire.CHAT, {}).items()}
        extra = {**extra, wire.CHAT: fields}
    extra = _known(extra, _PART, tool.at, context)
    return tool if extra is tool.extra else msgspec.structs.replace(tool, extra=extra)


def _of_part(part: Part, context: Context) -> Part | None:
    if type(part) is Reasoning:
        return part  # `reasoning_details.py` reports its fields
    if type(part) is Opaque and part.dialect == wire.CHAT and part.kind not in _PARTS:
        context.lose("part.dropped", part.at, part.kind)
        return None
    extra = _known(part.extra, _NONE if type(part) is ToolCall else _PART, part.at, context)
    changes = {} if extra is part.extra else {"extra": extra}
    if type(part) is ToolResult:
        inner = [known for one in part.parts if (known := _of_part(one, context)) is not None]
        if len(inner) != len(part.parts) or any(new is not old for new, old in zip(inner, part.parts, strict=True)):
            return msgspec.structs.replace(part, parts=tuple(inner), **changes)
    return msgspec.structs.replace(part, **changes) if changes else part


_NONE: frozenset[str] = frozenset()


def _known(
    extra: Extra | None, names: frozenset[str], at: Path, context: Context, whole: frozenset[str] = _NONE
) -> Extra | None:
    """`extra` with Chat's fields in `names`, or below a name in `whole`."""
    if extra is None or wire.CHAT not in extra:
        return extra
    known_fields: dict[str, Raw] = {}
    for name, value in extra[wire.CHAT].items():
        first = name.partition("/")[0]
        # `audio` of a message is an object or absent (schema of 2026-08-22), but vLLM writes null.
        if (name in names or first in whole) and not (name == "audio" and bytes(value) == b"null"):
            known_fields[name] = value
        else:
            *below, last = name.split("/")
            context.lose_field((*at, *below), last, value, frozenset({last}) if name in _QUIET else _NONE)
    if len(known_fields) == len(extra[wire.CHAT]):
        return extra
    left = {dialect: fields for dialect, fields in extra.items() if dialect != wire.CHAT}
    return {**left, wire.CHAT: known_fields} if known_fields else left or None
