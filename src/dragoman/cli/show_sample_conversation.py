"""`dragoman show`: one agent conversation in every dialect, side by side, with the losses of each translation."""

from __future__ import annotations

from importlib import resources
from typing import Any

import click
import msgspec
from rich.console import Console, RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ..dialects import endpoints, get, installed
from ..translate import Translation, translate_request
from .loss_and_error_output import COLOURS
from .rehearsal_tool_cycle import SOURCE

NARROWEST = 46
"""Minimum width of a dialect's column, in characters."""

_ENVELOPE = "request"
"""The field of an envelope that holds the request."""
_SHOWN = 400
"""Characters of a string that are shown."""


def conversation() -> dict[str, Any]:
    """The bundled conversation: a Messages request with thinking, parallel calls, an image in a result and an error."""
    text = resources.files("dragoman.cli").joinpath("sample_conversation.json").read_bytes()
    found: dict[str, Any] = msgspec.json.decode(text)
    return found


@click.command()
@click.option("--width", type=click.IntRange(40), help="Columns of the output. Default: the terminal's width.")
def show(width: int | None) -> None:
    """Show one agent conversation in all dialects, step by step, with its losses. `dragoman demo` runs one."""
    print_conversation(Console(width=width))


def print_conversation(console: Console) -> None:
    """Print the conversation in all dialects."""
    # The source comes first: everything else is made from it.
    dialects = [SOURCE, *[name for name in installed() if name != SOURCE]]
    at_once = max(1, min(len(dialects), console.width // NARROWEST))
    for begin in range(0, len(dialects), at_once):
        console.print(_table(dialects[begin : begin + at_once]))
    console.print(
        f"One {SOURCE} request, translated into {len(dialects) - 1} other dialects. "
        "`dragoman loss CODE` explains a loss; `dragoman translate --to DIALECT < FILE` translates your own requests."
    )


def _table(dialects: list[str]) -> Table:
    table = Table(expand=True, show_lines=True)
    table.add_column("", style="bold", width=9)
    for dialect in dialects:
        table.add_column(dialect + (" (source)" if dialect == SOURCE else ""), ratio=1, overflow="fold")
    source = conversation()
    shown: dict[str, int] = dict.fromkeys(dialects, 0)
    done = {dialect: _translate_steps(source, 0, dialect) for dialect in dialects}
    table.add_row("settings", *[_settings(done[dialect]) for dialect in dialects])
    for step, message in enumerate(source["messages"], 1):
        if message["role"] != "user":
            continue  # shown together with the results of its calls
        cells: list[RenderableType] = []
        for dialect in dialects:
            done[dialect] = _translate_steps(source, step, dialect)
            history = _history(done[dialect])
            cells.append(_json(history[shown[dialect] :]))
            shown[dialect] = len(history)
        table.add_row("question" if step == 1 else "calls and results", *cells)
    table.add_row("losses", *[_losses(done[dialect]) for dialect in dialects])
    return table


def _translate_steps(source: dict[str, Any], steps: int, dialect: str) -> Translation:
    """The conversation up to a step, in a dialect."""
    part = {**source, "messages": source["messages"][:steps]}
    return translate_request(part, source=SOURCE, target=dialect, model=endpoints(dialect).example_model)


def _history(done: Translation) -> list[Any]:
    document = done.json()
    document = document.get(_ENVELOPE, document)
    return next((document[key] for key in _history_fields() if isinstance(document.get(key), list)), [])


def _history_fields() -> set[str]:
    """The fields in which the dialects have their turns."""
    return {get(name).turns for name in installed()}


def _settings(done: Translation) -> RenderableType:
    return _json(_without_history(done.json()))


def _without_history(document: dict[str, Any]) -> dict[str, Any]:
    left = {key: value for key, value in document.items() if key not in _history_fields()}
    if _ENVELOPE in left:
        left[_ENVELOPE] = _without_history(left[_ENVELOPE])
    return left


def _json(value: Any) -> RenderableType:
    text = msgspec.json.format(msgspec.json.encode(_shortened(value)), indent=2).decode()
    return Syntax(text, "json", word_wrap=True, background_color="default")


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return value


def _losses(done: Translation) -> RenderableType:
    if not done.losses:
        return Text("nothing lost", style="green")
    text = Text()
    for loss in done.losses:
        text.append(f"{loss.severity} ", style=COLOURS[loss.severity])
        text.append(f"{loss.code} ", style="bold")
        text.append(f"{loss.path or '/'}\n" + (f"  {loss.detail}\n" if loss.detail else ""))
    return text
