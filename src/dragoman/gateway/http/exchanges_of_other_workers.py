"""The other workers of the same gateway. Each worker keeps only the exchanges that it served.

Workers share a port and nothing else. A request for exchanges reaches one worker, which requests the exchanges of the
other workers. Each worker listens on a Unix socket in a folder that belongs to their supervisor alone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

SECONDS = 2.0
"""A worker that does not answer in this time is left out."""

EVERYBODY = "*"
"""The viewer's name that means: the exchanges of all owners."""

OwnExchanges = Callable[[str, str], bytes]
"""The exchanges of this worker as JSON, for an owner or for EVERYBODY: one exchange by its name, or all exchanges for
""; b"" for none."""


class OtherWorkers:
    """The workers that have a socket in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = folder / str(os.getpid())
        self._server: asyncio.Server | None = None

    async def start(self, own_exchanges: OwnExchanges) -> None:
        """Begin to answer requests of other workers. The answers are the bytes from `own_exchanges`."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            viewer, _, name = (await reader.readline()).decode("utf-8", "replace").rstrip("\n").partition(" ")
            writer.write(own_exchanges(viewer, name))
            writer.close()

        self._server = await asyncio.start_unix_server(answer, self._own)

    def stop(self) -> None:
        """Close and remove this worker's socket."""
        if self._server is not None:
            self._server.close()
        self._own.unlink(missing_ok=True)

    async def ask(self, viewer: str, name: str) -> list[bytes]:
        """The exchanges of all other workers, for an owner or for EVERYBODY."""
        others = [place for place in sorted(self._folder.iterdir()) if place != self._own]
        return [
            answer for answer in await asyncio.gather(*[_ask_worker(place, viewer, name) for place in others]) if answer
        ]


async def _ask_worker(socket_path: Path, viewer: str, name: str) -> bytes:
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_unix_connection(socket_path)
            try:
                writer.write(f"{viewer} {name}\n".encode())
                return await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return b""  # The worker has died, or is busy.
