"""The other workers of the same gateway: each answers for the exchanges that went through it.

Workers share a port and nothing else, so whoever looks at exchanges is served by one of them, which asks the others.
They listen on sockets in a folder that is their supervisor's own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

SECONDS = 2.0
"""A worker that does not answer so soon is left out."""

EVERYBODY = "*"
"""Stands for all owners, where exchanges are asked for."""

Tell = Callable[[str, str], bytes]
"""What this worker knows for an owner, or for EVERYBODY: of one exchange by its name, of all for "" (JSON; b"" for
nothing)."""


class OtherWorkers:
    """The workers that have a socket in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = folder / str(os.getpid())
        self._server: asyncio.Server | None = None

    async def start(self, tell: Tell) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            viewer, _, name = (await reader.readline()).decode("utf-8", "replace").rstrip("\n").partition(" ")
            writer.write(tell(viewer, name))
            writer.close()

        self._server = await asyncio.start_unix_server(answer, self._own)

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self._own.unlink(missing_ok=True)

    async def ask(self, viewer: str, name: str) -> list[bytes]:
        """What the others say to an owner, or to EVERYBODY."""
        others = [place for place in sorted(self._folder.iterdir()) if place != self._own]
        return [said for said in await asyncio.gather(*[_asked(place, viewer, name) for place in others]) if said]


async def _asked(place: Path, viewer: str, name: str) -> bytes:
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_unix_connection(place)
            try:
                writer.write(f"{viewer} {name}\n".encode())
                return await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return b""  # it has died, or is busy
