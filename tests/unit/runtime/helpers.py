"""What the tests of the tools share: a workspace, and calls to tools by their names."""

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
from dragoman.runtime.toolbox import Approve, Done, Toolbox

ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


def around(*workspace: Path, **more: Any) -> ToolEnvironment:
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
) -> Done:
    """One call, by a toolbox of its own."""

    async def work() -> Done:
        toolbox = Toolbox([tool] if tool is not None else builtin_tools.tools())
        here = around(where) if isinstance(where, Path) else where
        try:
            return await toolbox.run(call(name, arguments), here, policy or Policy(mode="all"), approve)
        finally:
            await toolbox.close()

    return asyncio.run(work())


def said(done: Done) -> str:
    """The text of a result that is nothing else."""
    (only,) = done.result.parts
    assert isinstance(only, Text)
    return only.text


def failure(done: Done) -> str:
    """What kind of failure it is; the result says so too."""
    assert done.outcome.failure is not None, done
    assert done.result.is_error
    assert done.result.call_id == done.call.id
    return done.outcome.failure.kind


def answer(*texts: Text | str) -> Response:
    return Response(tuple([text if isinstance(text, Text) else Text(text) for text in texts]), Stop("stop"))
