"""Owns the steps in which every dialect reads and writes a request: what comes first, the history, everything else.

A reader takes the messages of a request one by one, a writer takes the turns one by one. So a history that goes on from
a known beginning can be read and written from there on: both can stand behind a beginning again (`restore`).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any, Protocol

from ..canon.request import Request
from ..canon.turns import SYSTEM_ROLES, Turn
from ..context import Context
from . import json_text


def leading(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns of the system's that stand before all others."""
    for count, turn in enumerate(turns):
        if turn.role not in SYSTEM_ROLES:
            return turns[:count] if count else ()
    return turns


def same_items(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two tuples hold the same objects."""
    return len(one) == len(other) and all(map(is_, one, other))


class RequestReader(Protocol):
    """Reads one request. The steps come in the order in which they stand here."""

    turns: list[Turn]
    """Those that were read. The last one may grow with the next message."""
    resumable: bool
    """Nothing but the turns hangs on the messages that were read."""

    def begin(self, head: Any) -> None:
        """Read what comes before the messages. `head`: the decoded request, of which the messages are not looked at."""
        ...

    def restore(self, turns: Iterable[Turn]) -> None:
        """Stand behind the messages that these turns were read from. No call in the turns waits for a result."""
        ...

    def message(self, message: Any, index: int) -> None:
        """Read one message."""
        ...

    def close(self) -> tuple[Turn, ...]:
        """All turns: no message follows."""
        ...

    def finish(self, head: Any, turns: tuple[Turn, ...]) -> Request:
        """Read everything else of the decoded request."""
        ...


class RequestWriter(Protocol):
    """Writes one request. The steps come in the order in which they stand here."""

    context: Context
    source: str
    """The dialect in whose name the request is written."""
    turns: tuple[Turn, ...]
    """All turns, in the order in which they are written. Known after `begin`."""
    lead: int
    """How many of them `begin` has written: those of the system's before all others."""
    messages: list[Any]
    """Those that were written."""
    resumable: bool
    """No turn is changed before it is written, or looked at again when it is. Known after `begin`."""

    @property
    def fixed(self) -> bool:
        """Besides, nothing that is written around the turns hangs on them. Known after `begin`."""
        ...

    def begin(self) -> None:
        """Make the request suit the model and the host, and write what comes before the turns."""
        ...

    def restore(self, messages: list[Any], begin: int, state: Any) -> None:
        """Stand before the turn of this index, behind those that were written before: as these messages, which
        `snapshot` gave, as it gave the state. The state is None where only the turns of the system's are."""
        ...

    def turn(self, index: int) -> None:
        """Write one of the turns."""
        ...

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The messages that stay as they are whatever follows, and where the writer stands behind them. The second
        value never changes, and is not None. None where what was written hangs on what follows."""
        ...

    def end(self) -> None:
        """No turn follows: write what hangs on the end of the history."""
        ...

    def document(self, messages: Any) -> dict[str, Any]:
        """The request, with these messages in it."""
        ...

    def close(self) -> None:
        """Correct what was written, where that takes all of it."""
        ...

    def wrapped(self, body: bytes) -> bytes:
        """The encoded request in the envelope of the dialect, if it has one."""
        ...


class PlainDocument:
    """What most writers have in common: no envelope, nothing to correct, nothing that hangs on the turns."""

    __slots__ = ()
    resumable: bool

    @property
    def fixed(self) -> bool:
        return self.resumable

    def close(self) -> None:
        """Nothing is left to correct."""

    def wrapped(self, body: bytes) -> bytes:
        return body


def read(reader: RequestReader, head: Any, messages: Iterable[Any]) -> Request:
    """The request that consists of these messages, and of what else was decoded."""
    reader.begin(head)
    take = reader.message
    for index, message in enumerate(messages):
        take(message, index)
    return reader.finish(head, reader.close())


def write(writer: RequestWriter) -> bytes:
    """The request in JSON."""
    context = writer.context
    came_from, context.source = context.source, writer.source
    try:
        writer.begin()
        for index in range(writer.lead, len(writer.turns)):
            writer.turn(index)
        writer.end()
        out = writer.document(writer.messages)
        writer.close()
    finally:
        context.source = came_from
    return writer.wrapped(json_text.encode(out))
