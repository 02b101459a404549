"""Runs a conversion: files in, files out, in order, with checkpoints.

The work is cut into chunks. From time to time everything so far is saved to the disk, and then a checkpoint. A
conversion that was stopped continues at its last checkpoint, and the result has the same bytes as without the stop.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from .. import __version__
from ..canon.losses import Severity
from ..errors import ConfigError, DragomanError
from . import checkpoint as saved
from . import workers
from .checkpoint import Checkpoint
from .finished_and_unfinished_output_paths import OutputLayout, remove
from .input_files_and_chunks import PARQUET, detect_input, find_inputs
from .lines.chunk import ChunkSettings, ConvertedChunk
from .lines.file_format_record import Kind
from .lines.formats import get_target
from .lines.summary import Summary
from .outputs import PARTIAL, ByteOutput, Output, check_packages, compression_of
from .stdin_stdout_and_pipes import StandardOutput
from .whole_or_remaining_input_to_chunks import ChunkEnd, RemainingInput, chunks
from .workers import cores

CHUNK = 1 << 20
MAX_LINE = 64 << 20
SECONDS = 1.0
"""The time between two checkpoints."""
_NAMED = 5
"""So many files are named in one error."""
_LARGE = 4
"""Files of fewer chunks are converted without worker processes: starting one takes longer."""


class ConversionOptions(Struct):
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
    bad_lines: str = ""
    """The side file. Default: beside the output."""
    work_folder: str = ""
    """The folder for unfinished files of an object store. Default: in the user's cache."""
    models: dict[str, str] = {}
    """Model names of the source, and the names that replace them."""


class ConversionProgress(Struct):
    """How far a conversion has come."""

    consumed: int
    """Bytes of the input files, of `Conversion.total`."""
    summary: Summary


class StrictError(DragomanError):
    """A line is bad, and the caller accepts none."""

    def __init__(self, bad: bytes) -> None:
        found = msgspec.json.decode(bad.partition(b"\n")[0])
        super().__init__(f"{found['file']}, line {found['line']}: {found['error']}")


Engine = Callable[[list[RemainingInput], ChunkSettings, int], Iterator[tuple[ChunkEnd, ConvertedChunk]]]
"""Reads and converts inputs on some processes, in order."""


