"""`dragoman convert`: converts files from one dialect or file format to another, with a summary of the losses."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from ..convert.lines.formats import names
from ..convert.lines.summary import Summary
from ..convert.run import SECONDS, Conversion, ConversionOptions, StrictError
from ..dialects import installed
from ..errors import DragomanError
from .convert_output import announce, list_formats, print_summary, report, run_quietly, run_with_bar
from .loss_and_error_output import fail, without_control_characters

if TYPE_CHECKING:
    from ..canon.losses import Severity
    from ..convert.lines.file_format_record import Kind

_NAMES = "A dialect or a file format."


def _bytes(context: click.Context, option: click.Parameter, value: str) -> int:
    """A number of bytes, such as 512K, 64M or 1G."""
    text = value.strip().upper().removesuffix("B")
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
    digits = text[:-1] if factor > 1 else text
    if not digits.isdecimal() or not 0 < int(digits) * factor <= 1 << 40:
        raise click.BadParameter(f"{value!r} is not a size. Write for example 512K, 64M or 1G.")
    return int(digits) * factor


def _print_formats(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        list_formats()
        context.exit()


@click.command(epilog="Example: dragoman convert logs/ --to openai-batch --model gpt-5.2 -o batch.jsonl.gz")
@click.argument("inputs", nargs=-1, required=True, metavar="IN...")
@click.option("--to", "target", required=True, metavar="FORMAT", help=_NAMES + " --formats lists them.")
@click.option("--from", "source", metavar="FORMAT", help=_NAMES + " Default: detected for each file.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="A file (.jsonl, .gz, .zst, .parquet), a folder with / at its end, or - for standard output. Needed without "
    "--dry-run.",
)
@click.option(
    "--kind",
    type=click.Choice(["request", "response"]),
    help="The lines are requests or responses, if the format is a dialect. Default: detected.",
)
@click.option(
    "--model",
    "model_names",
    multiple=True,
    metavar="NAME|OLD=NEW",
    help="The model's name in all requests of the output. OLD=NEW replaces one name, and may be repeated.",
)
@click.option(
    "--tolerance",
    type=click.Choice(["info", "warning", "error"]),
    help="A line with a worse loss is a bad line. Default: a loss never makes a line bad.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Stop at the first bad line, and write nothing. Sets --tolerance info if it is not given.",
)
@click.option("--dry-run", is_flag=True, help="Convert everything and report the losses, but write nothing.")
@click.option(
    "--report", "report_file", type=click.Path(dir_okay=False), metavar="FILE", help="Write the summary as JSON."
)
@click.option(
    "--bad-lines",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The file for bad lines. Default: OUT.bad.jsonl.",
)
@click.option("--jobs", type=click.IntRange(1, 512), help="Number of processes. Default: one for each core.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where lines are converted: in processes of this machine, or as a job of Ray Data (RAY_ADDRESS names a "
    "cluster).",
)
@click.option(
    "--work-folder",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Folder for the output of an object store until the output is complete. Default: in the user's cache.",
)
@click.option("--force", is_flag=True, help="Replace existing output, and start again from the beginning.")
@click.option(
    "--max-line", callback=_bytes, default="64M", show_default=True, metavar="SIZE", help="A longer line is a bad line."
)
@click.option(
    "--chunk-size",
    callback=_bytes,
    default="1M",
    show_default=True,
    metavar="SIZE",
    help="Bytes of input that are converted at once.",
)
@click.option("--checkpoint-seconds", type=click.FloatRange(0), default=SECONDS, hidden=True)
@click.option("--quiet", is_flag=True, help="No progress bar, and no summary.")
@click.option(
    "--formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_formats,
    help="List the file formats, and exit.",
)
def convert(
    inputs: tuple[str, ...],
    target: str,
    source: str | None,
    output: str | None,
    kind: Kind | None,
    model_names: tuple[str, ...],
    tolerance: Severity | None,
    strict: bool,
    dry_run: bool,
    report_file: str | None,
    bad_lines: str | None,
    jobs: int | None,
    engine: Literal["local", "ray"],
    work_folder: str | None,
    force: bool,
    max_line: int,
    chunk_size: int,
    checkpoint_seconds: float,
    quiet: bool,
) -> None:
    """Convert files, folders or patterns of files to another dialect or file format.

    IN and OUT may also be - (standard input and output), or addresses that begin with s3://, gs:// or abfs://.

    Bad lines go to OUT.bad.jsonl, with the reason. A conversion that was stopped continues if the same command runs
    again.

    Exit 0: all lines were converted. 1: some lines are bad, or the conversion failed. 2: wrong usage.
    """
    known = (*installed(), *names())
    for name in (source, target):
        if name is not None and name not in known:
            near = get_close_matches(name, known, 1)
            meant = f"Did you mean {near[0]}? " if near else ""
            fail(f"unknown format {name!r}. {meant}Known formats: {', '.join(known)}", 2)
    if output is None and not dry_run:
        fail("name the output with -o, or try the conversion with --dry-run", 2)
    model, models = _models(model_names)
    job = ConversionOptions(
        inputs,
        output or "",
        target,
        source,
        kind,
        model,
        tolerance or ("info" if strict else None),
        strict,
        dry_run,
        force,
        jobs or 0,
        engine,
        chunk_size,
        max_line,
        checkpoint_seconds,
        bad_lines or "",
        work_folder or "",
        models,
    )
    try:
        conversion = Conversion(job)
    except DragomanError as error:
        fail(without_control_characters(str(error)), 2)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", 2)
    if not quiet:
        announce(conversion)
    summary = _run(conversion, quiet)
    if report_file is not None:
        _write_report(report_file, conversion, summary)
    if not quiet:
        print_summary(conversion, summary)
    if summary.bad:
        raise SystemExit(1)


def _write_report(path: str, conversion: Conversion, summary: Summary) -> None:
    data = msgspec.json.format(msgspec.json.encode(report(conversion, summary)), indent=2)
    try:
        with open(path, "wb") as file:
            file.write(data + b"\n")
    except OSError as error:
        fail(f"the report was not written: {path}: {error.strerror}", 1)


def _models(words: tuple[str, ...]) -> tuple[str | None, dict[str, str]]:
    """The name for all requests, and the new names for old ones."""
    names = [word for word in words if "=" not in word]
    pairs = [word.partition("=") for word in words if "=" in word]
    if len(names) > 1:
        fail(f"--model names two models for all requests: {names[0]} and {names[1]}. Name one, or write OLD=NEW", 2)
    for old, _, new in pairs:
        if not old or not new:
            fail(f"--model {old}={new}: write OLD=NEW, with both names", 2)
    return (names[0] if names else None), {old: new for old, _, new in pairs}


def _run(conversion: Conversion, quiet: bool) -> Summary:
    again = "Run the same command again to continue" if conversion.resumable else "Run the command again from the start"
    try:
        return run_quietly(conversion) if quiet else run_with_bar(conversion)
    except StrictError as error:
        before = "Earlier lines were written" if conversion.layout.streams else "Nothing was written"
        fail(without_control_characters(f"{error}. {before}, because of --strict"), 1)
    except KeyboardInterrupt:
        click.echo(f"dragoman: stopped. {again}", err=True)
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader has closed standard output. Buffered output must not be written at the end of the program.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail("standard output was closed before the end", 1)
    except DragomanError as error:
        fail(without_control_characters(str(error)), 1)
    except OSError as error:
        fail(f"{error.filename or conversion.job.output}: {error.strerror or error}. {again}", 1)
