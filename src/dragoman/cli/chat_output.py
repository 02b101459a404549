"""How `dragoman chat` shows answers. On a terminal: Markdown as it streams, dimmed thoughts, calls as cards. Elsewhere:
the model's text on standard output, and everything else on standard error, as `dragoman ask` does."""

from __future__ import annotations

from rich.console import Console, Group
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from ..canon.losses import Loss
from ..canon.response import Usage
from ..runtime.events import Content, Finished, Lost, RunEvent, ToolCallRequest
from ..runtime.usage_and_cost_sums import added_cost
from .ask_output import TextOutput, spending
from .terminal_output import visible

_REFRESH = 8
"""Times a second that the unfinished end of an answer is drawn again."""
_LINES = 20
"""Lines of the unfinished end that are drawn: a longer end would scroll, and could not be drawn again."""
_ARGUMENT = 2_000
"""Characters of one argument in a card."""


class ChatOutput(TextOutput):
    """Shows events of a chat, and keeps the losses and the tokens for the commands of the chat."""

    def __init__(self, console: Console | None = None, *, losses: bool = False, kept: bool = True) -> None:
        super().__init__(console, losses=losses, kept=kept)
        self.losses: list[Loss] = []
        """All losses of the chat."""
        self.usage = Usage()
        """Tokens of the last answer."""
        self.cost: float | None = 0.0
        """Cost of all answers in US dollars. None: a price is unknown."""

    def tell(self, happening: RunEvent) -> None:
        """Show an event."""
        super().tell(happening)
        if isinstance(happening, Lost):
            self.losses += happening.losses
        elif isinstance(happening, Finished):
            self.usage = happening.usage
            self.cost = added_cost(self.cost, happening.cost)
            self._line(spending(happening), "dim")


class MarkdownOutput(ChatOutput):
    """The same on a terminal."""

    def __init__(self, console: Console, *, losses: bool = False, kept: bool = True) -> None:
        super().__init__(console, losses=losses, kept=kept)
        self._text = ""
        self._tail: Live | None = None

    def tell(self, happening: RunEvent) -> None:
        """Show an event."""
        if isinstance(happening, Content):
            self._add(happening.value)
            return
        self._end_text()
        if isinstance(happening, ToolCallRequest):
            self._console.print(_card(happening))
        else:
            super().tell(happening)

    def _add(self, text: str) -> None:
        """Print the paragraphs that are complete. The rest is drawn again until it is complete too."""
        self._text += visible(text)
        done = _complete(self._text)
        if done:
            self._stop()
            self._console.print(Markdown(self._text[:done]))
            self._text = self._text[done:]
        if self._tail is None and self._text.strip():
            self._tail = Live(console=self._console, transient=True, refresh_per_second=_REFRESH)
            self._tail.start()
        if self._tail is not None:
            lines = self._text.splitlines()
            end = Markdown("\n".join(lines[-_LINES:]))
            self._tail.update(Group(Text("…"), end) if len(lines) > _LINES else end)

    def _end_text(self) -> None:
        self._stop()
        if self._text.strip():
            self._console.print(Markdown(self._text))
        self._text = ""

    def _stop(self) -> None:
        if self._tail is not None:
            self._tail.stop()
            self._tail = None


def _card(call: ToolCallRequest) -> Panel:
    arguments = call.args if isinstance(call.args, dict) else {"": call.args}
    lines = [f"{name}: {value}" if name else str(value) for name, value in arguments.items()]
    text = "\n".join([line if len(line) <= _ARGUMENT else line[:_ARGUMENT] + "…" for line in lines])
    title = Text(visible(call.name), style="bold cyan")
    return Panel(Text(visible(text)), title=title, title_align="left", border_style="cyan")


def _complete(text: str) -> int:
    """Where the last complete paragraph of Markdown ends: at a blank line outside of a block of code."""
    end = place = 0
    fenced = ""
    for line in text.splitlines(keepends=True):
        place += len(line)
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and (not fenced or fenced == mark):
            fenced = "" if fenced else mark
        elif not line.strip() and not fenced and line.endswith("\n"):
            end = place
    return end
