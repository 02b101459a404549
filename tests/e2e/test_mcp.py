"""Our MCP client with real servers in other processes: two transports, older and newer protocol.

Several tests also check that no process is left.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon.parts import Media, Text, ToolCall
from dragoman.runtime.mcp.config import ServerConfig
from dragoman.runtime.mcp.servers import Servers
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import ToolEnvironment, ToolError
from dragoman.runtime.toolbox import FinishedCall, Toolbox
from tests.e2e.mcp_servers.processes import ROOT, WAYS, children, started
from tests.e2e.mcp_servers.server_with_many_tools import MODERN, PDF, PNG, WAV

OFFICE = [sys.executable, "-m", "tests.e2e.mcp_servers.server_with_many_tools"]


@contextmanager
def office(way: str) -> Iterator[ServerConfig]:
    """The configuration of the test server, in one of four ways to connect."""
    flags = ["--handshake"] if way.endswith("-handshake") else []
    if way.startswith("stdio"):
        yield process(*flags)
        return
    with started(*OFFICE, "--http", *flags) as (_, address):
        yield ServerConfig(url=address)


def process(*flags: str, **more: Any) -> ServerConfig:
    return ServerConfig(command=OFFICE[0], args=(*OFFICE[1:], *flags), cwd=str(ROOT), **more)


def session(
    config: ServerConfig, work: Callable[[Servers, Toolbox], Awaitable[Any]], workspace: Path | None = None
) -> Any:
    """Connect to the server and run `work` with its tools. Returns the result of `work`."""

    async def whole() -> Any:
        toolbox = Toolbox()
        async with (
            asyncio.timeout(120),
            Servers({"office": config}, () if workspace is None else (workspace,)) as servers,
        ):
            servers.join(toolbox)
            return await work(servers, toolbox)

    return asyncio.run(whole())


async def call_tool(
    toolbox: Toolbox, name: str, arguments: str = "{}", report: Callable[[str], None] = print
) -> FinishedCall:
    around = ToolEnvironment((), report=report)
    return await toolbox.run(ToolCall("call_1", name, arguments), around, Policy(mode="all"))


def text(done: FinishedCall) -> str:
    (part,) = done.result.parts
    assert isinstance(part, Text)
    return part.text


@pytest.mark.parametrize("way", WAYS)
def test_tools_are_found_and_called(way: str, tmp_path: Path) -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        (status,) = servers.status()
        assert status.connected and status.failure == ""
        assert (status.version == MODERN) == (not way.endswith("handshake"))
        assert [tool.name for tool in status.tools][:4] == ["echo", "media", "links", "add"]
        skipped = {one.name: one.why for one in status.skipped}
        assert len(status.tools) + len(skipped) == 17  # The list has four pages.
        assert "no type at /properties/x" in skipped["untyped"]
        # The newer protocol forbids this header. The older protocol ignores headers.
        assert skipped.keys() - {"untyped"} == (set() if way.endswith("handshake") else {"headers"})

        assert text(await call_tool(toolbox, "echo", '{"text": "über"}')) == "über"
        assert text(await call_tool(toolbox, "odd_name_")) == "odd name!"
        assert text(await call_tool(toolbox, "add")) == '{"sum":3}'
        media = (await call_tool(toolbox, "media")).result
        assert [part for part in media.parts if isinstance(part, Media)] == [
            Media("image", "image/png", PNG),
            Media("audio", "audio/wav", WAV),
            Media("document", "application/pdf", PDF),
        ]
        links = [part.text for part in (await call_tool(toolbox, "links")).result.parts if isinstance(part, Text)]
        assert links[1:] == ["Resource Link: The B at file:///b.txt", "a note"]

        reports: list[str] = []
        await servers["office"].call("counts", {}, reports.append)
        assert reports == ["step 0", "step 1", "step 2"]
        assert text(await call_tool(toolbox, "counts", report=reports.append)) == "counted"
        assert reports[3] == "step 0"

        broken = await call_tool(toolbox, "fails")
        assert broken.result.is_error and text(broken) == "it broke"
        refused = await call_tool(toolbox, "refuses")
        assert refused.result.is_error and "not like this" in text(refused)
        wrong = await call_tool(toolbox, "echo", '{"text": 1}')
        assert wrong.result.is_error and "do not fit the schema" in text(wrong)

    before = children()
    with office(way) as config:
        session(config, work)
    assert children() <= before


@pytest.mark.parametrize("way", WAYS)
def test_the_toolbox_follows_changes_of_the_servers_tools(way: str) -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        assert "late" not in toolbox and "echo" in toolbox
        changed = asyncio.Event()
        on_change_before = servers["office"].changed

        def on_change() -> None:
            on_change_before()
            changed.set()

        servers["office"].changed = on_change
        for _ in range(20):  # Over HTTP the notification may come a moment later.
            assert text(await call_tool(toolbox, "grows")) == "grown"
            try:
                await asyncio.wait_for(changed.wait(), 3)
                break
            except TimeoutError:
                continue
        assert "late" in toolbox and "echo" not in toolbox
        assert text(await call_tool(toolbox, "late")) == "late"

    with office(way) as config:
        session(config, work)


@pytest.mark.parametrize("way", ["stdio", "stdio-handshake"])
def test_a_server_gets_the_workspace_and_no_secrets(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")

    async def work(servers: Servers, toolbox: Toolbox) -> None:
        assert text(await call_tool(toolbox, "roots")) == tmp_path.resolve().as_uri()
        seen = text(await call_tool(toolbox, "says")).split()
        assert "SOME_API_KEY" not in seen and "PATH" in seen

    with office(way) as config:
        session(config, work, tmp_path)


def test_a_question_to_the_user_is_declined_without_a_user() -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        assert text(await call_tool(toolbox, "asks")) == "decline"

    session(process(), work)


def test_a_restarted_server_has_its_current_tools() -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        await call_tool(toolbox, "grows")
        while "late" not in toolbox:
            await asyncio.sleep(0.01)
        await call_tool(toolbox, "dies")
        assert "echo" not in toolbox
        await call_tool(toolbox, "cuts")
        assert "echo" in toolbox and "late" not in toolbox

    session(process("--handshake"), work)


@pytest.mark.parametrize("way", ["stdio", "stdio-handshake"])
def test_a_server_that_dies_causes_an_error_and_is_restarted(way: str) -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        done = await call_tool(toolbox, "dies")
        assert done.outcome.failure is not None and done.outcome.failure.kind == "mcp_lost"
        assert done.result.is_error and "ended during the call" in text(done) and "the office burns" in text(done)
        assert text(await call_tool(toolbox, "echo", '{"text": "again"}')) == "again"

    before = children()
    with office(way) as config:
        session(config, work)
    assert children() <= before


def test_a_server_that_died_between_calls_is_restarted() -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        (pid,) = children() - before
        os.kill(pid, signal.SIGKILL)
        while servers["office"].connected:
            await asyncio.sleep(0.01)
        assert text(await call_tool(toolbox, "echo", '{"text": "again"}')) == "again"

    before = children()
    session(process(), work)
    assert children() <= before


@pytest.mark.parametrize("handshake", [False, True], ids=["modern", "handshake"])
def test_a_server_on_http_works_again_after_a_restart(handshake: bool) -> None:
    flags = ["--handshake"] if handshake else []

    async def work(servers: Servers, toolbox: Toolbox) -> None:
        assert text(await call_tool(toolbox, "echo", '{"text": "one"}')) == "one"
        first.kill()
        await asyncio.to_thread(first.wait, 20)
        done = await call_tool(toolbox, "echo", '{"text": "two"}')
        assert done.result.is_error
        with started(*OFFICE, "--http", "--port", port, *flags):
            assert text(await call_tool(toolbox, "echo", '{"text": "three"}')) == "three"

    with started(*OFFICE, "--http", *flags) as (first, address):
        port = address.rpartition(":")[2].partition("/")[0]
        session(ServerConfig(url=address), work)


def test_the_client_reconnects_if_a_server_lost_the_session() -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        first.kill()
        await asyncio.to_thread(first.wait, 20)
        with started(*OFFICE, "--http", "--handshake", "--port", port):
            done = await asyncio.gather(*[call_tool(toolbox, "echo", f'{{"text": "{n}"}}') for n in range(3)])
            assert [text(one) for one in done] == ["0", "1", "2"]

    with started(*OFFICE, "--http", "--handshake") as (first, address):
        port = address.rpartition(":")[2].partition("/")[0]
        session(ServerConfig(url=address), work)


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_takes_too_long_is_an_error_and_is_cancelled(way: str) -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        servers["office"].config = quick
        done = await call_tool(toolbox, "sleeps", '{"seconds": 60}')
        assert done.outcome.failure is not None and done.outcome.failure.kind == "mcp_timeout"
        servers["office"].config = config
        while text(await call_tool(toolbox, "cuts")) == "0":  # The client cancels the call at the server.
            await asyncio.sleep(0.05)

    with office(way) as config:
        quick = ServerConfig(command=config.command, args=config.args, cwd=config.cwd, url=config.url, timeout=300)
        session(config, work)


def test_a_cancelled_call_does_not_affect_other_calls() -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        slow = asyncio.create_task(call_tool(toolbox, "sleeps", '{"seconds": 60}'))
        other = asyncio.create_task(call_tool(toolbox, "sleeps", '{"seconds": 0.5}'))
        await asyncio.sleep(0.1)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        assert text(await other) == "slept"

    before = children()
    session(process(), work)
    assert children() <= before


def test_output_before_the_first_message_is_ignored() -> None:
    async def work(servers: Servers, toolbox: Toolbox) -> None:
        assert text(await call_tool(toolbox, "echo", '{"text": "sense"}')) == "sense"

    script = f"echo Starting...; exec {' '.join(OFFICE)}"
    session(ServerConfig(command="bash", args=("-c", script), cwd=str(ROOT)), work)


def test_no_server_starts_after_the_session() -> None:
    async def work() -> None:
        toolbox = Toolbox()
        async with Servers({"office": process()}) as servers:
            servers.join(toolbox)
            tool = toolbox["echo"]
        assert len(toolbox) == 0
        with pytest.raises(ToolError, match="has ended"):
            await tool.run({"text": "late"}, ToolEnvironment(()))

    before = children()
    asyncio.run(work())
    assert children() <= before


def test_unreachable_servers_report_the_reason_and_affect_no_other_server() -> None:
    async def work() -> None:
        configs = {
            "none": ServerConfig(command="/nonexistent/program"),
            "ends": ServerConfig(command="bash", args=("-c", "echo the reason >&2; exit 3")),
            "mute": ServerConfig(command="bash", args=("-c", "sleep 60"), timeout=500),
            "closed": ServerConfig(url="http://127.0.0.1:9/mcp"),
            "office": process(),
        }
        async with Servers(configs) as servers:
            found = {status.name: status for status in servers.status()}
            assert [name for name, status in found.items() if status.connected] == ["office"]
            assert "No such file" in found["none"].failure
            assert "the reason" in found["ends"].failure
            assert "not ready after 0.5 s" in found["mute"].failure
            assert found["closed"].failure
            assert len(found["office"].tools) == 15

    before = children()
    asyncio.run(work())
    assert children() <= before
