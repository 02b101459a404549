"""Helpers for the commands of `dragoman mcp`: the file of the servers, the servers, and their errors."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from ..errors import ConfigError, DragomanError
from ..runtime.mcp.config import ServerConfig, load, read
from ..store.mcp_logins import Logins
from ..store.user_files import config_folder, read_own_file
from .loss_and_error_output import silence_mcp_sdk_log, without_control_characters
from .untrusted_file_effects import SERVERS_FILE
from .untrusted_files import FolderFile

if TYPE_CHECKING:
    from ..runtime.mcp.servers import Servers

T = TypeVar("T")

servers_file = click.option(
    "--config",
    "--mcp",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_MCP",
    help="File with the servers. Default: DRAGOMAN_MCP, else a trusted .mcp.json in this folder,"
    " else mcp.json in dragoman's config folder.",
)
as_json_option = click.option("--json", "as_json", is_flag=True, help="Write one JSON document, for programs.")


def chosen_servers(file: Path | None, gate: str | None, wanted: tuple[str, ...]) -> dict[str, ServerConfig]:
    """The wanted servers of a file, or all of them; `gate` replaces the setting of the file."""
    try:
        found = load(file, os.environ) if file is not None else _usual_servers(os.environ)
        for name in wanted:
            if name not in found:
                raise ConfigError("MCP server", name, tuple(found))
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    chosen = {name: config for name, config in found.items() if not wanted or name in wanted}
    if gate is None:
        return chosen
    return {name: msgspec.structs.replace(config, schema_gate=gate) for name, config in chosen.items()}


def _usual_servers(environ: Mapping[str, str]) -> dict[str, ServerConfig]:
    """The servers of a trusted file in this folder, else the servers of the user's own file."""
    options = f"`--config {SERVERS_FILE}` (`dragoman ask` takes `--mcp {SERVERS_FILE}`)"
    data = FolderFile(Path(SERVERS_FILE), environ, options).read()
    if data is not None:
        return read(data, environ, SERVERS_FILE)
    own = config_folder(environ) / "mcp.json"
    try:
        return read(read_own_file(own), environ, str(own))
    except FileNotFoundError:
        problem = f"write {SERVERS_FILE} in this folder, or {own}, or use --config FILE"
        raise click.ClickException(f"no MCP servers are configured: {problem}") from None
    except OSError as error:
        raise ConfigError("file", str(own), problem=error.strerror or str(error)) from None


def open_servers(configs: Mapping[str, ServerConfig]) -> Servers:
    """The servers, with the stored logins. On a terminal the person answers their questions."""
    need_sdk()
    from ..runtime.mcp.server_requests import ServerRequests
    from ..runtime.mcp.servers import Servers

    elicit = None
    if sys.stdin is not None and sys.stdin.isatty():
        from .mcp_server_questions import ServerQuestions
        from .terminal_line_reader import asked_line

        elicit = ServerQuestions(lambda text: click.echo(without_control_characters(text), err=True), asked_line)
    return Servers(configs, (Path.cwd(),), ServerRequests(elicit), Logins(os.environ))


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """The result of work with servers. An error ends the command with its message."""
    need_sdk()
    try:
        return asyncio.run(work)
    except DragomanError as error:
        raise click.ClickException(without_control_characters(str(error))) from None


def need_sdk() -> None:
    """End the command with a message if the SDK is missing."""
    try:
        import mcp as sdk  # noqa: F401
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"the package {error.name} is missing. Run pip install 'dragoman[runtime]'"
        ) from None
    silence_mcp_sdk_log()
