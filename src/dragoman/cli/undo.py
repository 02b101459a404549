"""`dragoman undo`: takes back edits of files, by `conversation_log_run.py`. The runtime is an extra."""

from __future__ import annotations

import click


@click.command(epilog="Example: dragoman undo")
@click.argument("id", required=False)
def undo(id: str | None) -> None:
    """Take back the file edits of your last message, in the last conversation of this folder.

    ID names another conversation (dragoman log lists them). Run the command again to take back the edits of the message
    before. If one of the files has changed since, nothing is taken back. The effects of commands are not taken back;
    these commands are listed.
    """
    from . import conversation_log_run

    conversation_log_run.undo(id)
