"""What the gateway asks of a client to upstreams, whoever implements it: `http_client.py` by hand, `aiohttp_client.py`
by aiohttp."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from .known_response_heads import ResponseHead

Headers = list[tuple[str, str]]

MAX_HEAD = 64 * 1024

Kind = Literal["auto", "own", "aiohttp"]
"""Who speaks to upstreams. auto: our own client, and aiohttp to those behind a proxy."""


class Address(NamedTuple):
    """Where an upstream listens."""

    secure: bool
    host: str
    port: int


class Limits(Struct, frozen=True):
    """Seconds to wait, and connections to keep."""

    connect: float = 10.0
    first_byte: float = 600.0
    idle: float = 300.0
    """Between two pieces of an answer."""
    keep_alive: float = 60.0
    """A connection unused for longer is closed."""
    per_host: int = 1000
    kept: int = 100
    """Unused connections kept open for each host."""


class Post(Struct, frozen=True, eq=False):
    """A request that only wants its body: what stays the same from one to the next."""

    address: Address
    target: str
    headers: tuple[tuple[str, str], ...]
    head: bytes
    """All of it as bytes, up to the length of the body."""


class Answer(Protocol):
    """An upstream's answer: its head at once, its body as it comes. Read it to its end, or close it."""

    status: int
    heading: ResponseHead
    done: bool
    """All of it has come: it need not be waited for. An answer may be so without saying it."""

    @property
    def headers(self) -> Headers:
        """Names in lower case."""

    def header(self, name: str) -> str:
        """The first header of a name, "" where there is none."""

    def whole(self, limit: int) -> bytes | None:
        """The same as `read`, if all of it has come, it says so, and it is not large; else it is to be read."""

    def pieces(self, timeout: float | None = None) -> AsyncIterator[bytes]:
        """The body as it comes: everything that has come by now in one piece."""

    async def read(self, limit: int, timeout: float | None = None) -> bytes:
        """The whole body, of at most `limit` bytes."""

    def within(self, seconds: float, total: float) -> None:
        """Give it up when the rest of it takes longer; `total` is what all of it may take."""

    def fail(self, kind: str, message: str) -> None:
        """Give it up for a reason, which its reader is told."""

    def close(self) -> None:
        """Nobody wants the rest: the connection is closed at once, unless all of it has come."""

    async def __aenter__(self) -> Answer: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Begun(Answer, Protocol):
    """An answer of which nothing may have come."""

    def coming(self, seconds: float) -> Awaitable[None]:
        """Done when its head has come, or nothing more will. Raises the error that it ended with."""

    def unheard(self) -> None:
        """Of one that has ended before its head came: raises the error that it ended with, unless it may be asked for
        again."""


class Client(Protocol):
    """Asks upstreams. Raises TransportError where no answer comes."""

    limits: Limits

    def begin(self, post: Post, body: bytes) -> Begun | None:
        """Send a request at once, and give the answer that will come; None where it takes more than that, and is to be
        asked by `request`."""

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
    ) -> Answer:
        """Send a request; gives the answer once its head is there. `within`: what all of the answer may take, as
        `Answer.within` has it."""

    def close(self) -> None:
        """Close what is idle; answers under way go on."""


def too_long(total: float) -> str:
    return f"the answer took more than {total:g} seconds"
