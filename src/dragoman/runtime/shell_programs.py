"""Which programs a shell command runs, told from its text, so that a policy can allow or deny it.

`shell_reader.py` reads the text. A variable that is set counts as a root too (`PATH=`), since it may decide what a
program does. So do writing to a file (`>`), a connection that bash opens (`< /dev/tcp/...`), and reading from a name
that is not known before the command runs (`<`), which may be such a connection.
"""

from __future__ import annotations

from typing import NamedTuple

from .shell_reader import Reader, Word


class Roots(NamedTuple):
    """The programs, in the order they stand, each once; and whether there may be more that cannot be seen."""

    names: tuple[str, ...]
    hidden: bool


class Command(NamedTuple):
    """What a command runs."""

    roots: Roots
    invocations: tuple[tuple[Word, ...], ...]
    """Each program that can be seen, with its arguments."""


def read_command(command: str) -> Command:
    """What `bash -c` may run for a command."""
    reader = Reader(command, 0)
    try:
        reader.read()
    except RecursionError:  # deeper than anybody writes
        reader.hidden = True
    return Command(Roots(tuple(dict.fromkeys(reader.found)), reader.hidden), tuple(reader.invocations))


def roots(command: str) -> Roots:
    """The programs that `bash -c` may run for a command."""
    return read_command(command).roots