class Conversion:
    """A conversion that is ready to run. The constructor reads the first lines of each file, and writes nothing."""

    def __init__(self, job: ConversionOptions) -> None:
        self.job = job
        self.inputs = find_inputs(job.inputs, job.output)
        get_target(job.target)
        self._detect()
        self.layout = OutputLayout(job.output, self.inputs, job.bad_lines, job.work_folder)
        self.targets = self.layout.targets
        self.total = sum([item.size for item in self.inputs])
        self.resumable = not self.layout.streams and not any(item.pipe for item in self.inputs)
        """Whether the conversion can continue after a stop. A pipe can be read only once."""
        self._progress_path = self.layout.beside + saved.SUFFIX
        self.start = Checkpoint(self._fingerprint())
        if job.engine == "ray" and any(item.pipe for item in self.inputs):
            raise ConfigError("engine", "ray", problem="its workers cannot read standard input. Name files")
        if not job.dry_run:
            self._prepare()
        self.continued = self.start.consumed > 0 or self.start.output > 0

    def _detect(self) -> None:
        """Find the format of each file. Raises ConfigError that names all files without one."""
        job = self.job
        problems: list[ConfigError] = []
        for item in self.inputs:
            try:
                detect_input(item, job.source, job.kind, job.max_line)
            except ConfigError as error:
                problems.append(error)
        if len(problems) > 1:
            listed = [f"{error.got}: {error.problem}" for error in problems[:_NAMED]]
            more = [f"and {len(problems) - _NAMED} more"] if len(problems) > _NAMED else []
            raise ConfigError(f"{len(problems)} of {len(self.inputs)} inputs", "", problem="; ".join(listed + more))
        if problems:
            raise problems[0]
        if all(item.empty for item in self.inputs):
            raise ConfigError("input", self.inputs[0].name, problem="it is empty")

    @property
    def bad_path(self) -> str:
        """The name of the side file; "" if bad lines have no file."""
        return self.layout.bad.name if self.layout.bad is not None else ""

    @property
    def unknown_size(self) -> bool:
        """Whether nobody knows how many bytes will come."""
        return any(item.pipe is not None and not item.pipe.ended for item in self.inputs)

    def _fingerprint(self) -> str:
        job = self.job
        files = [(item.path, item.size, item.changed, item.source, item.kind) for item in self.inputs]
        outputs = [(target.place, target.files) for target in self.targets]
        options = (job.target, job.model, sorted(job.models.items()), job.tolerance, job.strict, job.chunk)
        limits = (job.max_line, job.bad_lines)
        # Another version may write other bytes, so the version counts as well.
        return hashlib.sha256(msgspec.json.encode((__version__, options, limits, files, outputs))).hexdigest()

    def _prepare(self) -> None:
        places = [target.place for target in self.targets] if not self.layout.streams else []
        for place in places:
            check_packages(place.name)
        for item in self.inputs:
            for place in places:
                name = place.name if place.is_stored else os.path.abspath(place.name)
                if name == item.path:
                    raise ConfigError("output", item.name, problem="the file is also an input. Name another output")
        if self.layout.bad is not None:
            places.append(self.layout.bad)
        if self.job.force:
            # All places are checked before the first file is removed.
            for place in places:
                place.check_idle()
            for place in places:
                place.remove_earlier()
            if not self.layout.streams:
                remove(self._progress_path)
        if self.resumable:
            found = saved.load(self._progress_path, self.start.fingerprint)
            if found is not None:
                self.start = found
                return
        for place in places:
            if not self.job.force and place.exists():
                raise ConfigError("output", place.name, problem="the file exists. Replace it with --force")

    def run(
        self,
        progress: Callable[[ConversionProgress], None] = lambda seen: None,
        bad_lines: Callable[[bytes], None] = lambda lines: None,
    ) -> Summary:
        """Convert everything. Returns the summary of all lines, also of those before a stop. Raises DragomanError and
        OSError. `bad_lines` takes the bad lines if they have no file.
        """
        done = self.start
        if self.job.dry_run:
            for end, result in self._results(done):
                self._count(done, end, result)
                progress(ConversionProgress(done.consumed, done.summary))
            return done.summary
        self.layout.prepare()
        # The run before may have stopped between the checkpoint and the new name of a file.
        for target in self.targets[: done.output]:
            target.place.move_into_place()
        if done.output < len(self.targets):
            self._write_all(done, progress, bad_lines)
        if done.bad and self.layout.bad is not None:
            self.layout.bad.move_into_place()
        if self.resumable:
            # Removed last: up to here the conversion can continue after a stop.
            remove(self._progress_path)
        self.layout.remove_empty_work_folder()
        return done.summary

    def _write_all(
        self, done: Checkpoint, progress: Callable[[ConversionProgress], None], bad_lines: Callable[[bytes], None]
    ) -> None:
        output = self._open(done.output, done.state)
        side = self.layout.bad
        bad = ByteOutput(side.local, done.bad) if done.bad and side is not None else None
        due = time.monotonic() + self.job.seconds
        try:
            for end, result in self._results(done):
                # An output whose inputs gave no chunk is finished, too.
                while end.output > done.output:
                    output = self._finish(output, done, bad)
                if result.bad:
                    if self.job.strict:
                        raise StrictError(result.bad)
                    if side is None:
                        bad_lines(result.bad)
                    else:
                        bad = bad or ByteOutput(side.local, 0)
                        bad.append(result.bad)
                output.append(result.out)
                self._count(done, end, result)
                progress(ConversionProgress(done.consumed, done.summary))
                if self.resumable and time.monotonic() >= due and self._save(output, done, bad):
                    due = time.monotonic() + self.job.seconds
            while done.output < len(self.targets):
                output = self._finish(output, done, bad)
        except StrictError:
            output.abandon()
            # With --strict nothing may be left of the output.
            if not self.layout.streams:
                for path in [self._progress_path, *[target.place.local + PARTIAL for target in self.targets]]:
                    remove(path)
                self.layout.remove_empty_work_folder()
            raise
        finally:
            output.abandon()
            if bad is not None:
                bad.abandon()

    def _count(self, done: Checkpoint, end: ChunkEnd, result: ConvertedChunk) -> None:
        done.file, done.place, done.line = end.file, end.place, end.line
        done.consumed = sum([item.size for item in self.inputs[: end.file]])
        if end.file < len(self.inputs):
            item = self.inputs[end.file]
            # A Parquet file counts its bytes without compression, so they may exceed the size of the file.
            done.consumed += end.consumed if item.pipe is not None else min(end.consumed, item.size)
        done.summary.merge(result.summary)

    def _save(self, output: Output, done: Checkpoint, bad: ByteOutput | None) -> bool:
        """Save everything so far, and a checkpoint. False: the output cannot stop here."""
        state = output.save_state()
        if state is None:
            return False
        done.state, done.bad = state, bad.save_state() if bad is not None else 0
        saved.save(self._progress_path, done)
        return True

    def _finish(self, output: Output, done: Checkpoint, bad: ByteOutput | None) -> Output:
        """Make an output whole, and open the next one. The checkpoint comes before the new name: after a stop between
        the two, the next run gives the name.
        """
        output.close()
        done.output, done.state, done.bad = done.output + 1, 0, bad.save_state() if bad is not None else 0
        if self.resumable:
            saved.save(self._progress_path, done)
        if not self.layout.streams:
            self.targets[done.output - 1].place.move_into_place()
        return self._open(done.output, 0) if done.output < len(self.targets) else output

    def _open(self, number: int, state: int) -> Output:
        if self.layout.streams:
            return StandardOutput()
        path = self.targets[number].place.local
        if path.lower().endswith(PARQUET):
            from .parquet import ParquetOutput  # late: needs pyarrow

            return ParquetOutput(path, state, get_target(self.job.target).columns)
        return ByteOutput(path, state, compression_of(path))

    def _results(self, start: Checkpoint) -> Iterator[tuple[ChunkEnd, ConvertedChunk]]:
        job = self.job
        settings = ChunkSettings(job.target, job.model, job.tolerance, job.max_line, job.chunk, job.models)
        small = self.total <= _LARGE * job.chunk and not self.unknown_size
        return _engine(job.engine)(self._readings(start), settings, job.jobs or (1 if small else cores()))

    def _readings(self, start: Checkpoint) -> list[RemainingInput]:
        """Everything that is still to be converted."""
        found: list[RemainingInput] = []
        for number, target in enumerate(self.targets):
            how = "" if self.job.dry_run or self.layout.streams else compression_of(target.place.name)
            for index in target.files:
                if self.inputs[index].empty:
                    continue
                if number < start.output or (number == start.output and index < start.file):
                    continue
                here = number == start.output and index == start.file
                begun = (start.place, start.line) if here else (0, 1)
                found.append(RemainingInput(self.inputs[index], index, number, how, *begun))
        return found


def _engine(name: Literal["local", "ray"]) -> Engine:
    if name == "local":
        return _in_processes
    from . import ray_engine  # late: needs ray

    return ray_engine.in_order


def _in_processes(
    readings: list[RemainingInput], settings: ChunkSettings, jobs: int
) -> Iterator[tuple[ChunkEnd, ConvertedChunk]]:
    """The engine of this machine."""
    made = (one for reading in readings for one in chunks(reading, settings))
    return workers.in_order(made, settings, jobs)
