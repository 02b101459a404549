"""`dragoman undo`: takes back edits of files, by `conversation_log_run.py`. The runtime is an extra."""

from __future__ import annotations

import click


@click.command(epilog="Example: dragoman undo")
@click.argument("id", required=False)
def undo(id: str | None) -> None:
    """Take back the edits that file tools made for your last words, in the last conversation of this folder.

    ID names another conversation (dragoman log lists them). Run the command again to take back the edits before those.
    A file that has changed since is not touched; then nothing is taken back. The effects of commands stay: the commands
    are listed.
    """
    from . import conversation_log_run

    conversation_log_run.undo(id)
