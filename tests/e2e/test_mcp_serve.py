"""Our MCP server with the official client and with our own: offered tools, refused calls, no remaining processes."""

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
from mcp import Client, MCPError, StdioServerParameters

from dragoman.runtime.mcp.config import ServerConfig
from dragoman.runtime.mcp.servers import Servers
from tests.e2e.mcp_servers.processes import ROOT, WAYS, children, sleepers, started

SERVE = [sys.executable, "-c", "from dragoman.cli.main import main; main()", "mcp", "serve"]
READING = {"glob", "list_directory", "read_file", "read_many_files", "search_file_content"}


@contextmanager
def serving(way: str, folder: Path, *flags: str) -> Iterator[Callable[[], Client]]:
    """A function that makes clients of the official SDK, for a server of ours with access to one folder."""
    mode: Any = "legacy" if way.endswith("-handshake") else "auto"
    command = [*SERVE, "--root", str(folder), *flags]
    if way.startswith("stdio"):
        yield lambda: Client(StdioServerParameters(command=command[0], args=command[1:], cwd=ROOT), mode=mode)
        return
    with started(*command, "--http") as (_, first_line):
        assert first_line.startswith("dragoman serves tools at http://127.0.0.1:")
        yield lambda: Client(first_line.rpartition(" ")[2], mode=mode)


def run_with_client(make: Callable[[], Client], work: Callable[[Client], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(120), make() as client:
            await work(client)

    asyncio.run(whole())


def block(result: Any) -> str:
    (only,) = result.content
    text: str = only.text
    return text


@pytest.mark.parametrize("way", WAYS)
def test_the_official_client_reads_files_with_our_tools(way: str, tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out.txt"
    inside.mkdir()
    (inside / "a.txt").write_text("hello\n")
    (inside / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(16))
    outside.write_text("secret")

    async def work(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == READING
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in listed)
        assert str(inside) in (client.instructions or "")

        result = await client.call_tool("read_file", {"absolute_path": str(inside / "a.txt")})
        assert block(result) == "hello\n" and not result.is_error
        image = await client.call_tool("read_file", {"absolute_path": str(inside / "a.png")})
        assert [one.type for one in image.content] == ["text", "image"]
        beyond = await client.call_tool("read_file", {"absolute_path": str(outside)})
        assert beyond.is_error and "secret" not in block(beyond)
        wrong = await client.call_tool("read_file", {})
        assert wrong.is_error and "absolute_path" in block(wrong)
        for name in ("write_file", "nothing"):
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool(name, {})

    before = children()
    with serving(way, inside) as make:
        run_with_client(make, work)
    assert children() <= before


def test_tools_that_write_are_offered_if_they_are_allowed(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        listed = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert listed.keys() == {"write_file", "run_shell_command"}
        for hints in listed.values():
            assert hints is not None and hints.read_only_hint is False and hints.destructive_hint is True
        await client.call_tool("write_file", {"file_path": str(tmp_path / "new.txt"), "content": "made"})
        messages: list[str | None] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            messages.append(message)

        command = {"command": "cat new.txt; echo ${SOME_API_KEY:-none}; sleep 2.5; echo end"}
        done = await client.call_tool("run_shell_command", command, progress_callback=on_progress)
        assert "made" in block(done) and "none" in block(done)
        assert messages and "made" in (messages[0] or "")

    flags = ["--allow", "edits", "--allow", "commands", "--tool", "write_file", "--tool", "run_shell_command"]
    with serving("stdio", tmp_path, *flags) as make:
        run_with_client(make, work)
    assert (tmp_path / "new.txt").read_text() == "made"


@pytest.mark.parametrize("way", ["stdio", "stdio-handshake", "http"])
@pytest.mark.parametrize("how", ["cancelled", "left"])
def test_no_command_outlives_its_call(way: str, how: str, tmp_path: Path) -> None:
    mark = f"sleep 7{os.getpid():07d}"

    async def work(client: Client) -> None:
        call = asyncio.create_task(client.call_tool("run_shell_command", {"command": f"{mark} | {mark}"}))
        while len(sleepers(mark)) < 2:
            await asyncio.sleep(0.05)
        call.cancel()
        await asyncio.wait({call})
        while how == "cancelled" and sleepers(mark):
            await asyncio.sleep(0.05)

    with serving(way, tmp_path, "--allow", "commands") as make:
        run_with_client(make, work)
    assert sleepers(mark) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP], ids=["terminate", "hang-up"])
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_no_command_outlives_the_server(way: str, how: signal.Signals, tmp_path: Path) -> None:
    mark = f"sleep 8{os.getpid():07d}"

    async def work(client: Client) -> None:
        call = asyncio.create_task(client.call_tool("run_shell_command", {"command": mark}))
        while not sleepers(mark):
            await asyncio.sleep(0.05)
        (server,) = [pid for pid in children() - before if "dragoman.cli" in Path(f"/proc/{pid}/cmdline").read_text()]
        os.kill(server, how)
        await asyncio.wait({call})
        while sleepers(mark):
            await asyncio.sleep(0.05)

    before = children()
    with serving(way, tmp_path, "--allow", "commands") as make:
        run_with_client(make, work)
    assert sleepers(mark) == []
    assert children() <= before


def test_a_server_with_a_key_serves_only_clients_with_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "k1")

    async def work() -> None:
        right, wrong = ({"Authorization": f"Bearer {key}"} for key in ("k1", "k2"))
        configs = {"right": ServerConfig(url=address, headers=right), "wrong": ServerConfig(url=address, headers=wrong)}
        async with Servers(configs) as servers:
            first, second = servers.status()
            assert {tool.name for tool in first.tools} == READING
            assert not second.connected and "401" in second.failure

    with started(*SERVE, "--http", "--key-env", "THE_KEY", "--root", str(tmp_path)) as (_, first_line):
        address = first_line.rpartition(" ")[2]
        asyncio.run(work())


def test_our_client_can_use_our_server(tmp_path: Path) -> None:
    config = ServerConfig(command=SERVE[0], args=(*SERVE[1:], "--root", str(tmp_path)), cwd=str(ROOT))

    async def work() -> None:
        async with Servers({"ours": config}) as servers:
            (status,) = servers.status()
            assert {tool.name for tool in status.tools} == READING and not status.skipped

    asyncio.run(work())


def test_a_command_in_the_background_ends_with_the_session(tmp_path: Path) -> None:
    mark = f"sleep 9{os.getpid():07d}"

    async def work(client: Client) -> None:
        done = await client.call_tool("run_shell_command", {"command": f"{mark} >/dev/null 2>&1 &"})
        assert "Background PIDs" in block(done)
        assert sleepers(mark)

    with serving("stdio", tmp_path, "--allow", "commands") as make:
        run_with_client(make, work)
    assert sleepers(mark) == []
