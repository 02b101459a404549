"""Owns `max_tool_calls`, the limit of hosted calls in one answer, and its counterpart `max_uses` of a single tool
elsewhere.

Both mean the same in a request with one hosted tool. With several hosted tools, the limit of one tool cannot be sent
here, and the limit of all tools has no counterpart elsewhere.
"""

from __future__ import annotations

from msgspec import Raw

from ...canon.tools import HostedTool, Tool
from ...codec import json_text
from ...codec.hosted_tools import Option
from ...context import Context
from . import wire

FIELD = "max_tool_calls"
MAX_USES = "max_uses"
OPTION = {MAX_USES: Option((MAX_USES,))}
"""The option for rows of tools with a limit in other dialects. On the wire the tool has no such member."""

Tools = tuple[Tool | HostedTool, ...]


def read_limit(tools: Tools, limit: Raw, context: Context) -> Tools | None:
    """The tools, with the limit on the only hosted tool; None if the limit has no such counterpart."""
    hosted = [i for i, tool in enumerate(tools) if type(tool) is HostedTool]
    most = json_text.plain(limit)
    if len(hosted) != 1 or type(most) is not int:
        return None
    i = hosted[0]
    tool = tools[i]
    # `max_tool_calls` counts built-in tools only (openai 3.49.0, 2026-11).
    if type(tool) is not HostedTool or not tool.kind.startswith("web_search"):
        return None
    value = json_text.raw({**json_text.fields(tool.value), MAX_USES: limit})
    context.moved[(*tool.at, MAX_USES)] = (FIELD,)
    return (*tools[:i], HostedTool(tool.dialect, tool.kind, value, tool.at), *tools[i + 1 :])


def take_limit(tools: Tools, context: Context) -> tuple[Tools, int | None]:
    """The tools of another dialect without their own limits, and the limit to send."""
    hosted = [tool for tool in tools if type(tool) is HostedTool]
    if not hosted or not any(map(_limited, hosted)):
        return tools, None
    limits: list[int] = []
    out: list[Tool | HostedTool] = []
    for tool in tools:
        if type(tool) is HostedTool and _limited(tool):
            value = json_text.plain(tool.value)
            limits.append(value.pop(MAX_USES))
            if len(hosted) > 1:
                context.lose(
                    "tool.hosted.option.dropped", tool.at, f"{MAX_USES}: the limit here is for all tools together"
                )
            tool = HostedTool(tool.dialect, tool.kind, json_text.raw(value), tool.at)
        out.append(tool)
    return tuple(out), limits[0] if len(hosted) == 1 else None


def _limited(tool: HostedTool) -> bool:
    return tool.dialect == wire.NAME and b'"max_uses"' in bytes(tool.value)
