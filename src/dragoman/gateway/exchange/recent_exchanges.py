"""What went through lately: one record an exchange, kept in memory, bounded by count and by bytes.

On the way nothing is made but references to bytes that are there anyway. What a reader sees (canon, usage, text without
secrets) is made when someone looks: see `exchange_report.py`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

import msgspec

from ...canon.losses import Loss
from ...canon.repair_codes import Repair
from ...codec.cache_budget import small_cache
from ..http.server import IncomingRequest

HEAD = 16 * 1024
"""Bytes of a stream that are kept from its beginning."""
TAIL = 16
"""Pieces that are kept of its end,"""
TAIL_BYTES = 64 * 1024
"""and bytes at most: of a fast upstream one piece may have hundreds of thousands."""
MAX_HEADER = 2000
"""Characters of a header that lists losses or repairs."""


class Recording:
    """The bytes that came, or went: the beginning, and the last pieces of a long one."""

    __slots__ = ("_tail_size", "head", "size", "tail")

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self.tail: deque[bytes] | None = None
        self._tail_size = 0
        self.size = 0
        """Bytes in all."""

    def add(self, piece: bytes) -> None:
        size, more = self.size, len(piece)
        self.size = size + more
        if size < HEAD:
            if more <= HEAD:
                self.head.append(piece)
                return
            self.head.append(piece[:HEAD])
            piece = piece[HEAD:]
        self._end(piece)

    def _end(self, piece: bytes) -> None:
        """The last piece so far: it takes the place of earlier ones, in number and in bytes."""
        if len(piece) > TAIL_BYTES:
            piece = piece[-TAIL_BYTES:]
        tail = self.tail
        if tail is None:
            tail = self.tail = deque()
        tail.append(piece)
        size = self._tail_size + len(piece)
        while size > TAIL_BYTES or len(tail) > TAIL:
            size -= len(tail.popleft())
        self._tail_size = size

    def whole(self, body: bytes) -> None:
        """All of an answer that came, or went, in one piece: it is kept whole."""
        self.head, self.tail, self.size = [body], None, len(body)

    def __len__(self) -> int:
        """Bytes that it holds, with what a piece costs."""
        pieces = self.head if self.tail is None else [*self.head, *self.tail]
        return sum(map(len, pieces)) + 50 * len(pieces)

    def parts(self) -> tuple[bytes, bytes]:
        """The beginning and the end; no end when the beginning is all there is."""
        head, tail = b"".join(self.head), b"".join(self.tail or ())
        return (head + tail, b"") if len(head) + len(tail) == self.size else (head, tail)

    def shorten(self, most: int) -> None:
        """Keep only so much of a beginning in one large piece."""
        head, _ = self.parts()
        self.head, self.tail = [head[:most]], None


class Try(NamedTuple):
    """An attempt that failed."""

    upstream: str
    model: str
    kind: str
    status: int
    message: str


class Exchange:
    """One request of a client, and what became of it.

    What is not yet known of it is found in the class.
    """

    model: str = ""
    stream: bool = False
    upstream: str = ""
    upstream_dialect: str = ""
    upstream_model: str = ""
    status: int = 0
    error: str = ""
    note: str = ""
    """How the upstream broke off once the answer was whole, of which the client noticed nothing."""
    losses: tuple[Loss, ...] = ()
    repairs: tuple[Repair, ...] = ()
    answer_after: float | None = None
    """Seconds until the upstream's head was there."""
    first_byte: float | None = None
    """Seconds until the first byte went to the client."""
    seconds: float | None = None
    sent: bytes = b""
    """What went to the upstream."""
    answer_status: int = 0
    answer_headers: Iterable[tuple[str, str]] = ()
    answered: Recording | bytes | None = None
    """What came from it; all in one piece, where it is no stream."""
    told: Recording | bytes | None = None
    """What went to the client."""
    size: int = 0
    """Bytes that were counted for it, while it is kept."""

    def __init__(self, name: str, began: float, dialect: str, request: IncomingRequest) -> None:
        self.id = name
        self.began = began
        self.dialect = dialect
        self.request = request
        self.attempts = 0
        self.tries: list[Try] = []
        """Attempts that failed, and upstreams that were passed over."""

    def answered_by_us(self) -> bool:
        """Whether the upstream is a gateway of our kind."""
        return any(name == "dragoman-exchange" for name, _ in self.answer_headers)

    def kept(self) -> int:
        """Bytes that it holds."""
        asked, sent, answered, told = self.request.body, self.sent, self.answered, self.told
        size = 2000 + len(asked)
        if sent is not asked:
            size += len(sent)
        if answered is not None:
            size += len(answered)
        if told is not None and told is not answered:
            size += len(told)
        return size

    def shorten(self, most: int) -> None:
        """Keep the beginnings only."""
        request, self.sent = self.request, self.sent[:most]
        self.request = msgspec.structs.replace(request, headers=request.told(), body=request.body[:most], known=None)
        self.answered, self.told = _shortened(self.answered, most), _shortened(self.told, most)


