"""A reply whose bytes are recorded as well."""

from __future__ import annotations

from collections.abc import Collection

from ..exchange.recent_exchanges import Recording
from .reply_wrapper import ReplyWrapper
from .server import ReplyWriter


class RecordingReply(ReplyWrapper):
    """Passes each step on to the wrapped reply, and adds the body to a recording."""

    __slots__ = ("_tape",)

    def __init__(self, inner: ReplyWriter, tape: Recording) -> None:
        super().__init__(inner)
        self._tape = tape

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Send and record a whole answer."""
        self._tape.whole(body)
        super().send(status, headers, body)

    def write(self, data: bytes) -> None:
        """Write and record a piece of an answer."""
        self._tape.add(data)
        super().write(data)
