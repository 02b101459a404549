"""The output of `dragoman ask`: the model's text on standard output, everything else on standard error.

Colours, diffs and progress appear only on a terminal. Elsewhere each event is one plain line, or one line of JSON.
"""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ..canon.losses import Loss
from ..canon.response import Usage
from ..runtime.command_entries import entry_words
from ..runtime.events import (
    Compressed,
    Content,
    Failed,
    Finished,
    Lost,
    ProjectInstructions,
    Retrying,
    RunEvent,
    Thought,
    ToolCallProgress,
    ToolCallRequest,
    ToolCallResponse,
    Waiting,
    WebSearchBegin,
    WebSearchEnd,
    as_line,
)
from ..runtime.policy import lasting_entries
from ..runtime.tool_interface import Confirmation, FileDiff
from ..runtime.toolbox import Approval
from ..transport.window_price_and_answer_cost import shown_cost
from .loss_and_error_output import without_control_characters as without_control_characters
from .terminal_line_reader import asked_line

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_SHORT = 200
_LINES = 12
"""Lines of a tool's output that are shown on a terminal."""
_ENDS = {
    "turns": "the limit of turns is reached",
    "seconds": "the limit of time is reached",
    "tokens": "the limit of tokens is reached",
    "loop": "stopped: the model repeats the same calls",
    "length": "the answer is incomplete: it reached the limit of tokens",
    "content_filter": "a filter stopped the answer",
    "refusal": "the model refused to answer",
    "empty": "the answer is empty",
    "fault": "the answer ended with an error",
    "cancelled": "stopped",
    "paused": "paused; continue with: dragoman ask --continue",
    "approval": "a call waits for approval",
}
_AGAIN = "try again with: dragoman ask --continue"


class JsonOutput:
    """Writes events as lines of JSON."""

    def __init__(self, *, usage: bool = False) -> None:
        """`usage`: the tokens of the run are also a message at the end."""
        self._usage = usage

    def show_event(self, event: RunEvent) -> None:
        """Write an event to standard output."""
        sys.stdout.buffer.write(as_line(event))
        sys.stdout.buffer.flush()
        if self._usage and isinstance(event, Finished):
            self.say(spending_line(event))

    def say(self, words: str) -> None:
        """Write a message to standard error."""
        click.echo(f"dragoman: {words}", err=True)


