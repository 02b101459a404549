"""Owns a chat from its first line to its end: reads a message, shows the answer, and waits for the next message."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import NoReturn

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import (
    CompleteEvent,
    Completer,
    Completion,
    PathCompleter,
    WordCompleter,
    merge_completers,
)
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings
from rich.console import Console

from ..canon.parts import Part, Text
from ..errors import ConfigError, DragomanError
from ..runtime.agent import Agent
from ..runtime.conversation_store import ConversationStore
from ..runtime.events import Finished
from ..store.user_files import data_folder
from .ask_output import Approver
from .ask_run import (
    AskOptions,
    at_a_terminal,
    make_agent,
    open_store,
    remember_allowed,
    say_sandbox,
    template_of,
    templated,
)
from .attachments import attachment, takes_standard_input
from .chat_commands import ChatCommands, EndOfChat
from .chat_message import message_parts
from .chat_output import ChatOutput, MarkdownOutput
from .terminal_output import fail

_OUTPUT = 20_000
"""Characters of a command's output that the model gets."""


def run(wish: AskOptions) -> NoReturn:
    """Run the chat, and exit."""
    terminal = at_a_terminal() and sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=not terminal)
    kept = not wish.no_store
    output = ChatOutput(losses=wish.losses, kept=kept)
    if terminal:
        output = MarkdownOutput(console, losses=wish.losses, kept=kept)
    template, first = template_of(wish), " ".join(wish.prompt)
    if template is not None:
        wish, filled = templated(wish, template, first)
        first = filled if first or not template.needs_input() else ""
        if template.schema:
            output.say("a chat has no schema of answers, so the schema of the template is not used")
    if takes_standard_input(wish.media):
        raise click.UsageError("a chat reads its messages from standard input, so --attach - is not possible here")
    try:
        attached = [attachment(one) for one in wish.media]
        store = None if wish.no_store else open_store()
        keep = ConversationStore(store, wish.place, output.say)
        lines = _Terminal() if terminal else None
        agent = make_agent(wish, store, keep, output, _ChatApprover(output, lines) if lines is not None else None)
    except DragomanError as error:
        fail(str(error), 2)
    given = frozenset(agent.policy.allow)
    folder = Path(wish.place)
    commands = ChatCommands(agent, console, output, store, folder)
    chat = _Chat(agent, output, commands, keep, folder, attached)
    try:
        asyncio.run(chat.run(first, lines.messages(agent) if lines is not None else _piped()))
    except ConfigError as error:
        fail(str(error), 2)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if store is not None:
            remember_allowed(store, wish.place, agent.policy, given, output)
            store.close()
    sys.exit(0)


class _Chat:
    def __init__(
        self,
        agent: Agent,
        output: ChatOutput,
        commands: ChatCommands,
        keep: ConversationStore,
        folder: Path,
        attached: Iterable[Part],
    ) -> None:
        self._agent, self._output, self._commands, self._keep, self._folder = agent, output, commands, keep, folder
        self._waiting: list[Part] = [*attached]
        """Attachments, and outputs of the person's own commands, for the next message."""

    async def run(self, first: str, lines: AsyncIterator[str]) -> None:
        """Answer messages until there are no more."""
        async with self._agent as agent:
            await agent.check()
            self._output.say(f"{agent.model} in {self._folder}. /help lists the commands, Ctrl-D ends the chat.")
            say_sandbox(agent, self._output.say)
            for status in agent.servers.status() if agent.servers is not None else ():
                if not status.connected:
                    self._output.say(f"MCP server {status.name}: {status.failure}")
            if first:
                await self._line(first)
            try:
                async for line in lines:
                    await self._line(line)
            except EndOfChat:
                return

    async def _line(self, line: str) -> None:
        text = line.strip()
        if not text:
            return
        try:
            if text.startswith("/"):
                await self._commands.run(text)
            elif text.startswith("!"):
                await self._command(text[1:].strip())
            else:
                parts = [*self._waiting, *self._commands.waiting, *message_parts(text, self._folder)]
                self._waiting, self._commands.waiting = [], []
                await self._answer(parts)
        except DragomanError as error:
            self._output.say(str(error))

    async def _answer(self, parts: list[Part]) -> None:
        """Ask, and show the answer. Ctrl-C stops the answer, not the chat."""
        task = asyncio.create_task(self._shown(parts))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            self._agent.session.interrupt()
            self._keep(self._agent.session)
            self._output.tell(Finished("cancelled", self._agent.session.spent, cost=self._agent.session.cost))
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def _shown(self, parts: list[Part]) -> None:
        async with aclosing(self._agent.stream(parts)) as happenings:
            async for happening in happenings:
                self._output.tell(happening)

    async def _command(self, command: str) -> None:
        """Run a command of the person's own, in the folder. Its output is shown, and joins the next message."""
        if not command:
            return
        process = await asyncio.create_subprocess_shell(
            command, cwd=self._folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: None)  # the command gets the signal too, and ends
        try:
            out, _ = await process.communicate()
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        text = out.decode(errors="replace")
        self._output.show(text)
        kept = text if len(text) <= _OUTPUT else text[: _OUTPUT // 2] + "\n…\n" + text[-_OUTPUT // 2 :]
        self._waiting.append(Text(f"I ran `{command}` (exit code {process.returncode}). Its output:\n{kept}"))


async def _piped() -> AsyncIterator[str]:
    """The lines of standard input."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield line


class _NamedFiles(Completer):
    """Completes the paths behind `@`."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        word = document.get_word_before_cursor(WORD=True)
        if word.startswith("@"):
            yield from PathCompleter(expanduser=True).get_completions(Document(word[1:]), complete_event)


class _Terminal:
    """Reads messages with an editor of lines, and keeps their history in a file of the user's own."""

    def __init__(self) -> None:
        file = data_folder(os.environ) / "chat_history"
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
        keys = KeyBindings()
        keys.add("enter")(lambda event: event.current_buffer.validate_and_handle())
        keys.add("escape", "enter")(lambda event: event.current_buffer.insert_text("\n"))
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(file)),
            multiline=True,
            key_bindings=keys,
            completer=merge_completers([WordCompleter(ChatCommands.names(), sentence=True), _NamedFiles()]),
            complete_while_typing=False,
            enable_open_in_editor=True,
        )

    async def messages(self, agent: Agent) -> AsyncIterator[str]:
        """What the person types, until Ctrl-D. Ctrl-C clears the line."""
        while True:
            try:
                yield await self._session.prompt_async("> ", bottom_toolbar=lambda: f" {agent.model} ")
            except KeyboardInterrupt:
                continue
            except EOFError:
                return

    async def question(self, words: str) -> str:
        """An answer to a question, which is not kept in the history. Ctrl-C and Ctrl-D are a no."""
        try:
            # The handler of SIGINT stays ours: the answer goes on after the question, and Ctrl-C must stop it.
            return await PromptSession[str]().prompt_async(words, handle_sigint=False)
        except (KeyboardInterrupt, EOFError):
            return "n"


class _ChatApprover(Approver):
    """Asks the person, with the editor of lines."""

    def __init__(self, output: ChatOutput, terminal: _Terminal) -> None:
        super().__init__(output)
        self._terminal = terminal

    async def question(self, words: str) -> str:
        """The line that the person types behind some words."""
        return await self._terminal.question(words)
