"""Owns Reading: an input that is still to be converted, or the rest of one. An engine cuts it into chunks where it is
read: in this process, or on a worker of a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from .chunk import Chunk, Settings
from .inputs import Input, pieces


class Reading(Struct):
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


class End(Struct, array_like=True):
    """Where a chunk ends."""

    output: int
    file: int
    place: int
    """The place behind the chunk (`inputs.Piece.after`)."""
    line: int
    """The number of the next line."""
    consumed: int
    """How many bytes of the file were read so far."""


def chunks(reading: Reading, settings: Settings) -> Iterator[tuple[End, Chunk]]:
    """The chunks of an input, in order. Raises ConfigError for a file that cannot be read."""
    item, number = reading.item, reading.file
    for piece in pieces(item, reading.place, reading.line, settings.size, settings.max_line):
        end = End(reading.output, number, piece.after, piece.first + piece.lines, piece.consumed)
        yield (
            end,
            Chunk(
                piece.data,
                item.name,
                number + 1,
                piece.first,
                item.source,
                item.kind,
                piece.too_long,
                reading.compression,
            ),
        )