class TextOutput:
    """Writes the model's text, and one line for each other event; coloured where `console` is a terminal."""

    retry_advice = _AGAIN
    """The advice after the fault of an upstream."""

    def __init__(
        self, console: Console | None = None, *, losses: bool = False, kept: bool = True, usage: bool = False
    ) -> None:
        """`kept`: the conversation is stored, and can be continued later. `usage`: the tokens are shown at the end."""
        self._console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._rich = self._console.is_terminal
        self._all_losses, self.kept, self._usage = losses, kept, usage
        self._failed = False  # the fault of an upstream was already shown
        self._open = False  # the last line of the model's text has no end yet
        self._live: Live | None = None  # shows the output of a running tool
        self.when_denied = ""
        """A hint that is shown once, at the first call that does not run."""

    def show_event(self, event: RunEvent) -> None:
        """Show an event."""
        if isinstance(event, ToolCallProgress):
            if self._rich:
                self._show_progress(event.output)
            return
        if self._live is not None:
            self._live.stop()
            self._live = None
        if isinstance(event, Content):
            # A terminal obeys control characters. A file or a pipe gets the text unchanged.
            sys.stdout.write(without_control_characters(event.value) if sys.stdout.isatty() else event.value)
            sys.stdout.flush()
            self._open = not event.value.endswith("\n")
            return
        if isinstance(event, Thought):
            if self._rich:
                head = f"{event.subject}: " if event.subject else ""
                self._print_line(f"  {head}{event.description}", "dim italic")
        elif isinstance(event, ToolCallRequest):
            self._print_line(f"→ {event.name} {_short_arguments(event.args)}".rstrip(), "bold cyan")
        elif isinstance(event, ToolCallResponse):
            self._show_tool_result(event)
        elif isinstance(event, WebSearchBegin | WebSearchEnd):
            if isinstance(event, WebSearchEnd):
                self._print_line(f"✓ web search of the upstream: {event.query}".rstrip(": "), "green")
        elif isinstance(event, Waiting):
            self._print_line(f"? {event.name} waits: {event.asked.title}", "yellow")
        elif isinstance(event, ProjectInstructions):
            self.say(f"instructions of the project: {', '.join(event.files)}")
        elif isinstance(event, Lost):
            self._show_losses(event.losses)
        else:
            self._show_state(event)

    def say(self, words: str) -> None:
        """Write a message."""
        self._print_line(f"dragoman: {words}", "dim")

    def _show_progress(self, output: str) -> None:
        """Show the last lines of a running tool's output. They disappear when the tool is done."""
        self._end_words()
        if self._live is None:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(Text(without_control_characters(_last_lines(output)), style="dim"), refresh=True)

    def _show_tool_result(self, done: ToolCallResponse) -> None:
        if done.error is not None:
            self._print_line(f"✗ {done.name}: {_first_line(done.error)}", "red")
            if done.error_type == "denied" and self.when_denied:
                self.say(self.when_denied)
                self.when_denied = ""
        elif isinstance(done.result_display, FileDiff):
            lines = done.result_display.diff.splitlines()[2:]  # without the two lines that name the files
            added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
            self._print_line(f"✓ {done.name}: {done.result_display.file_path} (+{added} -{removed})", "green")
            if self._rich and done.decision != "accept":  # an accepted diff was shown before
                self.show_diff(done.result_display.diff)
        else:
            self._print_line(f"✓ {done.name}: {_first_line(done.result_display) or 'done'}", "green")

    def _show_losses(self, losses: tuple[Loss, ...]) -> None:
        for loss in losses:
            if self._all_losses or loss.severity != "info":
                self._print_line(f"lost: {loss}", "yellow")

    def _show_state(self, event: Retrying | Failed | Compressed | Finished) -> None:
        if isinstance(event, Retrying):
            self._print_line(f"{event.fault.message}; next attempt in {event.seconds:.0f} s", "yellow")
        elif isinstance(event, Failed):
            self._failed = True
            again = f" ({self.retry_advice})" if self.kept and self.retry_advice else ""
            self._print_line(f"failed: {event.fault.message}{again}", "bold red")
        elif isinstance(event, Compressed):
            self._print_line(f"history compressed: {event.tokens_before} to {event.tokens_after} tokens", "dim")
        else:
            self._end_words()
            # The fault of an upstream was shown when it came.
            if event.finish_reason in _ENDS and not (event.finish_reason == "fault" and self._failed):
                detail = f" ({event.detail})" if event.detail else ""
                self._print_line(f"{_ENDS[event.finish_reason]}{detail}", "yellow")
            if self._usage:
                self._print_line(spending_line(event), "dim")

    def show_command_output(self, text: str) -> None:
        """Show the output of a command of the user's own."""
        self._print_line(text.rstrip("\n"), "dim")

    def show_diff(self, text: str) -> None:
        """Show an edit, before or after it is made."""
        for line in text.splitlines():
            self._print_line(f"  {line}", _STYLES.get(line[:1], ""))

    def _print_line(self, words: str, style: str = "") -> None:
        self._end_words()
        self._console.print(Text(without_control_characters(words), style=style))

    def _end_words(self) -> None:
        if self._open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open = False


class LastAnswer(TextOutput):
    """Shows all events but the model's text, which is written once it is checked."""

    def show_event(self, event: RunEvent) -> None:
        """Show an event."""
        if not isinstance(event, Content):
            super().show_event(event)

    def write_answer(self, document: bytes) -> None:
        """Write the checked answer."""
        sys.stdout.buffer.write(document + b"\n")
        sys.stdout.buffer.flush()


