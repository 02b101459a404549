"""Measures an exchange, and adds the durations to answers of dialects whose clients read durations (`Served.timed`)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from time import perf_counter_ns

from .reply_wrapper import ReplyWrapper
from .server import ReplyWriter


class TimedReply(ReplyWrapper):
    """A reply whose end has the duration of the exchange in nanoseconds, as the dialect writes durations."""

    __slots__ = ("_began", "_first", "_timed")

    def __init__(self, inner: ReplyWriter, timed: Callable[[bytes, int, int | None], bytes]) -> None:
        super().__init__(inner)
        self._timed = timed
        self._began = perf_counter_ns()
        self._first = 0

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Send a whole answer, with durations."""
        if status == 200:
            body = self._timed(body, perf_counter_ns() - self._began, None)
        super().send(status, headers, body)

    def write(self, data: bytes) -> None:
        """Write a piece of a stream; its last piece gets durations."""
        self._first = self._first or perf_counter_ns()
        super().write(self._timed(data, perf_counter_ns() - self._began, self._first - self._began))
