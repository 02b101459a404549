"""Replies with something done on the way: wrapped around the server's own, which stays the one the server looks at."""

from __future__ import annotations

from collections.abc import Collection

from .server import Reply

Headers = list[tuple[str, str]]


class ReplyWrapper(Reply):
    """A reply that hands everything on."""

    __slots__ = ("inner",)

    def __init__(self, inner: Reply) -> None:
        super().__init__(inner._client)
        self.inner = inner

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.inner.send(status, headers, body)

    def start(self, status: int, headers: Collection[tuple[str, str]]) -> None:
        self.status = status
        self._open = True
        self.inner.start(status, headers)

    def write(self, data: bytes) -> None:
        self.inner.write(data)

    async def drain(self) -> None:
        await self.inner.drain()

    def end(self) -> None:
        self._open = False
        self.inner.end()

    def cut(self) -> None:
        self.inner.cut()


class WithHeaders(ReplyWrapper):
    """A reply with some more headers, whatever it is."""

    __slots__ = ("_more",)

    def __init__(self, inner: Reply, more: Headers) -> None:
        super().__init__(inner)
        self._more = more

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        super().send(status, [*headers, *self._more], body)

    def start(self, status: int, headers: Collection[tuple[str, str]]) -> None:
        super().start(status, [*headers, *self._more])


class Bodiless(ReplyWrapper):
    """The answer to HEAD: what GET would answer, without its body."""

    __slots__ = ()

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        super().send(status, headers, b"")
