"""Reads compressed files: independent members of gzip or frames of Zstandard, one after another.

The readers of the standard library and of zstandard drop bytes before a fault, or do not see that a file breaks off.
This one returns every byte before a fault, and then raises the fault. A small file cannot fill the memory: compressed
bytes are taken in steps, and one step gives at most 64 MB.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import IO, Any

from .zstd import frame_decompressor, frame_error

GZIP, ZSTD = "gz", "zst"
_BLOCK = 1 << 18
_STEP = 1 << 11
"""Four bytes of a Zstandard frame can stand for a block of 128 KB."""


class MemberReader:
    """Reads the members of a file. `form`: "gz" or "zst"."""

    def __init__(self, file: IO[bytes], form: str) -> None:
        self._file = file
        # 31 takes gzip alone, with its header and its checksum (zlib manual).
        self._new: Callable[[], Any] = frame_decompressor if form == ZSTD else lambda: zlib.decompressobj(31)
        self._broken = (EOFError, zlib.error) if form == GZIP else (EOFError, frame_error())
        self._padded = form == GZIP
        self._member: Any = None
        self._raw = b""
        self._place = 0
        self._held = bytearray()
        self._fault: Exception | None = None
        self._ended = False

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end. Raises EOFError, zlib.error or the error of Zstandard."""
        while len(self._held) < size and self._fault is None and not self._ended:
            try:
                self._advance()
            except self._broken as fault:
                self._fault = fault
        if self._fault is not None and not self._held:
            raise self._fault
        block = bytes(self._held[:size])
        del self._held[:size]
        return block

    def _advance(self) -> None:
        if self._place >= len(self._raw):
            self._raw, self._place = self._file.read(_BLOCK), 0
            if not self._raw:
                if self._member is not None:
                    raise EOFError("the compressed file breaks off")
                self._ended = True
                return
        step = self._raw[self._place : self._place + _STEP]
        self._place += len(step)
        if self._member is None:
            if self._padded:  # zeros may follow a member (gzip 1.12 reads over them)
                step = step.lstrip(b"\0")
            if not step:
                return
            self._member = self._new()
        self._held += self._member.decompress(step)
        if self._member.eof:
            self._place -= len(self._member.unused_data)
            self._member = None
