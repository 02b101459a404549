"""Owns the sandbox `landlock`: rules that the kernel keeps for the command's process (Linux 6.2 and later).

The rules are set by `landlock_start.py`, a program that then becomes the command. Nothing needs to be installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec.structs import replace

from ..sandbox_interface import ProcessStart, Sandbox, writable_folders

_PROGRAM = Path(__file__).with_name("landlock_start.py").read_text()
"""The program that sets the rules, read once. The package and its virtual environment may be in the workspace, where a
command could change them. So later commands use neither the file nor the interpreter of the environment."""


class Landlock(Sandbox):
    """Starts commands by a Python process that restricts itself first."""

    name = "landlock"

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        if not sys.platform.startswith("linux"):
            raise OSError("Landlock is a part of Linux")
        interpreter = getattr(sys, "_base_executable", "") or sys.executable
        if not interpreter:
            raise OSError("the Python interpreter has no file")
        words = [interpreter, "-I", "-S", "-c", _PROGRAM]
        words += ["--network"] if start.network else []
        words += [word for folder in writable_folders(start) for word in ("--write", folder)]
        environment = start.environment
        if start.temporary is not None:
            environment = {**environment, "TMPDIR": str(start.temporary)}
        return replace(start, command=(*words, "--", *start.command), environment=environment)
