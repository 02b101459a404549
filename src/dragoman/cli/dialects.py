"""`dragoman dialects`: lists the dialects."""

from __future__ import annotations

import click

from ..dialects import get, installed


@click.command()
def dialects() -> None:
    """List the dialects. Each dialect can be translated into every other dialect."""
    found = [get(name) for name in installed()]
    wide = max(len(dialect.name) for dialect in found)
    for dialect in found:
        click.echo(f"{dialect.name:{wide}}  {dialect.title}  ({dialect.framing}, {dialect.upstream_paths.path})")
    click.echo(f"\n{len(found)} dialects, {len(found) ** 2} ordered pairs: requests, answers, streams, tools, faults.")
