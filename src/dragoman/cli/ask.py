"""`dragoman ask`: a request to a model that has tools, in this folder.

`ask_run.py` does the work. It is loaded only when the command runs, because the runtime is an extra.
"""

from __future__ import annotations

from typing import Any

import click

from .agent_options import agent_options


@click.command(epilog='Example: dragoman ask "What does this project do?" --model anthropic/claude-opus-5')
@click.argument("prompt", nargs=-1)
@agent_options
@click.option(
    "--schema",
    metavar="FILE|DSL",
    help="The answer must be JSON that fits this JSON Schema or short form. Example of a short form: "
    '"name, age int, bio: a short text".',
)
@click.option("--usage", is_flag=True, help="Write the tokens of the run and their cost to standard error at its end.")
@click.option("--json", "as_json", is_flag=True, help="Write all events as lines of JSON.")
def ask(**given: Any) -> None:
    """Ask a model that has tools: it reads, searches, edits and runs commands in this folder.

    Without a prompt on a terminal, this is `dragoman chat`.

    The prompt may also come from standard input. The model's text goes to standard output, everything else to standard
    error. You are asked before a tool changes anything. Without a terminal such a tool does not run, unless --approve
    or --allow permits it. Without a key no model is asked; `--model rehearsal/rules` tries the tools without a model.

    With --schema only the checked JSON is written to standard output. If the answer does not fit, the model is asked
    once more. If the second answer does not fit either, the exit code is 1.
    """
    from .ask_run import AskOptions, run

    run(AskOptions(**given))
