"""Owns the mode VALIDATED, which enforces the schemas of all functions; other dialects have `strict` on single tools.

In the mode VALIDATED the model may call or answer, as in AUTO, and every call fits the declared schema. ANY also
enforces the schemas (Gemini's page on function calling, 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...context import Context
from . import wire

Tools = tuple[Tool | HostedTool, ...]
_OWN = frozenset({wire.NAME, "code-assist"})
_CONFIG = "functionCallingConfig"


def strict_tools(tools: Tools, context: Context) -> Tools:
    """Tools under VALIDATED for a target of another family: strict if the schema already fits the strict subset. Other
    schemas would have to change for strict mode.
    """
    if context.target in _OWN:
        return tools
    from ...codec.schema.lossless_strict_form import strict_form  # late: rarely needed

    out: list[Tool | HostedTool] = []
    for tool in tools:
        if isinstance(tool, Tool) and tool.schema is not None:
            form = strict_form(tool.schema.encode())
            if form.obstacle or form.changes:
                why = form.obstacle or form.changes[0].detail
                context.lose("tool.strict.dropped", tool.at, f"VALIDATED: {why}")
            else:
                tool = msgspec.structs.replace(tool, strict=True)
        elif isinstance(tool, Tool):
            context.lose("tool.strict.dropped", tool.at, "VALIDATED: the tool takes no arguments")
        out.append(tool)
    return tuple(out)


def write_mode(request: Request, out: dict[str, Any], context: Context) -> None:
    """Set the calling mode for strict tools, after the choice was written."""
    if "tools" not in out or context.source == wire.NAME:
        return
    functions = [tool for tool in request.tools if type(tool) is Tool]
    if not [tool for tool in functions if tool.strict]:
        return
    config = out.get("toolConfig", {}).get(_CONFIG, {})
    mode = config.get("mode", "AUTO")
    if mode == "NONE":
        lose_strict(functions, context, "under the mode NONE there are no calls")
        return
    if mode != "AUTO":
        # The guarantee holds, but the mode does not show that it was requested: the reverse translation cannot restore
        # `strict`.
        for tool in functions:
            if tool.strict:
                context.lose("tool.strict.approximated", tool.at, f"the mode {mode} holds all calls to their schemas")
        return
    if not context.profile.validated:
        lose_strict(functions, context, f"{context.model or 'the model'} has no mode VALIDATED")
        return
    out.setdefault("toolConfig", {})[_CONFIG] = {**config, "mode": "VALIDATED"}
    for tool in functions:
        if not tool.strict:
            context.lose("tool.strict.approximated", tool.at, "the mode VALIDATED is for all functions")


def lose_strict(tools: Iterable[Tool | HostedTool], context: Context, why: str = "") -> None:
    """Report the strict tools that no mode enforces."""
    for tool in tools:
        if isinstance(tool, Tool) and tool.strict:
            context.lose("tool.strict.dropped", tool.at, why)
