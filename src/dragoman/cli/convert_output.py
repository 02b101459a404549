"""Owns the output of `dragoman convert`: the formats of the files, the progress bar, the summary of the losses. All of
the output goes to standard error.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from .. import __version__
from ..convert.lines.formats import get, names
from ..convert.lines.summary import Summary, is_own_model
from ..convert.run import Conversion
from ..convert.run import ConversionProgress as Seen
from ..dialects import installed
from .loss_and_error_output import COLOURS, without_control_characters

WIDTH = 200
"""The width of the table where there is no terminal."""
SHOWN = 5
"""Number of files that are listed before the work begins, and of models after the work."""
BAD_SHOWN = 20
"""Number of bad lines that are printed if they have no file."""
NAME_SHOWN = 80
"""Number of characters of a model name that are printed."""


def list_formats() -> None:
    """Print all formats, each with its source."""
    for name in names():
        form = get(name)
        click.echo(f"{name:24} {form.title} ({form.source}, {form.date})")
    for name in installed():
        click.echo(f"{name:24} {get(name).title}")


def announce(conversion: Conversion) -> None:
    """Print the format of each file, and whether an earlier conversion is continued."""
    for item in conversion.inputs[:SHOWN]:
        found = "which is empty" if item.empty else f"as {item.source}: {without_control_characters(item.reason)}"
        click.echo(f"reading {without_control_characters(item.name)} {found}", err=True)
    if len(conversion.inputs) > SHOWN:
        counted = Counter(["empty" if item.empty else f"as {item.source}" for item in conversion.inputs[SHOWN:]])
        listed = ", ".join([f"{count} {how}" for how, count in counted.items()])
        more = len(conversion.inputs) - SHOWN
        click.echo(f"reading {more} more file{'' if more == 1 else 's'}: {listed}", err=True)
    if conversion.layout.work_folder and not conversion.job.dry_run:
        folder = without_control_characters(conversion.layout.work_folder)
        click.echo(f"writing to {folder} until the output is whole", err=True)
    if conversion.continued:
        click.echo(f"continuing after {conversion.start.summary.read:,} lines", err=True)


def run_quietly(conversion: Conversion) -> Summary:
    """Run a conversion without a progress bar."""
    return conversion.run(bad_lines=_BadLines())


class _BadLines:
    """Prints bad lines that have no file: the first ones."""

    def __init__(self) -> None:
        self._printed = 0

    def __call__(self, lines: bytes) -> None:
        for line in lines.splitlines():
            if self._printed < BAD_SHOWN:
                found = msgspec.json.decode(line)
                click.echo(
                    without_control_characters(f"bad line: {found['file']}, line {found['line']}: {found['error']}"),
                    err=True,
                )
            elif self._printed == BAD_SHOWN:
                click.echo("more lines are bad. --bad-lines FILE keeps all of them, with the reasons", err=True)
            self._printed += 1


def run_with_bar(conversion: Conversion) -> Summary:
    """Run a conversion, with a progress bar if standard error is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return run_quietly(conversion)
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[lines]:,} lines"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[bad]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        total = None if conversion.unknown_size else conversion.total
        task = bar.add_task("", total=total, lines=0, rate="", bad="")
        begun = conversion.start.summary.read

        def advance(seen: Seen) -> None:
            summary = seen.summary
            spent = bar.tasks[0].elapsed or 0.0
            rate = f"{(summary.read - begun) / spent:,.0f} lines/s" if spent else ""
            bad = f"[red]{summary.bad:,} bad[/red]" if summary.bad else ""
            bar.update(task, completed=seen.consumed, lines=summary.read, rate=rate, bad=bad)

        return conversion.run(advance, _BadLines())


def print_summary(conversion: Conversion, summary: Summary) -> None:
    """Print the losses as a table, and the numbers of converted and bad lines."""
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
                # rich would read brackets in a path as markup.
                escape(without_control_characters(place)),
            )
        console.print(table)
    job, layout = conversion.job, conversion.layout
    place = "standard output" if layout.streams else without_control_characters(job.output)
    wrote = "would be written" if job.dry_run else f"written to {place}"
    click.echo(f"{summary.written:,} of {summary.read:,} lines {wrote}, {summary.lossy:,} with losses", err=True)
    if summary.bad:
        where = (
            f"; see {without_control_characters(conversion.bad_path)}"
            if conversion.bad_path and not job.dry_run
            else ""
        )
        click.echo(f"{summary.bad:,} {'line is' if summary.bad == 1 else 'lines are'} bad{where}", err=True)
    if any(row.code == "model.invented" for row in rows):
        click.echo("hint: the source names no model. Name one with --model", err=True)
    _print_kept_models(job.target, summary)


def _print_kept_models(target: str, summary: Summary) -> None:
    """Print which model names of another provider are still in the output."""
    dialect = get(target).dialect.name
    kept = sorted(
        [(-lines, name) for name, lines in summary.models.items() if not is_own_model(dialect, name)],
    )
    if not kept:
        return
    listed = ", ".join(
        [
            f"{without_control_characters(name[:NAME_SHOWN])} ({-lines:,} {'line' if lines == -1 else 'lines'})"
            for lines, name in kept[:SHOWN]
        ]
    )
    more = f" and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
    old = without_control_characters(kept[0][1][:NAME_SHOWN])
    click.echo(f"hint: the output keeps model names of the source: {listed}{more}", err=True)
    click.echo(f"      if the target has other names, replace them: --model NAME, or --model {old}=NAME", err=True)


def report(conversion: Conversion, summary: Summary) -> dict[str, Any]:
    """The summary as JSON."""
    job = conversion.job
    return {
        "dragoman": __version__,
        "target": job.target,
        "output": None if job.dry_run else job.output,
        "bad_lines": (conversion.bad_path or None) if summary.bad and not job.dry_run else None,
        "files": [{"file": item.name, "format": item.source or None, "kind": item.kind} for item in conversion.inputs],
        **summary.report(),
    }
