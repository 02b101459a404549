"""Owns helpers for the tests of the tools: an environment with a workspace, and calls of tools by name."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from dragoman.canon.parts import Text, ToolCall
from dragoman.canon.response import Response, Stop
from dragoman.runtime import builtin_tools
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Tool, ToolEnvironment
from dragoman.runtime.toolbox import Approve, FinishedCall, Toolbox

ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


def environment_for(*workspace: Path, **more: Any) -> ToolEnvironment:
    return ToolEnvironment(workspace, ENVIRONMENT, **more)


def call(name: str, arguments: Any, call_id: str = "call_1") -> ToolCall:
    return ToolCall(call_id, name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def run(
    name: str,
    arguments: Any,
    where: ToolEnvironment | Path,
    *,
    policy: Policy | None = None,
    approve: Approve | None = None,
    tool: Tool | None = None,
) -> FinishedCall:
    """Run one call in a new toolbox."""

    async def work() -> FinishedCall:
        toolbox = Toolbox([tool] if tool is not None else builtin_tools.tools())
        environment = environment_for(where) if isinstance(where, Path) else where
        try:
            return await toolbox.run(call(name, arguments), environment, policy or Policy(mode="all"), approve)
        finally:
            await toolbox.close()

    return asyncio.run(work())


def text_of(done: FinishedCall) -> str:
    """The text of a result that has one part."""
    (only,) = done.result.parts
    assert isinstance(only, Text)
    return only.text


def failure(done: FinishedCall) -> str:
    """The kind of the failure. The result must have the error flag too."""
    assert done.outcome.failure is not None, done
    assert done.result.is_error
    assert done.result.call_id == done.call.id
    return done.outcome.failure.kind


def answer(*texts: Text | str) -> Response:
    return Response(tuple([text if isinstance(text, Text) else Text(text) for text in texts]), Stop("stop"))
