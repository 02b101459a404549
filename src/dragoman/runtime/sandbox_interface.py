"""Where a sandbox for commands is put in: a `Sandbox` changes how the process of a command is started.

None is built in. One could start the command through `bwrap` or a container, with the workspace as the only folder that
can be written and without a network. `RunShellCommand(sandbox=...)` takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class ProcessStart(Struct, frozen=True):
    """How a process is to be started."""

    command: tuple[str, ...]
    """The program and its arguments."""
    folder: Path
    environment: Mapping[str, str]
    workspace: tuple[Path, ...]
    """The folders that the tools may touch."""


class Sandbox(Protocol):
    """Gives the start of the same command within walls. OSError where that cannot be done: nothing is started then."""

    def __call__(self, start: ProcessStart, /) -> ProcessStart: ...


def unconfined(start: ProcessStart, /) -> ProcessStart:
    """No sandbox: a command may do whatever the user may."""
    return start
