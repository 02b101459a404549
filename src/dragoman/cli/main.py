"""The `dragoman` command: gathers the verbs. Exit 0 clean, 1 findings, losses over tolerance or a failure, 2 misuse."""

from __future__ import annotations

import sys

try:
    import click
except ModuleNotFoundError:  # the library alone needs no click
    sys.stderr.write("dragoman: the command line needs click and rich: pip install 'dragoman[cli]'\n")
    raise SystemExit(2) from None

from .. import __version__
from .conform import conform
from .dialects import dialects
from .lint import lint
from .loss import loss
from .matrix import matrix_command
from .repair import repair
from .rule import rule
from .serve import serve
from .show import show
from .translate import translate


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dragoman")
def main() -> None:
    """Translate LLM tool calling between wire protocols, and say what could not cross."""


main.add_command(translate)
main.add_command(dialects)
main.add_command(conform)
main.add_command(matrix_command)
main.add_command(loss)
main.add_command(lint)
main.add_command(rule)
main.add_command(show)
main.add_command(repair)
main.add_command(serve)
