"""Writes the page of all commands and sub-commands, from their help texts."""

from __future__ import annotations

from typing import Any

import click

from dragoman.cli.main import main as command

_WIDTH: dict[str, Any] = {"terminal_width": 100, "max_content_width": 100}


def command_line() -> str:
    """The page."""
    context = click.Context(command, info_name="dragoman", **command.context_settings, **_WIDTH)
    out = ["# Command line", "", "```", command.get_help(context), "```", ""]
    return "\n".join(out + _commands(command, context, "dragoman", 2))


def _commands(group: click.Group, context: click.Context, words: str, level: int) -> list[str]:
    out: list[str] = []
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if found is None or found.hidden:
            continue
        inner = click.Context(found, info_name=name, parent=context, **_WIDTH)
        out += [f"{'#' * level} {words} {name}", "", "```", found.get_help(inner), "```", ""]
        if isinstance(found, click.Group):
            out += _commands(found, inner, f"{words} {name}", level + 1)
    return out
