"""Owns RemainingInput: an input that is still to be converted, or the rest of one. An engine cuts it into chunks where
it is read: in this process, or on a worker of a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ..errors import ConfigError
from .input_files_and_chunks import Input, pieces
from .lines.chunk import ChunkSettings, ConversionChunk


class RemainingInput(Struct):
    """An input, from a place on."""

    item: Input
    file: int
    """The number of the input among all inputs, from 0."""
    output: int
    """The number of the output that its lines go to."""
    compression: str
    """How that output is compressed."""
    place: int = 0
    line: int = 1


class ChunkEnd(Struct, array_like=True):
    """Where a chunk ends."""

    output: int
    file: int
    place: int
    """The place behind the chunk (`InputPiece.after`)."""
    line: int
    """The number of the next line."""
    consumed: int
    """How many bytes of the file were read so far."""


def chunks(reading: RemainingInput, settings: ChunkSettings) -> Iterator[tuple[ChunkEnd, ConversionChunk]]:
    """The chunks of an input, in order. If the rest of a file is broken, the last chunk holds the reason.
    Raises OSError.
    """
    item, number = reading.item, reading.file
    line = reading.line
    form = (item.source, item.kind)
    try:
        for piece in pieces(item, reading.place, line, settings.size, settings.max_line):
            line = piece.first + piece.lines
            chunk = ConversionChunk(
                piece.data, item.name, number + 1, piece.first, *form, piece.too_long, reading.compression
            )
            yield ChunkEnd(reading.output, number, piece.after, line, piece.consumed), chunk
    except ConfigError as error:
        # The next place to read is the beginning of the next file: one broken file must not stop a folder of thousands.
        end = ChunkEnd(reading.output, number + 1, 0, 1, 0)
        yield (
            end,
            ConversionChunk(
                b"", item.name, number + 1, line, *form, compression=reading.compression, broken=error.problem
            ),
        )
