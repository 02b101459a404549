"""`dragoman log`: the stored conversations.

`conversation_log_run.py` does the work, because the runtime is an extra.
"""

from __future__ import annotations

import click

from .dialect_option import DIALECT


@click.command(epilog="Example: dragoman log search broken pipe")
@click.argument("words", nargs=-1, metavar="[ID | search WORDS...]")
@click.option(
    "--to", "dialect", type=DIALECT, metavar="DIALECT", help="Write the conversation as a request of this dialect."
)
@click.option("--model", default="", metavar="NAME", help="The model for that request.")
@click.option("--json", "as_json", is_flag=True, help="Write the stored conversation as JSON.")
@click.option("--here", is_flag=True, help="List only conversations of this folder.")
@click.option("--most", type=int, default=50, show_default=True, help="Largest number of conversations to list.")
@click.option("--forget", is_flag=True, help="Delete the conversation.")
@click.option(
    "--losses",
    "form",
    type=click.Choice(["text", "json", "none"]),
    default="text",
    show_default=True,
    help="Format of an export's loss report on standard error.",
)
def log(
    words: tuple[str, ...],
    dialect: str | None,
    model: str,
    as_json: bool,
    here: bool,
    most: int,
    forget: bool,
    form: str,
) -> None:
    """List the conversations of `dragoman ask`. With an ID: show, export or delete that conversation. The first
    characters of an ID are enough.

    `dragoman log search WORDS` lists the conversations that contain all of the words, each with the line of the first
    word. Upper and lower case are equal. Words in quotes are one search text.
    """
    searched = words[1:] if words[:1] == ("search",) else None
    if searched is None and len(words) > 1:
        raise click.UsageError("give one ID. To search for words, run `dragoman log search WORDS`.")
    if searched is not None and not any(word.strip() for word in searched):
        raise click.UsageError("name at least one word to search for.")
    id = words[0] if words and searched is None else None
    if id is None and (dialect or as_json or forget):
        raise click.UsageError("this option needs the ID of a conversation. `dragoman log` lists them.")
    from . import conversation_log_run

    if searched is not None:
        conversation_log_run.search(searched, here, most)
    elif id is None:
        conversation_log_run.list_all(here, most)
    elif forget:
        conversation_log_run.forget(id)
    elif dialect is not None:
        conversation_log_run.export(id, dialect, model, form)
    else:
        conversation_log_run.show(id, as_json)
