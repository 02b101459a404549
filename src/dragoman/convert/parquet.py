"""Reads and writes Parquet, by pyarrow.

A row is one record. A file whose only column holds texts has the JSON of a record in each row; the rows of any other
file become JSON objects with one member for each column. Output is a folder of part files: with typed columns if the
format declares them (`parquet_columns.py`), else with one column of JSON texts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..errors import ConfigError
from .input_files_and_chunks import Input, InputPiece, open_input
from .lines.file_format_record import Columns
from .outputs import PARTIAL, lock, part_name
from .parquet_columns import RowReader, row_of, schema_of

PART_CHUNKS = 64
"""A part file holds the lines of so many chunks."""
_MOST_ROWS = 4096


def require_pyarrow() -> Any:
    """The package pyarrow. Raises ConfigError if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError(
            "parquet", "", problem="this needs the package pyarrow. Run pip install 'dragoman[convert]'"
        ) from None
    return pyarrow


def row_pieces(item: Input, start: int, size: int) -> Iterator[InputPiece]:
    """The rows of a file from row number `start` on, each as a line of JSON."""
    pa = require_pyarrow()
    try:
        with open_input(item) as opened:
            # Without the check, a wrong byte on the disk would become a wrong record.
            file = pa.parquet.ParquetFile(opened, page_checksum_verification=True)
            reader = RowReader(pa, file.schema_arrow)
            row = consumed = 0
            for group in range(file.num_row_groups):
                facts = file.metadata.row_group(group)
                consumed += facts.total_byte_size
                if row + facts.num_rows <= start:
                    row += facts.num_rows
                    continue
                # The number of rows depends on the group alone, so that the pieces are the same after a stop.
                average = facts.total_byte_size // max(facts.num_rows, 1)
                rows = max(1, min(_MOST_ROWS, size // max(average, 1)))
                for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
                    row += batch.num_rows
                    if row > start:
                        yield _piece(reader.lines(batch), row, consumed)
    except (pa.ArrowException, OSError) as error:
        # pyarrow raises OSError for wrong bytes too, then without a number. A store gives no numbers.
        if isinstance(error, OSError) and (error.errno is not None or not item.is_local):
            raise
        raise ConfigError("input", item.name, problem=f"the file cannot be read: {error}") from None


def _piece(lines: list[bytes], after: int, consumed: int) -> InputPiece:
    # A line end in JSON is white space, and one line is one record.
    data = b"".join([line.replace(b"\n", b" ") + b"\n" for line in lines])
    return InputPiece(data, after - len(lines) + 1, after, len(lines), consumed)


class ParquetOutput:
    """A folder of part files. The state is the number of whole parts."""

    def __init__(self, path: str, state: int, columns: Columns | None = None) -> None:
        self._pa = require_pyarrow()
        self._columns = columns
        self._schema = schema_of(self._pa, columns)
        self._folder = path + PARTIAL
        self._parts = state
        self._chunks = 0
        self._writer: Any = None
        os.makedirs(self._folder, exist_ok=True)
        self._lock = lock(self._folder)
        whole = {part_name(number) for number in range(state)}
        found = set(os.listdir(self._folder))
        if not whole <= found:
            self.abandon()
            raise ConfigError("output", self._folder, problem="part files are missing. Start again with --force")
        for name in found - whole:
            os.remove(os.path.join(self._folder, name))

    def append(self, data: bytes) -> None:
        """Add the lines of one chunk as a group of rows."""
        lines = data.split(b"\n")[:-1]
        if lines:
            if self._writer is None:
                self._begin()
            rows = [row_of(line, self._columns) for line in lines]
            self._writer.write_table(self._pa.Table.from_pylist(rows, schema=self._schema))
        self._chunks += 1
        if self._chunks >= PART_CHUNKS:
            self._end()

    def save_state(self) -> int | None:
        """The number of whole parts; None in the middle of a part."""
        return None if self._chunks else self._parts

    def close(self) -> int:
        """Write the last part. A file without lines has one empty part."""
        if self._writer is None and not self._parts:
            self._begin()
        self._end()
        self.abandon()
        return self._parts

    def abandon(self) -> None:
        """Close an open part, which the next run writes again."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _begin(self) -> None:
        # A part gets its name only when it is whole.
        fresh = os.path.join(self._folder, part_name(self._parts) + ".new")
        self._writer = self._pa.parquet.ParquetWriter(fresh, self._schema, compression="zstd")

    def _end(self) -> None:
        self._chunks = 0
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        name = os.path.join(self._folder, part_name(self._parts))
        with open(name + ".new", "rb+") as file:
            os.fsync(file.fileno())
        os.replace(name + ".new", name)
        self._parts += 1
