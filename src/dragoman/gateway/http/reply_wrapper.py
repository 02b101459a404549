"""Replies that change an answer. Each wraps the server's own reply, which holds the state that the server reads."""

from __future__ import annotations

from collections.abc import Collection

from .server import ReplyWriter

Headers = list[tuple[str, str]]


class ReplyWrapper(ReplyWriter):
    """A reply that passes each step on unchanged. Subclasses change one step."""

    __slots__ = ("inner",)

    def __init__(self, inner: ReplyWriter) -> None:
        super().__init__(inner._client)
        self.inner = inner

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Pass on a whole answer."""
        self.status = status
        self.inner.send(status, headers, body)

    def start(self, status: int, headers: Collection[tuple[str, str]]) -> None:
        """Pass on the head of a streamed answer."""
        self.status = status
        self._open = True
        self.inner.start(status, headers)

    def write(self, data: bytes) -> None:
        """Pass on a piece of a body."""
        self.inner.write(data)

    async def drain(self) -> None:
        """Wait while the client reads slowly."""
        await self.inner.drain()

    def end(self) -> None:
        """End a streamed answer."""
        self._open = False
        self.inner.end()

    def break_off(self) -> None:
        """Break the connection off."""
        self.inner.break_off()


class WithHeaders(ReplyWrapper):
    """A reply with some more headers, for any answer."""

    __slots__ = ("_more",)

    def __init__(self, inner: ReplyWriter, more: Headers) -> None:
        super().__init__(inner)
        self._more = more

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Send a whole answer, with the added headers."""
        super().send(status, [*headers, *self._more], body)

    def start(self, status: int, headers: Collection[tuple[str, str]]) -> None:
        """Begin a streamed answer, with the added headers."""
        super().start(status, [*headers, *self._more])


class Bodiless(ReplyWrapper):
    """The answer to HEAD: the answer to GET without its body (RFC 9110, 9.3.2, June 2022)."""

    __slots__ = ()

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Send the head of an answer."""
        super().send(status, headers, b"")
