"""Owns the interface of a sandbox for commands: a `Sandbox` changes the start of a command's process.

No sandbox is built in. A sandbox could start the command through `bwrap` or a container, with the workspace as the only
writable folder and without a network. `RunShellCommand(sandbox=...)` takes a sandbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class ProcessStart(Struct, frozen=True):
    """The start of a process: command, folder, environment, workspace."""

    command: tuple[str, ...]
    """The program and its arguments."""
    folder: Path
    environment: Mapping[str, str]
    workspace: tuple[Path, ...]
    """The folders of the workspace."""


class Sandbox(Protocol):
    """Gives the start of the same command inside the sandbox. OSError: not possible; then nothing is started."""

    def __call__(self, start: ProcessStart, /) -> ProcessStart: ...


def unconfined(start: ProcessStart, /) -> ProcessStart:
    """No sandbox: a command has all rights of the user."""
    return start
