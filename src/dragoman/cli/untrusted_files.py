"""Files that are found in the working folder: used only after the user has agreed to their content.

Such a file may come from the untrusted author of the folder: a `dragoman.toml` with a foreign host and the variable of
your key, or a `.mcp.json` that runs any command. EVERY feature that finds a file in the working folder or above it
(configuration, `.env`, templates, instructions) reads the file through `FolderFile` and uses the bytes it returns.

Three kinds of files need no agreement: a file that the user named (`--config`, `--mcp`, a variable), a file that
dragoman has just written, and a file in the user's own configuration folder, which other users must not be able to
write (`store/user_files.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from ..errors import ConfigError
from ..store.trusted_files import TrustedFiles, real_path
from ..store.user_files import config_folder, read_regular_file, require_only_owner_writes
from .untrusted_file_effects import effects_of_file, one_line

if sys.platform != "win32":
    import termios


MAX_ROWS = 60
"""Rows of a terminal that a question may take. The user does not read rows that have scrolled away, and these could be
the most harmful rows."""


class FolderFile:
    """One file of the working folder. Only the first `read` may ask the user."""

    def __init__(self, path: Path, environment: Mapping[str, str], options: str = "") -> None:
        """`options` are the options by which the command takes the file; the default is `--config`."""
        self.path = path
        self._options = options or f"`--config {one_line(path)}`"
        self._environment = environment
        self._trusted = TrustedFiles(environment)
        self._used: bool | None = None  # None: not read yet

    def read(self) -> bytes | None:
        """The bytes to use, or None where the file is missing or not trusted; then one line on standard error states
        that.

        ConfigError when a file that was used before is gone or has changed into an untrusted one, and when the list of
        trusted files cannot be used.
        """
        first = self._used is None
        data = self._judged(first)
        if data is None and self._used:
            problem = f"the file has changed, and is no longer trusted. Run `dragoman config trust {self.path}`"
            raise ConfigError("file", str(self.path), problem=problem)
        self._used = data is not None
        return data

    def _judged(self, first: bool) -> bytes | None:
        """The bytes, if they may be used. They are read once, so that the checked bytes are the used bytes."""
        real = real_path(self.path)
        try:
            data, state = read_regular_file(real)
        except FileNotFoundError:
            return None
        except OSError as error:
            if first:
                click.echo(f"dragoman: {one_line(self.path)} is not used: {one_line(error)}", err=True)
            return None
        if os.path.dirname(real) == real_path(config_folder(self._environment)):
            require_only_owner_writes(Path(real), state)
            return data
        if self._trusted.has(real, data):
            return data
        if not first:
            return None
        if _at_a_terminal() and self._agreed(real, data):
            return data
        path = one_line(self.path)
        click.echo(
            f"dragoman: {path} in this folder is not used, because you have not trusted it. Read it, then run"
            f" `dragoman config trust {path}`, or name the file with {self._options}",
            err=True,
        )
        return None

    def _agreed(self, real: str, data: bytes) -> bool:
        """Whether the user at the terminal agrees, after the effects of the file were shown."""
        state = "has changed since you trusted it" if self._trusted.knows(real) else "is new"
        try:
            lines = effects_of_file(self.path.name, data)
        except ConfigError as error:
            click.echo(f"The file {one_line(real)} {state}, and is not valid: {one_line(error)}", err=True)
            return False
        # A line wraps at the usual 80 columns.
        if sum([len(line) // 80 + 1 for line in lines]) > MAX_ROWS:
            click.echo(f"The file {one_line(real)} {state}, and has too many effects to show them here.", err=True)
            return False
        click.echo(f"The file {one_line(real)} {state}. If it is used,", err=True)
        show_effects(lines)
        _forget_typed()
        if not click.confirm("Do you trust this file?", default=False, err=True):
            return False
        trust(self._trusted, real, data)
        return True


def show_effects(lines: list[str]) -> None:
    """Write the effects of a file to standard error."""
    for line in lines or ["nothing changes"]:
        click.echo(f"  - {line}", err=True)


def trust(trusted: TrustedFiles, real: str, data: bytes) -> None:
    """Remember that the user trusts a file. Where the list cannot be written, one line states that, and the file is
    trusted for this run."""
    try:
        trusted.add(real, data)
    except OSError as error:
        why = one_line(error.strerror or error)
        click.echo(
            f"dragoman: the list of trusted files cannot be written; {one_line(real)} is trusted only this time: {why}",
            err=True,
        )


def _at_a_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _forget_typed() -> None:
    """Drop input that was typed before the question: it is not an answer to the question."""
    if sys.platform != "win32":
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
