"""Reads and writes tools: Chat's functions with cache marks and deferred loading, and OpenRouter's server tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra
from ...canon.request import Request
from ...canon.tools import Choice, HostedTool, Tool
from ...codec import json_text
from ...codec.custom_tools import wrap_tool
from ...codec.hosted_tools import is_hosted_choice
from ...context import Context
from ..openai_chat import tools as chat
from . import unsupported_field_removal, wire
from .hosted_tools import HOSTED, split_deferred_search
from .part_fields import MARK, mark_taken, report_mark
from .settings import cache_mark

Tools = tuple[Tool | HostedTool, ...]

# The field may be on the tool or inside `function` (openrouter 1.3.84, 2026-11).
_DEFER = ("defer_loading", "function/defer_loading")
_TRUE = b"true"


def read_tools(body: bytes, context: Context) -> Tools:
    """Read the value of `tools`."""
    context.source = wire.CHAT
    try:
        tools = chat.read_tools(body, context)
    finally:
        context.source = wire.NAME
    return own_tools(tools, context)


def own_tools(tools: Tools, context: Context) -> Tools:
    """The tools of Chat's reader, with this dialect's fields under this dialect's name."""
    for tool in tools:
        if type(tool) is HostedTool or tool.extra is not None:
            return tuple([_own_tool(tool, context) for tool in tools])
    return tools


def _own_tool(tool: Tool | HostedTool, context: Context) -> Tool | HostedTool:
    if isinstance(tool, HostedTool):
        return HostedTool(wire.NAME, tool.kind, tool.value, tool.at)
    extra = mark_taken(tool.extra)
    if extra is tool.extra and not any(name in (extra or {}).get(wire.CHAT, {}) for name in _DEFER):
        return tool
    if extra is not tool.extra:
        report_mark(extra, tool.at, context)
    deferred, extra = _deferred(tool, extra, context)
    return msgspec.structs.replace(tool, deferred=deferred, extra=extra)


def _deferred(tool: Tool, extra: Extra | None, context: Context) -> tuple[bool, Extra | None]:
    """Whether the tool is loaded later, and the extra with that field under this dialect's name. The field is then no
    longer reported as unknown.
    """
    fields = dict((extra or {}).get(wire.CHAT, {}))
    found = {name: fields.pop(name) for name in _DEFER if name in fields}
    if not found:
        return False, extra
    places = [(*tool.at, *name.split("/")) for name in found]
    for at, unread in context.kept:
        for name in [name for name in unread if (*at, name) in places]:
            del unread[name]
    rest = {name: value for name, value in (extra or {}).items() if name != wire.CHAT}
    later = any(bytes(value) == _TRUE for value in found.values())
    return later, wire.with_own({**rest, wire.CHAT: fields} if fields else rest, found)


def own_choice(choice: Choice | None, context: Context) -> Choice | None:
    """A choice in a form of this dialect only, such as a server tool, is reported as lost for Chat too."""
    if choice is None or choice.extra is None or wire.CHAT not in choice.extra:
        return choice
    if context.target != wire.NAME:
        kind = json_text.kind(next(iter(choice.extra[wire.CHAT].values())))
        if is_hosted_choice(kind, HOSTED):
            return Choice("one", (kind,), at=choice.at, hosted=True)
    if context.target == wire.CHAT:
        context.lose("choice.dropped", choice.at)
    return msgspec.structs.replace(choice, extra={wire.NAME: choice.extra[wire.CHAT]})


def choice_homed(choice: Choice | None) -> Choice | None:
    """The choice with its own form under Chat's name."""
    if choice is None or choice.extra is None or wire.NAME not in choice.extra:
        return choice
    return msgspec.structs.replace(choice, extra=wire.with_fields_of_chat(choice.extra))


def tools_homed(tools: Tools) -> Tools:
    """The tools of a document of this dialect, with their own fields and server tools under Chat's name."""
    for tool in tools:
        if type(tool) is HostedTool or tool.extra is not None:
            return tuple([_with_fields_of_chat(tool) for tool in tools])
    return tools


def _with_fields_of_chat(tool: Tool | HostedTool) -> Tool | HostedTool:
    if isinstance(tool, HostedTool):
        return HostedTool(wire.CHAT, tool.kind, tool.value, tool.at) if tool.dialect == wire.NAME else tool
    if tool.extra is None:
        return tool
    return msgspec.structs.replace(tool, deferred=False, extra=wire.with_fields_of_chat(tool.extra))


