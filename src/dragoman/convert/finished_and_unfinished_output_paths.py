"""Decides where outputs go, and where they are written until they are whole.

A file of this machine is written beside its last name. A file for an object store is written in a work folder of this
machine, because a store cannot continue a file after a stop; when the file is whole, it is copied to the store.
"""

from __future__ import annotations

import hashlib
import os
import shutil

from msgspec import Struct

from ..errors import ConfigError
from . import object_store
from .input_files_and_chunks import PARQUET, Input
from .object_store import is_address
from .outputs import PARTIAL, is_part, lock
from .stdin_stdout_and_pipes import STANDARD


class OutputPath(Struct, frozen=True):
    """The name of a file, and the local path where it is written. The path has PARTIAL behind it until the end."""

    name: str
    local: str

    @property
    def is_stored(self) -> bool:
        """Whether the file goes to an object store."""
        return self.name != self.local

    def exists(self) -> bool:
        """Whether there is such a file already."""
        if not self.is_stored:
            return os.path.lexists(self.name)
        return object_store.find(self.name) is not None or object_store.is_folder(self.name)

    def check_idle(self) -> None:
        """Raise ConfigError if another conversion writes the file now."""
        if os.path.exists(self.local + PARTIAL):
            os.close(lock(self.local + PARTIAL))

    def remove_earlier(self) -> None:
        """Remove the file of an earlier conversion, whole or not."""
        remove(self.local + PARTIAL)
        if not self.is_stored:
            remove(self.name)
            return
        parts = object_store.list_files(self.name) if self.name.lower().endswith(PARQUET) else []
        if not all(is_part(part.address.rpartition("/")[2]) for part in parts):
            raise ConfigError("output", self.name, problem="the folder holds other files. Name another output")
        for part in parts:
            object_store.remove(part.address)

    def move_into_place(self) -> None:
        """Give a whole file its name. Nothing happens if it already has it."""
        if not os.path.lexists(self.local + PARTIAL):
            return
        if self.is_stored:
            # After a stop between these two lines the file is copied once more, which does no harm.
            object_store.upload(self.local + PARTIAL, self.name)
            remove(self.local + PARTIAL)
        else:
            os.replace(self.local + PARTIAL, self.local)


class OutputFile(Struct):
    """One output file, and the numbers of the inputs that it holds."""

    place: OutputPath
    files: list[int]


class OutputLayout:
    """All files of a conversion that are written."""

    def __init__(self, output: str, inputs: list[Input], bad_lines: str = "", work_folder: str = "") -> None:
        self.streams = output == STANDARD
        """The output is standard output."""
        stored = is_address(output)
        self.work_folder = _work_folder(output, work_folder) if stored else ""
        single = self.streams or output.lower().endswith(PARQUET)
        is_folder = object_store.is_folder if stored else os.path.isdir
        self.into_folder = not single and (output.endswith(("/", os.sep)) or bool(output and is_folder(output)))
        """Every input becomes a file of its own."""
        self._output = output
        beside = os.path.join(output, "") if self.into_folder else output
        self.targets = self._targets(inputs)
        if bad_lines:
            self.bad: OutputPath | None = OutputPath(bad_lines, bad_lines)
        elif self.streams:
            self.bad = None
        else:
            self.bad = self._place(beside + ("lines.bad.jsonl" if self.into_folder else ".bad.jsonl"))
        self.beside = self._place(beside).local

    def _place(self, name: str) -> OutputPath:
        if not self.work_folder:
            return OutputPath(name, name)
        folder = self._output if self.into_folder else self._output.rpartition("/")[0]
        return OutputPath(name, os.path.join(self.work_folder, name.removeprefix(folder).lstrip("/")))

    def _targets(self, inputs: list[Input]) -> list[OutputFile]:
        if not self.into_folder:
            return [OutputFile(self._place(self._output), list(range(len(inputs))))]
        made: dict[str, OutputFile] = {}
        for number, item in enumerate(inputs):
            name = os.path.join(self._output, item.relative)
            if name in made:
                other = inputs[made[name].files[0]]
                problem = f"{other.name} and {item.name} would both be written there. Give them different outputs"
                raise ConfigError("output", name, problem=problem)
            made[name] = OutputFile(self._place(name), [number])
        return list(made.values())

    def prepare(self) -> None:
        """Make the work folder of an object store. Only its owner may read it."""
        if self.work_folder:
            os.makedirs(self.work_folder, mode=0o700, exist_ok=True)

    def remove_empty_work_folder(self) -> None:
        """Remove the work folder of an object store, if nothing is left in it."""
        if self.work_folder and os.path.isdir(self.work_folder):
            for folder, _, _ in os.walk(self.work_folder, topdown=False):
                if not os.listdir(folder):
                    os.rmdir(folder)


def _work_folder(output: str, chosen: str) -> str:
    """The folder for the unfinished files of an output (XDG Base Directory Specification 0.8, May 2021)."""
    if not chosen:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        chosen = os.path.join(base, "dragoman", "convert")
    return os.path.join(chosen, hashlib.sha256(output.encode()).hexdigest()[:16])


def remove(path: str) -> None:
    """Remove a file, or a folder of part files. Nothing happens if there is none."""
    if os.path.isdir(path) and not os.path.islink(path):
        if not all(is_part(name) for name in os.listdir(path)):
            raise ConfigError("output", path, problem="the folder holds other files. Name another output")
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)
