"""Our tools as an MCP server, with the official client in the same process."""

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


class FixedTool:
    """A tool with a fixed outcome. It returns the outcome or raises it."""

    description = "gives"
    schema: Mapping[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}

    def __init__(self, name: str, outcome: Outcome | ToolError, kind: Kind = "read") -> None:
        self.name = name
        self.kind = kind
        self._outcome = outcome

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        return Confirmation("may it?", self.kind)

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        around.report("half")
        around.report("nearly")
        if isinstance(self._outcome, ToolError):
            raise self._outcome
        return self._outcome


def run_with_client(
    tools: list[FixedTool], work: Callable[[Client], Awaitable[Any]], kinds: frozenset[Kind] = KINDS, mode: Any = "auto"
) -> Any:
    async def whole() -> Any:
        async with Client(ToolServer(tools, ToolEnvironment(()), kinds).server, mode=mode) as client:
            return await work(client)

    return asyncio.run(whole())


def call_tool_with(outcome: Outcome | ToolError, arguments: dict[str, Any] | None = None) -> wire.CallToolResult:
    async def work(client: Client) -> wire.CallToolResult:
        return await client.call_tool("give", arguments or {})

    found: wire.CallToolResult = run_with_client([FixedTool("give", outcome)], work)
    return found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_only_tools_of_the_allowed_kinds_are_offered(mode: str) -> None:
    async def list_names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    tools = [FixedTool(kind, Outcome("x"), kind) for kind in sorted(KINDS)]
    assert run_with_client(tools, list_names, frozenset({"read"}), mode) == ["read"]
    assert run_with_client(tools, list_names, KINDS, mode) == sorted(KINDS)


def test_the_hints_of_a_tool_follow_from_its_kind() -> None:
    async def hints(client: Client) -> dict[str, tuple[bool | None, bool | None, bool | None]]:
        found = {tool.name: tool.annotations or wire.ToolAnnotations() for tool in (await client.list_tools()).tools}
        return {name: (of.read_only_hint, of.destructive_hint, of.open_world_hint) for name, of in found.items()}

    assert run_with_client([FixedTool(kind, Outcome("x"), kind) for kind in sorted(KINDS)], hints) == {
        "edit": (False, True, False),
        "fetch": (True, None, True),
        "other": (False, None, None),
        "read": (True, None, False),
        "remember": (False, False, False),
        "run": (False, True, True),
    }


def test_a_text_is_one_block() -> None:
    result = call_tool_with(Outcome("hello"))
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
def test_media_become_blocks_after_a_status_text(media: Media, block: wire.ContentBlock) -> None:
    status = wire.TextContent(text="Tool execution succeeded.")
    assert call_tool_with(Outcome((Text("look"), media))).content == [status, wire.TextContent(text="look"), block]


def test_a_failure_is_a_result_with_the_error_flag() -> None:
    result = call_tool_with(ToolError("file_not_found", "not there"))
    assert (result.content, result.is_error) == ([wire.TextContent(text="not there")], True)


def test_arguments_are_checked_with_the_schema() -> None:
    result = call_tool_with(Outcome("x"), {"n": "one"})
    assert result.is_error
    assert isinstance(result.content[0], wire.TextContent) and "do not fit the schema" in result.content[0].text


def test_a_tool_that_is_not_offered_is_not_run() -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool: give"):
            await client.call_tool("give", {})

    run_with_client([FixedTool("give", Outcome("x"), "run")], work, frozenset({"read"}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_reports_of_a_tool_are_sent_as_progress_and_only_the_newest_counts(mode: str) -> None:
    progress_messages: list[tuple[float, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        progress_messages.append((progress, message))

    async def work(client: Client) -> None:
        await client.call_tool("give", {}, progress_callback=on_progress)

    run_with_client([FixedTool("give", Outcome("x"))], work, mode=mode)
    assert progress_messages == [(1, "nearly")]
