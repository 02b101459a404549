"""Whether the other side has closed a connection that is not being read from."""

from __future__ import annotations

import asyncio
import select

_CLOSED = getattr(select, "POLLRDHUP", 0)
"""The other side will send no more. Linux knows this; elsewhere only a connection that is wholly gone is noticed."""


def has_left(transport: asyncio.BaseTransport) -> bool:
    """Whether a client has closed its side, though its bytes have not all been read."""
    found = transport.get_extra_info("socket")
    if found is None or found.fileno() < 0 or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(found.fileno(), _CLOSED)
    return any(event & (_CLOSED | select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
