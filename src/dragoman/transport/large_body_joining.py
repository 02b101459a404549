"""Joins the pieces of a large body while the event loop goes on.

One copy of 60 MB takes up to 40 milliseconds, most of which the system needs to find the memory. `bytes.join` releases
the interpreter's lock for more than a megabyte (CPython since 3.10), so a thread can do the copy.
"""

from __future__ import annotations

import asyncio

LARGE = 1024 * 1024
"""Bytes. A larger copy is worth a thread."""


async def join_pieces(pieces: list[bytes]) -> bytes:
    """All pieces joined."""
    if len(pieces) == 1:
        return pieces[0]
    if is_large(pieces):
        return await asyncio.get_running_loop().run_in_executor(None, b"".join, pieces)
    return b"".join(pieces)


def is_large(pieces: list[bytes]) -> bool:
    """Whether pieces are so large together that a thread should join them."""
    return sum(map(len, pieces)) > LARGE
