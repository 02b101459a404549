"""Faulty MCP servers: the state of their tools and calls, and the end of their processes."""

from __future__ import annotations

import asyncio
import sys

import pytest

from dragoman.runtime.mcp.config import ServerConfig
from dragoman.runtime.mcp.servers import Servers, Status
from dragoman.runtime.tool_interface import ToolEnvironment, ToolError
from tests.e2e.mcp_servers.processes import ROOT, children


def config_of(fault: str) -> ServerConfig:
    return ServerConfig(
        command=sys.executable, args=("-m", "tests.e2e.mcp_servers.faulty_server", fault), cwd=str(ROOT)
    )


def status_of(fault: str) -> Status:
    async def work() -> Status:
        async with Servers({"odd": config_of(fault)}) as servers:
            return servers.status()[0]

    before = children()
    status = asyncio.run(work())
    assert children() <= before
    return status


def failed_call(fault: str, times: int = 1) -> tuple[ToolError, int]:
    """Call the tool several times. Returns the error of the last call, and the number of started processes."""

    async def work() -> tuple[ToolError, int]:
        async with Servers({"odd": config_of(fault)}) as servers:
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


def test_a_server_without_tools_is_connected() -> None:
    status = status_of("toolless")
    assert status.connected and status.tools == () and status.version == "2025-06-18"


def test_a_program_that_is_no_server_is_reported() -> None:
    status = status_of("chatty")
    assert not status.connected and status.failure.endswith(
        "(its output is not MCP: 'I am no tool server.' | KeyError: 7)"
    )


def test_an_endless_list_of_tools_is_a_failure() -> None:
    status = status_of("endless")
    assert not status.connected and "more than 100 pages" in status.failure


def test_a_list_that_breaks_the_protocol_is_a_failure() -> None:
    status = status_of("broken-list")
    assert not status.connected and "validation error" in status.failure


def test_a_process_that_ignores_sigterm_is_killed() -> None:
    assert status_of("stubborn").connected


def test_an_answer_that_breaks_the_protocol_is_an_error() -> None:
    error, _ = failed_call("broken")
    assert error.kind == "mcp_invalid" and "no valid answer" in error.message


def test_an_answer_that_breaks_the_schema_of_the_tool_is_an_error() -> None:
    error, _ = failed_call("wrong")
    assert error.kind == "mcp_invalid" and "'n' is a required property" in error.message


def test_an_error_with_the_code_of_a_lost_connection_keeps_the_connection() -> None:
    error, processes = failed_call("own-code", times=2)
    assert error.kind == "mcp_error" and "the database is away" in error.message
    assert processes == 1
