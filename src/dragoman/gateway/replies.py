"""The answer to one request, as bytes. Knows the connection only as something to write to."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .server import _Client

_CLOSE = "connection: close\r\n"
_line = "%s: %s\r\n".__mod__


class _Beginnings(dict[int, str]):
    """The first line of an answer, by its status."""

    def __missing__(self, status: int) -> str:
        return f"HTTP/1.1 {status} Unknown\r\n"


_BEGINNINGS = _Beginnings({status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus})


class Gone(Exception):
    """The client has left."""


class Reply:
    """The answer to one request: whole by `send`, or piece by piece by `start`, `write` and `end`."""

    # What an answer sets late is found in the class until it does.
    started = False
    status = 0
    chunks = True
    """The client understands a body in chunks."""
    _chunked = False
    _ended = False
    _unsent = b""  # the head, until there is something to write with it

    def __init__(self, client: _Client, keep_alive: bool) -> None:
        self._client = client
        self.keep_alive = keep_alive

    @property
    def gone(self) -> bool:
        return self._client.transport is None

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """A whole answer, in one write."""
        self.started = self._ended = True
        self.status = status
        data = self._head(status, headers, f"content-length: {len(body)}\r\n") + body
        transport = self._client.transport
        if transport is not None:
            transport.write(data)

    def start(self, status: int, headers: Collection[tuple[str, str]]) -> None:
        """The head of an answer whose body comes in pieces. It is written with the first of them."""
        self.started = True
        self.status = status
        self._chunked = self.chunks
        how = "transfer-encoding: chunked\r\n" if self._chunked else _CLOSE
        self._unsent = self._head(status, headers, how)

    def write(self, data: bytes) -> None:
        transport = self._client.transport
        if data and transport is not None:
            if self._chunked:
                data = b"%x\r\n%b\r\n" % (len(data), data)
            if self._unsent:
                data, self._unsent = self._unsent + data, b""
            transport.write(data)

    async def drain(self) -> None:
        """Wait while the client reads more slowly than we write. Raises Gone when it has left."""
        client = self._client
        if client.transport is None:
            raise Gone
        if client.full is not None:
            await client.drained()

    def end(self) -> None:
        self._ended = True
        transport = self._client.transport
        last, self._unsent = self._unsent + (b"0\r\n\r\n" if self._chunked else b""), b""
        if last and transport is not None:
            transport.write(last)
        if not self._chunked:
            self.keep_alive = False

    def cut(self) -> None:
        """The answer cannot be finished: break the connection off, so that the client does not take it for whole."""
        self._client.abort()

    @property
    def ended(self) -> bool:
        return self._ended

    def _head(self, status: int, headers: Collection[tuple[str, str]], how: str) -> bytes:
        close = "" if self.keep_alive or how is _CLOSE else _CLOSE
        lines = "".join(map(_line, headers))
        head = f"{_BEGINNINGS[status]}{how}{lines}{close}\r\n".encode("latin-1", "replace")
        if head.count(b"\n") != len(headers) + (4 if close else 3):
            raise ValueError("a header of the answer holds a line break")
        return head