class Approver:
    """Asks the user at the terminal for approval."""

    def __init__(self, output: TextOutput) -> None:
        self._output = output

    async def __call__(self, confirmation: Confirmation) -> Approval:
        self.show(confirmation)
        while True:
            found = self.read(await self.question(self.words(confirmation)), confirmation)
            if found is not None:
                return found

    async def question(self, words: str) -> str:
        """The person's line, typed after the text of the question."""
        return await asked_line(words)

    def say(self, words: str) -> None:
        """Show a line of a question."""
        self._output.say(words)

    def show(self, confirmation: Confirmation) -> None:
        """Show the edit, command or call that needs the approval."""
        output = self._output
        output.say(confirmation.title)
        if confirmation.command:
            output.say(f"$ {confirmation.command}")
            output.say(_sandbox_line(confirmation))
        for url in confirmation.urls:
            output.say(url)
        if confirmation.diff is not None:
            output.show_diff(confirmation.diff.diff)

    def words(self, confirmation: Confirmation) -> str:
        """The possible answers. `always` is not offered where it would allow no later call."""
        lasting = [entry_name(entry) for entry in lasting_entries("", confirmation)] if confirmation.command else None
        always = ", [a]lways" if lasting is None else f", [a]lways {', '.join(lasting)}" if lasting else ""
        words = without_control_characters(f"[y]es{always}") + (", all of this [s]erver" if confirmation.server else "")
        return words + (", [e]dit" if confirmation.diff is not None else "") + ", [n]o: "

    def read(self, line: str, confirmation: Confirmation) -> Approval | None:
        """The approval in a typed line; None where the line is not an answer."""
        word, _, why = line.strip().partition(" ")
        return _approval(word.lower(), why, confirmation)


def entry_name(entry: str) -> str:
    """An entry of the policy for a person: the words of a command without the name of the tool."""
    words = entry_words(entry)
    return f"`{' '.join(words)}`" if words else entry


def _sandbox_line(confirmation: Confirmation) -> str:
    """Where a command will run."""
    if not confirmation.sandbox:
        return "sandbox: none, so the command can do what you can do"
    files = f"sandbox: {confirmation.sandbox}; writes only in the workspace"
    if not confirmation.network:
        return f"{files}; no network"
    return f"{files}; WITH the network (always: the network too, for commands that you allow)"


def _approval(word: str, why: str, confirmation: Confirmation) -> Approval | None:
    if word in ("y", "yes"):
        return Approval("once")
    if word in ("a", "always"):
        return Approval("always")
    if word in ("s", "server") and confirmation.server:
        return Approval("always_server")
    if word in ("e", "edit") and confirmation.diff is not None:
        try:
            changed = click.edit(confirmation.diff.new, extension=".txt")
        except click.ClickException as error:  # There is no such editor; the user is asked again.
            error.show()
            changed = None
        return Approval("once", wanted=changed) if changed is not None else None
    return Approval("no", why=why) if word in ("n", "no", "\x04") else None


def tokens_line(usage: Usage) -> str:
    """The tokens of an answer or of a run, in one line."""
    known = [
        f"{number:,} tokens {word}"
        for number, word in (
            (usage.input, "in"),
            (usage.cache_read, "cached"),
            (usage.output, "out"),
            (usage.reasoning, "of them thinking"),
        )
        if number
    ]
    return " · ".join(known) or "tokens unknown"


def spending_line(end: Finished) -> str:
    """The tokens and the cost of a run, in one line."""
    return f"{tokens_line(end.usage)} · {shown_cost(end.cost)}"


def _short_arguments(args: object) -> str:
    pairs = [f"{name}={value!r}" for name, value in args.items()] if isinstance(args, dict) else [repr(args)]
    text = " ".join(pairs)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _first_line(text: str) -> str:
    return clip_line(text.strip().partition("\n")[0])


def clip_line(line: str) -> str:
    """A line that is not too long to show."""
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


def _last_lines(text: str) -> str:
    return "\n".join([f"  {clip_line(line)}" for line in text.rstrip("\n").splitlines()[-_LINES:]])
