"""Finds out whether the other side has closed a connection whose bytes are not being read."""

from __future__ import annotations

import asyncio
import select

_CLOSED = getattr(select, "POLLRDHUP", 0)
"""The other side will send no more. Only Linux reports this. On other systems only a fully closed connection is
noticed."""


def has_left(transport: asyncio.BaseTransport) -> bool:
    """Whether a client has closed its side, though some of its bytes are not read yet."""
    found = transport.get_extra_info("socket")
    if found is None or found.fileno() < 0 or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(found.fileno(), _CLOSED)
    return any(event & (_CLOSED | select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
