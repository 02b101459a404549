"""Owns the interface of a sandbox for commands: a `Sandbox` changes the start of a command's process.

The built-in sandboxes are in the folder `sandboxes`. `RunShellCommand(sandbox=...)` takes any sandbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class ProcessStart(Struct, frozen=True):
    """The start of a process: command, folder, environment, and what the command may do."""

    command: tuple[str, ...]
    """The program and its arguments."""
    folder: Path
    environment: Mapping[str, str]
    workspace: tuple[Path, ...]
    """The folders of the workspace. A command in a sandbox may write here."""
    temporary: Path | None = None
    """The folder for temporary files. A command in a sandbox may write here too."""
    network: bool = False
    """Whether a command in a sandbox may use the network."""


class Sandbox(Protocol):
    """Gives the start of the same command inside the sandbox. OSError: not possible; then nothing is started."""

    name: str
    """The name for people, as in `--sandbox NAME`."""

    def __call__(self, start: ProcessStart, /) -> ProcessStart: ...


def writable_folders(start: ProcessStart) -> tuple[str, ...]:
    """The folders that a command in a sandbox may write to, without links in their paths."""
    folders = (*start.workspace, *((start.temporary,) if start.temporary is not None else ()))
    return tuple([str(folder.resolve(strict=True)) for folder in folders])
