"""What `dragoman convert` prints: the formats of the files, the progress bar, the summary of the losses. All of it goes
to standard error.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from .. import __version__
from ..convert.formats import get, names
from ..convert.run import Conversion
from ..convert.run import Progress as Seen
from ..convert.summary import Summary
from ..dialects import installed
from .terminal_output import COLOURS, visible

WIDTH = 200
"""The width of the table where there is no terminal."""
SHOWN = 5
"""So many files are named before the work begins."""


def list_formats() -> None:
    """Print all formats, each with its source."""
    for name in names():
        form = get(name)
        click.echo(f"{name:24} {form.title} ({form.source}, {form.date})")
    for name in installed():
        click.echo(f"{name:24} {get(name).title}")


def announce(conversion: Conversion) -> None:
    """Print which format each file has, and whether an earlier conversion goes on."""
    for item in conversion.inputs[:SHOWN]:
        click.echo(f"reading {visible(item.name)} as {item.source}: {visible(item.reason)}", err=True)
    if len(conversion.inputs) > SHOWN:
        counted = Counter([item.source for item in conversion.inputs[SHOWN:]])
        listed = ", ".join([f"{count} as {name}" for name, count in counted.items()])
        more = len(conversion.inputs) - SHOWN
        click.echo(f"reading {more} more file{'' if more == 1 else 's'}: {listed}", err=True)
    if conversion.continued:
        click.echo(f"continuing after {conversion.start.summary.read:,} lines", err=True)


def run_with_bar(conversion: Conversion) -> Summary:
    """Run a conversion, with a progress bar if standard error is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return conversion.run()
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[lines]:,} lines"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[bad]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=conversion.total, lines=0, rate="", bad="")
        begun = conversion.start.summary.read

        def advance(seen: Seen) -> None:
            summary = seen.summary
            spent = bar.tasks[0].elapsed or 0.0
            rate = f"{(summary.read - begun) / spent:,.0f} lines/s" if spent else ""
            bad = f"[red]{summary.bad:,} bad[/red]" if summary.bad else ""
            bar.update(task, completed=seen.consumed, lines=summary.read, rate=rate, bad=bad)

        return conversion.run(advance)


def print_summary(conversion: Conversion, summary: Summary) -> None:
    """Print the losses as a table, and what became of the lines."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=True, highlight=False, width=WIDTH)
    rows = summary.rows()
    if rows:
        table = Table(box=None, pad_edge=False)
        for heading in ("severity", "loss", "effect"):
            table.add_column(heading, no_wrap=True)
        for heading in ("lines", "losses"):
            table.add_column(heading, justify="right")
        table.add_column("first seen at", overflow="fold")
        for row in rows:
            place = f"{row.file}:{row.line} {row.path or '/'}" + (f" ({row.detail})" if row.detail else "")
            colour = COLOURS[row.severity]
            table.add_row(
                f"[{colour}]{row.severity}[/{colour}]",
                row.code,
                row.effect,
                f"{row.lines:,}",
                f"{row.losses:,}",
                escape(visible(place)),
            )
        console.print(table)
    wrote = "would be written" if conversion.job.dry_run else f"written to {visible(conversion.job.output)}"
    click.echo(f"{summary.written:,} of {summary.read:,} lines {wrote}, {summary.lossy:,} with losses", err=True)
    if summary.bad:
        where = "" if conversion.job.dry_run else f"; see {visible(conversion.bad_path)}"
        click.echo(f"{summary.bad:,} {'line is' if summary.bad == 1 else 'lines are'} bad{where}", err=True)
    if any(row.code == "model.invented" for row in rows):
        click.echo("hint: the source names no model. Name one with --model", err=True)


def report(conversion: Conversion, summary: Summary) -> dict[str, Any]:
    """The summary as JSON."""
    job = conversion.job
    return {
        "dragoman": __version__,
        "target": job.target,
        "output": None if job.dry_run else job.output,
        "bad_lines": conversion.bad_path if summary.bad and not job.dry_run else None,
        "files": [{"file": item.name, "format": item.source, "kind": item.kind} for item in conversion.inputs],
        **summary.report(),
    }
