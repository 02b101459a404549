"""Output of the command line: losses, repairs, failures. Colour only on a terminal."""

from __future__ import annotations

import logging
import re
import sys
from typing import NoReturn

import click
import msgspec

from ..canon.losses import Loss
from ..canon.repair_codes import REPAIRS, Repair

COLOURS = {"info": "cyan", "warning": "yellow", "error": "red"}
REPAIR_COLOURS = {"arranged": "cyan", "reworded": "yellow", "added": "yellow", "dropped": "red"}

_HIDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters that control a terminal or hide other characters."""


def without_control_characters(text: str) -> str:
    """The text without control characters: a text of a model, a command or a file must not overwrite a question to the
    user."""
    return _HIDING.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def print_losses(losses: tuple[Loss, ...], form: str) -> None:
    """Print the loss report on standard error."""
    if form == "none":
        return
    if form == "json":
        sys.stderr.write(msgspec.json.encode(losses).decode() + "\n")
        return
    for loss in losses:
        mark = click.style(f"{loss.severity:7}", fg=COLOURS[loss.severity])
        detail = f"  {loss.detail}" if loss.detail else ""
        click.echo(f"{mark} {loss.effect:12} {loss.code:24} {loss.path or '/'}{detail}", err=True)


def print_repairs(repairs: tuple[Repair, ...], form: str) -> None:
    """Print the repairs on standard error."""
    if form == "json":
        sys.stderr.write(msgspec.json.encode(repairs).decode() + "\n")
    elif form == "text":
        for one in repairs:
            effect = REPAIRS[one.name].effect
            mark = click.style(f"{effect:9}", fg=REPAIR_COLOURS[effect])
            detail = f"  {one.detail}" if one.detail else ""
            click.echo(f"{mark} {one.name:22} {one.path or '/'}{detail}", err=True)


def silence_mcp_sdk_log() -> None:
    """Keep the log of the MCP SDK off the terminal. The SDK logs tracebacks about a faulty server. Our own messages
    contain the facts for the user."""
    for name in ("mcp", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def count_with_noun(number: int, word: str, many: str = "") -> str:
    """A number with its noun: "1 route", "2 routes". `many`: the plural, if it is not formed by adding an s."""
    return f"{number} {word if number == 1 else many or word + 's'}"


def fail(message: str, code: int) -> NoReturn:
    """Print a message and exit."""
    click.echo(f"dragoman: {message}", err=True)
    raise SystemExit(code)
