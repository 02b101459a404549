"""The interface of a client for upstreams. `http_client.py` implements it by hand, `aiohttp_client.py` with aiohttp."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from .response_head_reader import ResponseHead

Headers = list[tuple[str, str]]

MAX_HEAD = 64 * 1024
"""Bytes of the longest head of an answer."""

Kind = Literal["auto", "own", "aiohttp"]
"""The client to use. auto: our own client, and aiohttp for upstreams behind a proxy."""


class Address(NamedTuple):
    """The host and port of an upstream."""

    secure: bool
    host: str
    port: int


class ConnectionLimits(Struct, frozen=True):
    """Seconds to wait, and connections to keep."""

    connect: float = 10.0
    # Reasoning models may think for minutes before their first byte.
    first_byte: float = 600.0
    idle: float = 300.0
    """Seconds between two pieces of an answer."""
    keep_alive: float = 60.0
    """Seconds after which an unused connection is closed."""
    per_host: int = 1000
    kept: int = 100
    """Number of unused connections that are kept open for each host."""


class Post(Struct, frozen=True, eq=False):
    """A request without its body: everything that is the same for many requests."""

    address: Address
    target: str
    headers: tuple[tuple[str, str], ...]
    head: bytes
    """The head as bytes, up to the length of the body."""


Take = Callable[[bytes], bool]
"""Uses a piece of an answer at once, without waiting. False: it did nothing with the piece."""


class UpstreamAnswer(Protocol):
    """An upstream's answer: its head at once, its body as it comes. Read the answer to its end, or close it."""

    status: int
    heading: ResponseHead
    done: bool
    """The whole answer has come, and needs no waiting. False does not prove the contrary."""

    @property
    def headers(self) -> Headers:
        """Names in lower case, and values."""

    def header(self, name: str) -> str:
        """The first header of a name; "" where there is none."""

    def whole(self, limit: int) -> bytes | None:
        """The same as `read`, if the whole answer has come, `done` is set, and the body is not large; else None."""

    def pieces(self, timeout: float | None = None, take: Take | None = None) -> AsyncIterator[bytes]:
        """The body as it comes: all bytes that have come so far in one piece. `take` may get a piece before the reader
        does; a piece for which `take` returns True is not yielded.
        """

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        """The whole body, of at most `limit` bytes."""

    def limit_time(self, seconds: float, total: float) -> None:
        """Give up after `seconds` more. `total` is the time limit for the whole answer, for the message."""

    def fail(self, kind: str, message: str) -> None:
        """Give up with an error, which the reader gets."""

    def close(self) -> None:
        """Drop the rest of the answer. The connection is closed at once, unless the whole answer has come."""

    async def __aenter__(self) -> UpstreamAnswer: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class PendingAnswer(UpstreamAnswer, Protocol):
    """An answer whose head may not have come yet."""

    def wait_for_head(self, seconds: float) -> Awaitable[None]:
        """Done when the head has come, or when nothing more will come. Raises the error that ended the answer."""

    def raise_if_not_repeatable(self) -> None:
        """For an answer that ended before its head came: raises the error, unless the request may be sent again."""


class UpstreamClient(Protocol):
    """Sends requests to upstreams. Raises TransportError where no answer comes."""

    limits: ConnectionLimits

    def begin(self, post: Post, body: bytes) -> PendingAnswer | None:
        """Send a request at once, and return its future answer; None where that is not possible, and `request` has to
        be used."""

    async def request(
        self,
        address: Address,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes = b"",
        *,
        first_byte: float | None = None,
        within: tuple[float, float] | None = None,
    ) -> UpstreamAnswer:
        """Send a request, and return the answer once its head has come. `within`: the arguments of
        `UpstreamAnswer.limit_time`."""

    def close(self) -> None:
        """Close idle connections; answers under way go on."""


def too_long(total: float) -> str:
    """The message for an answer that took longer than `total` seconds."""
    return f"the answer took more than {total:g} seconds"
