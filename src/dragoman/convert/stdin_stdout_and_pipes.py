"""Standard input, standard output, and pipes: bytes that can be read or written once, and in which no place can be
sought.
"""

from __future__ import annotations

import sys
from typing import IO, BinaryIO

STANDARD = "-"
"""The name of standard input among the inputs, and of standard output as the output."""
FIRST_BYTES = 4 << 20
"""So many bytes of a pipe are read before its form is judged."""
GZIP, ZSTD, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"


class Pipe:
    """Reads a pipe. Its first bytes can be inspected before they are read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._first = b""
        self._place = 0
        self.ended = False
        """The first bytes are all bytes."""

    def first(self, size: int = FIRST_BYTES) -> bytes:
        """The first bytes: `size` of them, or fewer if the pipe ends before. They are still to be read."""
        held = [self._first]
        missing = size - len(self._first)
        while missing > 0 and not self.ended:
            block = self._source.read(missing)
            held.append(block)
            missing -= len(block)
            self.ended = not block
        self._first = b"".join(held)
        return self._first

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        if self._first:
            block, self._first = (self._first[:size], self._first[size:]) if size >= 0 else (self._first, b"")
            if size < 0:
                block += self._source.read()
        else:
            block = self._source.read(size)
        self._place += len(block)
        return block

    def tell(self) -> int:
        """The number of bytes that were read."""
        return self._place


class StandardOutput:
    """Writes lines to standard output. There is no way back: a stopped conversion begins anew."""

    def __init__(self, stream: BinaryIO | None = None) -> None:
        self._stream = stream or sys.stdout.buffer

    def append(self, data: bytes) -> None:
        """Write the lines of one chunk."""
        self._stream.write(data)
        # The reader of a pipe gets each chunk at once.
        self._stream.flush()

    def save_state(self) -> None:
        """There is no state to go back to."""
        return

    def close(self) -> int:
        """Everything is written already."""
        self._stream.flush()
        return 0

    def abandon(self) -> None:
        """Nothing is held."""
