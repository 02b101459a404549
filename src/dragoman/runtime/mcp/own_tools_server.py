"""Owns our tools as an MCP server for other agents: over stdio, or over streamable HTTP on loopback, in old and new
protocol versions.

The kinds of offered tools are set beforehand, because no person can be asked during a call. At the end no process of a
tool is left.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import mcp_types as wire
import msgspec
import uvicorn
from mcp import MCPError, stdio_server
from mcp.server import Server, ServerRequestContext

from ... import __version__
from ...canon.parts import Media, Part, Text, ToolCall
from ..policy import Policy
from ..tool_interface import Kind, Tool, ToolEnvironment
from ..toolbox import Toolbox

LOOPBACK = "127.0.0.1"
PATH = "/mcp"

# Hints for clients, which may not trust them (MCP 2025-11-25).
# `destructiveHint` is true by default, so it is written out.
_HINTS: dict[Kind, wire.ToolAnnotations] = {
    "read": wire.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    "edit": wire.ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False),
    "run": wire.ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
    "fetch": wire.ToolAnnotations(read_only_hint=True, open_world_hint=True),
    "remember": wire.ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    "other": wire.ToolAnnotations(read_only_hint=False),
}

RequestContext = ServerRequestContext[Any, Any]


class ToolServer:
    """Serves the tools of some kinds. All clients share one environment and one policy."""

    def __init__(
        self, tools: Iterable[Tool], around: ToolEnvironment, kinds: frozenset[Kind] = frozenset({"read"})
    ) -> None:
        self.toolbox = Toolbox([tool for tool in tools if tool.kind in kinds])
        self._around = around
        # No person can be asked here. The choice of kinds was the permission.
        self._policy = Policy(mode="all")
        self._running: set[asyncio.Task[wire.CallToolResult]] = set()
        folders = ", ".join(map(str, around.workspace))
        self.server: Server[Any] = Server(
            "dragoman",
            version=__version__,
            instructions=f"Tools for the files in: {folders}. Nothing outside of these folders can be touched.",
            get_tool_input_schema=lambda name: self.toolbox[name].schema if name in self.toolbox else None,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, context: RequestContext, params: wire.PaginatedRequestParams | None) -> wire.ListToolsResult:
        return wire.ListToolsResult(tools=[_declaration(tool) for tool in self.toolbox])

    async def _call(self, context: RequestContext, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        if params.name not in self.toolbox:
            # An unknown tool is an error of the protocol, not a result (MCP 2025-11-25, Tools).
            raise MCPError(wire.INVALID_PARAMS, f"Unknown tool: {params.name}")
        call = ToolCall(str(context.request_id), params.name, msgspec.json.encode(params.arguments or {}).decode())
        work = asyncio.create_task(self._run(call, context))
        self._running.add(work)
        try:
            return await asyncio.shield(work)
        finally:
            # The SDK cancels a call repeatedly. The tool gets one cancellation, and can then clean up undisturbed.
            work.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({work})
            self._running.discard(work)

    async def _run(self, call: ToolCall, context: RequestContext) -> wire.CallToolResult:
        async with _ProgressReporter(context.session.report_progress) as report:
            around = msgspec.structs.replace(self._around, report=report)
            result = (await self.toolbox.run(call, around, self._policy)).result
        return wire.CallToolResult(content=[_block(part) for part in result.parts], is_error=result.is_error)

    async def close(self) -> None:
        """End the running calls, and everything that the tools started."""
        for work in self._running:
            work.cancel()
        if self._running:
            await asyncio.wait(self._running)
        await self.toolbox.close()

    async def serve_stdio(self) -> None:
        """Serve until standard input ends, or a signal stops the process."""
        leaving: list[asyncio.Task[None]] = []

        async def leave() -> None:
            await self.close()
            os._exit(128 + signal.SIGTERM)  # a thread blocks in a read of standard input, and nothing can wake it

        with _on_stop_signals(lambda: leaving.append(asyncio.create_task(leave()))):
            async with stdio_server() as (reading, writing):
                await self.server.run(reading, writing, self.server.create_initialization_options())
            await self.close()

    async def serve_http(self, port: int, ready: Callable[[str], None], key: str = "") -> None:
        """Serve until a signal stops the process. The server listens on loopback only and accepts only loopback Host
        names, so no web page can reach it through a browser. With a key, only clients with the key are served. `ready`
        gets the address. OSError: the port cannot be opened."""
        with socket.create_server((LOOPBACK, port)) as listening:
            app: Any = self.server.streamable_http_app(streamable_http_path=PATH, host=LOOPBACK)
            # h11: httptools keeps blanks at the end of a header's value, and MCP compares headers with the body.
            config = uvicorn.Config(
                _KeyCheck(app, key) if key else app, http="h11", log_level="warning", timeout_graceful_shutdown=3
            )
            serving = asyncio.create_task(_HttpServer(config).serve([listening]))
            ready(f"http://{LOOPBACK}:{listening.getsockname()[1]}{PATH}")
            try:
                await serving
            finally:
                await self.close()


class _HttpServer(uvicorn.Server):
    """A uvicorn server that does not end the process by the signal: the tools must clean up first."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with _on_stop_signals(self._stop):
            yield

    def _stop(self) -> None:
        self.force_exit = self.should_exit  # a second signal
        self.should_exit = True


@contextmanager
def _on_stop_signals(stop: Callable[[], object]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has set the signal to be ignored
        signals.append(signal.SIGHUP)
    for each in signals:
        loop.add_signal_handler(each, stop)
    try:
        yield
    finally:
        for each in signals:
            loop.remove_signal_handler(each)


class _KeyCheck:
    """Serves only requests with the key."""

    def __init__(self, app: Any, key: str) -> None:
        self._app = app
        self._wanted = f"Bearer {key}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        # `compare_digest` takes the same time for every wrong key.
        if scope["type"] != "http" or hmac.compare_digest(given, self._wanted):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


class _ProgressReporter:
    """Sends a tool's reports as progress: the newest report, after the previous one is sent."""

    def __init__(self, send: Callable[[float, float | None, str | None], Awaitable[None]]) -> None:
        self._send = send
        self._text: str | None = None
        self._count = 0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Callable[[str], None]:
        return self._report

    async def __aexit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        if self._task is not None:
            if kind is not None:
                self._task.cancel()
            # A failure to send progress must not end the call.
            await asyncio.gather(self._task, return_exceptions=True)

    def _report(self, text: str) -> None:
        self._text = text
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._sent())

    async def _sent(self) -> None:
        while self._text is not None:
            text, self._text = self._text, None
            self._count += 1
            await self._send(self._count, None, text)


def _declaration(tool: Tool) -> wire.Tool:
    return wire.Tool(
        name=tool.name, description=tool.description, input_schema=dict(tool.schema), annotations=_HINTS[tool.kind]
    )


def _block(part: Part) -> wire.ContentBlock:
    if isinstance(part, Media):
        mime = part.mime or "application/octet-stream"
        if part.kind == "image":
            return wire.ImageContent(data=part.data, mime_type=mime)
        if part.kind == "audio":
            return wire.AudioContent(data=part.data, mime_type=mime)
        # MCP has no block for documents; a resource with a made-up address holds any type.
        resource = wire.BlobResourceContents(uri=f"result:///{part.name or part.kind}", mime_type=mime, blob=part.data)
        return wire.EmbeddedResource(resource=resource)
    assert isinstance(part, Text)
    return wire.TextContent(text=part.text)
