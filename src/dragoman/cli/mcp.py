"""`dragoman mcp`: lists and calls the tools of MCP servers, and serves our own tools. Logins, resources and prompts of
servers have modules of their own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ..runtime.mcp.config import ServerConfig
from ..runtime.mcp.result_content import outcome
from ..store.user_files import config_folder
from .loss_and_error_output import count_with_noun
from .mcp_command_helpers import as_json_option, chosen_servers, need_sdk, open_servers, run_async, servers_file
from .mcp_login import login, logout
from .mcp_resources_and_prompts import prompt, prompts, read, resources

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from ..runtime.mcp.servers import Status
    from ..runtime.tool_interface import Kind

_KINDS: dict[str, tuple[Kind, ...]] = {"edits": ("edit", "remember"), "commands": ("run",), "fetch": ("fetch",)}

# This tool searches through the upstream of a model, and there is no model here.
_NEEDS_A_MODEL = "google_web_search"

_gate = click.option(
    "--gate",
    type=click.Choice(["skip", "warn", "off"]),
    help="What to do with tools whose schema leaves out types. Default: the setting in the file.",
)


@click.group()
def mcp() -> None:
    """MCP servers: sign in, list and use what they offer, or serve our own tools.

    The file has the format of other agents: {"mcpServers": {"name": {"command": "...", "args": []}}}, or with "url" for
    a server on the network.
    """


for command in (login, logout, resources, read, prompts, prompt):
    mcp.add_command(command)


@mcp.command(name="list")
@click.argument("servers", nargs=-1)
@servers_file
@_gate
@as_json_option
def list_command(servers: tuple[str, ...], file: Path | None, gate: str | None, as_json: bool) -> None:
    """Connect to the servers, and show their tools. For a skipped tool show the reason. Exit 1 when a server cannot be
    reached."""
    configs = chosen_servers(file, gate, servers)
    found = run_async(_look_up_servers(configs))
    off = [name for name, config in configs.items() if config.disabled]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode([_plain(status) for status in found])).decode())
    else:
        for status in found:
            _show(status)
        for name in off:
            click.echo(f"{name}: disabled")
    sys.exit(any(not status.connected for status in found))


@mcp.command()
@click.argument("server")
@click.argument("tool")
@click.argument("arguments", default="{}")
@servers_file
@as_json_option
def call(server: str, tool: str, arguments: str, file: Path | None, as_json: bool) -> None:
    """Call one TOOL of a SERVER with ARGUMENTS, a JSON object (- reads it from standard input).

    TOOL is the server's own name for the tool. With --json the server's answer is printed unchanged. Exit 1 when the
    tool fails.
    """
    text = sys.stdin.read() if arguments == "-" else arguments
    try:
        given = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise click.UsageError(f"ARGUMENTS is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise click.UsageError("ARGUMENTS is not a JSON object")
    result = run_async(_call_tool(chosen_servers(file, None, (server,)), server, tool, given))
    if as_json:
        click.echo(result.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        click.echo(outcome(tool, result).display, err=result.is_error)
    sys.exit(result.is_error)


@mcp.command()
@click.option("--http", is_flag=True, help="Streamable HTTP on loopback, in place of standard input and output.")
@click.option("--port", type=int, default=0, show_default=True, help="With --http; 0 lets the system choose.")
@click.option(
    "--key-env", metavar="VAR", help="With --http: variable with the key that clients must send as a bearer token."
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder that the tools may use; all other folders are forbidden. May be repeated. [default: this folder]",
)
@click.option(
    "--allow",
    multiple=True,
    type=click.Choice([*_KINDS, "all"]),
    help="Also offer tools that edit files, run commands, or fetch from the network.",
)
@click.option("--tool", "names", multiple=True, metavar="NAME", help="Offer only this tool. May be repeated.")
def serve(
    http: bool, port: int, key_env: str | None, roots: tuple[Path, ...], allow: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """Offer the built-in tools to another agent. The agent starts this command, or connects to the address that it
    prints.

    No tool asks for approval here, so only tools that read are offered unless --allow adds others.
    """
    need_sdk()
    from ..runtime import builtin_tools
    from ..runtime.mcp.own_tools_server import ToolServer
    from ..runtime.policy import Policy
    from ..runtime.tool_interface import ToolEnvironment

    key = os.environ.get(key_env, "") if key_env else ""
    if key_env and not key:
        raise click.ClickException(
            f"the variable {key_env} is not set or empty. Set it to the key that clients must send"
        )
    kinds: frozenset[Kind] = frozenset(
        ("read", *[kind for word, some in _KINDS.items() if word in allow or "all" in allow for kind in some])
    )
    tools = [
        tool for tool in builtin_tools.tools() if tool.name != _NEEDS_A_MODEL and (not names or tool.name in names)
    ]
    missing = set(names) - {tool.name for tool in tools if tool.kind in kinds}
    if missing:
        raise click.ClickException(f"these tools are unknown or not allowed: {', '.join(sorted(missing))}")
    workspace = tuple([root.resolve() for root in roots or (Path(),)])
    # Commands that another agent runs get no secrets either.
    around = ToolEnvironment(workspace, Policy().passed(os.environ), config=config_folder(os.environ))
    server = ToolServer(tools, around, kinds)
    if not http:
        asyncio.run(server.serve_stdio())
        return
    try:
        asyncio.run(server.serve_http(port, lambda address: click.echo(f"dragoman serves tools at {address}"), key))
    except OSError as error:
        raise click.ClickException(f"cannot listen: {error.strerror or error}") from None


async def _look_up_servers(configs: Mapping[str, ServerConfig]) -> tuple[Status, ...]:
    async with open_servers(configs) as servers:
        return servers.status()


async def _call_tool(
    configs: Mapping[str, ServerConfig], server: str, tool: str, given: dict[str, Any]
) -> CallToolResult:
    # Not `async with`, which would hide the reason why a server cannot be reached. The call itself connects, and raises
    # the error.
    servers = open_servers(configs)
    try:
        return await servers[server].call(tool, given, lambda text: click.echo(text, err=True))
    finally:
        await servers.close()


def _show(status: Status) -> None:
    state = (
        f"{count_with_noun(len(status.tools), 'tool')} ({status.version})"
        if status.connected
        else f"not connected: {status.failure}"
    )
    click.echo(f"{click.style(status.name, bold=True)}: {state}")
    for tool in status.tools:
        known = "" if tool.name == tool.offered.name else f" ({tool.offered.name})"
        click.echo(f"  {tool.name}{known}  {tool.description.strip().partition(chr(10))[0][:100]}".rstrip())
    for one in status.skipped:
        click.echo(f"  {click.style('skipped', fg='yellow')} {one.name}: {one.why}")
    for note in status.notes:
        click.echo(f"  {click.style('note', fg='cyan')} {note}")


def _plain(status: Status) -> dict[str, Any]:
    tools = [
        {"name": tool.name, "tool": tool.offered.name, "description": tool.description, "schema": tool.schema}
        for tool in status.tools
    ]
    skipped = [{"tool": one.name, "why": one.why} for one in status.skipped]
    whole = {"server": status.name, "connected": status.connected, "failure": status.failure, "version": status.version}
    return {**whole, "tools": tools, "skipped": skipped, "notes": status.notes}
