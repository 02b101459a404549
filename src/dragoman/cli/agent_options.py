"""The options that `dragoman ask` and `dragoman chat` share: the model, the tools, the permissions, the limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from .attachments import check_attachments
from .completion import complete_models
from .request_setting_options import EFFORTS

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "-m",
        "--model",
        default="",
        metavar="UPSTREAM/MODEL",
        shell_complete=complete_models,
        help="The model, or an alias of yours. Default: DRAGOMAN_MODEL.",
    ),
    click.option("-t", "--template", metavar="NAME", help="Ask with this template (dragoman template list)."),
    click.option(
        "-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="The value of a variable of the template."
    ),
    click.option(
        "--config",
        "file",
        type=click.Path(path_type=Path),
        envvar="DRAGOMAN_CONFIG",
        help="File with upstreams. Default: DRAGOMAN_CONFIG, else a trusted dragoman.toml in this folder.",
    ),
    click.option(
        "-o",
        "--option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the requests, as in temperature=0.2. A value may be JSON.",
    ),
    click.option("--effort", type=click.Choice(EFFORTS), help="How much the model thinks."),
    click.option("--max-tokens", type=click.IntRange(min=1), help="Limit of tokens in each answer of the model."),
    click.option(
        "--tool",
        "--tools",
        "tools",
        multiple=True,
        metavar="NAME,...",
        help="Offer only the named built-in tools. The option may be repeated.",
    ),
    click.option("--no-tools", is_flag=True, help="Offer no built-in tool."),
    click.option(
        "--mcp",
        type=click.Path(exists=True, path_type=Path),
        envvar="DRAGOMAN_MCP",
        help='File with MCP servers ({"mcpServers": ...}). Default: DRAGOMAN_MCP.',
    ),
    click.option(
        "--approve",
        type=click.Choice(["ask", "edits", "all"]),
        default="ask",
        show_default=True,
        help="What tools may do without asking you. ask: only read; edits: also edit files; all: everything.",
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="ENTRY",
        help='Run a tool without asking: its name, "run_shell_command(git)", or "server/tool".',
    ),
    click.option(
        "--deny",
        multiple=True,
        metavar="ENTRY",
        help="Deny a tool. A denied tool stays denied, even if it is allowed too.",
    ),
    click.option(
        "--hosted",
        multiple=True,
        type=click.Choice(["web_search", "web_fetch"]),
        help="Offer a tool that the upstream itself runs. The option may be repeated.",
    ),
    click.option(
        "--binary",
        type=click.Choice(["native", "summarise"]),
        default="native",
        show_default=True,
        help="Pictures and documents in tool results. native: sent in the upstream's own form; summarise: "
        "a line of text names their type.",
    ),
    click.option(
        "--sandbox",
        type=click.Choice(["auto", "off", "bubblewrap", "landlock", "sandbox-exec"]),
        default="auto",
        show_default=True,
        help="Where commands run. auto: in the first sandbox that works here; off: in none.",
    ),
    click.option(
        "--attach",
        "--image",
        "media",
        multiple=True,
        metavar="FILE|URL|-",
        callback=check_attachments,
        help="A picture or a document to send: a file, a web address, or - for standard input.",
    ),
    click.option("-c", "--continue", "going_on", is_flag=True, help="Continue the last conversation in this folder."),
    click.option("--session", metavar="ID", help="Continue this conversation (dragoman log lists them)."),
    click.option(
        "--folder", multiple=True, type=click.Path(exists=True, file_okay=False), help="A folder that tools may use."
    ),
    click.option(
        "--instructions/--no-instructions",
        default=True,
        show_default=True,
        help="Give the model the project's AGENTS.md, GEMINI.md and CLAUDE.md.",
    ),
    click.option("--full-context", is_flag=True, help="Give the model all files of the folder at the beginning."),
    click.option(
        "--memory",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar="DRAGOMAN_MEMORY",
        help="File for remembered facts. Default: DRAGOMAN_MEMORY, else memory.md in your configuration folder.",
    ),
    click.option("--system", default="", metavar="TEXT", help="Further instructions for the model."),
    click.option("--turns", type=int, default=100, show_default=True, help="Limit of requests to the model."),
    click.option("--seconds", type=float, default=0.0, help="Limit of seconds. 0: no limit."),
    click.option("--budget-tokens", type=int, default=0, help="Limit of tokens of the whole run. 0: no limit."),
    click.option("--tokens", type=int, default=0, hidden=True),
    click.option(
        "--telemetry", metavar="FILE|otel", help="Write events: as lines of JSON to a file, or to OpenTelemetry."
    ),
    click.option("--losses", is_flag=True, help="Also show losses that change no meaning."),
    click.option("--no-store", is_flag=True, help="Do not store the conversation."),
)


def agent_options(function: F) -> F:
    """Add the options to a command."""
    # Reversed, because click lists the last added option first.
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), function)
