"""`dragoman mcp resources`, `read`, `prompts` and `prompt`: resources and prompts of MCP servers."""

from __future__ import annotations

import base64
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from .loss_and_error_output import without_control_characters
from .mcp_command_helpers import as_json_option, chosen_servers, open_servers, run_async, servers_file
from .request_setting_options import read_pairs

if TYPE_CHECKING:
    from mcp_types import GetPromptResult, Prompt, ReadResourceResult, Resource

    from ..runtime.mcp.client import McpConnection

T = TypeVar("T")


@click.command()
@click.argument("servers", nargs=-1)
@servers_file
@as_json_option
def resources(servers: tuple[str, ...], file: Path | None, as_json: bool) -> None:
    """List the resources of the servers: texts and files that `dragoman mcp read` shows."""
    _print_list(servers, file, lambda server: server.resources(), resource_line, as_json)


@click.command()
@click.argument("server")
@click.argument("uri")
@servers_file
@as_json_option
def read(server: str, uri: str, file: Path | None, as_json: bool) -> None:
    """Write the resource URI of a SERVER to standard output: texts as they are, binary content as bytes."""

    async def work() -> ReadResourceResult:
        async with open_servers(chosen_servers(file, None, (server,))) as found:
            return await found[server].read_resource(uri)

    result = run_async(work())
    if as_json:
        _print_json(_dumped(result))
        return
    for one in result.contents:
        text = getattr(one, "text", None)
        data = base64.b64decode(getattr(one, "blob", "")) if text is None else text.encode()
        sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@click.command()
@click.argument("servers", nargs=-1)
@servers_file
@as_json_option
def prompts(servers: tuple[str, ...], file: Path | None, as_json: bool) -> None:
    """List the prompts of the servers, with their arguments."""
    _print_list(servers, file, lambda server: server.prompts(), prompt_line, as_json)


@click.command()
@click.argument("server")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@servers_file
@as_json_option
def prompt(server: str, name: str, arguments: tuple[str, ...], file: Path | None, as_json: bool) -> None:
    """Write the prompt NAME of a SERVER, with its arguments filled in.

    Example: dragoman mcp prompt tickets triage id=7 | dragoman ask
    """
    given = _pairs(arguments)

    async def work() -> GetPromptResult:
        async with open_servers(chosen_servers(file, None, (server,))) as found:
            return await found[server].prompt(name, given)

    result = run_async(work())
    if as_json:
        _print_json(_dumped(result))
        return
    click.echo("\n\n".join(prompt_texts(result)))


def resource_line(one: Resource) -> str:
    """A resource in one line: its address, its title or name, its type."""
    return f"{one.uri}  {one.title or one.name}  {one.mime_type or ''}".rstrip()


def prompt_line(one: Prompt) -> str:
    """A prompt in one line: its name, its arguments (optional ones in brackets), its title or description."""
    words = [one.name]
    words += [each.name if each.required else f"[{each.name}]" for each in one.arguments or ()]
    return f"{' '.join(words)}  {(one.title or one.description or '').strip().partition(chr(10))[0]}".rstrip()


def prompt_texts(result: GetPromptResult) -> list[str]:
    """The messages of a prompt as texts. A message of the assistant is marked; of media only the type is shown."""
    texts: list[str] = []
    for message in result.messages:
        block: Any = message.content
        inner = getattr(block, "resource", None)
        text = getattr(block, "text", None) or getattr(inner, "text", None)
        found = text if text is not None else f"[{block.type}: {getattr(block, 'uri', None) or 'not text'}]"
        texts.append(found if message.role == "user" else f"(assistant) {found}")
    return texts


def _print_list(
    servers: tuple[str, ...],
    file: Path | None,
    listing: Callable[[McpConnection], Awaitable[tuple[T, ...]]],
    line: Callable[[T], str],
    as_json: bool,
) -> None:
    """Print what each of the servers lists, one line for each entry, or one JSON document."""

    async def work() -> list[tuple[str, tuple[T, ...]]]:
        async with open_servers(chosen_servers(file, None, servers)) as found:
            return [(one.name, await listing(one)) for one in _connected(found)]

    listed = run_async(work())
    if as_json:
        _print_json([{"server": name, **_dumped(one)} for name, some in listed for one in some])
        return
    for name, some in listed:
        for one in some:
            click.echo(without_control_characters(f"{name}  {line(one)}"))


def _connected(servers: Any) -> list[McpConnection]:
    for status in servers.status():
        if not status.connected:
            click.echo(f"{status.name}: not connected: {without_control_characters(status.failure)}", err=True)
    return [one for one in servers if one.connected]


def _pairs(arguments: tuple[str, ...]) -> Mapping[str, str]:
    return read_pairs(arguments, "argument")


def _dumped(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


def _print_json(value: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value)).decode())
