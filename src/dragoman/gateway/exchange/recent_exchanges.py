"""The recent exchanges: one record for each, kept in memory, limited by number and by bytes.

During an exchange only references to existing bytes are kept. The data for readers (canon, usage, text without secrets)
is made on request (`recorded_exchange_report.py`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from time import monotonic
from typing import Any, NamedTuple

import msgspec

from ...canon.losses import Loss
from ...canon.repair_codes import Repair
from ...codec.cache_memory_budget import small_cache
from ..http.server import IncomingRequest

HEAD = 16 * 1024
"""Bytes of a stream that are kept from its beginning."""
TAIL = 16
"""Pieces of a stream that are kept from its end."""
TAIL_BYTES = 64 * 1024
"""Bytes that these pieces may hold. One piece of a fast upstream may have hundreds of thousands of bytes."""
MAX_HEADER = 2000
"""Characters of a header that lists losses or repairs."""


class Recording:
    """The bytes of an answer: the beginning, and the last pieces of a long one."""

    __slots__ = ("_tail_size", "head", "size", "tail")

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self.tail: deque[bytes] | None = None
        self._tail_size = 0
        self.size = 0
        """Bytes of the whole answer, including bytes that are not kept."""

    def add(self, piece: bytes) -> None:
        """Add a piece of a stream."""
        size, more = self.size, len(piece)
        self.size = size + more
        if size < HEAD:
            if more <= HEAD:
                self.head.append(piece)
                return
            self.head.append(piece[:HEAD])
            piece = piece[HEAD:]
        self._add_to_end(piece)

    def _add_to_end(self, piece: bytes) -> None:
        """Keep a piece as the last so far. Earlier pieces beyond the limits of number and bytes are dropped."""
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
        """Record an answer in one piece. It is kept whole."""
        self.head, self.tail, self.size = [body], None, len(body)

    def __len__(self) -> int:
        """Bytes that the recording holds, with the cost of each piece."""
        pieces = self.head if self.tail is None else [*self.head, *self.tail]
        return sum(map(len, pieces)) + 50 * len(pieces)

    def parts(self) -> tuple[bytes, bytes]:
        """The beginning and the end; the end is empty when the beginning is everything."""
        head, tail = b"".join(self.head), b"".join(self.tail or ())
        return (head + tail, b"") if len(head) + len(tail) == self.size else (head, tail)

    def shorten(self, most: int) -> None:
        """Keep only the first `most` bytes."""
        head, _ = self.parts()
        self.head, self.tail = [head[:most]], None


MOST_TIMES = 2000
"""Pieces of a stream whose times are kept."""


class TimedRecording(Recording):
    """A recording that also keeps when each piece came. Used only while someone watches, because reading the clock for
    each piece costs time."""

    __slots__ = ("_began", "times")

    def __init__(self) -> None:
        super().__init__()
        self._began = monotonic()
        self.times: list[tuple[float, int]] = []
        """For each piece: seconds since the head of the answer, and bytes."""

    def add(self, piece: bytes) -> None:
        """Add a piece of a stream."""
        if len(self.times) < MOST_TIMES:
            self.times.append((round(monotonic() - self._began, 4), len(piece)))
        super().add(piece)


class FailedAttempt(NamedTuple):
    """An attempt that failed."""

    upstream: str
    model: str
    kind: str
    status: int
    message: str


class Exchange:
    """One request of a client, and its outcome.

    An attribute without a value yet has its default from the class.
    """

    model: str = ""
    stream: bool = False
    upstream: str = ""
    upstream_dialect: str = ""
    upstream_model: str = ""
    status: int = 0
    error: str = ""
    note: str = ""
    """How the upstream broke off after the complete answer. The client noticed nothing."""
    losses: tuple[Loss, ...] = ()
    request_losses: tuple[Loss, ...] = ()
    """The losses of the request. All other `losses` belong to the answer."""
    repairs: tuple[Repair, ...] = ()
    answer_after: float | None = None
    """Seconds until the head of the upstream's answer came."""
    first_byte: float | None = None
    """Seconds until the first byte went to the client."""
    seconds: float | None = None
    sent: bytes = b""
    """The body that went to the upstream."""
    answer_status: int = 0
    answer_headers: Iterable[tuple[str, str]] = ()
    answered: Recording | bytes | None = None
    """The body that came from the upstream; in one piece where it is not a stream."""
    delivered: Recording | bytes | None = None
    """The body that went to the client."""
    tokens: tuple[int | None, int | None] | None = None
    """Tokens in and out, if the answer was translated whole."""
    size: int = 0
    """The size of the exchange when it was kept."""
    shortened: bool = False
    """Only the beginnings of the bodies are kept."""
    row: dict[str, Any] | None = None
    """The exchange as one row of a list, once a list has contained the exchange (`exchange_row.py`)."""

    def __init__(self, name: str, began: float, dialect: str, request: IncomingRequest) -> None:
        self.id = name
        self.began = began
        self.dialect = dialect
        self.request = request
        self.attempts = 0
        self.tries: list[FailedAttempt] = []
        """Attempts that failed, and upstreams that were skipped."""

    def answered_by_us(self) -> bool:
        """Whether the upstream is a dragoman gateway."""
        return any(name == "dragoman-exchange" for name, _ in self.answer_headers)

    def stream_times(self) -> list[tuple[float, int]] | None:
        """When each piece of the stream came: seconds since the head of the answer, and bytes. None: nobody watched, so
        no times were kept."""
        taped = self.answered if self.answered is not None else self.delivered
        return taped.times if isinstance(taped, TimedRecording) else None

    def memory_size(self) -> int:
        """Bytes that the exchange holds."""
        asked, sent, answered, delivered = self.request.body, self.sent, self.answered, self.delivered
        size = 2000 + len(asked)
        # Two fields may hold the same bytes, which are counted once.
        if sent is not asked:
            size += len(sent)
        if answered is not None:
            size += len(answered)
        if delivered is not None and delivered is not answered:
            size += len(delivered)
        return size

    def shorten(self, most: int) -> None:
        """Keep only the first `most` bytes of each body."""
        self.shortened = True
        request, self.sent = self.request, self.sent[:most]
        self.request = msgspec.structs.replace(
            request, headers=request.all_headers(), body=request.body[:most], known=None
        )
        self.answered, self.delivered = (
            _shorten_recording(self.answered, most),
            _shorten_recording(self.delivered, most),
        )


