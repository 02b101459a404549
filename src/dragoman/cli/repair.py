"""`dragoman repair`: reads a broken history from standard input, and writes the repaired history to standard output."""

from __future__ import annotations

import sys
from io import BufferedReader

import click

from ..canon.repair_codes import REPAIRS
from ..errors import DragomanError
from ..repair import repair as repaired
from .dialect_option import DIALECT, detected_dialect
from .loss_and_error_output import REPAIR_COLOURS, fail, print_repairs


@click.command(epilog="Example: dragoman repair --dialect anthropic < request.json > repaired.json")
@click.option("--dialect", type=DIALECT, metavar="DIALECT", help="Dialect of the input. Default: detected.")
@click.option("--model", metavar="NAME", help="The model, if the body does not name one.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if something needs repair.")
@click.option(
    "--repairs",
    "form",
    type=click.Choice(["text", "json", "none"]),
    default="text",
    show_default=True,
    help="Format of the report on standard error.",
)
@click.option("--list", "listing", is_flag=True, help="List all kinds of repairs.")
@click.argument("file", type=click.File("rb"), default="-")
def repair(dialect: str | None, model: str | None, check: bool, form: str, listing: bool, file: BufferedReader) -> None:
    """Repair the history of a request, or of a conversation alone: FILE or standard input."""
    if listing:
        _list()
        return
    body = file.read()
    if dialect is None:
        dialect = detected_dialect(body, "--dialect")
    try:
        done = repaired(body, dialect=dialect, model=model)
    except DragomanError as error:
        fail(str(error), 1)
    print_repairs(done.repairs, form)
    if check:
        raise SystemExit(1 if done.repairs else 0)
    # A body without repairs is written unchanged, without a new line end.
    sys.stdout.buffer.write(done.body + b"\n" if done.repairs else done.body)
    sys.stdout.buffer.flush()


def _list() -> None:
    wide = max(map(len, REPAIRS))
    for name, known in REPAIRS.items():
        mark = click.style(f"{known.effect:9}", fg=REPAIR_COLOURS[known.effect])
        click.echo(f"{name:{wide}}  {mark} {known.meaning}\n{'':{wide}}  {'':9} Example: {known.example}")
