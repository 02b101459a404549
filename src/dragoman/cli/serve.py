"""`dragoman serve`: runs the gateway, configured by a file, by the environment, or for one upstream."""

from __future__ import annotations

import errno
import socket
import sys
from pathlib import Path
from typing import Literal

import click
import msgspec

from ..errors import ConfigError
from ..gateway.config import Config, LogFormat, check_config, load, one_upstream, parse
from .dialect_option import DIALECT
from .environment_with_stored_keys import user_environment
from .serve_banner import banner_lines
from .untrusted_file_effects import CONFIG_FILE
from .untrusted_files import FolderFile


def _workers(value: str) -> int | Literal["auto"]:
    """The number of processes, or `auto`."""
    if value == "auto":
        return "auto"
    if not value.isdigit() or not int(value):
        raise click.BadParameter(f"{value!r} is neither a number nor auto")
    return int(value)


@click.command()
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_CONFIG",
    help="Configuration file. Default: DRAGOMAN_CONFIG, else a trusted dragoman.toml in this folder.",
)
@click.option("--host", help="Address to listen on. If it is not a loopback address, other machines can connect.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0: the system chooses one.")
@click.option(
    "--workers", type=_workers, metavar="N|auto", help="Processes that share the port; auto: one for each core."
)
@click.option("--upstream", metavar="URL", help="Send every model to this one upstream.")
@click.option("--dialect", type=DIALECT, metavar="DIALECT", help="The dialect of --upstream.")
@click.option(
    "--upstream-key-env",
    metavar="VAR",
    default="",
    help="Variable with the key of --upstream. Default: the client's key is passed on.",
)
@click.option(
    "--log",
    "log_format",
    type=click.Choice(["text", "json", "off"]),
    help="One line for each exchange on standard error: text (the default), json for machines, or off.",
)
def serve(
    file: Path | None,
    host: str | None,
    port: int | None,
    workers: int | Literal["auto"] | None,
    upstream: str | None,
    dialect: str | None,
    upstream_key_env: str,
    log_format: LogFormat | None,
) -> None:
    """Run the gateway: clients of any dialect, upstreams of any dialect.

    Without a file the gateway uses every upstream whose variable is set (OPENAI_API_KEY, ANTHROPIC_API_KEY,
    GEMINI_API_KEY, OPENROUTER_API_KEY, OLLAMA_HOST). If none is set, the built-in rehearsal answers everything. SIGHUP
    reads the configuration again. SIGTERM stops the gateway after all running exchanges have ended.
    """
    if bool(upstream) != bool(dialect):
        raise click.UsageError("--upstream needs --dialect, and --dialect needs --upstream")
    try:
        environment = user_environment()
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    folder_file = FolderFile(Path(CONFIG_FILE), environment)

    # SIGHUP calls this function again.
    def read() -> Config:
        if upstream and dialect:
            config = check_config(one_upstream(upstream, dialect, upstream_key_env), "the command line")
        elif file is None and (data := folder_file.read()) is not None:
            config = parse(data, str(folder_file.path), environment)
        else:
            config = load(file, environment)
        given = {"host": host, "port": port, "workers": workers}
        options = {name: value for name, value in given.items() if value is not None}
        listen = msgspec.structs.replace(config.listen, **options)
        return msgspec.structs.replace(config, listen=listen, log=log_format or config.log)

    from ..gateway.http.start_and_stop import serve as run

    try:
        sys.exit(run(read, environment, announce))
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:
        raise click.ClickException("standard output was closed, so the gateway stopped") from None
    except OSError as error:
        raise click.ClickException(_cannot_listen(error, read())) from None


def _cannot_listen(error: OSError, config: Config) -> str:
    """The address that cannot be used, the reason, and the next step."""
    listen = config.listen
    place = f"cannot listen on {listen.host}, port {listen.port}: "
    if error.errno == errno.EADDRINUSE:
        return place + "the port is in use. Stop the other program, or choose another port: --port 0 takes a free one."
    if error.errno == errno.EACCES:
        return place + "the system allows this port to administrators only. Choose one from 1024 up with --port."
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return place + "this machine has no such address. --host 127.0.0.1 serves this machine, 0.0.0.0 all machines."
    return place + (error.strerror or str(error))


def announce(config: Config, port: int) -> None:
    """Print what is served, and the exact lines that point clients at the gateway."""
    for line in banner_lines(config, port):
        click.echo(line)
