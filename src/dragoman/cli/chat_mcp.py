"""Owns `/mcp` of the chat: shows the MCP servers, and adds their resources and prompts to the next message."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..canon.parts import Media, Part, Text
from ..codec.media import kind_of
from ..errors import ConfigError
from .loss_and_error_output import count_with_noun
from .mcp_resources_and_prompts import prompt_line, prompt_texts, resource_line
from .request_setting_options import read_pairs

if TYPE_CHECKING:
    from ..runtime.mcp.servers import Servers

_FORMS = ("resources", "read SERVER URI", "prompts", "prompt SERVER NAME [NAME=VALUE]...")


async def run_mcp_command(rest: str, servers: Servers | None, show: Callable[[str], None]) -> list[Part]:
    """Run `/mcp ...`. Gives the parts that join the next message. ConfigError or ToolError where that fails."""
    if servers is None:
        show("no MCP server (--mcp FILE names a file with servers)")
        return []
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise ConfigError("mcp", rest, problem=str(error)) from None
    match words:
        case []:
            for one in servers.status():
                show(f"{one.name:24} {count_with_noun(len(one.tools), 'tool') if one.connected else one.failure}")
            show("more: " + ", ".join([f"/mcp {form}" for form in _FORMS]))
        case ["resources"]:
            found = [(one.name, each) for one in servers if one.connected for each in await one.resources()]
            for name, each in found:
                show(f"{name}  {resource_line(each)}")
            show("" if found else "the servers have no resources")
        case ["prompts"]:
            listed = [(one.name, each) for one in servers if one.connected for each in await one.prompts()]
            for name, prompt in listed:
                show(f"{name}  {prompt_line(prompt)}")
            show("" if listed else "the servers have no prompts")
        case ["read", server, uri]:
            contents = (await servers[server].read_resource(uri)).contents
            show(f"added to your next message: {uri}")
            return [_content(server, str(one.uri), one) for one in contents]
        case ["prompt", server, name, *arguments]:
            result = await servers[server].prompt(name, read_pairs(arguments, "argument"))
            texts = prompt_texts(result)
            for text in texts:
                show(text)
            show("added to your next message")
            return [Text(text) for text in texts]
        case _:
            raise ConfigError("mcp", rest, problem=f"write {', '.join([f'/mcp {form}' for form in _FORMS])}")
    return []


def _content(server: str, uri: str, one: object) -> Part:
    """A part of a resource: a text with a line about its origin, or media."""
    text = getattr(one, "text", None)
    if text is not None:
        return Text(f"The resource {uri} of the MCP server {server}:\n{text}")
    mime = getattr(one, "mime_type", None) or "application/octet-stream"
    return Media(kind_of(mime), mime, str(getattr(one, "blob", "")))
