"""`dragoman ask`: a question to a model that has tools, in this folder. What it does is in `ask_run.py`, which is
loaded when something is asked: the runtime is an extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command(epilog='Example: dragoman ask "What does this project do?" --model anthropic/claude-sonnet-4-5')
@click.argument("prompt", nargs=-1)
@click.option("-m", "--model", default="", metavar="UPSTREAM/MODEL", help="Who answers; DRAGOMAN_MODEL if left out.")
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_CONFIG",
    help="File with upstreams; else DRAGOMAN_CONFIG names it, else a trusted dragoman.toml in this folder is used.",
)
@click.option("--tools", metavar="NAME,...", help="Only these of the built-in tools.")
@click.option("--no-tools", is_flag=True, help="No built-in tool.")
@click.option(
    "--mcp",
    type=click.Path(exists=True, path_type=Path),
    envvar="DRAGOMAN_MCP",
    help='File with MCP servers ({"mcpServers": ...}); else DRAGOMAN_MCP names it.',
)
@click.option(
    "--approve",
    type=click.Choice(["ask", "edits", "all"]),
    default="ask",
    show_default=True,
    help="What may be done without asking: only reading; edits of files too; everything.",
)
@click.option("--allow", multiple=True, metavar="ENTRY", help='Allow a tool, "run_shell_command(git)", "server/tool".')
@click.option("--deny", multiple=True, metavar="ENTRY", help="Deny one. Denied beats allowed.")
@click.option(
    "--image",
    "media",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A picture, or a document, to show.",
)
@click.option("-c", "--continue", "going_on", is_flag=True, help="Go on with the last conversation in this folder.")
@click.option("--session", metavar="ID", help="Go on with this conversation (dragoman log lists them).")
@click.option("--folder", multiple=True, type=click.Path(exists=True, file_okay=False), help="Where tools may work.")
@click.option("--system", default="", metavar="TEXT", help="More for the model to keep to.")
@click.option("--turns", type=int, default=100, show_default=True, help="How often the model may be asked.")
@click.option("--seconds", type=float, default=0.0, help="How long it may take. 0: as long as it wants.")
@click.option("--tokens", type=int, default=0, help="What it may cost. 0: what it wants.")
@click.option("--telemetry", metavar="FILE|otel", help="Write events there: lines of JSON, or OpenTelemetry's.")
@click.option("--json", "as_json", is_flag=True, help="Tell what happens as lines of JSON.")
@click.option("--losses", is_flag=True, help="Show losses that change no meaning, too.")
@click.option("--no-store", is_flag=True, help="Do not keep the conversation.")
def ask(**given: Any) -> None:
    """Ask a model that has tools: it reads, searches, edits and runs commands in this folder.

    What is asked may come from standard input, too. Words go to standard output, all else to standard error. Before
    anything is changed you are asked; where nobody can be asked it is not done, unless --approve or --allow says so.
    Without any key the rehearsal answers, which is no model and says so.
    """
    try:
        from .ask_run import AskOptions, run
    except ModuleNotFoundError as error:
        raise click.ClickException(f"the runtime needs {error.name}: pip install 'dragoman[runtime]'") from None
    run(AskOptions(**given))
