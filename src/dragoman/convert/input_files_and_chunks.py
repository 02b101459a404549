"""Finds input files, on this machine and in object stores, and cuts them into chunks of whole lines.

A chunk begins where the one before ended, and its end depends on its beginning and on the file alone. So a conversion
that continues after a stop makes the same chunks.
"""

from __future__ import annotations

import glob
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from ..errors import ConfigError
from . import object_store
from . import stdin_stdout_and_pipes as pipes
from .compressed_input import GZIP, ZSTD, MemberReader
from .lines.file_format_record import Kind
from .lines.formats import detect_format, get
from .lines.line import decode_line
from .object_store import is_address
from .stdin_stdout_and_pipes import STANDARD, Pipe
from .zstd import frame_error

SUFFIXES = (
    ".jsonl",
    ".ndjson",
    ".json",
    ".jsonl.gz",
    ".ndjson.gz",
    ".json.gz",
    ".jsonl.zst",
    ".ndjson.zst",
    ".json.zst",
)
PARQUET = ".parquet"
HEAD_LINES = 20
HEAD_BYTES = 1 << 20
_BLOCK = 1 << 18


class Input(Struct):
    """One input file. `source` and `kind` are known after `detect_input`."""

    path: str
    """The whole path; or an address in an object store; or `-`, standard input."""
    name: str
    """The path as the user wrote it, for messages."""
    relative: str
    """The path below the folder that the user named."""
    size: int
    changed: int
    """The time of the last change, in nanoseconds."""
    source: str = ""
    kind: Kind = "request"
    reason: str = ""
    empty: bool = False
    """The file has no lines."""
    pipe: Pipe | None = None
    """Standard input, or another file whose bytes can be read once."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can read the file."""
        return not is_address(self.path)


class InputPiece(Struct):
    """Lines of a file, and where they end."""

    data: bytes
    first: int
    """The number of the first line."""
    after: int
    """The place behind the lines: bytes without compression, or records of a JSON array or a Parquet file."""
    lines: int
    """How many line numbers the piece takes."""
    consumed: int
    """How many bytes of the file were read so far."""
    too_long: list[int] = []


def find_inputs(names: tuple[str, ...], output: str = "") -> list[Input]:
    """The files that the user named: files, folders (all data files below them, without the output), patterns of both,
    and standard input. Raises ConfigError.
    """
    found: dict[str, tuple[str, Input]] = {}
    for name in names:
        for item in _files_of_name(name, output):
            # Two names may lead to the same file.
            real = os.path.realpath(item.path) if item.is_local else item.path
            if real in found:
                first = found[real][0]
                twice = "it is named twice" if first == name else f"it is named by {first!r} and by {name!r}"
                raise ConfigError("input", item.name, problem=f"{twice}. Name every file once")
            found[real] = (name, item)
    return [item for _, item in found.values()]


def _files_of_name(name: str, output: str) -> list[Input]:
    """The files that one word of the user stands for."""
    if name == STANDARD:
        return [Input(STANDARD, "standard input", "standard-input.jsonl", 0, 0, pipe=Pipe(sys.stdin.buffer))]
    if is_address(name):
        return _files_at_address(name, output)
    if os.path.isdir(name):
        return _in_folder(name, output)
    if os.path.exists(name):
        return [_input(name, os.path.basename(name))]
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
    files = [match for match in matches if os.path.isfile(match)]
    data = [match for match in files if _is_data(os.path.basename(match)) and not _is_own(match, output)]
    if files:
        # A pattern such as `*` also matches other files. Those are meant only if no data file matches.
        return [_input(match, os.path.basename(match)) for match in data or files]
    folders = [match for match in matches if os.path.isdir(match)]
    if not folders:
        raise ConfigError("input", name, problem="there is no such file")
    return [item for folder in folders for item in _in_folder(folder, output)]


def _in_folder(folder: str, output: str) -> list[Input]:
    # The files must come in the same order after a stop.
    files = sorted([path for path in Path(folder).rglob("*") if _is_data(path.name) and path.is_file()])
    made = [_input(str(path), str(path.relative_to(folder))) for path in files if not _is_own(str(path), output)]
    if not made:
        problem = f"the folder has no data file ({', '.join(_kinds())})"
        if files:
            problem = "all its data files belong to the output. Name another output"
        raise ConfigError("input", folder, problem=problem)
    return made


def _is_own(path: str, output: str) -> bool:
    """Whether a file of a folder belongs to the output."""
    if not output or is_address(output):
        return False
    own, path = os.path.abspath(output), os.path.abspath(path)
    return path == own or Path(own) in Path(path).parents


