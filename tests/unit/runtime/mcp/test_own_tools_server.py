"""Our tools as an MCP server, met by the official client in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_args

import mcp_types as wire
import pytest
from mcp import Client, MCPError

from dragoman.canon.parts import Media, Text
from dragoman.runtime.mcp.own_tools_server import ToolServer
from dragoman.runtime.tool_interface import Confirmation, Kind, Outcome, ToolEnvironment, ToolError

KINDS: frozenset[Kind] = frozenset(get_args(Kind))


class Given:
    """A tool that gives what it is made with, or raises it."""

    description = "gives"
    schema: Mapping[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}

    def __init__(self, name: str, gives: Outcome | ToolError, kind: Kind = "read") -> None:
        self.name = name
        self.kind = kind
        self._gives = gives

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        return Confirmation("may it?", self.kind)

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        around.report("half")
        around.report("nearly")
        if isinstance(self._gives, ToolError):
            raise self._gives
        return self._gives


def met(
    tools: list[Given], work: Callable[[Client], Awaitable[Any]], kinds: frozenset[Kind] = KINDS, mode: Any = "auto"
) -> Any:
    async def whole() -> Any:
        async with Client(ToolServer(tools, ToolEnvironment(()), kinds).server, mode=mode) as client:
            return await work(client)

    return asyncio.run(whole())


def called(gives: Outcome | ToolError, arguments: dict[str, Any] | None = None) -> wire.CallToolResult:
    async def work(client: Client) -> wire.CallToolResult:
        return await client.call_tool("give", arguments or {})

    found: wire.CallToolResult = met([Given("give", gives)], work)
    return found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_only_tools_that_read_are_offered_unless_more_is_said(mode: str) -> None:
    async def listed(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    tools = [Given(kind, Outcome("x"), kind) for kind in sorted(KINDS)]
    assert met(tools, listed, frozenset({"read"}), mode) == ["read"]
    assert met(tools, listed, KINDS, mode) == sorted(KINDS)


def test_hints_follow_from_the_kind() -> None:
    async def hints(client: Client) -> dict[str, tuple[bool | None, bool | None, bool | None]]:
        found = {tool.name: tool.annotations or wire.ToolAnnotations() for tool in (await client.list_tools()).tools}
        return {name: (of.read_only_hint, of.destructive_hint, of.open_world_hint) for name, of in found.items()}

    assert met([Given(kind, Outcome("x"), kind) for kind in sorted(KINDS)], hints) == {
        "edit": (False, True, False),
        "fetch": (True, None, True),
        "other": (False, None, None),
        "read": (True, None, False),
        "remember": (False, False, False),
        "run": (False, True, True),
    }


def test_a_text() -> None:
    result = called(Outcome("hello"))
    assert (result.content, result.is_error) == ([wire.TextContent(text="hello")], False)


@pytest.mark.parametrize(
    ("media", "block"),
    [
        (Media("image", "image/png", "iVBO"), wire.ImageContent(data="iVBO", mime_type="image/png")),
        (Media("audio", "audio/wav", "UklG"), wire.AudioContent(data="UklG", mime_type="audio/wav")),
        (
            Media("document", "application/pdf", "JVBE", name="a.pdf"),
            wire.EmbeddedResource(
                resource=wire.BlobResourceContents(uri="result:///a.pdf", mime_type="application/pdf", blob="JVBE")
            ),
        ),
        (
            Media("video", "video/mp4", "AAAA"),
            wire.EmbeddedResource(
                resource=wire.BlobResourceContents(uri="result:///video", mime_type="video/mp4", blob="AAAA")
            ),
        ),
    ],
    ids=["image", "audio", "document", "video"],
)
def test_media(media: Media, block: wire.ContentBlock) -> None:
    status = wire.TextContent(text="Tool execution succeeded.")
    assert called(Outcome((Text("look"), media))).content == [status, wire.TextContent(text="look"), block]


def test_a_failure_is_a_result_with_the_error_flag() -> None:
    result = called(ToolError("file_not_found", "not there"))
    assert (result.content, result.is_error) == ([wire.TextContent(text="not there")], True)


def test_arguments_are_held_against_the_schema() -> None:
    result = called(Outcome("x"), {"n": "one"})
    assert result.is_error
    assert isinstance(result.content[0], wire.TextContent) and "do not fit the schema" in result.content[0].text


def test_a_tool_that_is_not_offered_is_not_run() -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool: give"):
            await client.call_tool("give", {})

    met([Given("give", Outcome("x"), "run")], work, frozenset({"read"}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_a_tool_reports_is_progress_and_the_newest_counts(mode: str) -> None:
    heard: list[tuple[float, str | None]] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async def work(client: Client) -> None:
        await client.call_tool("give", {}, progress_callback=told)

    met([Given("give", Outcome("x"))], work, mode=mode)
    assert heard == [(1, "nearly")]
