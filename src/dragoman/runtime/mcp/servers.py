"""Owns the MCP servers of a session, and their tools as tools of the runtime: names, checks, updates."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
import msgspec
from msgspec import Struct

from ...errors import ConfigError
from ...store.mcp_logins import Logins
from ..tool_interface import Confirmation, Kind, Outcome, ToolEnvironment, ToolError
from ..toolbox import Toolbox
from . import result_content, tool_names
from .client import McpConnection, OfferedTool, SkippedTool
from .config import ServerConfig
from .oauth import stored_login
from .server_requests import ServerRequests
from .untyped_schema_check import untyped_schema_path


class RemoteTool:
    """A tool of an MCP server. Only the user's policy decides whether it runs; the server's hints do not count."""

    kind: Kind = "other"

    def __init__(self, name: str, connection: McpConnection, offered: OfferedTool) -> None:
        self.name = name
        self.description = offered.description
        self.schema = offered.schema
        self.offered = offered
        self._connection = connection

    @property
    def server(self) -> str:
        """The name of the server."""
        return self._connection.name

    @property
    def key(self) -> tuple[str, str]:
        """The names of server and tool, before any change."""
        return self.server, self.offered.name

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        title = f"Run {self.offered.title or self.offered.name} of the MCP server {self.server}"
        if arguments:  # all arguments, because the person approves exactly these
            title += f" with {msgspec.json.encode(arguments).decode()}"
        trusted = self._connection.config.trust
        return Confirmation(title, self.kind, server=self.server, tool=self.offered.name, trusted=trusted)

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        report = _limit_rate(around.report)
        result = await self._connection.call(self.offered.name, arguments, report, around.answer, around.spend)
        return result_content.outcome(self.offered.name, result)


class Status(Struct, frozen=True):
    """The state of a server."""

    name: str
    connected: bool
    failure: str
    version: str
    tools: tuple[RemoteTool, ...]
    skipped: tuple[SkippedTool, ...]
    notes: tuple[str, ...]


class Servers:
    """All servers of a configuration. Open it (`async with`), then `join` a toolbox. From then on the toolbox follows
    the servers.

    A server that cannot be reached has no tools, and its state has the reason. The other servers are not affected.
    """

    def __init__(
        self,
        configs: Mapping[str, ServerConfig],
        workspace: tuple[Path, ...] = (),
        requests: ServerRequests | None = None,
        logins: Logins | None = None,
    ) -> None:
        """`requests` answers requests of servers. `logins` has the tokens of servers that need a login."""
        self._connections = {
            name: McpConnection(name, config, workspace, requests, _login(config, logins))
            for name, config in configs.items()
            if not config.disabled
        }
        self._toolbox = Toolbox()
        self._mine: dict[str, RemoteTool] = {}
        """The MCP tools in the toolbox, by name."""
        self._names: dict[tuple[str, str], str] = {}
        """The given names. A name stays the same, because a model has seen it."""
        self._skipped: dict[str, tuple[SkippedTool, ...]] = {}
        for connection in self._connections.values():
            connection.changed = self._sync

    async def __aenter__(self) -> Servers:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connect to all servers without a connection, in parallel. A later call of this function may reach a server
        that was down."""
        await asyncio.gather(*[_reach(connection) for connection in self._connections.values()])
        self._sync()

    async def close(self) -> None:
        """Close all connections, end the servers' processes, and remove the tools from the toolbox."""
        self.join(Toolbox())
        # The tools leave the toolbox first, so that no new call begins.
        await asyncio.gather(*[connection.close() for connection in self._connections.values()])

    def join(self, toolbox: Toolbox) -> None:
        """Add the tools to this toolbox."""
        for name in self._mine:
            self._toolbox.remove(name)
        self._mine, self._toolbox = {}, toolbox
        self._sync()

    def __getitem__(self, name: str) -> McpConnection:
        """The connection to a server. ConfigError: there is no server with the name."""
        if name not in self._connections:
            raise ConfigError("MCP server", name, tuple(self._connections))
        return self._connections[name]

    def __iter__(self) -> Iterator[McpConnection]:
        return iter(self._connections.values())

    def status(self) -> tuple[Status, ...]:
        """The state of every server, in the order of the configuration."""
        return tuple([self._status(connection) for connection in self._connections.values()])

    def _status(self, of: McpConnection) -> Status:
        tools = tuple([tool for tool in self._mine.values() if tool.server == of.name])
        notes = [f"the key {key} is unknown here" for key in of.config.unknown]
        if of.config.schema_gate == "warn":
            found = [(tool.offered.name, untyped_schema_path(tool.schema)) for tool in tools]
            notes += [f"{name}: its schema has no type at {at}" for name, at in found if at is not None]
        skipped = self._skipped.get(of.name, ())
        return Status(of.name, of.connected, of.failure, of.version, tools, skipped, tuple(notes))

    def _sync(self) -> None:
        """Update the toolbox to the current tools of the servers."""
        wanted: list[tuple[McpConnection, OfferedTool]] = []
        for connection in self._connections.values():
            skipped = list(connection.refused)
            seen: set[str] = set()
            for offered in connection.tools:
                barred = _why_not_offered(connection.config, offered, seen)
                seen.add(offered.name)
                if barred is None:
                    wanted.append((connection, offered))
                else:
                    skipped.append(barred)
            self._skipped[connection.name] = tuple(skipped)
        have = {tool.key: tool for tool in self._mine.values()}
        # An unchanged tool stays the same object: a call of it may be running.
        same = {
            (of.name, offered.name) for of, offered in wanted if _is_current(have.get((of.name, offered.name)), offered)
        }
        for key in have.keys() - same:
            self._toolbox.remove(have[key].name)
            del self._mine[have[key].name]
        for connection, offered in wanted:
            if (connection.name, offered.name) not in same:
                self._add(connection, offered)

    def _add(self, connection: McpConnection, offered: OfferedTool) -> None:
        key = (connection.name, offered.name)
        name = self._names.get(key)
        if name is None or name in self._toolbox:
            name = tool_names.choose_name(*key, self._toolbox)
        tool = RemoteTool(name, connection, offered)
        try:
            self._toolbox.add(tool)
        except ConfigError as error:
            self._skipped[connection.name] += (SkippedTool(offered.name, f"its schema is not valid: {error.problem}"),)
        else:
            self._mine[name] = tool
            self._names[key] = name


