"""Owns the shells that run commands: bash on POSIX systems, cmd.exe on Windows."""

from __future__ import annotations

import sys

from msgspec import Struct


class Shell(Struct, frozen=True):
    """A program that runs commands."""

    start: tuple[str, ...]
    """The program and its options. The command is the last argument."""
    description: str
    """How commands are run, for the model."""
    readable: bool = False
    """The commands have bash's grammar, which the policy reads. A command of another shell needs an approval each time,
    because its programs are unknown."""

    def command(self, text: str) -> tuple[str, ...]:
        """The program and its arguments for a command."""
        return (*self.start, text)


BASH = Shell(
    ("bash", "-c"),
    "Runs a command as `bash -c <command>` in the workspace. Commands may go to the background with `&`; all of one "
    "command's processes are a group, which can be ended with `kill -- -PGID`.",
    readable=True,
)
CMD = Shell(
    ("cmd.exe", "/c"),
    "Runs a command as `cmd.exe /c <command>` in the workspace. Commands may go to the background with `start /b`.",
)


def usual_shell(platform: str = sys.platform) -> Shell:
    """The shell of this system."""
    return CMD if platform == "win32" else BASH
