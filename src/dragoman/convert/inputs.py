"""Finds input files, and cuts them into chunks of whole lines.

A chunk begins where the one before ended, and its end depends on its beginning and on the file alone. So a conversion
that continues after a stop makes the same chunks.
"""

from __future__ import annotations

import glob
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from msgspec import Struct

from ..errors import ConfigError
from .formats import detect_format, get
from .line import decoded
from .record_and_file_format import Kind
from .zstd import frame_error, open_frames

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


class Piece(Struct):
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
    """The files that the user named: files, folders (all data files below them, without those below `output`), and
    patterns. Raises ConfigError.
    """
    found: list[Input] = []
    own = Path(os.path.abspath(output)) if output else None
    for name in names:
        if os.path.isdir(name):
            files = sorted([path for path in Path(name).rglob("*") if path.is_file() and _is_data(path.name)])
            files = [path for path in files if own is None or own not in Path(os.path.abspath(path)).parents]
            if not files:
                raise ConfigError("input", name, problem=f"the folder has no data file ({', '.join(_kinds())})")
            found += [_input(str(path), str(path.relative_to(name))) for path in files]
        elif os.path.exists(name):
            found.append(_input(name, os.path.basename(name)))
        else:
            matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
            files = [Path(match) for match in matches if os.path.isfile(match)]
            if not files:
                raise ConfigError("input", name, problem="there is no such file")
            found += [_input(str(path), path.name) for path in files]
    return found


def _kinds() -> tuple[str, ...]:
    return (".jsonl", ".ndjson", ".json", "each with .gz or .zst", PARQUET)


def _is_data(name: str) -> bool:
    hidden = name.startswith(".") or ".bad." in name or name.endswith((".partial", ".progress.json"))
    return not hidden and name.lower().endswith((*SUFFIXES, PARQUET))


def _input(path: str, relative: str) -> Input:
    facts = os.stat(path)
    return Input(os.path.abspath(path), path, relative, facts.st_size, facts.st_mtime_ns)


def detect_input(item: Input, source: str | None, kind: Kind | None, max_line: int) -> None:
    """Set the format of a file: the named one, or the one of its first lines. Raises ConfigError."""
    if source is not None:
        get(source)
        item.source, item.kind, item.reason = source, kind or "request", "named with --from"
        if kind is not None or source not in _dialects():
            return
    documents, seen = [], False
    for piece in pieces(item, 0, 1, HEAD_BYTES, max_line):
        for line in piece.data.split(b"\n")[:HEAD_LINES]:
            seen = seen or bool(line.strip())
            document = decoded(line)
            if document is not None:
                documents.append(document)
        break
    name, found_kind, reason = detect_format(documents)
    if source is None:
        if not name:
            problem = "the format could not be detected from the first lines. Name it with --from"
            raise ConfigError("input", item.name, problem=problem if seen else "it is empty")
        item.source, item.kind, item.reason = name, found_kind, reason
    elif name == source:
        item.kind = found_kind
    if kind is not None:
        item.kind = kind


def _dialects() -> tuple[str, ...]:
    from ..dialects import installed

    return installed()


def pieces(item: Input, start: int, line: int, size: int, max_line: int) -> Iterator[Piece]:
    """The lines of a file from the place `start` on, where line number `line` begins. Raises ConfigError for a file
    that cannot be read.
    """
    lowered = item.path.lower()
    if lowered.endswith(PARQUET):
        from .parquet import row_pieces  # late: needs pyarrow

        yield from row_pieces(item, start, size)
        return
    broken: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error)
    if lowered.endswith(".zst"):
        broken += (frame_error(),)
    with open(item.path, "rb") as file:
        try:
            stream = _decompressed(file, lowered)
            if lowered.endswith((".json", ".json.gz", ".json.zst")):
                from .json_array import element_pieces  # late: most files have lines

                yield from element_pieces(stream, file, start, size, item.name)
            else:
                yield from _line_pieces(stream, file, start, line, size, max_line)
        except broken as error:
            raise ConfigError("input", item.name, problem=f"the file cannot be read: {error}") from None


def _decompressed(file: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        return gzip.GzipFile(fileobj=file, mode="rb")  # type: ignore[return-value]
    if name.endswith(".zst"):
        return open_frames(file)
    return file


def _line_pieces(
    stream: IO[bytes], file: IO[bytes], start: int, line: int, size: int, max_line: int
) -> Iterator[Piece]:
    size = min(size, max_line)  # so a line over the limit always reaches over the end of its piece
    _skip(stream, file, start)
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
        yield Piece(data, line, start, lines, file.tell(), too_long)
        line += lines


def _fill(stream: IO[bytes], buffer: bytearray, size: int, max_line: int) -> int:
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
            searched = len(buffer)
            if searched - begun > max_line:
                return -1
        block = stream.read(_BLOCK)
        if not block:
            return len(buffer)
        buffer += block


def _discard_line(stream: IO[bytes], buffer: bytearray) -> int:
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


def _skip(stream: IO[bytes], file: IO[bytes], start: int) -> None:
    if stream is file:
        file.seek(start)
        return
    left = start
    while left:
        block = stream.read(min(left, _BLOCK))
        if not block:
            return
        left -= len(block)
