"""An agent sends its whole history again with every turn: what was read and written before need not be done again.

Recall remembers what single messages said, by their exact bytes and place; Written remembers, by the identity of a turn
that was recalled, how a target writes it. Only what is plain is remembered: nothing hangs on it, nothing was lost or
made up, and it reads the same whatever stands around it. Measured on a 6 KB agent request of which all but the last
turn were seen before: half of the whole translation. Both are bounded in bytes; `forget_all` empties them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Generic, TypeVar
from weakref import WeakSet

import msgspec
from msgspec import Raw, Struct

from ..canon.parts import Part, Path
from ..canon.turns import Role, Turn
from ..crossing import Crossing

T = TypeVar("T")

MAX_BYTES = 4 * 1024 * 1024
"""What one memory holds before it begins to forget what it has not seen lately."""
MAX_ENTRY = 16 * 1024
"""Longer messages are read anew: finding them again takes about as long."""

MAX_STEPS = 4096
_ENTRY_BYTES = 200

_all: WeakSet[Any] = WeakSet()


def skimmer(shape: type[Struct], field: str) -> Callable[[bytes], Any]:
    """A decoder that leaves the messages in `field` as they are. It gives None for what has to be admitted."""
    made = msgspec.defstruct(f"Skimmed{shape.__name__}", [(field, list[Raw])], bases=(shape,))
    decode = msgspec.json.Decoder(made).decode

    def skim(body: bytes) -> Any:
        try:
            return decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None

    return skim


class Recall(Generic[T]):
    """What the messages of one dialect said. Make one for each dialect and keep it.

    `read` reads one message at its place, and gives None for one that is not plain.
    """

    def __init__(self, read: Callable[[Raw, int], T | None]) -> None:
        self._read = read
        self._young: dict[bytes, tuple[int, T]] = {}
        self._old: dict[bytes, tuple[int, T]] = {}
        self._size = 0
        self._steps: dict[int, Turn] = {}
        _all.add(self)

    def all(self, messages: Sequence[Raw], crossing: Crossing) -> list[T] | None:
        """What all messages say; None if one of them is not plain."""
        out: list[T] = []
        young, again = self._young, 0
        for i, raw in enumerate(messages):
            key = bytes(raw)
            found = young.get(key)
            if found is not None and found[0] == i:
                again += 1
                out.append(found[1])
            else:
                found = self._old.get(key)
                if found is None or found[0] != i:
                    said = self._read(raw, i)
                    if said is None:
                        return None
                    found = (i, said)
                else:
                    again += 1
                if len(key) <= MAX_ENTRY:
                    self._keep(key, found)
                    young = self._young
                out.append(found[1])
        crossing.recalled = again > 0
        return out

    def _keep(self, key: bytes, found: tuple[int, T]) -> None:
        self._size += len(key) + _ENTRY_BYTES
        if self._size > MAX_BYTES:
            self._old, self._young, self._size = self._young, {}, len(key) + _ENTRY_BYTES
        self._young[key] = found

    def step(self, role: Role, parts: list[Part], at: Path) -> Turn:
        """Parts that came in messages of their own as one turn: the same one for the same parts."""
        found = self._steps.get(id(parts[0]))
        if found is not None and len(found.parts) == len(parts) and all(map(is_, found.parts, parts)):
            return found
        turn = Turn(role, tuple(parts), "", None, at)
        if len(self._steps) >= MAX_STEPS:
            self._steps.clear()
        self._steps[id(parts[0])] = turn
        return turn

    def forget(self) -> None:
        self._young, self._old, self._size = {}, {}, 0
        self._steps.clear()


class Written:
    """How one target writes turns. Make one for each dialect and keep it."""

    def __init__(self) -> None:
        self._young: dict[int, tuple[Turn, Any]] = {}
        self._old: dict[int, tuple[Turn, Any]] = {}
        self._size = 0
        _all.add(self)

    def get(self, turn: Turn) -> Any:
        """What was kept for this very turn, or None."""
        found = self._young.get(id(turn)) or self._old.get(id(turn))
        return found[1] if found is not None and found[0] is turn else None

    def keep(self, turn: Turn, value: Any, size: int) -> None:
        self._size += size + _ENTRY_BYTES
        if self._size > MAX_BYTES:
            self._old, self._young, self._size = self._young, {}, size + _ENTRY_BYTES
        self._young[id(turn)] = (turn, value)

    def forget(self) -> None:
        self._young, self._old, self._size = {}, {}, 0


def forget_all() -> None:
    """Forget every message that was seen."""
    for memory in _all:
        memory.forget()