def _files_at_address(name: str, output: str) -> list[Input]:
    """The files at an address, below it, or that match it."""
    own = output.rstrip("/")
    if glob.has_magic(name):
        listed, folder = object_store.match_files(name), ""
        listed = [one for one in listed if _is_data(one.address.rpartition("/")[2])] or listed
    else:
        single = None if name.endswith("/") else object_store.find(name)
        listed, folder = ([single], "") if single else (object_store.list_files(name), name.rstrip("/") + "/")
        if folder:
            listed = [one for one in listed if _is_data(one.address.rpartition("/")[2])]
    if folder or glob.has_magic(name):
        listed = [one for one in listed if not own or (one.address != own and not one.address.startswith(own + "/"))]
    if not listed:
        raise ConfigError("input", name, problem="there is no such file")
    return [
        Input(
            one.address,
            one.address,
            one.address.removeprefix(folder) if folder else one.address.rpartition("/")[2],
            one.size,
            one.changed,
        )
        for one in listed
    ]


def _kinds() -> tuple[str, ...]:
    return (".jsonl", ".ndjson", ".json", "each with .gz or .zst", PARQUET)


def _is_data(name: str) -> bool:
    # The files of an unfinished conversion and the side files are not input.
    hidden = name.startswith(".") or ".bad." in name or name.endswith((".partial", ".progress.json"))
    return not hidden and name.lower().endswith((*SUFFIXES, PARQUET))


def _input(path: str, relative: str) -> Input:
    facts = os.stat(path)
    pipe = None if stat.S_ISREG(facts.st_mode) else Pipe(open(path, "rb"))  # noqa: SIM115 - read to its end
    return Input(os.path.abspath(path), path, relative, facts.st_size, facts.st_mtime_ns, pipe=pipe)


def detect_input(item: Input, source: str | None, kind: Kind | None, max_line: int) -> None:
    """Set the format of a file: the named one, or the one of its first lines. Raises ConfigError."""
    if source is not None:
        get(source)
        item.source, item.kind, item.reason = source, kind or "request", "named with --from"
        if kind is not None or source not in _dialects():
            return
    documents, seen = [], False
    lines = _first_lines(item, max_line)
    for line in lines:
        seen = seen or bool(line.strip())
        document = decode_line(line)
        if document is not None:
            documents.append(document)
    name, found_kind, reason = detect_format(documents)
    if source is None:
        if not seen:
            item.empty = True
            return
        if not name:
            raise ConfigError("input", item.name, problem=_why_unknown(lines[0]))
        item.source, item.kind, item.reason = name, found_kind, reason
    elif name == source:
        item.kind = found_kind
    if kind is not None:
        item.kind = kind


def _why_unknown(first: bytes) -> str:
    """Why the format of a file was not detected, and what to do."""
    for begin, problem in _FORMS.items():
        if first.startswith(begin):
            return problem
    if first.strip() == b"{":
        return "each document has several lines. Give the file a name that ends with .json"
    return "the format could not be detected from the first lines. Name it with --from"


_FORMS = {
    pipes.GZIP: "the file is compressed by gzip. Give it a name that ends with .gz",
    pipes.ZSTD: "the file is compressed by Zstandard. Give it a name that ends with .zst",
    pipes.PARQUET: "the file is a Parquet file. Give it a name that ends with .parquet",
    b"\xff\xfe": "the file is UTF-16. Write it as UTF-8, for example with iconv -f utf-16 -t utf-8",
    b"\xfe\xff": "the file is UTF-16. Write it as UTF-8, for example with iconv -f utf-16 -t utf-8",
    b"[": "the file is a JSON array, and not one document on each line. Give it a name that ends with .json",
}
"""The first bytes of files that are not lines of JSON."""


def _dialects() -> tuple[str, ...]:
    from ..dialects import installed

    return installed()


def _first_lines(item: Input, max_line: int) -> list[bytes]:
    if item.pipe is not None:
        first = item.pipe.first()
        if item.pipe.ended:
            item.size = len(first)
        found = _read_pieces(io.BytesIO(first), _pipe_name(item.pipe), item.name, 0, 1, HEAD_BYTES, max_line)
    else:
        found = pieces(item, 0, 1, HEAD_BYTES, max_line)
    lines = next(found, InputPiece(b"", 1, 0, 0, 0)).data.split(b"\n")[:HEAD_LINES]
    if all(decode_line(line) is None for line in lines):
        next(found, None)  # a file that breaks off in its first line raises its own error
    return lines


def pieces(item: Input, start: int, line: int, size: int, max_line: int) -> Iterator[InputPiece]:
    """The lines of a file from the place `start` on, where line number `line` begins. Raises ConfigError for a file
    that cannot be read.
    """
    lowered = item.path.lower()
    if item.pipe is not None:
        file = cast("IO[bytes]", item.pipe)
        yield from _read_pieces(file, _pipe_name(item.pipe), item.name, start, line, size, max_line)
        return
    if lowered.endswith(PARQUET):
        from .parquet import row_pieces  # late: needs pyarrow

        yield from row_pieces(item, start, size)
        return
    with open_input(item) as file:
        yield from _read_pieces(file, lowered, item.name, start, line, size, max_line)


def open_input(item: Input) -> IO[bytes]:
    """The file for reading."""
    return open(item.path, "rb") if item.is_local else object_store.open_file(item.path)


