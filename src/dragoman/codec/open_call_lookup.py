"""Finds the first open call of an id or a name without a search.

Results may come in any order, and a history may hold thousands of them. A search through a list for each result would
cost the square of their number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from msgspec import Struct

from ..canon.parts import ToolCall

T = TypeVar("T")


class OpenCalls(Generic[T]):
    """Calls in their order, each under any number of keys. A call that was taken is removed from all keys."""

    __slots__ = ("_calls", "_count", "_places")

    def __init__(self) -> None:
        self._calls: dict[int, T] = {}
        self._places: dict[Hashable, deque[int]] = {}
        self._count = 0

    def add(self, call: T, keys: Iterable[Hashable]) -> None:
        """Add an open call after all others."""
        self._calls[self._count] = call
        for key in keys:
            self._places.setdefault(key, deque()).append(self._count)
        self._count += 1

    def take(self, key: Hashable) -> T | None:
        """Remove and return the first call under a key; None if there is none."""
        places = self._places.get(key)
        # A call may have been taken under another key. Its number then no longer exists, and the next one counts.
        while places:
            call = self._calls.pop(places.popleft(), None)
            if call is not None:
                return call
        return None

    def left(self) -> list[T]:
        """The calls that are still open, in their order."""
        return [*self._calls.values()]

    def clear(self) -> None:
        """Remove all calls."""
        self._calls, self._places, self._count = {}, {}, 0

    def __len__(self) -> int:
        return len(self._calls)


class UnansweredCalls(Struct, eq=False):
    """The open calls of one step, for wires that may omit call ids: found by id, else by name and order.

    Results usually come in the order of the calls; then no index is made.
    """

    _without_id: Callable[[ToolCall], bool]
    """Whether a call came without an id, so that its id was computed here."""
    _calls: deque[ToolCall] | None = None  # most requests have no call
    _index: OpenCalls[ToolCall] | None = None

    def add(self, call: ToolCall) -> None:
        """Add an open call after all others."""
        if self._index is not None:
            self._enter(self._index, call)
        elif self._calls is None:
            self._calls = deque((call,))
        else:
            self._calls.append(call)

    def answer_next(self, call_id: str) -> bool:
        """Remove the first open call if it has this id and all results so far came in order."""
        calls = self._calls
        # The usual case needs no index: one comparison for each result.
        if calls and calls[0].id == call_id:
            calls.popleft()
            return True
        return False

    def take(self, call_id: str) -> ToolCall | None:
        """Remove and return the first call with this id."""
        return self._indexed().take(("id", call_id))

    def take_named(self, name: str | None, *, without_id: bool = False) -> ToolCall | None:
        """Remove and return the first call of a tool (of any tool if `name` is None), or the first such call without an
        id.
        """
        return self._indexed().take(("without id" if without_id else "name", name))

    def clear(self) -> None:
        """Remove all calls."""
        self._calls = self._index = None

    def _indexed(self) -> OpenCalls[ToolCall]:
        if self._index is None:
            self._index = OpenCalls()
            for call in self._calls or ():
                self._enter(self._index, call)
            self._calls = None
        return self._index

    def _enter(self, index: OpenCalls[ToolCall], call: ToolCall) -> None:
        # A result without a name answers the first open call, whatever its tool.
        keys = [("id", call.id), ("name", call.name), ("name", None)]
        if self._without_id(call):
            keys += [("without id", call.name), ("without id", None)]
        index.add(call, keys)
