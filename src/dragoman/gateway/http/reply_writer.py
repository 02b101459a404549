"""Writes the answer to one request as bytes. The only dependency on the connection is a transport to write to."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import TYPE_CHECKING

from ...transport.large_body_joining import LARGE

if TYPE_CHECKING:
    from .server import _Client

_CLOSE = "connection: close"
_line = ": ".join


class _StatusLines(dict[int, str]):
    """The status line of an answer, by its status."""

    def __missing__(self, status: int) -> str:
        return f"HTTP/1.1 {status} Unknown"


_BEGINNINGS = _StatusLines({status.value: f"HTTP/1.1 {status.value} {status.phrase}" for status in HTTPStatus})


class ClientGone(Exception):
    """The client has closed its connection."""


class ReplyWriter:
    """The answer to one request: whole by `send`, or in pieces by `start`, `write` and `end`.

    A connection answers one request after the other, and uses the same ReplyWriter for all of them.
    """

    def __init__(self, client: _Client) -> None:
        self._client = client
        self.status = 0
        """0: the answer has not begun."""
        self.chunks = True
        """The client understands a chunked body (HTTP/1.1; RFC 9112, 7.1, June 2022)."""
        self._open = False  # more pieces will come
        self._chunked = False
        self._unsent = b""  # the head, until the first piece is written with it

    @property
    def started(self) -> bool:
        """Whether the head was sent, or waits for the first piece."""
        return self.status != 0

    @property
    def ended(self) -> bool:
        """Whether the whole answer was written."""
        return self.status != 0 and not self._open

    @property
    def ready(self) -> bool:
        """Whether the client is connected, and has read nearly all written bytes."""
        client = self._client
        return client.transport is not None and client.full is None

    def peer(self) -> str:
        """The address of the other end of the connection; "" when it is not known."""
        transport = self._client.transport
        found = transport.get_extra_info("peername") if transport is not None else None
        return str(found[0]) if isinstance(found, tuple) and found else ""

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Send a whole answer, in one write."""
        self.status = status
        head = self._head(status, headers, f"content-length: {len(body)}")
        transport = self._client.transport
        if transport is not None:
            if len(body) > LARGE:
                transport.writelines((head, body))  # without a copy of the body
            else:
                transport.write(head + body)

    def start(self, status: int, headers: Collection[tuple[str, str]]) -> None:
        """Begin an answer whose body comes in pieces. The head is written with the first piece."""
        self.status = status
        self._open = True
        self._chunked = self.chunks
        # Without chunks the end of the connection ends the body (RFC 9112, 6.3, June 2022).
        how = "transfer-encoding: chunked" if self._chunked else _CLOSE
        self._unsent = self._head(status, headers, how)

    def write(self, data: bytes) -> None:
        """Write a piece of the body."""
        transport = self._client.transport
        # An empty chunk would end the body (RFC 9112, 7.1, June 2022).
        if data and transport is not None:
            if self._chunked:
                data = b"%x\r\n%b\r\n" % (len(data), data)
            if self._unsent:
                data, self._unsent = self._unsent + data, b""
            transport.write(data)

    async def drain(self) -> None:
        """Wait while the client reads more slowly than we write. Raises ClientGone when the client has left."""
        client = self._client
        if client.transport is None:
            raise ClientGone
        if client.full is not None:
            await client.drained()

    def end(self) -> None:
        """End a body that came in pieces. Without chunks the body ends with the connection."""
        self._open = False
        transport = self._client.transport
        last, self._unsent = self._unsent + (b"0\r\n\r\n" if self._chunked else b""), b""
        if last and transport is not None:
            transport.write(last)
        if not self._chunked:
            self._client.keep_alive = False

    def break_off(self) -> None:
        """Break the connection off, because the answer cannot be finished. The broken connection shows the client that
        the answer is incomplete."""
        self._client.abort()

    def _head(self, status: int, headers: Collection[tuple[str, str]], how: str) -> bytes:
        lines = [_BEGINNINGS[status], how, *map(_line, headers), "", ""]
        if "\n" in "".join(lines):
            raise ValueError("a header of the answer contains a line break")
        if not self._client.keep_alive and how is not _CLOSE:
            lines.insert(-2, _CLOSE)
        return "\r\n".join(lines).encode("latin-1", "replace")
