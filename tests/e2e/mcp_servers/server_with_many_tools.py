"""A server with many kinds of tools: with texts, media, links and failures, slow tools, and tools that end the server.

Run as `python -m tests.e2e.mcp_servers.server_with_many_tools`. `--http` serves streamable HTTP on a free port of
loopback. `--handshake` selects the protocol before 2026.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from typing import Any

import mcp_types as wire
import uvicorn
from mcp import MCPError, stdio_server
from mcp.server import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged

MODERN = "2026-07-28"
PNG = "iVBORw0KGgo="
WAV = "UklGRg=="
PDF = "JVBERg=="

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
HEADER = {"type": "string", "x-mcp-header": "not a token"}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}

TOOLS: dict[str, wire.Tool] = {
    tool.name: tool
    for tool in [
        wire.Tool(name="echo", description="Says it again.", input_schema=TEXT),
        wire.Tool(name="media", description="A picture, a sound, a document.", input_schema=NOTHING),
        wire.Tool(name="links", title="Links", input_schema=NOTHING),
        wire.Tool(name="add", input_schema=NOTHING, output_schema=SUM),
        wire.Tool(name="fails", input_schema=NOTHING),
        wire.Tool(name="refuses", input_schema=NOTHING),
        wire.Tool(name="sleeps", input_schema={"type": "object", "properties": {"seconds": {"type": "number"}}}),
        wire.Tool(name="cuts", description="How many sleeps were cut short.", input_schema=NOTHING),
        wire.Tool(name="dies", input_schema=NOTHING),
        wire.Tool(name="counts", input_schema=NOTHING),
        wire.Tool(name="grows", input_schema=NOTHING),
        wire.Tool(name="asks", input_schema=NOTHING),
        wire.Tool(name="roots", input_schema=NOTHING),
        wire.Tool(name="says", description="What variables it sees.", input_schema=NOTHING),
        wire.Tool(name="odd name!", input_schema=NOTHING),
        wire.Tool(name="headers", input_schema={"type": "object", "properties": {"a": HEADER}}),
        wire.Tool(name="untyped", input_schema={"type": "object", "properties": {"x": {"description": "anything"}}}),
    ]
}
CUT: list[int] = []
BUS = InMemorySubscriptionBus()


async def listed(context: Any, params: wire.PaginatedRequestParams | None) -> wire.ListToolsResult:
    """The list of tools, five on each page."""
    start = int(params.cursor) if params is not None and params.cursor else 0
    names = list(TOOLS)
    more = str(start + 5) if start + 5 < len(names) else None
    return wire.ListToolsResult(tools=[TOOLS[name] for name in names[start : start + 5]], next_cursor=more)


async def called(context: Any, params: Any) -> wire.CallToolResult | wire.InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "echo":
            return _texts(given["text"])
        case "media":
            resource = wire.BlobResourceContents(uri="file:///a.pdf", mime_type="application/pdf", blob=PDF)
            blocks: list[wire.ContentBlock] = [
                wire.ImageContent(data=PNG, mime_type="image/png"),
                wire.AudioContent(data=WAV, mime_type="audio/wav"),
                wire.EmbeddedResource(resource=resource),
            ]
            return wire.CallToolResult(content=blocks)
        case "links":
            note = wire.TextResourceContents(uri="file:///note.txt", text="a note")
            blocks = [
                wire.ResourceLink(uri="file:///b.txt", name="b", title="The B"),
                wire.EmbeddedResource(resource=note),
            ]
            return wire.CallToolResult(content=blocks)
        case "add":
            return wire.CallToolResult(content=[], structured_content={"sum": 3})
        case "fails":
            return wire.CallToolResult(content=[wire.TextContent(text="it broke")], is_error=True)
        case "refuses":
            raise MCPError(wire.INVALID_PARAMS, "not like this")
        case "sleeps":
            try:
                await asyncio.sleep(given["seconds"])
            except asyncio.CancelledError:
                CUT.append(1)
                raise
            return _texts("slept")
        case "cuts":
            return _texts(str(len(CUT)))
        case "dies":
            print("the office burns", file=sys.stderr, flush=True)
            os._exit(3)
        case "counts":
            for i in range(3):
                await context.session.report_progress(i, 3, f"step {i}")
            return _texts("counted")
        case "grows":
            TOOLS["late"] = wire.Tool(name="late", input_schema=NOTHING)
            TOOLS.pop("echo", None)
            await BUS.publish(ToolsListChanged())
            if context.protocol_version < MODERN:
                await context.session.send_tool_list_changed()
            return _texts("grown")
        case "roots" if context.protocol_version < MODERN:
            roots = (await context.session.send_request(wire.ListRootsRequest(), wire.ListRootsResult)).roots
            return _texts(*[str(root.uri) for root in roots])
        case "roots" if params.input_responses:
            return _texts(*[str(root.uri) for root in params.input_responses["roots"].roots])
        case "roots":
            return wire.InputRequiredResult(input_requests={"roots": wire.ListRootsRequest()})
        case "says":
            return _texts(" ".join(sorted(os.environ)))
        case "asks" if params.input_responses:
            return _texts(params.input_responses["who"].action)
        case "asks":
            question = wire.ElicitRequestFormParams(message="Who?", requested_schema=NOTHING)
            return wire.InputRequiredResult(input_requests={"who": wire.ElicitRequest(params=question)})
    return _texts(params.name)


def _texts(*texts: str) -> wire.CallToolResult:
    return wire.CallToolResult(content=[wire.TextContent(text=text) for text in texts])


async def handshake_only(ctx: Any, call_next: Any) -> Any:
    """Refuse the first request of the newer protocol."""
    if ctx.method == "server/discover":
        raise MCPError(wire.METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


def office(handshake: bool) -> Server[Any]:
    listen = ListenHandler(BUS)
    server = Server("office", on_list_tools=listed, on_call_tool=called, on_subscriptions_listen=listen)
    if handshake:
        server.middleware.append(handshake_only)
    return server


async def on_stdio(server: Server[Any], handshake: bool) -> None:
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (reading, writing):
        if handshake:
            await serve_loop(server, reading, writing, lifespan_state={}, init_options=options)
        else:
            await server.run(reading, writing, options)


def on_http(server: Server[Any], port: int) -> None:
    listening = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error", timeout_graceful_shutdown=1)).run(
        [listening]
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--handshake", action="store_true")
    given = parser.parse_args()
    if given.http:
        on_http(office(given.handshake), given.port)
    else:
        asyncio.run(on_stdio(office(given.handshake), given.handshake))


if __name__ == "__main__":
    main()
