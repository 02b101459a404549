"""Owns a chat from its first line to its end: reads a message, shows the answer, and waits for the next message."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
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
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.console import Console

from ..canon.parts import Part, Text
from ..errors import ConfigError, DragomanError
from ..runtime.agent import Agent
from ..runtime.conversation_store import ConversationStore
from ..runtime.events import Finished
from ..runtime.history import text_of
from ..runtime.system_prompt_and_first_turns import is_opening
from ..runtime.tool_interface import Confirmation
from ..store.user_files import data_folder
from ..transport.window_price_and_answer_cost import shown_cost
from .ask_output import Approver
from .ask_run import (
    AskOptions,
    apply_template,
    at_a_terminal,
    make_agent,
    open_store,
    say_sandbox,
    store_permissions,
    template_of,
)
from .attachments import read_attachment, takes_standard_input
from .chat_commands import ChatCommands, EndOfChat
from .chat_message import message_parts
from .chat_output import ChatOutput, MarkdownOutput
from .clipboard_image import clipboard_image
from .loss_and_error_output import fail

_OUTPUT = 20_000
"""Characters of a command's output that the model gets."""


def run(options: AskOptions) -> NoReturn:
    """Run the chat, and exit."""
    terminal = at_a_terminal() and sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=not terminal)
    kept = not options.no_store
    output = ChatOutput(losses=options.losses, kept=kept)
    if terminal:
        output = MarkdownOutput(console, losses=options.losses, kept=kept)
    template, first = template_of(options), " ".join(options.prompt)
    if template is not None:
        options, filled = apply_template(options, template, first)
        first = filled if first or not template.needs_input() else ""
        if template.schema:
            output.say("a chat has no schema of answers, so the schema of the template is not used")
    if takes_standard_input(options.media):
        raise click.UsageError("a chat reads its messages from standard input, so --attach - is not possible here")
    try:
        # Read before the chat begins: a wrong name of a file ends the command.
        attached = [read_attachment(one) for one in options.media]
        store = None if options.no_store else open_store()
        keep = ConversationStore(store, options.conversation_folder, output.say)
        folder = Path(options.conversation_folder)
        lines = _Terminal(folder) if terminal else None
        agent = make_agent(options, store, keep, output, _ChatApprover(output, lines) if lines is not None else None)
    except DragomanError as error:
        fail(str(error), 2)
    given = frozenset(agent.policy.allow)
    commands = ChatCommands(agent, console, output, store, folder)
    chat = _Chat(agent, output, commands, keep, folder, attached)
    try:
        asyncio.run(chat.run(first, lines.messages(chat.status) if lines is not None else _piped()))
    except ConfigError as error:
        fail(str(error), 2)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if store is not None:
            store_permissions(store, options.conversation_folder, agent.policy, given, output)
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
        self._window: int | None = None

    def status(self) -> str:
        """The model, the permissions and the spending, in a few words."""
        agent = self._agent
        words = [agent.model, f"approve: {agent.policy.mode}"]
        if agent.sandbox is not None:
            words.append(f"sandbox: {agent.sandbox.sandbox.name if agent.sandbox.sandbox is not None else 'off'}")
        if self._window and agent.session.held:
            words.append(f"{100 * agent.session.held // self._window} % of the window")
        if self._output.cost is not None:
            words.append(shown_cost(self._output.cost))
        if self._waiting or self._commands.waiting:
            words.append(f"{len(self._waiting) + len(self._commands.waiting)} attached")
        return " · ".join(words)

    async def _look_up_window(self) -> None:
        self._window = (await self._agent.known()).context

    async def run(self, first: str, lines: AsyncIterator[str]) -> None:
        """Answer messages until there are no more."""
        async with self._agent as agent:
            await agent.check()
            await self._look_up_window()
            self._output.say(f"{agent.model} in {self._folder}. /help lists the commands, Ctrl-D ends the chat.")
            say_sandbox(agent, self._output.say)
            for status in agent.servers.status() if agent.servers is not None else ():
                if not status.connected:
                    self._output.say(f"MCP server {status.name}: {status.failure}")
            self._recall()
            if first:
                await self._line(first)
            try:
                async for line in lines:
                    await self._line(line)
            except EndOfChat:
                pass
            if agent.session.turns and self._output.kept:
                self._output.say(f"This chat is stored. Continue it with: dragoman chat --session {agent.session.id}")

    async def _line(self, line: str) -> None:
        text = line.strip()
        if not text:
            return
        try:
            if text.startswith("/"):
                await self._commands.run(text)
                if self._commands.retrying:
                    self._commands.retrying = False
                    await self._answer(None)
            elif text.startswith("!"):
                await self._command(text[1:].strip())
            else:
                parts = [*self._waiting, *self._commands.waiting, *message_parts(text, self._folder)]
                self._waiting, self._commands.waiting = [], []
                await self._answer(parts)
        except DragomanError as error:
            self._output.say(str(error))

    def _recall(self) -> None:
        """Show the last messages of a continued conversation."""
        session = self._agent.session
        own = [turn for turn in session.turns if not is_opening(turn)]
        words = [text_of(turn.parts) for turn in own if turn.role == "user"]
        if words:
            answers = [text_of(turn.parts) for turn in own if turn.role == "assistant"]
            self._output.say(f"This chat has {session.prompts} messages. The last one:")
            self._output.show_last_exchange(words[-1], answers[-1] if answers and own[-1].role != "user" else "")
            if session.step != "idle":
                self._output.say("The answer is not complete. /retry asks again.")

    async def _answer(self, parts: list[Part] | None) -> None:
        """Ask (without parts: repeat the last question), and show the answer. Ctrl-C stops the answer, not the chat."""
        task = asyncio.create_task(self._shown(parts))
        with _on_interrupt(task.cancel), _no_echo():
            self._output.show_working_line()
            try:
                await task
            except asyncio.CancelledError:
                if not task.cancelled():
                    raise
                self._agent.session.interrupt()
                self._keep(self._agent.session)
                self._output.show_event(Finished("cancelled", self._agent.session.spent, cost=self._agent.session.cost))
            finally:
                self._output.remove_working_line()
        await self._look_up_window()

    async def _shown(self, parts: list[Part] | None) -> None:
        run = self._agent.resume() if parts is None else self._agent.stream(parts)
        async with aclosing(run) as happenings:
            async for event in happenings:
                self._output.show_event(event)

    async def _command(self, command: str) -> None:
        """Run a command of the person's own, in the folder. Its output is shown, and joins the next message."""
        if not command:
            return
        process = await asyncio.create_subprocess_shell(
            command, cwd=self._folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        with _on_interrupt(lambda: None):  # the command gets the signal too, and ends
            out, _ = await process.communicate()
        text = out.decode(errors="replace")
        self._output.show_command_output(text)
        kept = text if len(text) <= _OUTPUT else text[: _OUTPUT // 2] + "\n…\n" + text[-_OUTPUT // 2 :]
        self._waiting.append(Text(f"I ran `{command}` (exit code {process.returncode}). Its output:\n{kept}"))


@contextmanager
def _on_interrupt(action: Callable[[], object]) -> Iterator[None]:
    """Call `action` at Ctrl-C, in place of an exception."""
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":  # Windows: event loops have no signal handlers
        before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(action))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        return
    loop.add_signal_handler(signal.SIGINT, action)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


@contextmanager
def _no_echo() -> Iterator[None]:
    """Keep keys that are typed meanwhile off the screen: they would break lines that are drawn again. The keys are kept
    for the next message."""
    if sys.platform == "win32" or not at_a_terminal():
        yield
        return
    import termios

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(terminal, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


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


def _paste_image(event: KeyPressEvent, folder: Path) -> None:
    """Name the picture in the clipboard in the message, as `@FILE`. Without one the key does nothing."""
    file = clipboard_image(folder)
    if file is not None:
        event.current_buffer.insert_text(f'@"{file}" ')


class _Terminal:
    """Reads messages with an editor of lines, and keeps their history in a file of the user's own."""

    def __init__(self, folder: Path) -> None:
        file = data_folder(os.environ) / "chat_history"
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The history may hold secrets, so the file gets its mode before the first line is written.
        file.touch(mode=0o600)
        keys = KeyBindings()
        keys.add("enter")(lambda event: event.current_buffer.validate_and_handle())
        # Terminals send Alt-Enter as Escape and Enter.
        keys.add("escape", "enter")(lambda event: event.current_buffer.insert_text("\n"))
        keys.add("c-v")(lambda event: _paste_image(event, folder))
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(file)),
            multiline=True,
            key_bindings=keys,
            completer=merge_completers([WordCompleter(ChatCommands.names(), sentence=True), _NamedFiles()]),
            complete_while_typing=False,
            enable_open_in_editor=True,
        )

    async def messages(self, status: Callable[[], str]) -> AsyncIterator[str]:
        """The person's message; the input ends with Ctrl-D. Ctrl-C clears the line. `status` is the text of the last
        line."""
        while True:
            try:
                yield await self._session.prompt_async("> ", bottom_toolbar=lambda: f" {status()} ")
            except KeyboardInterrupt:
                continue
            except EOFError:
                return

    async def question(self, words: str) -> str:
        """The person's answer to a question. The answer is not kept in the history. Ctrl-C and Ctrl-D mean no."""
        try:
            # Our handler of SIGINT stays in place: the model's answer continues after the question, and Ctrl-C must
            # stop that answer.
            return await PromptSession[str]().prompt_async(words, handle_sigint=False)
        except (KeyboardInterrupt, EOFError):
            return "n"


class _ChatApprover(Approver):
    """Asks the person, with the editor of lines."""

    def __init__(self, output: ChatOutput, terminal: _Terminal) -> None:
        super().__init__(output)
        self._chat_output, self._terminal = output, terminal

    def show(self, asked: Confirmation) -> None:
        """Show what the approval is about."""
        self._chat_output.remove_working_line()
        super().show(asked)

    async def question(self, words: str) -> str:
        """The line that the person types behind some words."""
        return await self._terminal.question(words)
