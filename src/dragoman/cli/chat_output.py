"""Owns the display of answers in `dragoman chat`. On a terminal: Markdown as it streams, dimmed thoughts, calls as
cards. Elsewhere: the model's text on standard output, and everything else on standard error, like `dragoman ask`.
"""

from __future__ import annotations

import time

from rich.console import Console, Group
from rich.live import Live
from rich.markdown import Heading, Markdown
from rich.panel import Panel
from rich.segment import Segment, SegmentLines
from rich.spinner import Spinner
from rich.text import Text

from ..canon.losses import Loss
from ..canon.response import Usage
from ..runtime.events import (
    Content,
    Finished,
    Lost,
    ProjectInstructions,
    Retrying,
    RunEvent,
    Thought,
    ToolCallRequest,
    ToolCallResponse,
)
from ..runtime.usage_and_cost_sums import add_cost
from .ask_output import TextOutput, clip_line, spending_line
from .loss_and_error_output import without_control_characters

_REFRESH = 8
"""Times a second that the unfinished end of an answer is drawn again."""
_LINES = 20
"""Lines of the unfinished end that are drawn: a longer end would scroll, and could not be drawn again."""
_ARGUMENT = 2_000
"""Characters of one argument in a card."""
_OUTPUT = 8
"""Last lines of a command's output that stay on the screen."""
_IN_DIFF = {
    "write_file": frozenset({"content"}),
    "replace": frozenset({"old_string", "new_string"}),
    "smart_edit": frozenset({"old_string", "new_string"}),
}
"""Arguments that a card leaves out, because the diff shows them."""


class ChatOutput(TextOutput):
    """Shows events of a chat, and keeps the losses and the tokens for the commands of the chat."""

    retry_advice = "/retry asks again"

    def __init__(self, console: Console | None = None, *, losses: bool = False, kept: bool = True) -> None:
        super().__init__(console, losses=losses, kept=kept)
        self.losses: list[Loss] = []
        """All losses of the chat."""
        self.usage = Usage()
        """Tokens of the last answer."""
        self.cost: float | None = 0.0
        """Cost of all answers in US dollars. None: a price is unknown."""

    def show_working_line(self) -> None:
        """Show that the model works, where that can be shown."""

    def remove_working_line(self) -> None:
        """Remove the line that shows that the model works."""

    def show_last_exchange(self, words: str, answer: str) -> None:
        """Show the end of a continued conversation, on a terminal."""

    def show_event(self, event: RunEvent) -> None:
        """Show an event."""
        super().show_event(event)
        if isinstance(event, Lost):
            self.losses += event.losses
        elif isinstance(event, Finished):
            self.usage = event.usage
            self.cost = add_cost(self.cost, event.cost)
            if event.finish_reason != "cancelled" or event.usage != Usage():
                self._print_line(spending_line(event), "dim")


