"""Owns the register of everything the library remembers, and the one budget for all of it.

Here count the memories of `dragoman.fast`, and the bounded caches of pure facts on the road: adapted schemas, tool
declarations, names. What was neither put nor used since the budget was last half spent is forgotten first, in all of
them at once. Translations are the same with any budget; only their cost differs. `dragoman.fast` is the public face.

Threads need no lock: entries never change, and tables are changed in single steps. A thread may at worst forget what
another has just put.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet

K = TypeVar("K")
V = TypeVar("V")
F = TypeVar("F", bound=Callable[..., Any])

DEFAULT = 32 * 1024 * 1024
_SHARE = 8
"""One entry may take this part of the budget."""


class Aging(Protocol):
    """Something that remembers."""

    def age(self) -> None:
        """Forget what was neither put nor used since the last call."""
        ...

    def forget(self) -> None:
        """Forget everything."""
        ...


class _Budget:
    """The bytes that may be held, and those that were put since the memories last aged, and before."""

    __slots__ = ("half", "largest", "old", "young")

    def __init__(self, size: int) -> None:
        self.young = self.old = 0
        self.set(size)

    def set(self, size: int) -> None:
        self.half = size // 2
        self.largest = size // _SHARE


_BUDGET = _Budget(DEFAULT)
_MEMORIES: WeakSet[Any] = WeakSet()
_CACHES: list[Callable[[], None]] = []


def budget(size: int) -> None:
    """Let all memories of the process hold so many bytes together; 0: nothing is remembered."""
    if size < 0:
        raise ValueError(f"a budget cannot be {size} bytes; 0 turns the memories off")
    _BUDGET.set(size)
    if held() > size:
        forget()


def forget() -> None:
    """Forget everything that is remembered."""
    for memory in tuple(_MEMORIES):
        memory.forget()
    for clear in _CACHES:
        clear()
    _BUDGET.young = _BUDGET.old = 0


def held() -> int:
    """About how many bytes the memories hold."""
    return _BUDGET.young + _BUDGET.old


# What follows is for the modules that remember.


def largest() -> int:
    """The bytes that one entry may take at most; 0 when nothing is to be remembered."""
    return _BUDGET.largest


def register(memory: Aging) -> None:
    """Count a memory to the budget: it is told when to age and when to forget, for as long as it lives."""
    _MEMORIES.add(memory)


def grew(size: int) -> None:
    """So many bytes more are held. When half of the budget is spent, all memories age."""
    young = _BUDGET.young + size
    if young <= _BUDGET.half:
        _BUDGET.young = young
        return
    for memory in tuple(_MEMORIES):
        memory.age()
    _BUDGET.old, _BUDGET.young = _BUDGET.young, size


class Memory(Generic[K, V]):
    """Keeps what was put lately: two halves, of which the older goes when the younger is full, or all memories age."""

    __slots__ = ("__weakref__", "_old_sizes", "_sizes", "old", "young")

    def __init__(self) -> None:
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}
        self._sizes: dict[K, int] = {}
        self._old_sizes: dict[K, int] = {}
        register(self)

    def get(self, key: K) -> V | None:
        """A value that was put, or None. What is used stays."""
        found = self.young.get(key)
        if found is None and self.old:
            found = self.old.get(key)
            if found is not None:
                self.put(key, found, self._old_sizes.get(key, 0))
        return found

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of about so many bytes."""
        if size > _BUDGET.largest:
            return
        grew(size - self._sizes.get(key, 0))
        self._sizes[key] = size
        self.young[key] = value

    def age(self) -> None:
        self.old, self.young = self.young, {}
        self._old_sizes, self._sizes = self._sizes, {}

    def forget(self) -> None:
        self.old, self.young = {}, {}
        self._old_sizes, self._sizes = {}, {}

    def __len__(self) -> int:
        return len(self.young) + len(self.old)


def remembered(function: Callable[..., V], size: Callable[..., int]) -> Callable[..., V]:
    """The function with its results kept in a memory. `size` is given the result, then the arguments."""
    kept: Memory[Hashable, V] = Memory()

    def recalled(*given: Any) -> V:
        found = kept.get(given)
        if found is None:
            found = function(*given)
            kept.put(given, found, size(found, *given))
        return found

    recalled.kept = kept  # type: ignore[attr-defined]  # alive as long as the function
    return recalled


_ABSENT = object()
_SIZED = (str, bytes, tuple)  # made once: a union in the call would be made for every argument


def small_cache(entries: int, longest: int = 200) -> Callable[[F], F]:
    """A cache for a function of short words, such as names of models: longer ones, which a client may choose as it
    likes, are not kept. Too small to be counted; `forget` empties it."""

    def decorate(function: F) -> F:
        kept: dict[tuple[Any, ...], Any] = {}
        _CACHES.append(kept.clear)

        def short(*given: Any) -> Any:
            found = kept.get(given, _ABSENT)
            if found is not _ABSENT:
                return found
            found = function(*given)
            for word in given:
                if isinstance(word, _SIZED) and len(word) > longest:
                    return found
            if len(kept) >= entries:
                kept.clear()
            kept[given] = found
            return found

        short.cache_clear = kept.clear  # type: ignore[attr-defined]
        short.__doc__, short.__name__ = function.__doc__, function.__name__
        return short  # type: ignore[return-value]

    return decorate
