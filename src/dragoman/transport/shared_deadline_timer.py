"""Deadlines of many waiting objects, watched by one timer.

A timer of the event loop for every wait would cost more than the wait's own work, and nearly all such timers are
cancelled unused. Here a deadline is an entry in a dictionary. One timer is set to the earliest deadline. When the timer
fires, all entries are checked, and the timer is set again.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Protocol


class Awaiting(Protocol):
    """An object with a deadline."""

    def on_deadline(self) -> None:
        """Called when the deadline has passed."""
        ...


class Deadlines:
    """The deadlines of all waiting objects."""

    __slots__ = ("_due", "_loop", "_next", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due: dict[Awaiting, float] = {}
        self._next = inf
        self._timer: asyncio.TimerHandle | None = None

    def expect(self, who: Awaiting, seconds: float) -> None:
        """Call `who.on_deadline()` after `seconds`. A later call for the same object replaces this deadline."""
        at = self._loop.time() + seconds
        self._due[who] = at
        # The timer is only moved forward. A deadline that moves back is found when the timer fires.
        if at < self._next:
            self._wake_at(at)

    def forget(self, who: Awaiting) -> None:
        """Remove the deadline of an object."""
        self._due.pop(who, None)

    def close(self) -> None:
        """Remove all deadlines."""
        self._due.clear()
        self._next = inf
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake_at(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = at
        self._timer = self._loop.call_at(at, self._check_deadlines)

    def _check_deadlines(self) -> None:
        self._timer, self._next = None, inf
        now = self._loop.time()
        late = [who for who, at in self._due.items() if at <= now]
        for who in late:
            if self._due.get(who, inf) <= now:  # An earlier call in this loop may have changed the deadline.
                del self._due[who]
                who.on_deadline()
        if self._due:
            # At least one tick of the loop's clock later. Otherwise the timer would fire again at once, forever.
            soonest = max(min(self._due.values()), now + 0.001)
            if soonest < self._next:
                self._wake_at(soonest)
