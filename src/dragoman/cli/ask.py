"""`dragoman ask`: a request to a model that has tools, in this folder.

`ask_run.py` does the work. It is loaded only when the command runs, because the runtime is an extra.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command(epilog='Example: dragoman ask "What does this project do?" --model anthropic/claude-sonnet-4-5')
@click.argument("prompt", nargs=-1)
@click.option("-m", "--model", default="", metavar="UPSTREAM/MODEL", help="The model. Default: DRAGOMAN_MODEL.")
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_CONFIG",
    help="File with upstreams. Default: DRAGOMAN_CONFIG, else a trusted dragoman.toml in this folder.",
)
@click.option("--tools", metavar="NAME,...", help="Offer only these built-in tools.")
@click.option("--no-tools", is_flag=True, help="Offer no built-in tool.")
@click.option(
    "--mcp",
    type=click.Path(exists=True, path_type=Path),
    envvar="DRAGOMAN_MCP",
    help='File with MCP servers ({"mcpServers": ...}). Default: DRAGOMAN_MCP.',
)
@click.option(
    "--approve",
    type=click.Choice(["ask", "edits", "all"]),
    default="ask",
    show_default=True,
    help="What tools may do without asking you. ask: only read; edits: also edit files; all: everything.",
)
@click.option("--allow", multiple=True, metavar="ENTRY", help='Allow a tool, "run_shell_command(git)", "server/tool".')
@click.option(
    "--deny", multiple=True, metavar="ENTRY", help="Deny a tool. A denied tool stays denied, even if it is allowed too."
)
@click.option(
    "--image",
    "media",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A picture or a document to send.",
)
@click.option("-c", "--continue", "going_on", is_flag=True, help="Continue the last conversation in this folder.")
@click.option("--session", metavar="ID", help="Continue this conversation (dragoman log lists them).")
@click.option(
    "--folder", multiple=True, type=click.Path(exists=True, file_okay=False), help="A folder that tools may use."
)
@click.option("--system", default="", metavar="TEXT", help="Further instructions for the model.")
@click.option("--turns", type=int, default=100, show_default=True, help="Limit of requests to the model.")
@click.option("--seconds", type=float, default=0.0, help="Limit of seconds. 0: no limit.")
@click.option("--tokens", type=int, default=0, help="Limit of tokens. 0: no limit.")
@click.option("--telemetry", metavar="FILE|otel", help="Write events: as lines of JSON to a file, or to OpenTelemetry.")
@click.option("--json", "as_json", is_flag=True, help="Write all events as lines of JSON.")
@click.option("--losses", is_flag=True, help="Also show losses that change no meaning.")
@click.option("--no-store", is_flag=True, help="Do not store the conversation.")
def ask(**given: Any) -> None:
    """Ask a model that has tools: it reads, searches, edits and runs commands in this folder.

    The prompt may also come from standard input. The model's text goes to standard output, everything else to standard
    error. You are asked before a tool changes anything. Without a terminal such a tool does not run, unless --approve
    or --allow permits it. Without any key the built-in rehearsal answers. It is no model, and a line on standard error
    states that.
    """
    try:
        from .ask_run import AskOptions, run
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"the package {error.name} is missing. Run pip install 'dragoman[runtime]'"
        ) from None
    run(AskOptions(**given))
