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
from .loss_and_error_output import visible as visible
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

    def tell(self, happening: RunEvent) -> None:
        """Write an event to standard output."""
        sys.stdout.buffer.write(as_line(happening))
        sys.stdout.buffer.flush()
        if self._usage and isinstance(happening, Finished):
            self.say(spending(happening))

    def say(self, words: str) -> None:
        """Write a message to standard error."""
        click.echo(f"dragoman: {words}", err=True)


class TextOutput:
    """Writes the model's text, and one line for each other event; coloured where `console` is a terminal."""

    again = _AGAIN
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

    def tell(self, happening: RunEvent) -> None:
        """Show an event."""
        if isinstance(happening, ToolCallProgress):
            if self._rich:
                self._progress(happening.output)
            return
        if self._live is not None:
            self._live.stop()
            self._live = None
        if isinstance(happening, Content):
            # A terminal obeys control characters. A file or a pipe gets the text unchanged.
            sys.stdout.write(visible(happening.value) if sys.stdout.isatty() else happening.value)
            sys.stdout.flush()
            self._open = not happening.value.endswith("\n")
            return
        if isinstance(happening, Thought):
            if self._rich:
                head = f"{happening.subject}: " if happening.subject else ""
                self._line(f"  {head}{happening.description}", "dim italic")
        elif isinstance(happening, ToolCallRequest):
            self._line(f"→ {happening.name} {_short(happening.args)}".rstrip(), "bold cyan")
        elif isinstance(happening, ToolCallResponse):
            self._response(happening)
        elif isinstance(happening, WebSearchBegin | WebSearchEnd):
            if isinstance(happening, WebSearchEnd):
                self._line(f"✓ web search of the upstream: {happening.query}".rstrip(": "), "green")
        elif isinstance(happening, Waiting):
            self._line(f"? {happening.name} waits: {happening.asked.title}", "yellow")
        elif isinstance(happening, ProjectInstructions):
            self.say(f"instructions of the project: {', '.join(happening.files)}")
        elif isinstance(happening, Lost):
            self._losses(happening.losses)
        else:
            self._state(happening)

    def say(self, words: str) -> None:
        """Write a message."""
        self._line(f"dragoman: {words}", "dim")

    def _progress(self, output: str) -> None:
        """Show the last lines of a running tool's output. They disappear when the tool is done."""
        self._end_words()
        if self._live is None:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(Text(visible(_tail(output)), style="dim"), refresh=True)

    def _response(self, done: ToolCallResponse) -> None:
        if done.error is not None:
            self._line(f"✗ {done.name}: {_first(done.error)}", "red")
            if done.error_type == "denied" and self.when_denied:
                self.say(self.when_denied)
                self.when_denied = ""
        elif isinstance(done.result_display, FileDiff):
            lines = done.result_display.diff.splitlines()[2:]  # without the two lines that name the files
            added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
            self._line(f"✓ {done.name}: {done.result_display.file_path} (+{added} -{removed})", "green")
            if self._rich and done.decision != "accept":  # an accepted diff was shown before
                self.diff(done.result_display.diff)
        else:
            self._line(f"✓ {done.name}: {_first(done.result_display) or 'done'}", "green")

    def _losses(self, losses: tuple[Loss, ...]) -> None:
        for loss in losses:
            if self._all_losses or loss.severity != "info":
                self._line(f"lost: {loss}", "yellow")

    def _state(self, happening: Retrying | Failed | Compressed | Finished) -> None:
        if isinstance(happening, Retrying):
            self._line(f"{happening.fault.message}; next attempt in {happening.seconds:.0f} s", "yellow")
        elif isinstance(happening, Failed):
            self._failed = True
            again = f" ({self.again})" if self.kept and self.again else ""
            self._line(f"failed: {happening.fault.message}{again}", "bold red")
        elif isinstance(happening, Compressed):
            self._line(f"history compressed: {happening.tokens_before} to {happening.tokens_after} tokens", "dim")
        else:
            self._end_words()
            # The fault of an upstream was shown when it came.
            if happening.finish_reason in _ENDS and not (happening.finish_reason == "fault" and self._failed):
                detail = f" ({happening.detail})" if happening.detail else ""
                self._line(f"{_ENDS[happening.finish_reason]}{detail}", "yellow")
            if self._usage:
                self._line(spending(happening), "dim")

    def show(self, text: str) -> None:
        """Show the output of a command of the user's own."""
        self._line(text.rstrip("\n"), "dim")

    def diff(self, text: str) -> None:
        """Show an edit, before or after it is made."""
        for line in text.splitlines():
            self._line(f"  {line}", _STYLES.get(line[:1], ""))

    def _line(self, words: str, style: str = "") -> None:
        self._end_words()
        self._console.print(Text(visible(words), style=style))

    def _end_words(self) -> None:
        if self._open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open = False


class LastAnswer(TextOutput):
    """Shows all events but the model's text, which is written once it is checked."""

    def tell(self, happening: RunEvent) -> None:
        """Show an event."""
        if not isinstance(happening, Content):
            super().tell(happening)

    def answer(self, document: bytes) -> None:
        """Write the checked answer."""
        sys.stdout.buffer.write(document + b"\n")
        sys.stdout.buffer.flush()


class Approver:
    """Asks the user at the terminal for approval."""

    def __init__(self, teller: TextOutput) -> None:
        self._teller = teller

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
        self._teller.say(words)

    def show(self, confirmation: Confirmation) -> None:
        """Show the edit, command or call that needs the approval."""
        teller = self._teller
        teller.say(confirmation.title)
        if confirmation.command:
            teller.say(f"$ {confirmation.command}")
            teller.say(_sandbox_line(confirmation))
        for url in confirmation.urls:
            teller.say(url)
        if confirmation.diff is not None:
            teller.diff(confirmation.diff.diff)

    def words(self, confirmation: Confirmation) -> str:
        """The possible answers. `always` is not offered where it would allow no later call."""
        lasting = [entry_name(entry) for entry in lasting_entries("", confirmation)] if confirmation.command else None
        always = ", [a]lways" if lasting is None else f", [a]lways {', '.join(lasting)}" if lasting else ""
        words = visible(f"[y]es{always}") + (", all of this [s]erver" if confirmation.server else "")
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


def tokens(usage: Usage) -> str:
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


def spending(end: Finished) -> str:
    """The tokens and the cost of a run, in one line."""
    return f"{tokens(end.usage)} · {shown_cost(end.cost)}"


def _short(args: object) -> str:
    pairs = [f"{name}={value!r}" for name, value in args.items()] if isinstance(args, dict) else [repr(args)]
    text = " ".join(pairs)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _first(text: str) -> str:
    return clipped(text.strip().partition("\n")[0])


def clipped(line: str) -> str:
    """A line that is not too long to show."""
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


def _tail(text: str) -> str:
    return "\n".join([f"  {clipped(line)}" for line in text.rstrip("\n").splitlines()[-_LINES:]])
