"""Owns a red picture of eight by four pixels. The picture is computed, so the repository has no binary file."""

from __future__ import annotations

import struct
import zlib

WIDTH, HEIGHT = 8, 4


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_ROWS = (b"\0" + b"\xc0\x20\x20" * WIDTH) * HEIGHT
PICTURE = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(_ROWS))
    + _chunk(b"IEND", b"")
)
