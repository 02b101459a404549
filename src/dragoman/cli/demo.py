"""`dragoman demo`: one tool cycle through all pairs of dialects, without a key and without a network."""

from __future__ import annotations

import click
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from ..dialects import installed
from .rehearsal_tool_cycle import OUTPUT, PlayedCycle, play_cycle
from .show_sample_conversation import print_conversation


@click.command()
@click.option("--conversation", is_flag=True, help="Also show one long conversation in every dialect (dragoman show).")
@click.option("--width", type=click.IntRange(40), help="Columns of the output. Default: the terminal's width.")
def demo(conversation: bool, width: int | None) -> None:
    """Run one tool cycle (request, call, result, answer) between every client and every upstream dialect.

    The built-in rehearsal is the model: no key and no network are needed. Each cell has the number of losses above
    info. Exit 1 if a call or a result did not arrive.
    """
    console = Console(width=width)
    dialects = list(installed())
    played: dict[tuple[str, str], PlayedCycle] = {}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{len(dialects) ** 2} pairs", total=len(dialects) ** 2)
        for client in dialects:
            for upstream in dialects:
                progress.update(task, description=f"{client} -> {upstream}", advance=1)
                played[client, upstream] = play_cycle(client, upstream)
    console.print(_table(dialects, played))
    broken = [one for one in played.values() if one.problem]
    for one in broken:
        console.print(f"{one.client} -> {one.upstream}: {one.problem}", style="red")
    console.print(
        f"{len(played) - len(broken)} of {len(played)} pairs: the model called get_weather, the client answered "
        f"{OUTPUT!r}, and the model repeated it. Rows are clients, columns are upstreams. A number counts the losses "
        "above info; `dragoman matrix` has the losses of many documents."
    )
    codes = sorted({loss.code for one in played.values() for loss in one.losses if loss.severity != "info"})
    if codes:
        console.print(f"Losses: {', '.join(codes)}. `dragoman loss CODE` explains one.")
    if conversation:
        print_conversation(console)
    console.print("Next: `dragoman serve`, then open http://127.0.0.1:8484/ in a browser.", style="dim")
    raise SystemExit(1 if broken else 0)


def _table(dialects: list[str], played: dict[tuple[str, str], PlayedCycle]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("client", *dialects):
        table.add_column(name.replace("-", "-\n"), overflow="fold")
    for client in dialects:
        table.add_row(client.replace("-", "-\n"), *[_cell(played[client, upstream]) for upstream in dialects])
    return table


def _cell(one: PlayedCycle) -> Text:
    if one.problem:
        return Text("failed", style="red")
    graver = [loss for loss in one.losses if loss.severity != "info"]
    worst = "red" if any(loss.severity == "error" for loss in graver) else "yellow"
    return Text(f"ok {len(graver)}" if graver else "ok", style=worst if graver else "green")