def _login(config: ServerConfig, logins: Logins | None) -> Callable[[], httpx2.Auth | None]:
    return lambda: stored_login(config, logins) if logins is not None else None


def _why_not_offered(config: ServerConfig, offered: OfferedTool, seen: set[str]) -> SkippedTool | None:
    """Why a tool is not offered. None: it is offered."""
    name = offered.name
    if not name:
        return SkippedTool(name, "it has no name")
    # Names are unique in a server (MCP 2025-11-25). Of two equal names, the first counts.
    if name in seen:
        return SkippedTool(name, "another tool of the server has the same name")
    if name in config.exclude_tools:
        return SkippedTool(name, "excluded by the configuration (excludeTools)", True)
    if config.include_tools is not None and name not in config.include_tools:
        return SkippedTool(name, "not included by the configuration (includeTools)", True)
    at = untyped_schema_path(offered.schema) if config.schema_gate == "skip" else None
    why = f'its schema has no type at {at}; "schemaGate": "warn" lets it in'
    return SkippedTool(name, why) if at is not None else None


def _is_current(tool: RemoteTool | None, offered: OfferedTool) -> bool:
    return tool is not None and tool.offered == offered


async def _reach(connection: McpConnection) -> None:
    try:
        await connection.connect()
    except ToolError:
        return  # connection.failure has the reason


def _limit_rate(report: Callable[[str], None]) -> Callable[[str], None]:
    """A report function that passes on at most one report a second."""
    last = -1.0

    def throttled(text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if last < 0 or now - last >= 1:
            last = now
            report(text)

    return throttled
