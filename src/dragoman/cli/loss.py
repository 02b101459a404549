"""`dragoman loss`: explains a loss code, or lists all codes."""

from __future__ import annotations

import difflib

import click

from ..canon.loss_advice import advice_for
from ..canon.loss_codes import CODES
from .loss_and_error_output import COLOURS, fail


@click.command()
@click.argument("code", required=False)
def loss(code: str | None) -> None:
    """Explain the loss CODE; without it, list all codes."""
    if code is None:
        for name in sorted(CODES):
            known = CODES[name]
            mark = click.style(f"{known.severity:7}", fg=COLOURS[known.severity])
            click.echo(f"{name:26} {mark} {known.effect:12} {known.meaning}")
        return
    if code not in CODES:
        near = difflib.get_close_matches(code, CODES, 1, 0.7)
        fail(
            f"there is no loss code {code!r}"
            + (f"; did you mean {near[0]}?" if near else "; `dragoman loss` lists all"),
            2,
        )
    known = CODES[code]
    click.echo(f"{code}: {known.effect}, {known.severity}\n\n{known.meaning}\n\nExample: {known.example}")
    click.echo(f"\nWhat to do: {advice_for(code)}")
