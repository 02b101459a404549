"""Owns the sandbox `landlock`: rules that the kernel keeps for the command's process (Linux 6.2 and later).

The rules are set by `landlock_start.py`, a program that then becomes the command. Nothing needs to be installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec.structs import replace

from ..sandbox_interface import ProcessStart, Sandbox, writable_folders

_PROGRAM = str(Path(__file__).with_name("landlock_start.py"))


class Landlock(Sandbox):
    """Starts commands by a Python process that restricts itself first."""

    name = "landlock"

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        if not sys.platform.startswith("linux"):
            raise OSError("Landlock is a part of Linux")
        words = [sys.executable, "-I", "-S", _PROGRAM]
        words += ["--network"] if start.network else []
        words += [word for folder in writable_folders(start) for word in ("--write", folder)]
        environment = start.environment
        if start.temporary is not None:
            environment = {**environment, "TMPDIR": str(start.temporary)}
        return replace(start, command=(*words, "--", *start.command), environment=environment)
