"""Owns the list of programs that a shell command runs, found in its text, for the policy.

`shell_reader.py` reads the text. These also count as programs: a variable that is set (`PATH=`), because it may decide
what a program does; writing to a file (`>`); a connection that bash opens (`< /dev/tcp/...`); and reading from a name
that is known only at run time (`<`), which may be such a connection.
"""

from __future__ import annotations

from typing import NamedTuple

from .shell_reader import ShellReader, ShellWord


class ShellPrograms(NamedTuple):
    """The programs in the order of the text, each once, and whether the text may hide more programs."""

    names: tuple[str, ...]
    hidden: bool


class Command(NamedTuple):
    """The programs and invocations of a command."""

    roots: ShellPrograms
    invocations: tuple[tuple[ShellWord, ...], ...]
    """Each visible program with its arguments."""


def read_command(command: str) -> Command:
    """Everything that `bash -c` may run for a command."""
    reader = ShellReader(command, 0)
    try:
        reader.read()
    except RecursionError:  # nested deeper than real commands
        reader.hidden = True
    return Command(ShellPrograms(tuple(dict.fromkeys(reader.found)), reader.hidden), tuple(reader.invocations))


def programs_of_command(command: str) -> ShellPrograms:
    """The programs that `bash -c` may run for a command."""
    return read_command(command).roots
