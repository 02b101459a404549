"""MCP servers that misbehave: what becomes of their tools and calls, and that their processes end with the session."""

from __future__ import annotations

import asyncio
import sys

import pytest

from dragoman.runtime.mcp.config import ServerConfig
from dragoman.runtime.mcp.servers import Servers, Status
from dragoman.runtime.tool_interface import ToolEnvironment, ToolError
from tests.e2e.mcp_servers.processes import ROOT, children


def odd(how: str) -> ServerConfig:
    return ServerConfig(command=sys.executable, args=("-m", "tests.e2e.mcp_servers.faulty_server", how), cwd=str(ROOT))


def looked(how: str) -> Status:
    async def work() -> Status:
        async with Servers({"odd": odd(how)}) as servers:
            return servers.status()[0]

    before = children()
    status = asyncio.run(work())
    assert children() <= before
    return status


def failed(how: str, times: int = 1) -> tuple[ToolError, int]:
    """What a call of its tool comes to, the last of some, and how many processes it took."""

    async def work() -> tuple[ToolError, int]:
        async with Servers({"odd": odd(how)}) as servers:
            pids = children() - before
            for _ in range(times):
                with pytest.raises(ToolError) as caught:
                    await servers.status()[0].tools[0].run({}, ToolEnvironment(()))
                pids |= children() - before
            return caught.value, len(pids)

    before = children()
    found = asyncio.run(work())
    assert children() <= before
    return found


def test_a_server_without_tools() -> None:
    status = looked("toolless")
    assert status.connected and status.tools == () and status.version == "2025-06-18"


def test_a_program_that_is_no_server() -> None:
    status = looked("chatty")
    assert not status.connected and status.failure.endswith(
        "(its output is not MCP: 'I am no tool server.' | KeyError: 7)"
    )


def test_a_list_without_an_end() -> None:
    status = looked("endless")
    assert not status.connected and "more than 100 pages" in status.failure


def test_a_list_that_breaks_the_protocol() -> None:
    status = looked("broken-list")
    assert not status.connected and "validation error" in status.failure


def test_a_process_that_does_not_want_to_end() -> None:
    assert looked("stubborn").connected


def test_an_answer_that_breaks_the_protocol() -> None:
    error, _ = failed("broken")
    assert error.kind == "mcp_invalid" and "no valid answer" in error.message


def test_an_answer_that_breaks_the_tools_own_schema() -> None:
    error, _ = failed("wrong")
    assert error.kind == "mcp_invalid" and "'n' is a required property" in error.message


def test_an_error_with_the_code_of_a_lost_connection_is_no_lost_connection() -> None:
    error, processes = failed("own-code", times=2)
    assert error.kind == "mcp_error" and "the database is away" in error.message
    assert processes == 1
