"""Many things that may come too late, watched by one timer.

A timer of the event loop for every wait costs more than the wait's own work, and all but one in a million are cancelled
unused. Here to expect something is an entry in a dictionary; one timer stands at the earliest moment that was ever due
when it was set, and looks again at what is due then.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Protocol


class Awaiting(Protocol):
    """Something that waits."""

    def late(self) -> None: ...


class Deadlines:
    """When each of those who wait has waited long enough."""

    __slots__ = ("_due", "_loop", "_next", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due: dict[Awaiting, float] = {}
        self._next = inf
        self._timer: asyncio.TimerHandle | None = None

    def expect(self, who: Awaiting, seconds: float) -> None:
        """Call `who.late()` when so many seconds have passed, unless told otherwise until then."""
        at = self._loop.time() + seconds
        self._due[who] = at
        if at < self._next:
            self._wake_at(at)

    def forget(self, who: Awaiting) -> None:
        self._due.pop(who, None)

    def close(self) -> None:
        """Nobody waits any more."""
        self._due.clear()
        self._next = inf
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake_at(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = at
        self._timer = self._loop.call_at(at, self._look)

    def _look(self) -> None:
        self._timer, self._next = None, inf
        now = self._loop.time()
        late = [who for who, at in self._due.items() if at <= now]
        for who in late:
            if self._due.get(who, inf) <= now:  # an earlier one may have changed it
                del self._due[who]
                who.late()
        if self._due:
            # No sooner than the loop's clock can tell apart, else it would turn in circles.
            soonest = max(min(self._due.values()), now + 0.001)
            if soonest < self._next:
                self._wake_at(soonest)
