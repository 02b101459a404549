"""Owns the commands of a chat: lines that begin with `/`. Each command is a method; its docstring is its help text."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ..canon import parts as canon
from ..dialects import installed, is_known
from ..errors import ConfigError
from ..runtime.agent import Agent
from ..runtime.edit_journal import undo
from ..runtime.policy import Mode
from ..runtime.seals_ids_and_names_for_upstream import export_request
from ..store import Store
from ..transport.window_price_and_answer_cost import shown_cost
from .ask_output import tokens_line
from .chat_mcp import run_mcp_command
from .chat_output import ChatOutput
from .loss_and_error_output import without_control_characters
from .model_aliases import model_of

_SHORT = {"quit": "exit", "?": "help", "clear": "new", "cost": "usage"}
"""Names of the commands in other chat programs."""
_TYPED = (
    ("@FILE", "Add a file to a message: text, a picture or a document. Tab completes the path."),
    ("!COMMAND", "Run a command of your own. The model sees its output with your next message."),
    ("Ctrl-V", "Add the picture in the clipboard. A picture that is dropped on the terminal is a message, too."),
    ("Alt-Enter", "Begin a new line. Enter sends the message."),
    ("Up, Ctrl-R", "Go back to earlier messages, or search them."),
    ("Ctrl-X Ctrl-E", "Write the message in your editor."),
    ("Ctrl-C", "Stop the answer, or clear the line."),
    ("Ctrl-D", "End the chat."),
)
"""Help lines about input that is not a command."""


class EndOfChat(Exception):
    """The person ends the chat."""


class ChatCommands:
    """The commands, for one agent."""

    def __init__(self, agent: Agent, console: Console, output: ChatOutput, store: Store | None, folder: Path) -> None:
        self._agent, self._console, self._output, self._store, self._folder = agent, console, output, store, folder
        self.waiting: list[canon.Part] = []
        """Parts that join the next message."""
        self.retrying = False
        """The person has requested the unfinished answer again."""

    @classmethod
    def names(cls) -> list[str]:
        """All commands, with their slash."""
        return ["/" + name for name, _ in cls._all()]

    @classmethod
    def _all(cls) -> Iterator[tuple[str, Callable[..., Any]]]:
        for name, found in vars(cls).items():
            if name.startswith("do_"):
                yield name[3:], found

    async def run(self, line: str) -> None:
        """Run a command. ConfigError where it is unknown or fails; EndOfChat where it ends the chat."""
        word, _, rest = line[1:].partition(" ")
        method = getattr(self, f"do_{_SHORT.get(word, word)}", None)
        if method is None:
            raise ConfigError("command", "/" + word, tuple(self.names()))
        done = method(rest.strip())
        if inspect.isawaitable(done):
            await done

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(without_control_characters(text), style=style))

    def _table(self, rows: Iterable[tuple[str, str]]) -> None:
        """Print rows of two columns. On a terminal long texts are wrapped inside their column."""
        if not self._console.is_terminal:
            for name, about in rows:
                self._print(f"{name:24} {about}")
            return
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, style="cyan")
        table.add_column()
        for name, about in rows:
            table.add_row(Text(without_control_characters(name)), Text(without_control_characters(about)))
        self._console.print(table)

    def do_help(self, rest: str) -> None:
        """List the commands and the keys."""
        texts = [(f"/{name}", inspect.getdoc(method) or "") for name, method in self._all()]
        self._table([*texts, *_TYPED])

    async def do_model(self, rest: str) -> None:
        """Show the model, or change to another: /model gemini/gemini-3-pro. The conversation continues."""
        if rest:
            before, self._agent.model = self._agent.model, model_of(rest, os.environ)
            try:
                await self._agent.check()
            # If the check fails, the earlier model stays chosen.
            except ConfigError:
                self._agent.model = before
                raise
        self._print(self._agent.model, "bold")

    def do_retry(self, rest: str) -> None:
        """Ask again for an answer that failed or was interrupted."""
        if self._agent.session.step == "idle":
            raise ConfigError("retry", "", problem="the last answer is complete. Send a message")
        self.retrying = True

    def do_new(self, rest: str) -> None:
        """Begin a new conversation. The one before stays in `dragoman log`."""
        self._agent.new_conversation()
        self.waiting.clear()
        self._print("a new conversation", "green")

    def do_approve(self, rest: str) -> None:
        """Show or change what tools may do without asking: /approve ask, /approve edits, /approve all."""
        policy = self._agent.policy
        if rest:
            if rest not in get_args(Mode):
                raise ConfigError("approve", rest, get_args(Mode))
            policy.mode = cast(Mode, rest)
        self._print(policy.mode, "bold")
        if policy.allow:
            self._print(f"also allowed: {', '.join(policy.allow)}")
        if policy.deny:
            self._print(f"denied: {', '.join(policy.deny)}")

    def do_tools(self, rest: str) -> None:
        """List the tools."""
        offered = self._agent.offered()
        rows = []
        for tool in self._agent.toolbox:
            first = tool.description.strip().partition("\n")[0].partition(". ")[0].rstrip(".")
            server = getattr(tool, "server", "")
            about = (f"{server}: " if server else "") + (f"{first}." if first else "no description")
            if tool.name not in offered:
                about = "not offered: the model's upstream cannot run this tool, and no search service is configured"
            rows.append((tool.name, about))
        self._table(rows)
        if not len(self._agent.toolbox):
            self._print("no tools")

    async def do_mcp(self, rest: str) -> None:
        """Show the MCP servers; /mcp resources, /mcp prompts, /mcp read, /mcp prompt use them."""
        self.waiting += await run_mcp_command(rest, self._agent.servers, self._print)

    def do_losses(self, rest: str) -> None:
        """List all losses of this chat: meaning that was left out or changed between you and the upstream."""
        for loss in self._output.losses:
            self._print(str(loss), "yellow" if loss.severity != "info" else "dim")
        if not self._output.losses:
            self._print("nothing was lost")

    def do_wire(self, rest: str) -> None:
        """Show the conversation as a request: /wire anthropic. Without a dialect: as the upstream gets it."""
        dialect = rest or self._agent.dialect or installed()[0]
        if not is_known(dialect):
            raise ConfigError("dialect", dialect, tuple(installed()))
        body, losses = export_request(self._agent.session.request(), dialect, self._agent.model.partition("/")[2])
        text = msgspec.json.format(body, indent=2).decode()
        if self._console.is_terminal:
            self._console.print(
                Syntax(without_control_characters(text), "json", word_wrap=True, background_color="default")
            )
        else:  # rich would cut long lines
            self._print(text)
        for loss in losses:
            self._print(str(loss), "yellow")

    def do_undo(self, rest: str) -> None:
        """Take back the file edits of your last message that changed files."""
        if self._store is None:
            raise ConfigError(
                "undo", "", problem="edits are not kept with --no-store. Start the chat without this option"
            )
        done = undo(self._store, self._agent.session, (self._folder,))
        for path in done.files:
            self._print(f"taken back: {path}", "green")
        for command in done.commands:
            self._print(f"not taken back, because it was a command: {command}", "yellow")

    async def do_compact(self, rest: str) -> None:
        """Replace the earlier turns by a summary."""
        happenings = await self._agent.compact()
        for event in happenings:
            self._output.show_event(event)
        if not happenings:
            self._print("the conversation is too short to be compressed")

    def do_save(self, rest: str) -> None:
        """Write the conversation to a file: /save talk.md for people, /save talk.json for `Session.from_json`."""
        if not rest:
            raise ConfigError("save", "", problem="name a file: /save talk.md")
        path = (self._folder / Path(rest).expanduser()).resolve()
        session = self._agent.session
        data = session.to_json() if path.suffix == ".json" else "\n\n".join(_transcript(self._agent)).encode()
        try:
            with path.open("xb") as file:  # never overwrites a file
                file.write(data)
        except OSError as error:
            raise ConfigError("save", str(path), problem=error.strerror or str(error)) from error
        self._print(f"saved: {path}", "green")

    async def do_usage(self, rest: str) -> None:
        """Show the tokens of the last answer and of the history, the model's window, and the cost of the chat."""
        window = (await self._agent.known()).context
        size = f"{window:,} tokens" if window is not None else "unknown"
        self._print(f"last answer: {tokens_line(self._output.usage)}; history: {self._agent.session.held:,} tokens")
        self._print(f"window: {size}; this chat: {shown_cost(self._output.cost)}")

    def do_exit(self, rest: str) -> None:
        """End the chat (also Ctrl-D)."""
        raise EndOfChat


def _transcript(agent: Agent) -> Iterator[str]:
    for turn in agent.session.turns:
        for part in turn.parts:
            if isinstance(part, canon.Text):
                yield f"**{turn.role}**\n\n{part.text}"
            elif isinstance(part, canon.ToolCall):
                yield f"**call** `{part.name}`\n\n```json\n{part.arguments}\n```"
            elif isinstance(part, canon.ToolResult):
                text = "\n".join([one.text for one in part.parts if isinstance(one, canon.Text)])
                yield f"**{'error' if part.is_error else 'result'}** of `{part.name}`\n\n```\n{text}\n```"
