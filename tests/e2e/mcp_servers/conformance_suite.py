"""A server and a client for the MCP conformance suite. The server has the tools that the suite calls.

Without an argument, `python -m tests.e2e.mcp_servers.conformance_suite` serves the tools and prints the address.
With an address it runs our client. docs/how-to/mcp.md explains how to run the suite, and its result.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from dragoman.canon.parts import Media, Text
from dragoman.runtime.mcp.client import McpConnection
from dragoman.runtime.mcp.config import OAuthConfig, ServerConfig
from dragoman.runtime.mcp.oauth import new_login
from dragoman.runtime.mcp.own_tools_server import ToolServer
from dragoman.runtime.mcp.server_requests import Question, ServerRequests
from dragoman.runtime.mcp.servers import RemoteTool, Servers
from dragoman.runtime.tool_interface import Confirmation, Kind, Outcome, ToolEnvironment, ToolError
from dragoman.store.mcp_logins import Logins
from dragoman.transport.oauth_redirect import LoopbackRedirect
from tests.e2e.authorisation_server import sign_in_with_browser
from tests.e2e.mcp_servers.server_with_many_tools import PDF, PNG, WAV

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
REGION = {"type": "string", "x-mcp-header": "Region"}
SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class FixedTool:
    """A tool with a fixed result."""

    kind: Kind = "read"

    def __init__(self, name: str, outcome: Outcome | None, schema: Mapping[str, Any] = NOTHING) -> None:
        self.name = name
        self.description = f"{name} of the suite"
        self.schema = schema
        self._outcome = outcome

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        return None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        if self._outcome is None:
            raise ToolError("failed", "This tool intentionally returns an error for testing")
        return self._outcome


class SlowFixedTool(FixedTool):
    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        for done in (0, 50, 100):
            around.report(f"Completed step {done} of 100")
            await asyncio.sleep(0.1)
        return await super().run(arguments, around)


IMAGE = Media("image", "image/png", PNG)
TOOLS = [
    FixedTool("test_simple_text", Outcome("This is a simple text response for testing.")),
    FixedTool("test_image_content", Outcome((IMAGE,))),
    FixedTool("test_audio_content", Outcome((Media("audio", "audio/wav", WAV),))),
    FixedTool("test_embedded_resource", Outcome((Media("document", "application/pdf", PDF),))),
    FixedTool("test_multiple_content_types", Outcome((Text("a"), IMAGE, Media("document", "application/pdf", PDF)))),
    FixedTool("test_error_handling", None),
    FixedTool("json_schema_2020_12_tool", Outcome("ok"), SCHEMA_2020),
    FixedTool("test_x_mcp_header", Outcome("ok"), {"type": "object", "properties": {"region": REGION}}),
    SlowFixedTool("test_tool_with_progress", Outcome("ok")),
]


async def sign_in(config: ServerConfig, home: str) -> None:
    """Sign in as `dragoman mcp login` does. The browser opens the page and agrees, and the tokens are stored.

    The function also calls every tool, because a call may need a login with more scopes.
    """

    async def show(url: str) -> None:
        browsers.append(asyncio.create_task(asyncio.to_thread(sign_in_with_browser, url)))

    browsers: list[asyncio.Task[str]] = []
    async with LoopbackRedirect(config.oauth.redirect_port) as redirect:
        auth = new_login(config, Logins({"HOME": home}), redirect, show)
        connection = McpConnection("suite", config, login=lambda: auth)
        try:
            await connection.connect()
            for tool in connection.tools:
                await connection.call(tool.name, {})
        finally:
            await connection.close()


async def defaults(question: Question) -> Mapping[str, Any]:
    """The answers of a person: the default of each field, or a simple value where a field has no default."""
    plain = {"integer": 5, "number": 5, "boolean": True, "text": "word"}
    return {
        field.name: plain.get(field.kind, field.choices[:1]) if field.default is None else field.default
        for field in question.fields
    }


async def visit(address: str) -> None:
    """Connect and list the tools. Make the calls of the scenario, or call each tool once."""
    known = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    oauth = OAuthConfig(client_id=known.get("client_id", ""), client_secret=known.get("client_secret", ""))
    config = ServerConfig(url=address, schema_gate="off", timeout=20_000, oauth=oauth)
    if os.environ.get("MCP_CONFORMANCE_SCENARIO", "").startswith("auth/"):
        with tempfile.TemporaryDirectory() as home:
            await sign_in(config, home)
        return
    async with Servers({"suite": config}, requests=ServerRequests(defaults)) as servers:
        (status,) = servers.status()
        tools = {tool.offered.name: tool for tool in status.tools}
        print(status.version, status.failure, list(tools), status.skipped, file=sys.stderr)
        calls = [(call["name"], call["arguments"]) for call in known.get("toolCalls") or ()]
        for name, arguments in calls or [(name, _arguments(tool, status.tools)) for name, tool in tools.items()]:
            try:
                print((await tools[name].run(arguments, ToolEnvironment(()))).display, file=sys.stderr)
            except ToolError as error:
                print(error.message, file=sys.stderr)
        sys.exit(not status.connected)


def _arguments(tool: RemoteTool, tools: tuple[RemoteTool, ...]) -> dict[str, Any]:
    plain = {"integer": 5, "number": 5, "boolean": True, "array": [], "object": tools[0].schema}
    return {name: plain.get(schema.get("type"), "text") for name, schema in tool.schema.get("properties", {}).items()}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(visit(sys.argv[-1]))
    else:
        asyncio.run(ToolServer(TOOLS, ToolEnvironment(())).serve_http(0, lambda address: print(address, flush=True)))
