"""Owns the search for programs that dragoman itself starts, without asking and outside of the sandbox.

PATH may name a folder of the workspace, such as that of a virtual environment, or the current folder. A command of the
model, or the author of the folder, could have put a program of the same name there. A program in the workspace is
skipped.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path


def program_outside(name: str, workspace: Iterable[Path]) -> str | None:
    """The path of a program on PATH, or beside Python, that is not in the workspace; None: there is none."""
    roots = [Path(os.path.realpath(root)) for root in workspace]
    for folder in (*os.get_exec_path(), os.path.dirname(sys.executable)):
        found = shutil.which(name, path=folder) if os.path.isabs(folder) else None
        if found is not None and not any(_inside(place, roots) for place in (found, folder)):
            return found
    return None


def _inside(path: str, roots: list[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(root) for root in roots)
