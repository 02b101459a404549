"""Writes lines to a file descriptor, from a thread of its own.

A terminal or a pipe that nobody reads does not delay the gateway. Lines beyond the memory for waiting lines are
dropped, and their number is written later.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator

MAX_WAITING = 1_000_000
"""Bytes of lines that wait to be written."""
MAX_WRITE = 4096
"""Bytes of one write. Up to this size the lines of several processes do not mix in a pipe (POSIX, PIPE_BUF)."""


class LineWriter:
    """The writer of one file descriptor."""

    def __init__(self, descriptor: int, most: int = MAX_WAITING) -> None:
        self._descriptor = descriptor
        self._most = most
        self._waiting: list[bytes] = []
        self._size = 0
        self._dropped = 0
        self._closing = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.broken = False
        """The descriptor is closed or failed: lines are dropped."""

    def write(self, lines: list[bytes]) -> None:
        """Hand lines over; each ends with a line feed. Returns at once."""
        if self.broken or not lines:
            return
        with self._changed:
            size = sum(map(len, lines))
            while lines and self._size + size > self._most:
                size -= len(lines.pop())
                self._dropped += 1
            self._waiting += lines
            self._size += size
            self._changed.notify()
        if self._thread is None:
            # A daemon: a write that blocks must not keep the process alive.
            self._thread = threading.Thread(target=self._work, name="exchange log", daemon=True)
            self._thread.start()

    def close(self, seconds: float) -> None:
        """Wait until all lines are written, for at most `seconds`."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._dropped:
                    if self._closing:
                        return
                    self._changed.wait()
                lines, self._waiting = self._waiting, []
                if self._dropped:
                    lines.append(b"dragoman: %d lines of the log were not written in time\n" % self._dropped)
                self._size = self._dropped = 0
            try:
                for piece in _pieces(lines):
                    self._write(piece)
            except OSError:  # The terminal or the pipe is gone. The gateway goes on without a log.
                self.broken = True
                return

    def _write(self, piece: bytes) -> None:
        while piece:
            try:
                piece = piece[os.write(self._descriptor, piece) :]
            except BlockingIOError:  # Another process has made the descriptor non-blocking.
                select.select([], [self._descriptor], [])


def _pieces(lines: list[bytes]) -> Iterator[bytes]:
    """Whole lines, joined up to the size of one write. A longer line is a piece of its own."""
    text, begin = b"".join(lines), 0
    while begin < len(text):
        # A search from the end finds the last line that fits, however short the lines are.
        end = text.rfind(b"\n", begin, begin + MAX_WRITE) + 1 or text.find(b"\n", begin) + 1 or len(text)
        yield text[begin:end]
        begin = end
