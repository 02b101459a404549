"""A reply whose bytes are written down as well."""

from __future__ import annotations

from collections.abc import Collection

from ..exchange.recent_exchanges import Recording
from .reply_wrapper import ReplyWrapper
from .server import Reply


class RecordingReply(ReplyWrapper):
    """Hands everything on, and keeps it on a tape."""

    __slots__ = ("_tape",)

    def __init__(self, inner: Reply, tape: Recording) -> None:
        super().__init__(inner)
        self._tape = tape

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        self._tape.whole(body)
        super().send(status, headers, body)

    def write(self, data: bytes) -> None:
        self._tape.add(data)
        super().write(data)
