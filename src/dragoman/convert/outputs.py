"""Writes output files. A file gets its name only when it is whole; until then its name ends in `.partial`.

Each output can name its state and go back to it, so that a conversion can continue after a stop.
"""

from __future__ import annotations

import os
import sys
from typing import Protocol

from ..errors import ConfigError
from .lines.chunk import compress

PARTIAL = ".partial"


class Output(Protocol):
    """One output of a conversion."""

    def append(self, data: bytes) -> None:
        """Add the bytes of one chunk."""
        ...

    def save_state(self) -> int | None:
        """Save everything to the disk, and return what `restore` needs; None if the output cannot stop here."""
        ...

    def close(self) -> int:
        """Save everything. No bytes follow. Returns the last state."""
        ...

    def abandon(self) -> None:
        """Close without saving."""
        ...


# Without this flag Windows would change line ends.
_BINARY = getattr(os, "O_BINARY", 0)


def lock(path: str) -> int:
    """Lock an unfinished file or folder, and return its open number: the lock ends when the number is closed, or with
    the process. Raises ConfigError if another conversion writes there.
    """
    opened = os.open(path, os.O_RDONLY | _BINARY)
    # Windows has no `flock`.
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(opened)
            raise ConfigError("output", path, problem="another conversion is writing here. Wait for its end") from None
    return opened


class ByteOutput:
    """A file of lines, compressed or not. The state is the length of the file."""

    def __init__(self, path: str, state: int, compression: str = "") -> None:
        self._path = path + PARTIAL
        self._compression = compression
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        # Opened without emptying the file: another conversion may be writing to it.
        self._file = os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT | _BINARY, 0o666), "r+b")
        try:
            self._lock = lock(self._path)
        except ConfigError:
            self._file.close()
            raise
        size = os.fstat(self._file.fileno()).st_size
        if size < state:
            self.abandon()
            raise ConfigError(
                "output",
                self._path,
                problem=f"the file has {size} bytes, but should have {state}. Start again with --force",
            )
        self._file.truncate(state)
        self._file.seek(state)

    def append(self, data: bytes) -> None:
        """Add bytes at the end."""
        self._file.write(data)

    def save_state(self) -> int:
        """Save the file, and return its length."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> int:
        """Save and close the file. An empty compressed file gets one empty member."""
        if self._compression and not self._file.tell():
            self._file.write(compress(b"", self._compression))
        length = self.save_state()
        self.abandon()
        return length

    def abandon(self) -> None:
        """Close the file."""
        if not self._file.closed:
            self._file.close()
            os.close(self._lock)


def compression_of(path: str) -> str:
    """How a file of this name is compressed: "", "gz" or "zst"."""
    lowered = path.lower()
    return "gz" if lowered.endswith(".gz") else "zst" if lowered.endswith(".zst") else ""


def check_packages(path: str) -> None:
    """Raise ConfigError if a file of this name needs a package that is not installed."""
    if path.lower().endswith(".parquet"):
        from .parquet import require_pyarrow  # late: needs pyarrow

        require_pyarrow()
    compress(b"", compression_of(path))


def part_name(number: int) -> str:
    """The name of a part file of a Parquet output."""
    return f"part-{number:05d}.parquet"


def is_part(name: str) -> bool:
    """Whether a file has the name of a part, whole or not."""
    number = name.removesuffix(".new").removeprefix("part-").removesuffix(".parquet")
    return number.isdecimal() and name.removesuffix(".new") == part_name(int(number))
