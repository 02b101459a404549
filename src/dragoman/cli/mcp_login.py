"""`dragoman mcp login` and `dragoman mcp logout`: a login at an MCP server by OAuth, in the browser of the person."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..errors import ConfigError
from ..runtime.mcp.config import ServerConfig
from ..store.mcp_logins import Logins
from ..transport.oauth_redirect import LoopbackRedirect
from .loss_and_error_output import count_with_noun, without_control_characters
from .mcp_command_helpers import chosen_servers, run_async, servers_file


@click.command()
@click.argument("server")
@servers_file
@click.option("--no-browser", is_flag=True, help="Do not open a browser; only print the address.")
def login(server: str, file: Path | None, no_browser: bool) -> None:
    """Sign in at a SERVER that needs OAuth. The tokens are stored in a file that only you can read.

    A page of the server opens in your browser. If your browser runs on another machine, open the printed address there.
    The last page cannot be opened there. Paste its address here.
    """
    config = _with_url(server, file)
    run_async(_signed_in(server, config, browser=not no_browser))


@click.command()
@click.argument("server")
@servers_file
def logout(server: str, file: Path | None) -> None:
    """Forget the tokens of a SERVER. They stay valid at the server until they expire."""
    from ..runtime.mcp.oauth import forget_login

    if not forget_login(_with_url(server, file), Logins(os.environ)):
        raise click.ClickException(f"there is no login at {server}")
    click.echo(f"the login at {server} is forgotten", err=True)


def _with_url(server: str, file: Path | None) -> ServerConfig:
    config = chosen_servers(file, None, (server,))[server]
    if not config.url:
        raise click.ClickException(f"{server} is a program on this machine; only a server with a url needs a login")
    return config


async def _signed_in(name: str, config: ServerConfig, *, browser: bool) -> None:
    from ..runtime.mcp.client import McpConnection
    from ..runtime.mcp.oauth import LOGIN_SECONDS, new_login
    from .terminal_line_reader import typed_line

    shown = False

    async def show(url: str) -> None:
        nonlocal shown
        shown = True
        click.echo(f"Sign in at {name}, in your browser:\n\n{without_control_characters(url)}\n", err=True)
        if terminal:
            click.echo("Or paste the address of the last page here, and press Enter.", err=True)
        if browser:
            click.launch(url)

    terminal = sys.stdin is not None and sys.stdin.isatty()
    async with LoopbackRedirect(config.oauth.redirect_port) as redirect:
        auth = new_login(config, Logins(os.environ), redirect, show, typed_line if terminal else None)
        connection = McpConnection(name, config, login=lambda: auth)
        # The time limit of the connection must be longer than the time for the person.
        connection.connect_seconds, connection.login_hint = LOGIN_SECONDS + 60, ""
        try:
            await connection.connect()
        finally:
            await connection.close()
    if not shown:
        raise ConfigError(
            "MCP server", name, problem="the server did not ask for a login. You can use its tools without one"
        )
    click.echo(f"signed in at {name}: {count_with_noun(len(connection.tools), 'tool')}", err=True)
