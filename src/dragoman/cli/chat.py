"""`dragoman chat`: a conversation with a model that has tools, in this folder.

`chat_run.py` does the work. It is loaded only when the command runs, because the runtime is an extra.
"""

from __future__ import annotations

from typing import Any

import click

from .agent_options import agent_options


@click.command(epilog="Example: dragoman chat --model anthropic/claude-opus-5")
@click.argument("prompt", nargs=-1)
@agent_options
def chat(**given: Any) -> None:
    """Talk with a model that has tools: it reads, searches, edits and runs commands in this folder.

    A given prompt is the first message. On a terminal Enter sends a message, and Alt-Enter begins a new
    line. Ctrl-C stops the answer, Ctrl-D ends the chat. /help lists the commands of the chat. `@FILE` adds a file to a
    message, `!COMMAND` runs a command of your own. If standard input is not a terminal, each line is a message.
    """
    from .ask_run import AskOptions
    from .chat_run import run

    run(AskOptions(**given))
