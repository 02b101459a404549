"""How the command line speaks: losses, failures. Colour only on a terminal."""

from __future__ import annotations

import sys
from typing import NoReturn

import click
import msgspec

from ..canon.losses import Loss

COLOURS = {"info": "cyan", "warning": "yellow", "error": "red"}


def print_losses(losses: tuple[Loss, ...], form: str) -> None:
    """The loss report on standard error."""
    if form == "none":
        return
    if form == "json":
        sys.stderr.write(msgspec.json.encode(losses).decode() + "\n")
        return
    for loss in losses:
        mark = click.style(f"{loss.severity:7}", fg=COLOURS[loss.severity])
        detail = f"  {loss.detail}" if loss.detail else ""
        click.echo(f"{mark} {loss.effect:12} {loss.code:24} {loss.path or '/'}{detail}", err=True)


def fail(message: str, code: int) -> NoReturn:
    """Say what is wrong and leave."""
    click.echo(f"dragoman: {message}", err=True)
    raise SystemExit(code)
