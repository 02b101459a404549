"""Restricts a tool choice with a subset of the tools (`allowed_tools`) to the tools that are sent.

A subset of Responses names functions and hosted tools. Chat and Gemini name functions only, so their hosted tools are
always allowed. The other dialects have no subset, and get a shorter list of tools instead.
"""

from __future__ import annotations

import msgspec

from ..canon.parts import Path
from ..canon.request import Request
from ..canon.tools import Choice, HostedTool, Tool
from ..context import Context
from .tool_names import by_name


def hold_to_tools(request: Request, original: tuple[Tool | HostedTool, ...], context: Context) -> Request:
    """The request with a subset of the tools that are sent. `original`: the tools as the client declared them. Hosted
    tools outside the subset are not sent, because only Responses can name them. A subset without any sent tool becomes
    no choice.
    """
    choice = request.choice
    # A choice of one tool, or of none, is not a subset.
    if choice is None or choice.mode not in ("auto", "required") or not (choice.names or choice.hosted_at is not None):
        return request
    declared = by_name(request.tools)
    names = [name for name in choice.names if name in declared]
    for name in choice.names:
        if name not in declared:
            context.lose("choice.dropped", choice.at, f"{name} is not among the tools")
    if choice.hosted_at is None:
        return request if len(names) == len(choice.names) else _with(request, request.tools, choice, tuple(names))
    offered: list[Tool | HostedTool] = []
    left: list[Tool | HostedTool] = []
    for tool in request.tools:
        allowed = _stands_at(tool.at, choice.hosted_at)
        if isinstance(tool, Tool):
            if allowed and tool.name not in names:
                names.append(tool.name)  # this function replaces a hosted tool
            offered.append(tool)
        else:
            (offered if allowed else left).append(tool)
    for place in choice.hosted_at:
        if not any(_stands_at(tool.at, (place,)) for tool in offered):
            kinds = [tool.kind for tool in original if isinstance(tool, HostedTool) and tool.at == place]
            context.lose("choice.dropped", choice.at, f"{', '.join(kinds)} is not offered")
    # Nothing of the subset is left. A forced choice of nothing would be refused.
    if not names and not any(isinstance(tool, HostedTool) for tool in offered):
        return _with(request, request.tools, choice, ())
    # Only hosted tools are left, and no subset can name them: the list itself is shortened.
    if not names:
        left += [tool for tool in offered if isinstance(tool, Tool)]
        offered = [tool for tool in offered if isinstance(tool, HostedTool)]
    for tool in left:
        label = tool.name if isinstance(tool, Tool) else tool.kind
        context.lose("choice.by_filter", tool.at, f"{label} is not offered")
    if not names:
        return msgspec.structs.replace(request, tools=tuple(offered), choice=Choice(choice.mode, at=choice.at))
    return _with(request, tuple(offered), choice, tuple(names))


def _with(request: Request, tools: tuple[Tool | HostedTool, ...], choice: Choice, names: tuple[str, ...]) -> Request:
    """The request with a subset of these functions. Without any, the model may choose freely."""
    extra = choice.extra if choice.hosted_at is None else None  # else it is for Responses only
    made = Choice(choice.mode, names, extra, choice.at) if names else Choice("auto", at=choice.at)
    return msgspec.structs.replace(request, tools=tools, choice=made)


def _stands_at(at: Path, places: tuple[Path, ...]) -> bool:
    """Whether a tool is at one of these paths, or was made from the tool there."""
    return any(at[: len(place)] == place for place in places)
