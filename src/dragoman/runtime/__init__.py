"""Owns the tool runtime: built-in tools, MCP servers, policies and the agent loop, for any upstream in any dialect.

The public names are imported at first use: a single tool needs no loop, and a loop needs no network client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent import Agent, Reply
    from .loop import Limits, Loop
    from .policy import Policy
    from .session import Session
    from .toolbox import Toolbox

__all__ = ["Agent", "Limits", "Loop", "Policy", "Reply", "Session", "Toolbox"]

_HOMES = {"Reply": "agent", "Limits": "loop"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES.get(name, name.lower())}", __name__), name)
