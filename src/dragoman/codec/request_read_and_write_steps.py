"""Owns the steps in which every dialect reads and writes a request: the fields before the messages, the messages, all
other fields.

A reader takes the messages of a request one by one, and a writer the turns. So a history with a known beginning can be
read and written from there on: `restore` places the reader or the writer after the known beginning.
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
    """The system turns before all other turns."""
    count = 0
    for turn in turns:
        if turn.role not in SYSTEM_ROLES:
            break
        count += 1
    return turns[:count]


def same_items(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two tuples hold the same objects."""
    # Identity, not equality: equal turns at different paths would report losses at the wrong place.
    return len(one) == len(other) and all(map(is_, one, other))


class RequestReader(Protocol):
    """Reads one request. The steps are called in the order in which they are declared."""

    turns: list[Turn]
    """The turns so far. The next message may extend the last turn."""
    resumable: bool
    """The messages so far affect only the turns."""

    def begin(self, head: Any) -> None:
        """Read the fields before the messages. `head`: the decoded request, whose messages are ignored."""
        ...

    def restore(self, turns: Iterable[Turn]) -> None:
        """Continue after the messages that these turns were read from. No call in the turns waits for a result."""
        ...

    def message(self, message: Any, index: int) -> None:
        """Read one message."""
        ...

    def close(self) -> tuple[Turn, ...]:
        """All turns: no message follows."""
        ...

    def finish(self, head: Any, turns: tuple[Turn, ...]) -> Request:
        """Read all other fields of the decoded request."""
        ...


class RequestWriter(Protocol):
    """Writes one request. The steps are called in the order in which they are declared."""

    context: Context
    source: str
    """The dialect in whose name the request is written."""
    turns: tuple[Turn, ...]
    """All turns, in the order in which they are written. Valid after `begin`."""
    lead: int
    """The number of leading system turns, which `begin` writes."""
    messages: list[Any]
    """The messages written so far."""
    resumable: bool
    """No turn is changed before it is written or examined again later. Valid after `begin`."""

    @property
    def fixed(self) -> bool:
        """`resumable` is true, and the turns do not affect the fields around the messages. Valid after `begin`."""
        ...

    def begin(self) -> None:
        """Adapt the request to the model and the host, and write the parts before the turns."""
        ...

    def restore(self, messages: list[Any], begin: int, state: Any) -> None:
        """Continue at the turn of this index. `messages` and `state` come from `snapshot`. The state is None if only
        the leading system turns are written.
        """
        ...

    def write_turns(self, begin: int, end: int) -> None:
        """Write the turns from index `begin` to before index `end`."""
        ...

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The messages that later turns do not change, and the state of the writer after them. The state never changes
        and is not None. None: the written messages depend on later turns.
        """
        ...

    def end(self) -> None:
        """No turn follows: write the parts that depend on the end of the history."""
        ...

    def document(self, messages: Any) -> dict[str, Any]:
        """The request with these messages."""
        ...

    def close(self) -> None:
        """Correct the written messages, if a correction needs all of them."""
        ...

    def wrapped(self, body: bytes) -> bytes:
        """The encoded request in the envelope of the dialect, if there is one."""
        ...


class PlainDocument:
    """The common defaults of most writers: no envelope, no correction, no field that depends on the turns."""

    __slots__ = ()
    resumable: bool

    @property
    def fixed(self) -> bool:
        """The same value as `resumable`: no field depends on the turns."""
        return self.resumable

    def close(self) -> None:
        """Does nothing: there is nothing to correct."""

    def wrapped(self, body: bytes) -> bytes:
        """The body unchanged."""
        return body


def read(reader: RequestReader, head: Any, messages: Iterable[Any]) -> Request:
    """The request with these messages and the other decoded fields."""
    reader.begin(head)
    # A local name is faster in a loop that runs for each message.
    take = reader.message
    for index, message in enumerate(messages):
        take(message, index)
    return reader.finish(head, reader.close())


def write(writer: RequestWriter) -> bytes:
    """The request in JSON."""
    context = writer.context
    # Losses name the dialect of the document. A writer that serves as part of another (Code Assist) writes in its name.
    came_from, context.source = context.source, writer.source
    try:
        writer.begin()
        writer.write_turns(writer.lead, len(writer.turns))
        writer.end()
        out = writer.document(writer.messages)
        writer.close()
    finally:
        # The context is used again for the answer, also after an error.
        context.source = came_from
    return writer.wrapped(json_text.encode(out))