def write_tools(tools: Iterable[Tool | HostedTool], context: Context) -> bytes:
    """Write the value of `tools`."""
    given = tuple(tools)
    came_from = context.source
    if came_from == wire.NAME:
        given, context.source = tools_homed(given), wire.CHAT
    else:
        # A list of tools alone has no request around it, so the field for the search has no place.
        given, search = split_deferred_search(given)
        if search is not None:
            context.lose("tool.hosted.dropped", search.at, "deferred_tools is a field of the request", "info")
            given = _expanded(given, context, "there is no tool search")
        if came_from == wire.CHAT:
            given = unsupported_field_removal.of_tools(given, context)
        given, context.source = _fitted(given, context), wire.NAME if came_from == wire.CHAT else came_from
    try:
        return chat.write_tools(given, context)
    finally:
        context.source = came_from


def take_search(request: Request, context: Context) -> tuple[Request, Raw | None]:
    """The request without its search for deferred tools, and the value of `deferred_tools`.

    OpenRouter refuses a forced or forbidden choice beside deferred tools with 400 (reported by clients of its Responses
    endpoint, 2026; nothing shows that Chat differs). The tools are then sent in full, without a search. The same
    happens if every tool is deferred, because at least one must be visible to the model (OpenRouter's documentation,
    2026).
    """
    tools, search = split_deferred_search(request.tools)
    if search is None:
        return request, None
    deferred = [tool for tool in tools if isinstance(tool, Tool) and tool.deferred]
    if not deferred:
        reason = "no tool is deferred"
    elif request.choice is not None and request.choice.mode != "auto":
        reason = "a tool choice beside deferred tools is refused"
    elif len(deferred) == len(tools):
        reason = "at least one tool must not be deferred"
    else:
        return msgspec.structs.replace(request, tools=tools), search.value
    context.lose("tool.hosted.dropped", search.at, reason, "info")
    return msgspec.structs.replace(request, tools=_expanded(tools, context, reason)), None


def _expanded(tools: Tools, context: Context, reason: str) -> Tools:
    """The tools, with every deferred tool sent in full."""
    out: list[Tool | HostedTool] = []
    for tool in tools:
        if isinstance(tool, Tool) and tool.deferred:
            context.lose("tool.deferred.expanded", tool.at, reason)
            tool = msgspec.structs.replace(tool, deferred=False)
        out.append(tool)
    return tuple(out)


def fitted_tools(request: Request, context: Context) -> tuple[Tools, Choice | None]:
    """The tools and the choice of a request from another dialect. There is no choice of a subset (no `allowed_tools`,
    openrouter 1.3.84), so the other tools are left out.
    """
    tools, choice = request.tools, request.choice
    if context.source == wire.CHAT:
        tools = unsupported_field_removal.of_tools(tools, context)
    if choice is not None and choice.extra is not None and wire.CHAT in choice.extra:
        context.lose("choice.dropped", choice.at)
        choice = None
    if choice is not None and choice.names and choice.mode in ("auto", "required"):
        allowed: list[Tool | HostedTool] = []
        for tool in tools:
            if isinstance(tool, HostedTool) or tool.name in choice.names:
                allowed.append(tool)
            else:
                context.lose("choice.by_filter", tool.at, f"{tool.name} is not offered")
        context.lose("choice.by_filter", choice.at)
        tools, choice = tuple(allowed), Choice(choice.mode, at=choice.at)
    return _fitted(tools, context), choice_homed(choice)


def _fitted(tools: Tools, context: Context) -> Tools:
    for tool in tools:
        if type(tool) is HostedTool or tool.custom or tool.deferred or tool.cache is not None:
            break
    else:
        return tools
    out: list[Tool | HostedTool] = []
    for tool in tools:
        if not isinstance(tool, HostedTool):
            out.append(_fitted_tool(tool, context))
        elif tool.dialect == wire.NAME:
            out.append(_with_fields_of_chat(tool))
        else:
            context.lose("tool.hosted.dropped", tool.at, tool.kind)
    return tuple(out)


def _fitted_tool(tool: Tool, context: Context) -> Tool:
    fields: dict[str, Raw] = {}
    changes: dict[str, Any] = {}
    # There are no custom tools (openrouter 1.3.84, 2026-11).
    if tool.custom:
        tool = wrap_tool(tool, chat.NAMES.send(tool.name, tool.namespace, context, tool.at), context)
    if tool.deferred:
        changes["deferred"] = False
        fields["defer_loading"] = Raw(_TRUE)
    if tool.cache is not None:
        changes["cache"] = None
        if MARK not in (tool.extra or {}).get(wire.CHAT, {}):
            fields[MARK] = json_text.raw(cache_mark(tool.cache, tool.at, context))
    if fields:
        changes["extra"] = wire.with_chat(tool.extra, fields)
    return msgspec.structs.replace(tool, **changes) if changes else tool
