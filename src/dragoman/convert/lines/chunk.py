"""Converts a chunk: some lines of one file, in order. Bad lines become records of the side file, and never stop the
chunk.

The chunk is the unit of work of all engines: the same chunk gives the same bytes in every process.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...canon.losses import Severity
from ...errors import DragomanError, LossError, WireError
from .file_format_record import Kind
from .line import BOM, LineConverter
from .summary import Summary

SHOWN = 16 * 1024
"""The side file holds at most so many bytes of a bad line."""


class ConversionChunk(Struct, array_like=True):
    """Lines of one file."""

    data: bytes
    """Whole lines, each with its line end; the last line of a file may have none."""
    file: str
    number: int
    """The number of the file among all inputs, from 1."""
    first: int
    """The number of the first line, from 1."""
    source: str
    """The file's format."""
    kind: Kind
    too_long: list[int] = []
    """Numbers of lines that were too long to be read. An empty line replaces each of them."""
    compression: str = ""
    """How the converted lines are compressed: "", "gz" or "zst"."""
    broken: str = ""
    """The reason why the rest of the file cannot be read. The chunk has no lines then."""


class ChunkSettings(Struct, array_like=True, frozen=True):
    """The options that all chunks share."""

    target: str
    model: str | None = None
    tolerance: Severity | None = None
    max_line: int = 0
    size: int = 1 << 20
    """The length of a chunk in bytes, rounded up to whole lines."""
    models: dict[str, str] = {}
    """Model names of the source, and the names that replace them."""


class ConvertedChunk(Struct, array_like=True):
    """A converted chunk."""

    out: bytes
    """The converted lines, compressed if the chunk asks for it."""
    bad: bytes
    """Lines of the side file."""
    summary: Summary


class ChunkConverter:
    """Converts chunks of all files with the same settings."""

    def __init__(self, settings: ChunkSettings) -> None:
        self._settings = settings
        self._converters: dict[tuple[str, Kind], LineConverter] = {}

    def __call__(self, chunk: ConversionChunk) -> ConvertedChunk:
        """The converted chunk."""
        convert = self._converter(chunk.source, chunk.kind)
        summary = Summary()
        out: list[bytes] = []
        bad: list[bytes] = []
        too_long = frozenset(chunk.too_long)
        number = chunk.first - 1
        if chunk.broken:
            summary.read = 1
            bad.append(_bad_line(chunk, chunk.first, b"", {"error": chunk.broken, "path": ""}))
        for line in chunk.data.split(b"\n"):
            number += 1
            if number == 1:
                line = line.removeprefix(BOM)
            if not line or line.isspace():
                if number in too_long:
                    summary.read += 1
                    bad.append(_bad_line(chunk, number, b"", {"error": _too_long(self._settings.max_line), "path": ""}))
                continue
            summary.read += 1
            try:
                done = convert(line, f"{chunk.number}-{number}")
            except (DragomanError, RecursionError) as error:
                bad.append(_bad_line(chunk, number, line, _error_fields(error)))
                continue
            except Exception as error:  # noqa: BLE001 - one line that finds a bug must not stop a file of millions
                reason = f"internal error, please report it: {type(error).__name__}: {error}"
                bad.append(_bad_line(chunk, number, line, {"error": reason, "path": ""}))
                continue
            # A line end in the written JSON is white space, because a text has it escaped.
            out.append(done.line if b"\n" not in done.line else done.line.replace(b"\n", b" "))
            if done.model:
                summary.keep_model(done.model)
            if done.losses:
                summary.add(done.losses, chunk.file, number)
        summary.written, summary.bad = len(out), len(bad)
        if out:
            # The last line gets its line end, too.
            out.append(b"")
        data = compress(b"\n".join(out), chunk.compression) if out else b""
        return ConvertedChunk(data, b"".join(bad), summary)

    def _converter(self, source: str, kind: Kind) -> LineConverter:
        found = self._converters.get((source, kind))
        if found is None:
            chosen = self._settings
            found = self._converters[source, kind] = LineConverter(
                source=source,
                target=chosen.target,
                kind=kind,
                model=chosen.model,
                tolerance=chosen.tolerance,
                models=chosen.models,
            )
        return found


def compress(data: bytes, how: str) -> bytes:
    """The bytes as one independent member of a compressed file. The same bytes give the same member."""
    if not how:
        return data
    if how == "gz":
        import gzip  # late: most files are not compressed

        # 0 stands for no time (RFC 1952, 2.3.1, May 1996). A time would make equal members differ.
        return gzip.compress(data, compresslevel=6, mtime=0)
    from ..zstd import compress_frame

    return compress_frame(data)


def _error_fields(error: Exception) -> dict[str, Any]:
    if isinstance(error, RecursionError):
        return {"error": "the line nests too many objects and lists", "path": ""}
    reason: dict[str, Any] = {"error": str(error), "path": ""}
    if isinstance(error, WireError):
        reason["path"] = error.path
    elif isinstance(error, LossError):
        reason["path"] = error.losses[0].path
        reason["losses"] = error.losses
    return reason


def _too_long(limit: int) -> str:
    return f"the line is longer than {limit} bytes. Raise the limit with --max-line"


def _bad_line(chunk: ConversionChunk, number: int, line: bytes, reason: dict[str, Any]) -> bytes:
    # A bad line may be no UTF-8 at all.
    shown = line[:SHOWN].decode("utf-8", "backslashreplace")
    record = {"file": chunk.file, "line": number, **reason, "text": shown}
    if len(line) > SHOWN:
        record["cut"] = True
    return msgspec.json.encode(record) + b"\n"
