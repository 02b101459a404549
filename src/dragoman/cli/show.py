"""`dragoman show`: one agent conversation in every dialect, side by side, with what each crossing loses."""

from __future__ import annotations

from importlib import resources

import click
import msgspec
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax

from ..dialects import names
from ..translate import translate_request

SOURCE = "anthropic"


def conversation() -> bytes:
    """The bundled conversation: a Messages request with thinking, parallel calls, an image in a result and an error."""
    return resources.files("dragoman.cli").joinpath("conversation.json").read_bytes()


@click.command()
@click.option("--width", type=int, help="Columns of the output; left out: the terminal's.")
def show(width: int | None) -> None:
    """Show one agent conversation in all dialects, with its losses."""
    console = Console(width=width)
    body = conversation()
    panels = []
    for target in names():
        done = translate_request(body, source=SOURCE, target=target, model=_MODELS.get(target, "some-model"))
        pretty = msgspec.json.format(done.body, indent=2).decode()
        losses = "\n".join([str(loss) for loss in done.losses]) or "nothing lost"
        text = Syntax(pretty, "json", word_wrap=True, background_color="default")
        title = f"{SOURCE}" if target == SOURCE else f"{SOURCE} → {target}"
        panels.append(Panel(text, title=title, subtitle=f"{len(done.losses)} losses", width=_column(console)))
        panels.append(Panel(losses, title=f"losses: {title}", width=_column(console)))
    console.print(Columns(panels))


_MODELS = {
    "anthropic": "claude-opus-5",
    "gemini": "gemini-3-pro",
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-6-sol",
}


def _column(console: Console) -> int:
    return max(60, console.width // max(1, console.width // 78) - 1)
