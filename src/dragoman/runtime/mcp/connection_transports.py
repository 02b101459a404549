"""Opens the streams of a connection to an MCP server (process or HTTP), notices their end, and keeps the last error
output of a process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TextIO

import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from .config import ServerConfig

# Enough for the last lines of a traceback.
_MAX_KEPT = 2_000
"""Bytes of standard error that are kept."""
_LINE = 100


class StreamNotes:
    """Notes on the streams, for the message about a failure."""

    def __init__(self) -> None:
        self.standard_error = b""
        """The last bytes that the server wrote to standard error."""
        self.status = 0
        """The last HTTP status of a failed request."""
        self.strange = ""
        """The first line of standard output that is not a protocol message."""

    def __str__(self) -> str:
        if self.status:
            return f"HTTP {self.status}"
        lines = self.standard_error.decode(errors="replace").strip().splitlines()
        # Only the last line of a traceback: the rest is for the server's author.
        last_lines = [line.strip() for line in lines if line.strip() and not line.startswith((" ", "\t", "Traceback "))]
        complaint = [f"its output is not MCP: {self.strange!r}"] if self.strange else []
        return " | ".join([*complaint, *last_lines[-4:]])


def transport(
    config: ServerConfig, notes: StreamNotes, ended: Callable[[], None], login: httpx2.Auth | None = None
) -> Transport:
    """The streams to and from a server, not yet open. `ended` is called after the last message. `login` authenticates
    requests over HTTP."""
    return _process(config, notes, ended) if config.command else _http(config, notes, login)


@asynccontextmanager
async def _process(config: ServerConfig, notes: StreamNotes, ended: Callable[[], None]) -> AsyncIterator[Any]:
    how = StdioServerParameters(
        command=config.command,
        args=list(config.args),
        env=config.env,
        cwd=config.cwd or None,
        # A broken byte in a server's output must not end the connection.
        encoding_error_handler="replace",
    )
    async with _standard_error(notes) as errors, stdio_client(how, errors) as (reading, writing):
        yield _WatchedStream(reading, notes, ended), writing


@asynccontextmanager
async def _http(config: ServerConfig, notes: StreamNotes, login: httpx2.Auth | None) -> AsyncIterator[Any]:
    async def note(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            notes.status = response.status_code

    # A listener for changes waits a long time for each message.
    limits = httpx2.Timeout(30, read=max(300.0, config.seconds))
    async with (
        httpx2.AsyncClient(
            headers=config.headers, auth=login, timeout=limits, event_hooks={"response": [note]}
        ) as http,
        streamable_http_client(config.url, http_client=http) as streams,
    ):
        yield streams


@asynccontextmanager
async def _standard_error(notes: StreamNotes) -> AsyncIterator[TextIO]:
    """A file for the standard error of a server. Its last bytes are kept in the notes."""
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    way, _ = await loop.connect_read_pipe(lambda: _StandardErrorReader(notes), os.fdopen(reading, "rb", 0))
    file = os.fdopen(writing, "w")
    try:
        yield file
    finally:
        file.close()
        way.close()


class _StandardErrorReader(asyncio.Protocol):
    def __init__(self, notes: StreamNotes) -> None:
        self._notes = notes

    def data_received(self, data: bytes) -> None:
        self._notes.standard_error = (self._notes.standard_error + data)[-_MAX_KEPT:]


class _WatchedStream:
    """A stream that reports its end, and lines that are not messages. The SDK reports these only to callers that wait
    for an answer."""

    def __init__(self, stream: Any, notes: StreamNotes, ended: Callable[[], None]) -> None:
        self._stream, self._notes, self._ended = stream, notes, ended

    async def receive(self) -> Any:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            found = await self._stream.__anext__()
        except StopAsyncIteration:
            self._ended()
            raise
        if isinstance(found, ValidationError) and not self._notes.strange:
            # Only the first line: a server that prints logs to standard output prints many of them.
            self._notes.strange = str(found.errors()[0]["input"])[:_LINE]
        return found

    async def __aenter__(self) -> _WatchedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        found: bool | None = await self._stream.__aexit__(kind, error, trace)
        return found
