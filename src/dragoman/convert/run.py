"""Runs a conversion: files in, files out, in order, with checkpoints.

The work is cut into chunks. From time to time everything so far is saved to the disk, and then a checkpoint. A
conversion that was stopped continues at its last checkpoint, and the result has the same bytes as without the stop.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from .. import __version__
from ..canon.losses import Severity
from ..errors import ConfigError, DragomanError
from . import checkpoint as saved
from . import workers
from .checkpoint import Checkpoint
from .chunk import Chunk, Result, Settings
from .formats import get_target
from .inputs import PARQUET, Input, Piece, detect_input, find_inputs, pieces
from .outputs import PARTIAL, ByteOutput, Output, check_packages, compression_of, is_part, put_in_place
from .record_and_file_format import Kind
from .summary import Summary
from .workers import cores

CHUNK = 1 << 20
MAX_LINE = 64 << 20
SECONDS = 1.0
"""The time between two checkpoints."""
_LARGE = 4
"""Files of fewer chunks are converted without worker processes: starting one takes longer."""


class Job(Struct):
    """What the user asked for."""

    inputs: tuple[str, ...]
    output: str
    target: str
    source: str | None = None
    kind: Kind | None = None
    model: str | None = None
    tolerance: Severity | None = None
    strict: bool = False
    dry_run: bool = False
    force: bool = False
    jobs: int = 0
    """0: one for each core."""
    engine: Literal["local", "ray"] = "local"
    chunk: int = CHUNK
    max_line: int = MAX_LINE
    seconds: float = SECONDS


class Target(Struct):
    """One output file, and the numbers of the inputs that it holds."""

    path: str
    files: list[int]


class Progress(Struct):
    """How far a conversion has come."""

    consumed: int
    """Bytes of the input files, of `Conversion.total`."""
    summary: Summary


class StrictError(DragomanError):
    """A line is bad, and the caller accepts none."""

    def __init__(self, bad: bytes) -> None:
        found = msgspec.json.decode(bad.partition(b"\n")[0])
        super().__init__(f"{found['file']}, line {found['line']}: {found['error']}")


class _End(Struct):
    """Where a chunk ends: the file, and the place behind the chunk."""

    output: int
    file: int
    piece: Piece


Engine = Callable[[Iterable[tuple[_End, Chunk]], Settings, int], Iterator[tuple[_End, Result]]]
"""Converts chunks on some processes, in order: `workers.in_order`, or the same function of another engine."""


class Conversion:
    """A conversion that is ready to run. The constructor reads the first lines of each file, and writes nothing."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.inputs = find_inputs(job.inputs, job.output)
        get_target(job.target)
        for item in self.inputs:
            detect_input(item, job.source, job.kind, job.max_line)
        self.into_folder = not job.output.lower().endswith(PARQUET) and (
            job.output.endswith(("/", os.sep)) or os.path.isdir(job.output)
        )
        self.targets = _targets(job.output, self.inputs, self.into_folder)
        self.total = sum([item.size for item in self.inputs])
        beside = os.path.join(job.output, "") if self.into_folder else job.output
        self.bad_path = beside + ("lines.bad.jsonl" if self.into_folder else ".bad.jsonl")
        self._progress_path = beside + saved.SUFFIX
        self.start = Checkpoint(self._fingerprint())
        if not job.dry_run:
            self._prepare()
        self.continued = self.start.consumed > 0 or self.start.output > 0

    def _fingerprint(self) -> str:
        job = self.job
        files = [(item.path, item.size, item.changed, item.source, item.kind) for item in self.inputs]
        outputs = [(target.path, target.files) for target in self.targets]
        options = (job.target, job.model, job.tolerance, job.strict, job.chunk, job.max_line)
        return hashlib.sha256(msgspec.json.encode((__version__, options, files, outputs))).hexdigest()

    def _prepare(self) -> None:
        paths = [target.path for target in self.targets]
        for path in paths:
            check_packages(path)
        for item in self.inputs:
            if any(os.path.abspath(path) == item.path for path in paths):
                raise ConfigError("output", item.name, problem="the file is also an input. Name another output")
        if self.job.force:
            for path in (*paths, self.bad_path, *[path + PARTIAL for path in (*paths, self.bad_path)]):
                _remove(path)
            _remove(self._progress_path)
        found = saved.load(self._progress_path, self.start.fingerprint)
        if found is not None:
            self.start = found
            return
        for path in (*paths, self.bad_path):
            if os.path.lexists(path):
                raise ConfigError("output", path, problem="the file exists. Replace it with --force")

    def run(self, progress: Callable[[Progress], None] = lambda seen: None) -> Summary:
        """Convert everything. Returns the summary of all lines, also of those before a stop. Raises DragomanError and
        OSError.
        """
        done = self.start
        if self.job.dry_run:
            for end, result in self._results(done):
                self._count(done, end, result)
                progress(Progress(done.consumed, done.summary))
            return done.summary
        for target in self.targets[: done.output]:
            put_in_place(target.path)
        if done.output < len(self.targets):
            self._write_all(done, progress)
        if done.bad:
            put_in_place(self.bad_path)
        _remove(self._progress_path)
        return done.summary

    def _write_all(self, done: Checkpoint, progress: Callable[[Progress], None]) -> None:
        output = self._open(done.output, done.state)
        bad = ByteOutput(self.bad_path, done.bad) if done.bad else None
        due = time.monotonic() + self.job.seconds
        try:
            for end, result in self._results(done):
                while end.output > done.output:
                    output = self._finish(output, done, bad)
                if result.bad:
                    if self.job.strict:
                        raise StrictError(result.bad)
                    bad = bad or ByteOutput(self.bad_path, 0)
                    bad.append(result.bad)
                output.append(result.out)
                self._count(done, end, result)
                progress(Progress(done.consumed, done.summary))
                if time.monotonic() >= due and self._save(output, done, bad):
                    due = time.monotonic() + self.job.seconds
            while done.output < len(self.targets):
                output = self._finish(output, done, bad)
        except StrictError:
            output.abandon()
            for path in [self._progress_path, *[target.path + PARTIAL for target in self.targets]]:
                _remove(path)
            raise
        finally:
            output.abandon()
            if bad is not None:
                bad.abandon()

    def _count(self, done: Checkpoint, end: _End, result: Result) -> None:
        done.file, done.place, done.line = end.file, end.piece.after, end.piece.first + end.piece.lines
        before = sum([item.size for item in self.inputs[: end.file]])
        done.consumed = before + min(end.piece.consumed, self.inputs[end.file].size)
        done.summary.merge(result.summary)

    def _save(self, output: Output, done: Checkpoint, bad: ByteOutput | None) -> bool:
        """Save everything so far, and a checkpoint. False: the output cannot stop here."""
        state = output.state()
        if state is None:
            return False
        done.state, done.bad = state, bad.state() if bad is not None else 0
        saved.save(self._progress_path, done)
        return True

    def _finish(self, output: Output, done: Checkpoint, bad: ByteOutput | None) -> Output:
        """Make an output whole, and open the next one. The checkpoint comes before the new name: after a stop between
        the two, the next run gives the name.
        """
        output.close()
        done.output, done.state, done.bad = done.output + 1, 0, bad.state() if bad is not None else 0
        saved.save(self._progress_path, done)
        put_in_place(self.targets[done.output - 1].path)
        return self._open(done.output, 0) if done.output < len(self.targets) else output

    def _open(self, number: int, state: int) -> Output:
        path = self.targets[number].path
        if path.lower().endswith(PARQUET):
            from .parquet import ParquetOutput  # late: needs pyarrow

            return ParquetOutput(path, state)
        return ByteOutput(path, state, compression_of(path))

    def _results(self, start: Checkpoint) -> Iterator[tuple[_End, Result]]:
        start, job = msgspec.structs.replace(start), self.job  # the caller moves its own checkpoint on
        jobs = job.jobs or (cores() if self.total > _LARGE * job.chunk else 1)
        in_order = _engine(job.engine)
        # All outputs of one conversion are compressed alike, unless the inputs of a folder are not.
        groups: dict[str, Settings] = {}
        for target in self.targets:
            how = compression_of(target.path) if not job.dry_run else ""
            groups.setdefault(how, Settings(job.target, job.model, job.tolerance, how, job.max_line))
        if len(groups) == 1:
            yield from in_order(self._chunks(start, 0, len(self.targets)), next(iter(groups.values())), jobs)
            return
        for number, target in enumerate(self.targets):
            how = compression_of(target.path) if not job.dry_run else ""
            yield from in_order(self._chunks(start, number, number + 1), groups[how], jobs)

    def _chunks(self, start: Checkpoint, first: int, last: int) -> Iterator[tuple[_End, Chunk]]:
        output, file, place, line = start.output, start.file, start.place, start.line
        for number, target in list(enumerate(self.targets))[max(first, output) : last]:
            for index in target.files:
                if index < file and number == output:
                    continue
                item = self.inputs[index]
                begun = (place, line) if index == file and number == output else (0, 1)
                for piece in pieces(item, *begun, self.job.chunk, self.job.max_line):
                    yield (
                        _End(number, index, piece),
                        Chunk(piece.data, item.name, index + 1, piece.first, item.source, item.kind, piece.too_long),
                    )


def _engine(name: Literal["local", "ray"]) -> Engine:
    if name == "local":
        return workers.in_order
    from . import ray_engine  # late: needs ray

    return ray_engine.in_order


def _targets(output: str, inputs: list[Input], into_folder: bool) -> list[Target]:
    if not into_folder:
        return [Target(output, list(range(len(inputs))))]
    made: dict[str, Target] = {}
    for number, item in enumerate(inputs):
        path = os.path.join(output, item.relative)
        if path in made:
            other = inputs[made[path].files[0]]
            raise ConfigError(
                "output", path, problem=f"{other.name} and {item.name} would both be written there. Convert them apart"
            )
        made[path] = Target(path, [number])
    return list(made.values())


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        if not all(is_part(name) for name in os.listdir(path)):
            raise ConfigError("output", path, problem="the folder holds other files. Name another output")
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)