def _pipe_name(pipe: Pipe) -> str:
    """The file name that the bytes of a pipe would have: a pipe has no name that shows its form."""
    first = pipe.first()
    if first.startswith(pipes.PARQUET):
        raise ConfigError("input", STANDARD, problem="Parquet cannot be read from a pipe. Name the file")
    suffix = ".gz" if first.startswith(pipes.GZIP) else ".zst" if first.startswith(pipes.ZSTD) else ""
    with _config_error_if_broken(suffix, STANDARD):
        first = _decompress(io.BytesIO(first), suffix).read(_BLOCK)
    return (".json" if first.lstrip()[:1] == b"[" else ".jsonl") + suffix


def _read_pieces(
    file: IO[bytes], lowered: str, name: str, start: int, line: int, size: int, max_line: int
) -> Iterator[InputPiece]:
    with _config_error_if_broken(lowered, name):
        stream = _decompress(file, lowered)
    whole = _Readable(stream, lowered)
    if lowered.endswith((".json", ".json.gz", ".json.zst")):
        from .json_objects_across_lines import element_pieces  # late: most files have lines

        yield from element_pieces(whole, file, start, size, name)
    else:
        # Only a file without compression has places to go to. Any other file is read again up to the place.
        if stream is file and start:
            file.seek(start)
        else:
            _skip(whole, start)
        yield from _line_pieces(whole, file, start, line, size, max_line)
    if whole.problem:
        raise ConfigError("input", name, problem=f"the file cannot be read to its end: {whole.problem}")


class _Readable:
    """Reads a file up to the first byte that cannot be read. So the lines before it are not lost."""

    def __init__(self, stream: IO[bytes], lowered: str) -> None:
        self._stream = stream
        self._broken = _errors_of_broken_file(lowered)
        self.problem = ""

    def read(self, size: int) -> bytes:
        """The next bytes; none at the end, and behind a fault."""
        try:
            return b"" if self.problem else self._stream.read(size)
        except self._broken as error:
            self.problem = str(error) or type(error).__name__
            return b""


def _errors_of_broken_file(lowered: str) -> tuple[type[Exception], ...]:
    """The exceptions for a file with wrong bytes. An error of the disk or the network is none of them: the conversion
    stops then, and can continue.
    """
    more = (frame_error(),) if lowered.endswith(".zst") else ()
    return (EOFError, zlib.error, *more)


@contextmanager
def _config_error_if_broken(lowered: str, name: str) -> Iterator[None]:
    """Errors of a broken file as ConfigError."""
    try:
        yield
    except _errors_of_broken_file(lowered) as error:
        raise ConfigError("input", name, problem=f"the file cannot be read: {error}") from None


def _decompress(file: IO[bytes], name: str) -> IO[bytes]:
    how = GZIP if name.endswith(".gz") else ZSTD if name.endswith(".zst") else ""
    return cast("IO[bytes]", MemberReader(file, how)) if how else file


def _line_pieces(
    stream: _Readable, file: IO[bytes], start: int, line: int, size: int, max_line: int
) -> Iterator[InputPiece]:
    size = min(size, max_line)  # so a line over the limit always reaches over the end of its piece
    buffer = bytearray()
    while True:
        cut = _fill(stream, buffer, size, max_line)
        if cut == 0:
            return
        too_long: list[int] = []
        if cut > 0:
            data, taken = bytes(buffer[:cut]), cut
            del buffer[:cut]
        else:
            taken = buffer.rfind(b"\n", 0, size - 1) + 1
            data = bytes(buffer[:taken])
            del buffer[:taken]
            if not taken:
                data, taken, too_long = b"\n", _discard_line(stream, buffer), [line]
        start += taken
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        yield InputPiece(data, line, start, lines, file.tell(), too_long)
        line += lines


def _fill(stream: _Readable, buffer: bytearray, size: int, max_line: int) -> int:
    """Read up to the end of the line that holds byte `size`. Returns the number of bytes up to there, or up to the end
    of the file; -1 if that line has more than `max_line` bytes.
    """
    searched = size - 1
    begun = -1
    while True:
        if len(buffer) >= size:
            if begun < 0:
                begun = buffer.rfind(b"\n", 0, size - 1) + 1
            found = buffer.find(b"\n", searched)
            if found >= 0:
                return found + 1 if found - begun <= max_line else -1
            # The bytes so far have no line end, and need no second search.
            searched = len(buffer)
            if searched - begun > max_line:
                return -1
        block = stream.read(_BLOCK)
        if not block:
            return len(buffer)
        buffer += block


def _discard_line(stream: _Readable, buffer: bytearray) -> int:
    """Drop the first line of the buffer and of the stream. Returns its length."""
    dropped = 0
    while True:
        found = buffer.find(b"\n")
        if found >= 0:
            del buffer[: found + 1]
            return dropped + found + 1
        dropped += len(buffer)
        buffer.clear()
        block = stream.read(_BLOCK)
        if not block:
            return dropped
        buffer += block


def _skip(stream: _Readable, left: int) -> None:
    while left:
        block = stream.read(min(left, _BLOCK))
        if not block:
            return
        left -= len(block)