def _shorten_recording(recorded: Recording | bytes | None, most: int) -> Recording | None:
    if recorded is not None:
        recorded = as_recording(recorded)
        recorded.shorten(most)
    return recorded


def as_recording(recorded: Recording | bytes) -> Recording:
    """A recording of any body."""
    if isinstance(recorded, Recording):
        return recorded
    tape = Recording()
    tape.whole(recorded)
    return tape


LAST_ANSWERS = 8
"""Number of an upstream's last answers that are searched for the header of a dragoman gateway."""


MOST_RUNNING = 500
"""Maximum number of exchanges under way that are shown."""
MOST_WAITING = 200
"""Maximum number of exchanges that wait to be shown to one watcher. Beyond this limit the oldest are left out and
counted."""


class Watcher:
    """A viewer of the live stream. Only ids of exchanges wait here, so the limits on kept exchanges still apply."""

    def __init__(self, viewer: str, everybody: str) -> None:
        """`viewer` is the owner whose exchanges are shown, or `everybody`."""
        self.viewer = viewer
        self._all = viewer == everybody
        self.waiting: deque[str] = deque()
        self.missed = 0
        """Number of exchanges that were left out since the last events."""

    def may_see(self, exchange: Exchange) -> bool:
        """Whether the exchange may be shown."""
        return self._all or exchange.request.owner == self.viewer

    def note_end(self, exchange: Exchange) -> None:
        """Remember an exchange that has ended, if it may be shown."""
        if self.may_see(exchange):
            if len(self.waiting) >= MOST_WAITING:
                self.waiting.popleft()
                self.missed += 1
            self.waiting.append(exchange.id)


class Exchanges:
    """The recent exchanges, newest last."""

    def __init__(self, most: int, most_bytes: int = 16 * 1024 * 1024) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self._kept: deque[Exchange] = deque()
        self.size = 0
        """Bytes that the exchanges hold."""
        self.watchers: list[Watcher] = []
        """The viewers of the live stream."""
        self.running: dict[str, Exchange] = {}
        """The exchanges under way that began while someone watched."""

    def note_begin(self, exchange: Exchange) -> None:
        """Note an exchange that begins. Called only while someone watches."""
        if len(self.running) < MOST_RUNNING:
            self.running[exchange.id] = exchange

    def recording(self) -> Recording:
        """An empty recording of a stream; with times while someone watches."""
        return TimedRecording() if self.watchers else Recording()

    def add(self, exchange: Exchange) -> None:
        """Keep an exchange, and drop the oldest beyond the limits. The exchange is passed to all watchers."""
        most_bytes, kept = self.most_bytes, self._kept
        size = exchange.memory_size()
        if size * 8 > most_bytes:  # One request full of pictures must not push out all others.
            exchange.shorten(most_bytes // 64)
            size = exchange.memory_size()
        exchange.size = size
        kept.append(exchange)
        size += self.size
        if len(kept) > self.most:
            size -= kept.popleft().size
        while size > most_bytes:
            size -= kept.popleft().size
        self.size = size
        if self.watchers:
            self.running.pop(exchange.id, None)
            for watcher in self.watchers:
                watcher.note_end(exchange)

    def set_limits(self, most: int, most_bytes: int) -> None:
        """Set new limits, which apply at once."""
        self.most, self.most_bytes = most, most_bytes
        while len(self._kept) > most or self.size > most_bytes:
            self.size -= self._kept.popleft().size

    def get(self, name: str) -> Exchange | None:
        """The exchange with this id, or None."""
        return next((exchange for exchange in self._kept if exchange.id == name), None)

    def is_answered_by_us(self, upstream: str) -> bool:
        """Whether one of the upstream's last answers came from a dragoman gateway."""
        last = (exchange for exchange in reversed(self._kept) if exchange.upstream == upstream)
        return any(exchange.answered_by_us() for exchange in islice(last, LAST_ANSWERS))

    def all(self) -> list[Exchange]:
        """All kept exchanges, oldest first."""
        return list(self._kept)


_kind = attrgetter("code", "severity")


def losses_header(losses: tuple[Loss, ...]) -> str:
    """Losses for a header: each code with its severity and count."""
    return _listed(tuple(map(_kind, losses)))


def repairs_header(repairs: tuple[Repair, ...]) -> str:
    """Repairs for a header: each name with its count."""
    return _listed(tuple([(repair.name,) for repair in repairs]))


@small_cache(256)  # The requests of one agent have the same losses again and again.
def _listed(found: tuple[tuple[str, ...], ...]) -> str:
    counts = Counter(found)
    out, left = "", len(counts)
    for words, count in counts.items():
        word = ";".join(words)
        entry = f"{word};n={count}" if count > 1 else word
        # Room is left for the number of further losses.
        if len(out) + len(entry) > MAX_HEADER - 20:
            return f"{out}, more;n={left}"
        out = f"{out}, {entry}" if out else entry
        left -= 1
    return out