class MarkdownOutput(ChatOutput):
    """Show an event on a terminal, where a line shows that the model works."""

    def __init__(self, console: Console, *, losses: bool = False, kept: bool = True) -> None:
        super().__init__(console, losses=losses, kept=kept)
        self._text = ""
        self._shown = False  # a paragraph of this text was already printed
        self._tail: Live | None = None
        self._working: Live | None = None

    def show_working_line(self) -> None:
        """Show that the model works, until the next event or question."""
        self.remove_working_line()
        # A terminal without Unicode cannot show the dots.
        began, mark = time.monotonic(), "dots" if self._console.encoding.startswith("utf") else "line"
        spinner = Spinner(mark, style="dim")

        def drawn() -> Spinner:
            spinner.update(text=Text(f"working, {time.monotonic() - began:.0f} s (Ctrl-C stops the answer)", "dim"))
            return spinner

        self._working = Live(
            console=self._console, get_renderable=drawn, transient=True, refresh_per_second=_REFRESH, screen=False
        )
        self._working.start()

    def show_last_exchange(self, words: str, answer: str) -> None:
        """Show the last message of a conversation that is continued, and the answer."""
        if words:
            self._print_line(f"> {clip_line(words.strip())}", "dim")
        self._text = without_control_characters(answer)
        self._end_text()

    def show_event(self, event: RunEvent) -> None:
        """Show an event."""
        self.remove_working_line()
        if isinstance(event, Content):
            self._add(event.value)
            return
        self._end_text()
        if isinstance(event, ToolCallRequest):
            self._console.print(_card(event))
        else:
            super().show_event(event)
        if isinstance(event, ToolCallResponse | Thought | Retrying | ProjectInstructions):
            self.show_working_line()

    def say(self, words: str) -> None:
        """Write a message, without the name of the program: a chat has one writer."""
        self._print_line(words, "dim")

    def _print_line(self, words: str, style: str = "") -> None:
        self.remove_working_line()
        super()._print_line(words, style)

    def _show_tool_result(self, done: ToolCallResponse) -> None:
        display = done.result_display
        if done.error is not None or done.name != "run_shell_command" or not isinstance(display, str):
            super()._show_tool_result(done)
            return
        lines = display.strip("\n").splitlines()
        self._print_line(f"✓ {done.name}" + ("" if lines else ": no output"), "green")
        if len(lines) > _OUTPUT:
            self._print_line(f"  … {len(lines) - _OUTPUT} lines before", "dim")
        for line in lines[-_OUTPUT:]:
            self._print_line(f"  {clip_line(line)}", "dim")

    def remove_working_line(self) -> None:
        """Remove the line that shows that the model works."""
        if self._working is not None:
            self._working.stop()
            self._working = None

    def _add(self, text: str) -> None:
        """Print the paragraphs that are complete. The rest is drawn again until it is complete too."""
        self._text += without_control_characters(text)
        done = _complete(self._text)
        if done:
            self._paragraph(self._text[:done])
            self._text = self._text[done:]
        if self._tail is None and self._text.strip():
            self._tail = Live(console=self._console, transient=True, refresh_per_second=_REFRESH)
            self._tail.start()
        if self._tail is not None:
            lines = self._text.splitlines()
            end = _Markdown("\n".join(lines[-_LINES:]), hyperlinks=False)
            self._tail.update(Group(Text("…"), end) if len(lines) > _LINES else end)

    def _paragraph(self, text: str) -> None:
        """Print complete paragraphs, with an empty line between earlier paragraphs and these."""
        self._stop()
        if text.strip():
            if self._shown:
                self._console.print()
            # Without links of the terminal: the address stays visible behind its text.
            lines = self._console.render_lines(_Markdown(text, hyperlinks=False), pad=False)
            self._console.print(SegmentLines(_without_empty_ends(lines), new_lines=True), end="")
            self._shown = True

    def _end_text(self) -> None:
        self._paragraph(self._text)
        self._text, self._shown = "", False

    def _stop(self) -> None:
        if self._tail is not None:
            self._tail.stop()
            self._tail = None


class _LeftHeading(Heading):
    """A heading at the left margin, like all other text of a chat."""

    LEVEL_ALIGN = {**Heading.LEVEL_ALIGN, "h1": "left"}


class _Markdown(Markdown):
    elements = {**Markdown.elements, "heading_open": _LeftHeading}


def _card(call: ToolCallRequest) -> Panel | Text:
    """A call with its arguments. A call without arguments is one line."""
    arguments = call.args if isinstance(call.args, dict) else {"": call.args}
    hidden = _IN_DIFF.get(call.name, frozenset())
    shown = {name: value for name, value in arguments.items() if name not in hidden}
    lines = [f"{name}: {value}" if name else str(value) for name, value in shown.items()]
    text = "\n".join([line if len(line) <= _ARGUMENT else line[:_ARGUMENT] + "…" for line in lines])
    title = Text(without_control_characters(call.name), style="bold cyan")
    if not text:
        return title
    return Panel(Text(without_control_characters(text)), title=title, title_align="left", border_style="cyan")


def _without_empty_ends(lines: list[list[Segment]]) -> list[list[Segment]]:
    """The lines without the empty lines that rich adds around lists, tables and code."""
    full = [place for place, line in enumerate(lines) if any(piece.text.strip() for piece in line)]
    return lines[full[0] : full[-1] + 1] if full else []


def _complete(text: str) -> int:
    """The end of the last complete paragraph of Markdown: a blank line outside of a block of code."""
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
