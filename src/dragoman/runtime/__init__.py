"""The tool runtime: built-in tools, functions as tools, MCP servers, policies and the agent loop, for any upstream.

A name of this package loads its module at the first use. So a program with only a tool loads neither the loop nor the
network client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Type checkers cannot follow `__getattr__`, so they read these imports.
if TYPE_CHECKING:
    from ..canon.request import Settings
    from ..facts.windows_and_prices import WindowAndPrices
    from ..transport.search_service_config import SearchService
    from .agent import Agent, Reply
    from .builtin_tools import builtin
    from .diff_viewer_interface import DiffUpdate, DiffViewer
    from .events import (
        Compressed,
        Content,
        Failed,
        Finished,
        Lost,
        ProjectInstructions,
        Retrying,
        RunEvent,
        Thought,
        ToolCallProgress,
        ToolCallRequest,
        ToolCallResponse,
        Waiting,
        WebSearchBegin,
        WebSearchEnd,
    )
    from .function_tools import FunctionTool, tool
    from .loop import Limits, Loop
    from .policy import Policy
    from .resumable_conversation import Session
    from .structured_output import OutputError
    from .tool_interface import Confirmation, Outcome, Tool, ToolEnvironment, ToolError
    from .toolbox import Approval, Toolbox

_MODULES = {
    "..canon.request": ("Settings",),
    "..facts.windows_and_prices": ("WindowAndPrices",),
    "..transport.search_service_config": ("SearchService",),
    ".agent": ("Agent", "Reply"),
    ".builtin_tools": ("builtin",),
    ".diff_viewer_interface": ("DiffUpdate", "DiffViewer"),
    ".events": (
        *("Compressed", "Content", "Failed", "Finished", "RunEvent", "Lost", "ProjectInstructions", "Retrying"),
        *("Thought", "ToolCallProgress", "ToolCallRequest", "ToolCallResponse", "Waiting"),
        *("WebSearchBegin", "WebSearchEnd"),
    ),
    ".function_tools": ("FunctionTool", "tool"),
    ".loop": ("Limits", "Loop"),
    ".policy": ("Policy",),
    ".resumable_conversation": ("Session",),
    ".structured_output": ("OutputError",),
    ".tool_interface": ("Confirmation", "Outcome", "Tool", "ToolEnvironment", "ToolError"),
    ".toolbox": ("Approval", "Toolbox"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Agent",
    "Approval",
    "Compressed",
    "Confirmation",
    "Content",
    "DiffUpdate",
    "DiffViewer",
    "Failed",
    "Finished",
    "FunctionTool",
    "Limits",
    "Loop",
    "Lost",
    "Outcome",
    "OutputError",
    "Policy",
    "ProjectInstructions",
    "Reply",
    "Retrying",
    "RunEvent",
    "SearchService",
    "Session",
    "Settings",
    "Thought",
    "Tool",
    "ToolCallProgress",
    "ToolCallRequest",
    "ToolCallResponse",
    "ToolEnvironment",
    "ToolError",
    "Toolbox",
    "Waiting",
    "WebSearchBegin",
    "WebSearchEnd",
    "WindowAndPrices",
    "builtin",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