def _shortened(said: Recording | bytes | None, most: int) -> Recording | None:
    if said is not None:
        said = as_recording(said)
        said.shorten(most)
    return said


def as_recording(said: Recording | bytes) -> Recording:
    """For those who look: the beginning and the end of anything."""
    if isinstance(said, Recording):
        return said
    tape = Recording()
    tape.whole(said)
    return tape


LAST_ANSWERS = 8
"""Answers of an upstream that are searched for the header of a gateway."""


class Exchanges:
    """The last exchanges, newest last."""

    def __init__(self, most: int, most_bytes: int = 16 * 1024 * 1024) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self._kept: deque[Exchange] = deque()
        self.size = 0
        """Bytes that they hold."""

    def add(self, exchange: Exchange) -> None:
        most_bytes, kept = self.most_bytes, self._kept
        size = exchange.kept()
        if size * 8 > most_bytes:  # one picture-laden request is not worth all the others
            exchange.shorten(most_bytes // 64)
            size = exchange.kept()
        exchange.size = size
        kept.append(exchange)
        size += self.size
        if len(kept) > self.most:
            size -= kept.popleft().size
        while size > most_bytes:
            size -= kept.popleft().size
        self.size = size

    def bound(self, most: int, most_bytes: int) -> None:
        """Other bounds, which hold at once."""
        self.most, self.most_bytes = most, most_bytes
        while len(self._kept) > most or self.size > most_bytes:
            self.size -= self._kept.popleft().size

    def get(self, name: str) -> Exchange | None:
        return next((exchange for exchange in self._kept if exchange.id == name), None)

    def is_answered_by_us(self, upstream: str) -> bool:
        """Whether one of the upstream's last answers came from a gateway of our kind."""
        last = (exchange for exchange in reversed(self._kept) if exchange.upstream == upstream)
        return any(exchange.answered_by_us() for exchange in islice(last, LAST_ANSWERS))

    def all(self) -> list[Exchange]:
        return list(self._kept)


_kind = attrgetter("code", "severity")


def compact(losses: tuple[Loss, ...]) -> str:
    """Losses for a header: each code with its severity and how often."""
    return _listed(tuple(map(_kind, losses)))


def compact_repairs(repairs: tuple[Repair, ...]) -> str:
    """Repairs for a header: each with how often."""
    return _listed(tuple([(repair.name,) for repair in repairs]))


@small_cache(256)  # an agent's requests lose the same again and again
def _listed(found: tuple[tuple[str, ...], ...]) -> str:
    counts = Counter(found)
    out, left = "", len(counts)
    for words, count in counts.items():
        word = ";".join(words)
        said = f"{word};n={count}" if count > 1 else word
        if len(out) + len(said) > MAX_HEADER - 20:
            return f"{out}, more;n={left}"
        out = f"{out}, {said}" if out else said
        left -= 1
    return out
